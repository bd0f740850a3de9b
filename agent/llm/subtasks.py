"""Subtasks from a model: numbered, in order, each building only on what is there before it."""

from pydantic import BaseModel

from agent.policy.protocol import (
    MAX_SUBTASK_NAME_CHARS,
    DecomposeQuestion,
    Decomposition,
    Subtask,
    build_single_subtask,
)
from agent.text import clean_text

MAX_SUBTASKS = 5
"""Subtasks of one request."""
_MAX_DESCRIPTION_CHARS = 2_000
"""Characters of a subtask's description."""
_MAX_QUERIES = 4
_MAX_QUERY_CHARS = 120


class SubtaskAnswer(BaseModel):
    """One subtask (``agent/prompts/decompose.md``)."""

    name: str
    description: str
    depends_on: list[int] = []
    earlier: list[int] = []
    queries: list[str] = []


class CategorizedSubtask(BaseModel):
    """One subtask with the category of its tools (``agent/prompts/decompose_categories.md``)."""

    name: str
    description: str
    category: str = ""
    depends_on: list[int] = []
    earlier: list[int] = []
    queries: list[str] = []


class DecomposeAnswer(BaseModel):
    """The model's answer (``agent/prompts/decompose.md``).

    Without subtasks, the request is its only one, and ``queries`` belong to it.
    """

    reason: str
    queries: list[str] = []
    subtasks: list[SubtaskAnswer] = []


class CategorizedAnswer(BaseModel):
    """The model's answer where it is shown categories (``agent/prompts/decompose_categories.md``).

    A schema with categories for a prompt without them would make a model invent some.
    """

    reason: str
    category: str = ""
    queries: list[str] = []
    subtasks: list[CategorizedSubtask] = []


def render_category(category: str) -> str:
    """Render a category's name for a prompt."""
    return clean_text(category, _MAX_QUERY_CHARS)


def check_subtasks(answer: DecomposeAnswer | CategorizedAnswer, question: DecomposeQuestion) -> str:
    """Return the complaint about a split for the model to correct; empty if it is right."""
    complaints: list[str] = []
    if len(answer.subtasks) > MAX_SUBTASKS:
        complaints.append(f"there may be {MAX_SUBTASKS} subtasks at most")
    earlier_numbers = {number for request in question.earlier for number, _, _ in request.steps}
    for number, subtask in enumerate(answer.subtasks[:MAX_SUBTASKS], start=1):
        if not subtask.description.strip() or len(subtask.description) > _MAX_DESCRIPTION_CHARS:
            complaints.append(f"subtask {number} needs a description of at most {_MAX_DESCRIPTION_CHARS} characters")
        if any(not 1 <= unknown_categories < number for unknown_categories in subtask.depends_on):
            complaints.append(f"subtask {number} may depend on earlier subtasks only, by their numbers")
        unknown = [
            str(unknown_categories)
            for unknown_categories in subtask.earlier
            if unknown_categories not in earlier_numbers
        ]
        if unknown:
            complaints.append(f"subtask {number} builds on earlier calls {', '.join(unknown)}, which there are none of")
    if isinstance(answer, CategorizedAnswer):
        category_names = dict.fromkeys((answer.category, *(subtask.category for subtask in answer.subtasks)))
        unknown_categories = [
            clean_text(name, MAX_SUBTASK_NAME_CHARS)
            for name in category_names
            if name.strip() and not _find_category(name, question)
        ]
        if unknown_categories:
            complaints.append(f"no category is called {', '.join(unknown_categories)}; name one that is shown, or none")
    texts = [" ".join(subtask.description.casefold().split()) for subtask in answer.subtasks]
    if len(set(texts)) < len(texts):
        complaints.append("two subtasks have the same description")
    return "; ".join(complaints) + "." if complaints else ""


def to_decomposition(answer: DecomposeAnswer | CategorizedAnswer, question: DecomposeQuestion) -> Decomposition:
    """Convert a checked answer to a decomposition.

    A single subtask keeps the request's own words, which hold all that it says, unless it refers to earlier requests.
    """
    reason = clean_text(answer.reason, 300) or "no reason given"
    if not answer.subtasks or (len(answer.subtasks) == 1 and not answer.subtasks[0].earlier):
        undivided = answer.subtasks[0] if answer.subtasks else answer
        return build_single_subtask(
            question.request,
            reason,
            _clean_queries(undivided.queries),
            _find_category(_get_category(undivided), question),
        )
    return Decomposition(
        tuple(
            Subtask(
                number,
                clean_text(subtask.name, MAX_SUBTASK_NAME_CHARS)
                or clean_text(subtask.description, MAX_SUBTASK_NAME_CHARS),
                subtask.description.strip(),
                _find_category(_get_category(subtask), question),
                depends_on=tuple(sorted(set(subtask.depends_on))),
                earlier=tuple(sorted(set(subtask.earlier))),
                queries=_clean_queries(subtask.queries),
            )
            for number, subtask in enumerate(answer.subtasks, start=1)
        ),
        reason,
    )


def _get_category(answer: DecomposeAnswer | SubtaskAnswer | CategorizedAnswer | CategorizedSubtask) -> str:
    return answer.category if isinstance(answer, CategorizedAnswer | CategorizedSubtask) else ""


def _find_category(name: str, question: DecomposeQuestion) -> str:
    """Return the category of that name among those that were shown; empty if there is none."""
    folded_name = render_category(name).casefold()
    return next(
        (category for category in question.categories if render_category(category).casefold() == folded_name), ""
    )


def _clean_queries(queries: list[str]) -> tuple[str, ...]:
    """Return the first few queries, each as one line."""
    return tuple(dict.fromkeys(text for query in queries if (text := clean_text(query, _MAX_QUERY_CHARS))))[
        :_MAX_QUERIES
    ]
