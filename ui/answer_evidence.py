"""Which field of which call's response a figure is: what it is called there, and what stands behind it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from ui.calls import Call

_LONGEST = 200_000
_DEEPEST = 12


@dataclass(frozen=True)
class Evidence:
    """``field``: its name in the response of that call."""

    field: str
    call: Call


def evidence(figure: str, calls: Sequence[Call]) -> Evidence | None:
    """The latest call whose response holds the figure; None where none does, or several fields of it do."""
    for call in reversed(calls):
        if call.result is None or call.result.status != "ok" or len(call.result.response) > _LONGEST:
            continue
        try:
            response: JsonValue = json.loads(call.result.response)
        except (ValueError, RecursionError):
            continue
        names = {name for name, value in _scalars(response, "", 0) if _same(value, figure)}
        if len(names) == 1 and (name := names.pop()):
            return Evidence(name, call)
    return None


def _scalars(value: JsonValue, name: str, depth: int) -> Iterator[tuple[str, JsonValue]]:
    match value:
        case dict() if depth < _DEEPEST:
            for key, one in value.items():
                yield from _scalars(one, key, depth + 1)
        case list() if depth < _DEEPEST:
            for one in value:
                yield from _scalars(one, name, depth + 1)
        case _:
            yield name, value


def _same(value: JsonValue, figure: str) -> bool:
    if isinstance(value, (bool, dict, list)) or value is None:
        return False
    return f"{value:.10g}" == figure if isinstance(value, float) else str(value) == figure
