"""Subtasks from a model: numbered, in order, and with nothing in them that the request does not say."""

import json
import re

from pydantic import BaseModel

from agent.policy.subtasks import NAMED, DecomposeQuestion, Decomposition, Subtask, whole
from agent.text import clean
from offline.change_words import changes_asked
from offline.nlp.coordination import atoms

MOST = 5
_LONGEST = 2_000
_WORD = re.compile(r"[^\W_]+")
_WHEN = frozenset({"date", "time"})


class SubtaskAnswer(BaseModel):
    """One subtask of ``agent/prompts/decompose.md``."""

    name: str
    description: str
    category: str = ""
    depends_on: list[int] = []
    earlier: list[int] = []


class DecomposeAnswer(BaseModel):
    """``agent/prompts/decompose.md``."""

    reason: str
    subtasks: list[SubtaskAnswer]


def complaint_of(answer: DecomposeAnswer, question: DecomposeQuestion) -> str:
    """What is wrong with a split, for the model to mend; empty where all is right."""
    told: list[str] = []
    if not 1 <= len(answer.subtasks) <= MOST:
        told.append(f"there must be between 1 and {MOST} subtasks")
    for number, one in enumerate(answer.subtasks[:MOST], start=1):
        if not _WORD.search(one.description) or len(one.description) > _LONGEST:
            told.append(f"subtask {number} needs a description of at most {_LONGEST} characters")
        if any(not 1 <= other < number for other in one.depends_on):
            told.append(f"subtask {number} may depend on earlier subtasks only, by their numbers")
        unknown = [str(other) for other in one.earlier if other not in _made(question)]
        if unknown:
            told.append(f"subtask {number} builds on earlier calls {', '.join(unknown)}, which there are none of")
        added = added_to(question.request, one.description, _before(question))
        if added:
            told.append(f"subtask {number} says {', '.join(added)}, which the request does not")
    texts = [one.description.casefold() for one in answer.subtasks]
    if len(set(texts)) < len(texts):
        told.append("two subtasks have the same description")
    return "; ".join(told) + "." if told else ""


def _made(question: DecomposeQuestion) -> set[int]:
    return {number for one in question.earlier for number, _, _ in one.steps}


def _before(question: DecomposeQuestion) -> str:
    """What was said and found earlier, whose values a request may mean."""
    texts = [one.request for one in question.earlier]
    for _, _, result in (step for one in question.earlier for step in one.steps):
        texts += [json.dumps(result.arguments, ensure_ascii=False), result.compressed or result.response]
    return " ".join(texts)


def added_to(request: str, description: str, before: str = "") -> list[str]:
    """The values and the changes in a description that the request does not have: nothing is invented on the way to a subtask.

    ``before``: what was said and found earlier, whose values may be repeated. A date may be written otherwise where any is told. A change is one of the words that allow a tool to change something.
    """
    said = frozenset(word.casefold() for word in _WORD.findall(f"{request} {before}"))
    dated = any(atom.kind in _WHEN for atom in atoms(request)) or bool(before)
    added = [
        clean(atom.text, 60)
        for atom in atoms(description)
        if not (atom.kind in _WHEN and dated) and not {word.casefold() for word in _WORD.findall(atom.text)} <= said
    ]
    return [*added, *sorted(changes_asked(description) - changes_asked(request))]


def decomposition_of(answer: DecomposeAnswer, question: DecomposeQuestion) -> Decomposition:
    """A checked answer. A single subtask keeps the request's own words, which hold all that it says, unless it leans on earlier questions."""
    reason = clean(answer.reason, 300) or "no reason given"
    if len(answer.subtasks) == 1 and not answer.subtasks[0].earlier:
        return whole(question.request, reason)
    return Decomposition(
        tuple(
            Subtask(
                number,
                clean(one.name, NAMED) or clean(one.description, NAMED),
                one.description.strip(),
                clean(one.category, NAMED),
                tuple(sorted(set(one.depends_on))),
                tuple(sorted(set(one.earlier))),
            )
            for number, one in enumerate(answer.subtasks, start=1)
        ),
        reason,
    )
