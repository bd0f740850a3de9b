"""Verdicts on answers: whether a run's answer is right, and if not, why.

An answer is right if the outcome is ``answered``, every expected value is in the answer, and every expected value is in the response
of a call that succeeded in this run, so that nothing is guessed, remembered or invented; for computed values, the values that they are
computed from must be in responses. If a request cannot be answered, the run must say so and invent nothing. Where the changes of a run
are known, they must be those that were asked for, each once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from domain.event import (
    CallFinished,
    Event,
    PolicyFellBack,
    ProgramFailed,
    ProgramLooked,
    ProgramRefused,
    ProgramStarted,
    RunFinished,
)
from domain.plan import StepResult
from domain.source_text import parse_source
from domain.tool import tool_id_parts
from domain.usage import Usage
from evaluation.asking_back import AskedBack
from evaluation.changes_made import misfits
from evaluation.dates import states_date
from evaluation.expected import Asked, Change, Expected
from evaluation.inventions import invented
from evaluation.recovery import dead_operations
from evaluation.values import response_has_day, response_has_number, response_has_text, states_number, states_text

MAX_ANSWER = 2_000
"""Characters. An answer that repeats everything the services know would hold any value."""

Cause = Literal[
    "run failed", "unasked change", "wrong change", "budget", "other outcome", "value invented", "gave up", "argument missing", "failed call", "wrong tool first", "not called", "wrong value",
    "answer lacks value", "value not from a response", "answer too long", "answered the unanswerable", "used what was before",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one run."""

    asked: Asked
    cause: Cause | None
    """Why the answer is wrong; None: it is right."""
    detail: str
    answer: str
    path: tuple[str, ...]
    """Every call in order as ``operation``, with its status where it is not ok."""
    usage: Usage
    fell_back: bool = False
    """Another policy decided at least once, so that the verdict is not on the evaluated policy alone."""
    dead: tuple[str, ...] = ()
    """Operations that failed for good on the way."""
    repairs: int = 0
    """Times that a program was refused or failed."""
    looks: int = 0
    """Times that a program stopped to look."""
    questions: tuple[AskedBack, ...] = ()
    """Questions that the run asked its user."""

    @property
    def called(self) -> tuple[str, ...]:
        """The operations that answered, each once."""
        return tuple(dict.fromkeys(name for name in self.path if " " not in name))

    @property
    def right(self) -> bool:
        return self.cause is None


def judge(
    asked: Asked,
    events: Sequence[Event],
    effects: Sequence[str] | None = None,
    made: Sequence[Change] | None = None,
    heard: Sequence[StepResult] = (),
    questions: Sequence[AskedBack] = (),
) -> Verdict:
    """Return the verdict on a finished run.

    Args:
        asked: the request with its expected values.
        events: the events of the run.
        effects: the operations that changed something in it; None: unknown.
        made: its changes with their arguments; None: unknown.
        heard: the calls of earlier turns, whose responses count as the run's own.
        questions: the questions that it asked its user.
    """
    own = [event.result for event in events if isinstance(event, CallFinished)]
    calls = [*(one for one in heard if one.status == "ok"), *own]
    end = next((event for event in events if isinstance(event, RunFinished)), None)
    if end is None:
        return Verdict(asked, "run failed", "the run has no end", "", _path(own), Usage(), questions=tuple(questions))
    cause, detail = _answerable(asked, calls, end) if asked.answerable else _unanswerable(asked, calls, end)
    if cause is None and asked.fresh and (used := _went_back(events)):
        cause, detail = "used what was before", used
    wrong = _wrong_changes(asked, effects, made)
    if wrong:
        cause, detail = wrong
    fell_back = any(isinstance(event, PolicyFellBack) for event in events)
    return Verdict(
        asked, cause, detail, end.answer, _path(own), end.usage, fell_back, dead_operations(events),
        sum(isinstance(event, ProgramFailed) or (isinstance(event, ProgramRefused) and event.text != "") for event in events),
        sum(isinstance(event, ProgramLooked) for event in events), tuple(questions),
    )  # fmt: skip


def _wrong_changes(
    asked: Asked, effects: Sequence[str] | None, made: Sequence[Change] | None
) -> tuple[Cause, str] | None:
    if made is None:
        unasked = Counter(effects or ()) - Counter((*asked.effects, *(change.operation for change in asked.changes)))
        return ("unasked change", ", ".join(sorted(unasked.elements()))) if unasked else None
    wanted = (*asked.changes, *(Change(operation=name) for name in asked.effects))
    lacking, unasked = misfits(wanted, made)
    if unasked:
        return "unasked change", ", ".join(unasked)
    return ("wrong change", f"not made: {', '.join(lacking)}") if lacking else None


def absent_from_answer(expected: Expected, answer: str) -> list[str]:
    """Return the expected values that an answer does not state."""
    numbers = [
        f"{n:.10g}"
        for n in expected.numbers
        if not states_number(answer, n, expected.tolerance, rounded=expected.computed)
    ]
    texts = [texts[0] for texts in expected.texts if not any(states_text(answer, wanted) for wanted in texts)]
    return [*numbers, *texts, *(str(day) for day in expected.dates if not states_date(answer, day))]


def absent_from_responses(expected: Expected, responses: Sequence[str]) -> list[str]:
    """Return the expected values that no response holds; of computed values, the evidence that none holds."""
    if expected.computed:
        return [text for text in expected.evidence if not _held(text, responses)]
    numbers = [
        f"{wanted:.10g}"
        for wanted in expected.numbers
        if not any(response_has_number(response, wanted, expected.tolerance) for response in responses)
    ]
    return (
        numbers
        + [
            texts[0]
            for texts in expected.texts
            if not any(response_has_text(response, wanted) for response in responses for wanted in texts)
        ]
        + [
            str(day)
            for day in expected.dates
            if not any(response_has_day(response, str(day)) for response in responses)
        ]
    )


def _held(text: str, responses: Sequence[str]) -> bool:
    return any(response_has_text(response, text) for response in responses)


def _unanswerable(asked: Asked, calls: list[StepResult], end: RunFinished) -> tuple[Cause | None, str]:
    if end.outcome == "answered":
        return "answered the unanswerable", ""
    if end.outcome == "budget":
        return "budget", end.error
    if end.outcome not in ("gave_up", "partly"):
        return "run failed", end.error or end.outcome
    if end.outcome == "gave_up":  # the text is then about the run itself, so its numbers are not checked
        return None, ""
    made_up = invented(end.answer, asked.request, [call.response for call in calls if call.status == "ok"])
    return ("value invented", ", ".join(made_up)) if made_up else (None, "")


def _answerable(asked: Asked, calls: list[StepResult], end: RunFinished) -> tuple[Cause | None, str]:
    if end.outcome == "answered" if asked.partly else end.outcome == "partly":
        return "other outcome", end.outcome
    if end.outcome not in ("answered", "partly"):
        return _no_answer(calls, end)
    if len(end.answer) > MAX_ANSWER:
        return "answer too long", f"{len(end.answer)} characters"
    unsaid = absent_from_answer(asked.expect, end.answer)
    good = [call for call in calls if call.status == "ok"]
    unfounded = absent_from_responses(asked.expect, [call.response for call in good])
    made_up = [value for value in unfounded if value not in unsaid]
    if made_up and not (asked.expect.computed and unsaid):
        return "value not from a response", ", ".join(made_up)
    if unfounded:
        return _not_found(asked, calls, good)
    return ("answer lacks value", ", ".join(unsaid)) if unsaid else (None, "")


def _no_answer(calls: list[StepResult], end: RunFinished) -> tuple[Cause, str]:
    if end.outcome == "budget":
        return "budget", end.error
    if end.outcome != "gave_up":
        return "run failed", end.error or end.outcome
    last = calls[-1] if calls else None
    if last is None or last.status == "ok":
        return "gave up", ""
    cause: Cause = "argument missing" if last.status == "missing" else "failed call"
    return cause, f"{_operation(last)}: {last.note or last.http_status or last.status}"


def _not_found(asked: Asked, calls: list[StepResult], good: list[StepResult]) -> tuple[Cause, str]:
    """Explain why no response holds a value: other tools than needed, or the right ones with other arguments."""
    wanted = {call.operation for call in asked.calls}
    if not wanted:
        return "wrong value", ""
    if calls and _operation(calls[0]) not in wanted:
        return "wrong tool first", _operation(calls[0])
    uncalled = wanted - {_operation(call) for call in good}
    return ("not called", ", ".join(sorted(uncalled))) if uncalled else ("wrong value", "")


def _went_back(events: Sequence[Event]) -> str:
    """Return the first use of what the conversation found before; empty if there is none."""
    for event in events:
        match event:
            case CallFinished(result=result):
                if found := next(
                    (one.reference for one in result.provenance if one.reference.startswith("earlier")), ""
                ):
                    return f"{_operation(result)}: {found}"
            case ProgramStarted(program=program):
                if names := [name for name in parse_source(program.text).names if name.startswith("earlier")]:
                    return names[0]
            case _:
                pass
    return ""


def _path(calls: Sequence[StepResult]) -> tuple[str, ...]:
    return tuple(_operation(call) + ("" if call.status == "ok" else f" ({call.status})") for call in calls)


def _operation(call: StepResult) -> str:
    return tool_id_parts(call.tool)[2]
