"""Subtasks from a model: numbered, in order, each building only on what is there before it."""

from pydantic import BaseModel

from agent.policy.subtasks import NAMED, DecomposeQuestion, Decomposition, Subtask, whole
from agent.text import clean

MOST = 5
"""Subtasks of one request."""
_LONGEST = 2_000
"""Characters of a subtask's description."""
_QUERIES = 4
_QUERY = 120


class SubtaskAnswer(BaseModel):
    """One subtask (``agent/prompts/decompose.md``)."""

    name: str
    description: str
    category: str = ""
    """Asked for by ``decompose_categories.md``."""
    depends_on: list[int] = []
    earlier: list[int] = []
    queries: list[str] = []


class DecomposeAnswer(BaseModel):
    """The model's answer (``agent/prompts/decompose.md``).

    Without subtasks, the request is its only one, and ``category`` and ``queries`` belong to it.
    """

    reason: str
    category: str = ""
    queries: list[str] = []
    subtasks: list[SubtaskAnswer] = []


def shown_category(category: str) -> str:
    """Render a category's name for a prompt."""
    return clean(category, _QUERY)


def complaint_of(answer: DecomposeAnswer, question: DecomposeQuestion) -> str:
    """Return the complaint about a split for the model to correct; empty if it is right."""
    told: list[str] = []
    if len(answer.subtasks) > MOST:
        told.append(f"there may be {MOST} subtasks at most")
    made = {number for one in question.earlier for number, _, _ in one.steps}
    for number, one in enumerate(answer.subtasks[:MOST], start=1):
        if not one.description.strip() or len(one.description) > _LONGEST:
            told.append(f"subtask {number} needs a description of at most {_LONGEST} characters")
        if any(not 1 <= other < number for other in one.depends_on):
            told.append(f"subtask {number} may depend on earlier subtasks only, by their numbers")
        unknown = [str(other) for other in one.earlier if other not in made]
        if unknown:
            told.append(f"subtask {number} builds on earlier calls {', '.join(unknown)}, which there are none of")
    if question.categories:
        named = dict.fromkeys((answer.category, *(one.category for one in answer.subtasks)))
        other = [clean(one, NAMED) for one in named if one.strip() and not _category(one, question)]
        if other:
            told.append(f"no category is called {', '.join(other)}; name one that is shown, or none")
    texts = [" ".join(one.description.casefold().split()) for one in answer.subtasks]
    if len(set(texts)) < len(texts):
        told.append("two subtasks have the same description")
    return "; ".join(told) + "." if told else ""


def decomposition_of(answer: DecomposeAnswer, question: DecomposeQuestion) -> Decomposition:
    """Convert a checked answer to a decomposition.

    A single subtask keeps the request's own words, which hold all that it says, unless it refers to earlier requests.
    """
    reason = clean(answer.reason, 300) or "no reason given"
    if not answer.subtasks or (len(answer.subtasks) == 1 and not answer.subtasks[0].earlier):
        own = answer.subtasks[0] if answer.subtasks else answer
        return whole(question.request, reason, _queries(own.queries), _category(own.category, question))
    return Decomposition(
        tuple(
            Subtask(
                number,
                clean(one.name, NAMED) or clean(one.description, NAMED),
                one.description.strip(),
                _category(one.category, question),
                depends_on=tuple(sorted(set(one.depends_on))),
                earlier=tuple(sorted(set(one.earlier))),
                queries=_queries(one.queries),
            )
            for number, one in enumerate(answer.subtasks, start=1)
        ),
        reason,
    )


def _category(named: str, question: DecomposeQuestion) -> str:
    """Return the category of that name among those that were shown; empty if there is none."""
    wanted = shown_category(named).casefold()
    return next((one for one in question.categories if shown_category(one).casefold() == wanted), "")


def _queries(given: list[str]) -> tuple[str, ...]:
    """Return the first few queries, each as one line."""
    return tuple(dict.fromkeys(text for one in given if (text := clean(one, _QUERY))))[:_QUERIES]
