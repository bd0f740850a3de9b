"""Values of an answer that a plan may take: where they stand in it, and how a text or a step names the place."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from ui.language import say

_MOST = 80
_ITEMS = 3
"""Of a list: more of them say nothing new."""
_DEEPEST = 6
_SHOWN = 60
_NAME = re.compile(r"[^.\[\]]+")
_PART = re.compile(r"\[(\d*)\]|([^.\[\]]+)")


@dataclass(frozen=True)
class Pick:
    """``field``: as ``results[0].id``, or ``results[].id`` for the item that the request names. ``told``: with its value, to choose by."""

    field: str
    told: str


def picks(response: str) -> list[Pick]:
    """What can be taken out of a response: single values, each also of the item that the request names. Nothing of what is no JSON."""
    try:
        value: JsonValue = json.loads(response)
    except (ValueError, RecursionError):
        return []
    found: dict[str, Pick] = {}
    for field, one in _places(value, "", 0):
        if len(found) >= _MOST:
            break
        if (named := re.sub(r"\[\d+\]", "[]", field)) != field:
            found.setdefault(named, Pick(named, say("{named}: of the item that the request names", named=named)))
        found[field] = Pick(field, f"{field} = {_short(one)}")
    return list(found.values())


def expression(held: str, field: str) -> str:
    """A place of what a name holds, in Python: ``found["results"][0]["id"]``; ``named(…)`` chooses the item that the request names."""
    told = held
    for part in _PART.finditer(field):
        if part[2] is not None:
            told += f"[{json.dumps(part[2], ensure_ascii=False)}]"
        else:
            told = f"{told}[{part[1]}]" if part[1] else f"named({told})"
    return told


def _places(value: JsonValue, field: str, depth: int) -> Iterator[tuple[str, JsonValue]]:
    match value:
        case dict() if depth < _DEEPEST:
            for name, one in value.items():
                if _NAME.fullmatch(name):
                    yield from _places(one, f"{field}.{name}" if field else name, depth + 1)
        case list() if depth < _DEEPEST:
            for number, one in enumerate(value[:_ITEMS]):
                yield from _places(one, f"{field}[{number}]", depth + 1)
        case _ if field:
            yield field, value
        case _:
            return


def _short(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
