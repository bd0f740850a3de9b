"""What two results of one kind say together: which has more, and by how much."""

import re
from collections.abc import Sequence

from agent.text import clean, shown
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.identifiers import text_words
from graph.lenient_json import read_value
from offline.nlp.asked_words import match
from offline.nlp.superlatives import ranks
from offline.response_summary import leaves_of

_COMPARES = re.compile(r"\b(?:compare|comparison|difference|differ|which|who|\w+er|more|less|fewer)\b", re.I)
_SUMS = re.compile(r"\b(?:together|combined|in total|altogether|sum of|total of)\b", re.I)

Steps = Sequence[tuple[ToolDoc, StepResult]]


def compared(request: str, steps: Steps, ends: Sequence[int], asked: frozenset[str]) -> str:
    """A line that holds the results of one tool for two things or more against each other; empty where there is nothing to compare.

    ``ends``: the numbers, from 1, of the steps that no other builds on. ``asked``: the words that fields may share with the request.
    Of two numbers the difference is told; where the request ranks, the thing that comes first; where it adds up, the sum.
    """
    same = [number for number in ends if steps[number - 1][1].tool == steps[ends[0] - 1][1].tool] if ends else []
    if len(same) < 2 or not (_COMPARES.search(request) or _SUMS.search(request)):
        return ""
    records = [_numbers(steps[number - 1][1].response) for number in same]
    field = _field(request, records, asked)
    if not field:
        return ""
    told = [(_about(steps, number), record[field]) for number, record in zip(same, records, strict=True)]
    values = [value for _, value in told]
    parts = [f"{name} {shown(value)}" for name, value in told]
    if _SUMS.search(request):
        parts.append(f"together {shown(round(sum(values), 6))}")
    elif len(values) == 2:
        parts.append(f"difference {shown(round(abs(values[0] - values[1]), 6))}")
    first = next(iter(ranks(request)), None)
    if first is not None and len(set(values)) > 1:  # of equals none comes first
        best = (max if first.most else min)(told, key=lambda pair: pair[1])
        return f"Answer: {best[0]} ({clean(first.asked)}: {_spoken(field)} {'; '.join(parts)})\n"
    return f"Answer: {_spoken(field)}: {'; '.join(parts)}\n"


def _field(request: str, records: Sequence[dict[str, float]], asked: frozenset[str]) -> str:
    """The number that all have and that the request is about: what it calls by name, what it ranks by, what it asks for; the only one there is."""
    common = [name for name in records[0] if all(name in record for record in records)]
    wanted = frozenset(word for rank in ranks(request) for word in rank.fields)
    for words in (text_words(request), wanted, asked):
        fit = [name for name in common if match(name.rpartition(".")[2], words)]
        if fit:
            return fit[0]
    return common[0] if len(common) == 1 else ""


def _numbers(response: str) -> dict[str, float]:
    found = leaves_of(read_value(response))
    return {
        name: float(value) for name, value in found if isinstance(value, (int, float)) and not isinstance(value, bool)
    }


def _about(steps: Steps, number: int) -> str:
    """What a step was called for: the words of the request that it, or a step that feeds it, took."""
    for binding in steps[number - 1][1].provenance:
        if binding.origin == "request":
            return clean(binding.reference, 80)
    for binding in steps[number - 1][1].provenance:
        source = binding.reference.partition(".")[0]
        if binding.origin == "step" and source.isdigit() and 0 < int(source) < number:
            return _about(steps, int(source))
    return f"[{number}]"


def _spoken(field: str) -> str:
    return clean(re.sub(r"[._\[\]]+", " ", field.rpartition(".")[2]).strip(), 60)
