"""What a request points to in an earlier answer by the name of its field: ``the jobs in its capital``."""

import re
from collections.abc import Iterator, Sequence

from agent.needs import Need
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.identifiers import singular, words
from graph.literals import read_value

_POINTS = re.compile(r"\b(?:in|at|near|to|from|around)\s+(?:its|their|his|her|the|that)\s+([a-z]+)\b", re.IGNORECASE)


def pointed(need: Need, request: str, earlier: Sequence[tuple[ToolDoc, StepResult]]) -> Iterator[tuple[str, str]]:
    """Texts for a parameter that wants a place, each with its reference (``1.capital``), of the last step that tells one first."""
    if need.kind != "place" or need.type != "string":
        return
    named = {singular(found[1].lower()) for found in _POINTS.finditer(request)}
    for number, (_, result) in reversed(list(enumerate(earlier, start=1))):
        answer = read_value(result.response) if named and result.status == "ok" else None
        for field, value in answer.items() if isinstance(answer, dict) else ():
            if isinstance(value, str) and value and len(words(field)) == 1 and words(field)[0] in named:
                yield value, f"{number}.{field}"
