"""Two runs beside each other: what each took, and which calls differ. Pure."""

import json
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from domain.model import JsonObject
from domain.tool import ToolId
from ui.calls import Call
from ui.run_state import RunState

CallDifferenceKind = Literal["arguments", "response", "first", "second"]
"""``first`` and ``second``: only that one has made the call."""
LineKind = Literal["same", "gone", "new", "skipped"]
_AROUND = 2
_MOST = 2_000
"""Lines of a text that are compared."""


@dataclass(frozen=True)
class CallDifference:
    """A call that is not the same in both. ``values``: names of the arguments that differ."""

    kind: CallDifferenceKind
    tool: ToolId
    first: Call | None = None
    second: Call | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextLine:
    """``skipped``: lines that both have stand there."""

    kind: LineKind
    text: str = ""


def call_differences(first: RunState, second: RunState) -> tuple[list[CallDifference], int]:
    """Calls of a tool belong together where they were given the same; of those that are left, the first to the first. Then how many are the same
    in both.
    """
    theirs: defaultdict[ToolId, list[Call]] = defaultdict(list)
    for call in second.calls:
        theirs[call.tool].append(call)
    own: defaultdict[ToolId, list[Call]] = defaultdict(list)
    for call in first.calls:
        own[call.tool].append(call)
    found: list[CallDifference] = []
    same = 0
    for tool in dict.fromkeys((*own, *theirs)):
        pairs, left, right = _alike(own[tool], theirs[tool])
        differing = [CallDifference("response", tool, *pair) for pair in pairs if _answer(pair[0]) != _answer(pair[1])]
        same += len(pairs) - len(differing)
        found += differing
        together = min(len(left), len(right))
        found += [_other(one, two) for one, two in zip(left[:together], right[:together], strict=True)]
        found += [CallDifference("first", tool, first=one) for one in left[together:]]
        found += [CallDifference("second", tool, second=one) for one in right[together:]]
    return found, same


def text_differences(before: str, after: str) -> list[TextLine]:
    """The lines that differ, with those around them; none where the texts are the same."""
    old, new = before.splitlines()[:_MOST], after.splitlines()[:_MOST]
    found: list[TextLine] = []
    at = 0
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_AROUND):
        if group[0][1] > at:
            found.append(TextLine("skipped"))
        for kind, start, end, start_after, end_after in group:
            if kind == "equal":
                found += [TextLine("same", line) for line in old[start:end]]
            else:
                found += [TextLine("gone", line) for line in old[start:end]]
                found += [TextLine("new", line) for line in new[start_after:end_after]]
        at = group[-1][2]
    if found and at < len(old):
        found.append(TextLine("skipped"))
    return found


def program_text(story: RunState) -> str:
    """What it did, as its last program that ran, else the last that was written; empty where it walked."""
    texts = [one for one in story.programs.texts if one.text]
    ran = [one for one in texts if one.number]
    return (ran or texts)[-1].text if texts else ""


def _alike(first: Sequence[Call], second: Sequence[Call]) -> tuple[list[tuple[Call, Call]], list[Call], list[Call]]:
    """Those that were given the same, then those of either that are left."""
    waiting: defaultdict[str, deque[Call]] = defaultdict(deque)
    for call in second:
        waiting[_given(call.arguments)].append(call)
    pairs: list[tuple[Call, Call]] = []
    left: list[Call] = []
    for call in first:
        if alike := waiting[_given(call.arguments)]:
            pairs.append((call, alike.popleft()))
        else:
            left.append(call)
    taken = {id(two) for _, two in pairs}
    return pairs, left, [call for call in second if id(call) not in taken]


def _other(first: Call, second: Call) -> CallDifference:
    old, new = first.arguments, second.arguments
    names = tuple(name for name in dict.fromkeys((*old, *new)) if _value(old, name) != _value(new, name))
    return CallDifference("arguments", first.tool, first, second, names)


def _value(arguments: JsonObject, name: str) -> str:
    return _given(arguments[name]) if name in arguments else ""


def _given(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _answer(call: Call) -> tuple[str, str]:
    """How it ended, and with what: JSON that is only written otherwise is the same."""
    if call.result is None:
        return "", ""
    try:
        return call.result.status, _given(json.loads(call.result.response))
    except (ValueError, RecursionError):
        return call.result.status, call.result.response
