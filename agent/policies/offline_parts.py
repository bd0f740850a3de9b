"""The offline policy's decomposition: parts of a request that have nothing to do with each other become subtasks.

One walk serves several clauses well where they share a chain ("the author of the book, and her birthplace"), so everything that
hangs together stays together, and what is in doubt counts as hanging together.
"""

import re
from collections.abc import Sequence

from agent.coordination import atoms
from agent.decomposition import NAMED, AskedPart, DecomposeQuestion, Decomposition, Subtask, whole
from agent.tool_text import clean
from domain.tool import ToolId, tool_id_parts

MOST = 4
_NEAREST = 3
"""Of a part's tools, those that say where it belongs."""
_CLEAR = 0.45
"""Score from which a tool says so: below it no tool fits anyway, and a part that none fits is no task of its own."""
_REFERS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|there|that|this|those|these|he|she|him|his|her|hers|same|former|latter|both|each|one|ones|"
    r"result|results|then|than|else|instead|otherwise|respectively|compared?|difference|total|sum|together|altogether|again|when|while|if|"
    r"unless|until|so)\b",
    re.IGNORECASE,
)
"""A word that leans on what was said elsewhere. As a conjunction it may lean on nothing; then the parts stay together, which costs little."""
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
    return any(atom.text.casefold() not in inside for atom in atoms(question.request))


def _groups(parts: Sequence[AskedPart]) -> list[list[AskedPart]]:
    """The parts that hang together, in the order of the request."""
    values = [_values(part) for part in parts]
    kinds = [_kinds(part.found) for part in parts]
    group = list(range(len(parts)))

    def join(one: int, other: int) -> None:
        old, new = group[other], group[one]
        group[:] = [new if at == old else at for at in group]

    for at, part in enumerate(parts):
        if at and (_REFERS.search(part.text) or not values[at]):
            join(at - 1, at)
        for before in range(at):
            if values[at] & values[before] or kinds[at] & kinds[before]:
                join(before, at)
    if not values[0]:
        join(0, 1)
    return [[parts[at] for at in range(len(parts)) if group[at] == name] for name in dict.fromkeys(group)]


def _values(part: AskedPart) -> frozenset[str]:
    return frozenset(atom.text.casefold() for atom in atoms(part.text))


def _kinds(found: Sequence[tuple[ToolId, float]]) -> frozenset[tuple[str, str]]:
    """The tool sets that are near: tools of one set mostly feed each other."""
    near = [tool_id_parts(tool) for tool, _ in found[:_NEAREST]]
    return frozenset((category, toolset) for category, toolset, _ in near)
