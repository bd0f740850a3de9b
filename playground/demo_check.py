"""Whether an answer is right: the expected values are in it. Which way it was found is told apart from that."""

import re
from dataclasses import dataclass

from domain.event import CallFinished, Event, RunFinished, StepBacktracked
from domain.tool import ToolId, split_tool_id
from playground.demo_requests import DemoRequest

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
_MARK = re.compile(r"\[\d+\]")
MAX_ANSWER = 2_000
"""Characters. An answer that repeats everything the world knows would hold any value."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``problem`` is empty where the answer is right. ``calls`` are the operations that succeeded, in order.

    ``unmet``: the failing operation that the request is to show a way around, where the run did not come by it. An answer that was
    found on a better way is right all the same.
    """

    request: DemoRequest
    calls: tuple[str, ...]
    answer: str
    around: tuple[str, ...]
    problem: str
    unmet: str = ""

    @property
    def right(self) -> bool:
        return not self.problem


def judge(request: DemoRequest, events: list[Event]) -> Verdict:
    """The verdict on a finished run. ``around``: the operations that failed and were backtracked from."""
    calls = [event.result for event in events if isinstance(event, CallFinished)]
    done = tuple(_operation(result.tool) for result in calls if result.status == "ok")
    left = {event.dropped for event in events if isinstance(event, StepBacktracked) and event.phase == "execute"}
    around = tuple(_operation(result.tool) for result in calls if result.status == "failed" and result.tool in left)
    end = next((event for event in events if isinstance(event, RunFinished)), None)
    answer = end.answer if end else ""
    unmet = request.fails if request.fails not in around else ""
    return Verdict(request, done, answer, around, _problem(request, end), unmet)


def numbers_in(text: str) -> list[float]:
    """The numbers that stand alone in a text, thousands separators allowed; marks of sources (``[2]``) are none."""
    return [float(found.replace(",", "")) for found in _NUMBER.findall(_MARK.sub("", text))]


def _problem(request: DemoRequest, end: RunFinished | None) -> str:
    if end is None or end.outcome != "answered":
        return f"the run ended without an answer ({end.outcome if end else 'no end'}{_reason(end)})"
    if len(end.answer) > MAX_ANSWER:
        return f"the answer has {len(end.answer):,} characters: too many to be one"
    found = numbers_in(end.answer)
    for wanted in request.numbers:
        if not any(abs(number - wanted) <= request.tolerance + 1e-9 for number in found):
            return f"{wanted:g} is not in the answer"
    for wanted in request.texts:
        if wanted.casefold() not in end.answer.casefold():
            return f"{wanted} is not in the answer"
    return ""


def _reason(end: RunFinished | None) -> str:
    return f": {end.error}" if end and end.error else ""


def _operation(tool: ToolId) -> str:
    return split_tool_id(tool)[2]
