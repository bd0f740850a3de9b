"""What somebody may have meant where a search found nothing: values that are known here and are written nearly so."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from pydantic import JsonValue

from domain.tool import ToolId
from ui.calls import Call
from ui.run_state import RunState

_SHORTEST, _LONGEST = 3, 60
_NEAR = 0.75
_MOST = 3
_TOOLS = 3
_NOT_THERE = (404, 410)
Known = Callable[[ToolId, str], Iterable[str]]
"""Values that a parameter of a tool is known to take."""


@dataclass(frozen=True)
class NearMatch:
    """``said``: as it stands in the request; ``meant``: a value that is known."""

    said: str
    meant: str

    def request(self, before: str) -> str:
        """The request with the one in place of the other."""
        at = before.casefold().find(self.said.casefold())
        return before[:at] + self.meant + before[at + len(self.said) :] if at >= 0 else before


def near_matches(story: RunState, known: Known) -> list[NearMatch]:
    """For the values of calls that found nothing, as far as the request names them; the nearest first. ``known`` is asked for few tools."""
    found: dict[NearMatch, float] = {}
    empty = {
        (call.tool, name, value): call
        for call in story.calls
        if found_nothing(call)
        for name, value in _said(call, story.request)
    }
    for tool, name, value in list(empty)[:_TOOLS]:
        for one in dict.fromkeys(known(tool, name)):
            likeness = SequenceMatcher(None, value.casefold(), one.casefold()).ratio()
            if one.casefold() != value.casefold() and likeness >= _NEAR and len(one) <= _LONGEST:
                found[NearMatch(value, one)] = likeness
    return sorted(found, key=lambda one: -found[one])[:_MOST]


def found_nothing(call: Call) -> bool:
    """Whether a call was answered, with nothing: not there, or lists that are all empty."""
    if call.result is None:
        return False
    if call.result.http_status in _NOT_THERE:
        return True
    if call.result.status != "ok":
        return False
    try:
        return _empty(json.loads(call.result.response))
    except (ValueError, RecursionError):
        return False


def taken_before(stories: Sequence[RunState]) -> list[str]:
    """The texts that calls of other runs were made with, and found something."""
    return [
        value
        for story in stories
        for call in story.calls
        if call.result is not None and call.result.status == "ok" and not found_nothing(call)
        for value in call.arguments.values()
        if isinstance(value, str)
    ]


def _empty(value: JsonValue) -> bool:
    match value:
        case None:
            return True
        case list():
            return not value
        case dict():
            lists = [one for one in value.values() if isinstance(one, list)]
            return not value or (bool(lists) and not any(lists))
        case _:
            return False


def _said(call: Call, request: str) -> list[tuple[str, str]]:
    """Arguments that the request names."""
    asked = request.casefold()
    texts = [(name, value) for name, value in call.arguments.items() if isinstance(value, str)]
    return [(name, one) for name, one in texts if _SHORTEST <= len(one) <= _LONGEST and one.casefold() in asked]
