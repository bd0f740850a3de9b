"""Slips of authors of programs, planted at random places of a text."""

import random
import re
from collections.abc import Callable

_FIELD = re.compile(r"\['(\w+)'\]")
_CALL = re.compile(r"await (\w+)\(")


def slip(text: str, luck: random.Random) -> tuple[str, str]:
    """One slip that the text has a place for: its name, and the reply that holds it."""
    ways: dict[str, Callable[[], str]] = {
        "prose around": lambda: (
            f"Of course! This should do:\n\n{_block(text)}\n\nLet me know if `found1` is not what you meant."
        )
    }
    if fields := list(_FIELD.finditer(text)):
        ways["wrong field"] = lambda: _block(_with(text, luck.choice(fields), 1, "_value"))
    if calls := list(_CALL.finditer(text)):
        ways["wrong name"] = lambda: _block(_with(text, luck.choice(calls), 1, "s"))
        ways["missing await"] = lambda: _block(_without(text, luck.choice(calls)))
    way = luck.choice(sorted(ways))
    return way, ways[way]()


def _with(text: str, place: re.Match[str], group: int, ending: str) -> str:
    return text[: place.end(group)] + ending + text[place.end(group) :]


def _without(text: str, call: re.Match[str]) -> str:
    return text[: call.start()] + text[call.start() + len("await ") :]


def _block(text: str) -> str:
    return f"```python\n{text}\n```"
