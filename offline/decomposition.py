"""The offline policy's decomposition: parts of a request that have nothing to do with each other become subtasks.

One walk serves several clauses well where they share a chain ("the author of the book, and her birthplace"), so everything that
hangs together stays together, and what is in doubt counts as hanging together.
"""

import re
from collections.abc import Sequence

from agent.policy.subtasks import NAMED, AskedPart, DecomposeQuestion, Decomposition, Subtask, whole
from agent.text import clean
from domain.tool import ToolId, tool_id_parts
from offline.nlp.asides import without_headings
from offline.nlp.coordination import atoms
from offline.nlp.entities import Span

MOST = 4
_NEAREST = 3
"""Of a part's tools, those that say where it belongs."""
_CLEAR = 0.45
"""Score from which a tool says so: below it no tool fits anyway, and a part that none fits is no task of its own."""
_NEAR = 0.6
"""The share of the best score from which a tool is near to a part."""
_PRONOUN = re.compile(r"\b(?:it|its|they|them|their|theirs|he|she|him|his|her|hers)\b", re.IGNORECASE)
"""Stands for what was named last: in the part itself, or else before it."""
_EXISTS = re.compile(r"\b(?:is|are|was|were|will)\s+there\b(?!\s*$)|\bthere\s+(?:is|are|was|were)\b", re.IGNORECASE)
"""``are there``: no place is meant."""
_REFERS = re.compile(
    r"\b(?:there|that|this|those|these|same|former|latter|both|each|ones|(?:the|that|this|which|other|another|first|second|last) one|"
    r"result|results|then|than|else|instead|otherwise|respectively|compared?|difference|total|sum|together|altogether|again|when|while|if|"
    r"unless|until|so)\b",
    re.IGNORECASE,
)
"""A word that leans on what was said elsewhere. As a conjunction it may lean on nothing; then the parts stay together, which costs little."""
_NAMES = frozenset({"name", "country", "quoted", "code", "email", "domain"})
_BREAK = "; "


def decomposed(question: DecomposeQuestion) -> Decomposition:
    """Subtasks where each part has values and tools of its own, else the request as it is.

    Parts are joined where they share a value, where one refers to another, or where the same kind of tool is near to both. Values that
    stand outside of all parts belong to all of them.
    """
    parts = question.parts
    if len(parts) < 2:
        return whole(question.request, "it asks one thing")
    if _told_outside(question):
        return whole(question.request, "what it tells beforehand belongs to all its parts")
    if any(not part.found or part.found[0][1] < _CLEAR for part in parts):
        return whole(question.request, "no tool is near to one of its parts alone")
    groups = _groups(parts)
    if not 2 <= len(groups) <= MOST:
        return whole(question.request, f"its {len(parts)} parts hang together")
    subtasks = tuple(_subtask(number, group) for number, group in enumerate(groups, start=1))
    return Decomposition(subtasks, f"{len(groups)} parts have no value, no reference and no kind of tool in common")


def _subtask(number: int, group: Sequence[AskedPart]) -> Subtask:
    description = _BREAK.join(part.text for part in group)
    category, _, _ = tool_id_parts(group[0].found[0][0])
    return Subtask(number, clean(group[0].text, NAMED), description, category)


def _told_outside(question: DecomposeQuestion) -> bool:
    """Whether a value of the request stands in none of its parts."""
    inside = " ".join(part.text for part in question.parts).casefold()
    told = atoms(without_headings(question.request))
    return any(atom.text.casefold() not in inside for atom in told if _tells(atom))


def _groups(parts: Sequence[AskedPart]) -> list[list[AskedPart]]:
    """The parts that hang together, in the order of the request."""
    values = [_values(part) for part in parts]
    kinds = [_kinds(part.found) for part in parts]
    group = list(range(len(parts)))

    def join(one: int, other: int) -> None:
        old, new = group[other], group[one]
        group[:] = [new if at == old else at for at in group]

    for at, part in enumerate(parts):
        if at and (_refers(part.text) or not values[at]):
            join(at - 1, at)
        for before in range(at):
            if values[at] & values[before] or kinds[at] & kinds[before]:
                join(before, at)
    if not values[0]:
        join(0, 1)
    return [[parts[at] for at in range(len(parts)) if group[at] == name] for name in dict.fromkeys(group)]


def _refers(text: str) -> bool:
    """Whether a part leans on what was said elsewhere. A pronoun behind a name within it does not."""
    pronoun = _PRONOUN.search(text)
    named = (atom.end for atom in atoms(text) if atom.kind in _NAMES)
    if pronoun and not any(end <= pronoun.start() for end in named):
        return True
    return _REFERS.search(_EXISTS.sub(" ", text)) is not None


def _values(part: AskedPart) -> frozenset[str]:
    return frozenset(atom.text.casefold() for atom in atoms(part.text) if _tells(atom))


def _tells(atom: Span) -> bool:
    """Whether a value is one by which two parts could be about the same: a measure, or a number that is spelled, is not."""
    return atom.kind != "unit" and (atom.kind != "number" or atom.text[:1].isdigit())


def _kinds(found: Sequence[tuple[ToolId, float]]) -> frozenset[tuple[str, str]]:
    """The tool sets that are near: tools of one set mostly feed each other."""
    near = [tool_id_parts(tool) for tool, score in found[:_NEAREST] if score >= _NEAR * found[0][1]]
    return frozenset((category, toolset) for category, toolset, _ in near)
