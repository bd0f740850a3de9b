"""Verdicts on answers: whether a run's answer is right, and if not, why.

An answer is right if the outcome is ``answered``, every expected value is in the answer, and every expected value is in the response
of a call that succeeded in this run, so that nothing is guessed, remembered or invented; for computed values, the values that they are
computed from must be in responses. If a request cannot be answered, the run must say so and invent nothing. Where the changes of a run
are known, they must be those that were asked for, each once.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic.types import JsonValue

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
from domain.tool import split_tool_id
from domain.usage import Usage
from evaluation.clarification import ClarificationQuestion
from evaluation.dates import states_date
from evaluation.evaluation_cases import EvaluationCase, ExpectedValues, ServiceChange
from evaluation.recovery import find_dead_operations
from evaluation.values import (
    find_numbers,
    response_has_day,
    response_has_number,
    response_has_text,
    states_number,
    states_text,
)


def compare_changes(expected: Sequence[ServiceChange], actual: Sequence[ServiceChange]) -> tuple[list[str], list[str]]:
    """Return the missing and the unwanted changes in words; each change matches at most one other.

    Those with most arguments choose first: a change of which little matters must not take what another needs.
    """
    unmatched = list(actual)
    missing: list[str] = []
    for change in sorted(expected, key=lambda one: -len(one.arguments)):
        counterpart = next((one for one in unmatched if _is_fulfilled(change, one)), None)
        if counterpart is None:
            missing.append(_describe_change(change))
        else:
            unmatched.remove(counterpart)
    return missing, [_describe_change(one) for one in unmatched]


def _is_fulfilled(expected: ServiceChange, actual: ServiceChange) -> bool:
    """Return whether it is the same operation with all arguments that matter; other arguments are free."""
    return expected.operation == actual.operation and all(
        _is_equivalent(value, actual.arguments.get(name)) for name, value in expected.arguments.items()
    )


def _is_equivalent(expected: JsonValue, actual: JsonValue) -> bool:
    """Return whether two values are equivalent.

    Texts may differ in case, blanks and the last mark, times in zero seconds, lists in order; further fields of an object are free.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(_is_equivalent(value, actual.get(name)) for name, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        rest = list(actual)
        for value in expected:
            place = next((at for at, item in enumerate(rest) if _is_equivalent(value, item)), None)
            if place is None:
                return False
            rest.pop(place)
        return not rest
    if isinstance(expected, str) and isinstance(actual, str):
        return _normalize_text(expected) == _normalize_text(actual)
    return expected == actual


def _normalize_text(text: str) -> str:
    return re.sub(r"(T\d\d:\d\d):00$", r"\1", " ".join(text.split())).rstrip(".!").casefold()


def _describe_change(change: ServiceChange) -> str:
    values = ", ".join(f"{name}={value}" for name, value in change.arguments.items())
    return f"{change.operation}({values})"


def find_invented_numbers(answer: str, request: str, responses: Sequence[str]) -> list[str]:
    """Return the numbers of an answer that are neither in the request nor in a response, and count no returned list."""
    counted = {0, len(responses), *(n for response in responses for n in _find_list_lengths(response))}
    return [
        f"{number:.10g}"
        for number in dict.fromkeys(find_numbers(answer))
        if number not in counted
        and not states_number(request, number, 0)
        and not any(response_has_number(response, number, 0) for response in responses)
    ]


def _find_list_lengths(response: str) -> Iterator[int]:
    """Yield the length of every list in a JSON response."""
    try:
        todo: list[JsonValue] = [json.loads(response)]
    except ValueError:
        return
    while todo:
        match todo.pop():
            case list() as items:
                yield len(items)
                todo += items
            case dict() as fields:
                todo += fields.values()
            case _:
                pass


MAX_ANSWER = 2_000
"""Characters. An answer that repeats everything the services know would hold any value."""

Cause = Literal[
    "run failed", "unasked change", "wrong change", "budget", "other outcome", "value invented", "gave up", "argument missing", "failed call", "wrong tool first", "not called", "wrong value",
    "answer lacks value", "value not from a response", "answer too long", "answered the unanswerable", "used what was before",
]  # fmt: skip
"""Why an answer is wrong."""


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """The verdict on one run."""

    case: EvaluationCase
    cause: Cause | None
    """Why the answer is wrong; None: it is right."""
    detail: str
    """What is wrong, in words; empty if nothing is."""
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
    questions: tuple[ClarificationQuestion, ...] = ()
    """Questions that the run asked its user."""

    @property
    def called(self) -> tuple[str, ...]:
        """The operations that answered, each once."""
        return tuple(dict.fromkeys(name for name in self.path if " " not in name))

    @property
    def right(self) -> bool:
        """True if nothing is wrong with the answer."""
        return self.cause is None


def judge(
    case: EvaluationCase,
    events: Sequence[Event],
    effects: Sequence[str] | None = None,
    changes: Sequence[ServiceChange] | None = None,
    earlier_calls: Sequence[StepResult] = (),
    questions: Sequence[ClarificationQuestion] = (),
) -> AnswerVerdict:
    """Return the verdict on a finished run.

    Args:
        case: the request with its expected values.
        events: the events of the run.
        effects: the operations that changed something in it; None: unknown.
        changes: its changes with their arguments; None: unknown.
        earlier_calls: the calls of earlier turns, whose responses count as the run's own.
        questions: the questions that it asked its user.
    """
    own = [event.result for event in events if isinstance(event, CallFinished)]
    calls = [*(one for one in earlier_calls if one.status == "ok"), *own]
    end = next((event for event in events if isinstance(event, RunFinished)), None)
    if end is None:
        return AnswerVerdict(
            case, "run failed", "the run has no end", "", _format_path(own), Usage(), questions=tuple(questions)
        )
    cause, detail = _judge_answerable(case, calls, end) if case.answerable else _judge_unanswerable(case, calls, end)
    if cause is None and case.fresh and (earlier_use := _find_earlier_use(events)):
        cause, detail = "used what was before", earlier_use
    wrong = _find_wrong_changes(case, effects, changes)
    if wrong:
        cause, detail = wrong
    fell_back = any(isinstance(event, PolicyFellBack) for event in events)
    return AnswerVerdict(
        case, cause, detail, end.answer, _format_path(own), end.usage, fell_back, find_dead_operations(events),
        sum(isinstance(event, ProgramFailed) or (isinstance(event, ProgramRefused) and event.text != "") for event in events),
        sum(isinstance(event, ProgramLooked) for event in events), tuple(questions),
    )  # fmt: skip


def _find_wrong_changes(
    case: EvaluationCase, effects: Sequence[str] | None, changes: Sequence[ServiceChange] | None
) -> tuple[Cause, str] | None:
    if changes is None:
        unasked = Counter(effects or ()) - Counter((*case.effects, *(change.operation for change in case.changes)))
        return ("unasked change", ", ".join(sorted(unasked.elements()))) if unasked else None
    expected_changes = (*case.changes, *(ServiceChange(operation=name) for name in case.effects))
    missing, unasked = compare_changes(expected_changes, changes)
    if unasked:
        return "unasked change", ", ".join(unasked)
    return ("wrong change", f"not made: {', '.join(missing)}") if missing else None


def find_absent_from_answer(expected: ExpectedValues, answer: str) -> list[str]:
    """Return the expected values that an answer does not state."""
    numbers = [
        f"{n:.10g}"
        for n in expected.numbers
        if not states_number(answer, n, expected.tolerance, rounded=expected.computed)
    ]
    texts = [texts[0] for texts in expected.texts if not any(states_text(answer, wanted) for wanted in texts)]
    return [*numbers, *texts, *(str(day) for day in expected.dates if not states_date(answer, day))]


def find_absent_from_responses(expected: ExpectedValues, responses: Sequence[str]) -> list[str]:
    """Return the expected values that no response holds; of computed values, the evidence that none holds."""
    if expected.computed:
        return [text for text in expected.evidence if not _is_in_responses(text, responses)]
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


def _is_in_responses(text: str, responses: Sequence[str]) -> bool:
    return any(response_has_text(response, text) for response in responses)


def _judge_unanswerable(case: EvaluationCase, calls: list[StepResult], end: RunFinished) -> tuple[Cause | None, str]:
    if end.outcome == "answered":
        return "answered the unanswerable", ""
    if end.outcome == "budget":
        return "budget", end.error
    if end.outcome not in ("gave_up", "partly"):
        return "run failed", end.error or end.outcome
    if end.outcome == "gave_up":  # the text is then about the run itself, so its numbers are not checked
        return None, ""
    made_up = find_invented_numbers(end.answer, case.request, [call.response for call in calls if call.status == "ok"])
    return ("value invented", ", ".join(made_up)) if made_up else (None, "")


def _judge_answerable(case: EvaluationCase, calls: list[StepResult], end: RunFinished) -> tuple[Cause | None, str]:
    if end.outcome == "answered" if case.partly else end.outcome == "partly":
        return "other outcome", end.outcome
    if end.outcome not in ("answered", "partly"):
        return _explain_no_answer(calls, end)
    if len(end.answer) > MAX_ANSWER:
        return "answer too long", f"{len(end.answer)} characters"
    unstated = find_absent_from_answer(case.expect, end.answer)
    good = [call for call in calls if call.status == "ok"]
    unfounded = find_absent_from_responses(case.expect, [call.response for call in good])
    made_up = [value for value in unfounded if value not in unstated]
    if made_up and not (case.expect.computed and unstated):
        return "value not from a response", ", ".join(made_up)
    if unfounded:
        return _explain_missing_value(case, calls, good)
    return ("answer lacks value", ", ".join(unstated)) if unstated else (None, "")


def _explain_no_answer(calls: list[StepResult], end: RunFinished) -> tuple[Cause, str]:
    if end.outcome == "budget":
        return "budget", end.error
    if end.outcome != "gave_up":
        return "run failed", end.error or end.outcome
    last = calls[-1] if calls else None
    if last is None or last.status == "ok":
        return "gave up", ""
    cause: Cause = "argument missing" if last.status == "missing" else "failed call"
    return cause, f"{_get_operation(last)}: {last.note or last.http_status or last.status}"


def _explain_missing_value(case: EvaluationCase, calls: list[StepResult], good: list[StepResult]) -> tuple[Cause, str]:
    """Explain why no response holds a value: other tools than needed, or the right ones with other arguments."""
    expected_operations = {call.operation for call in case.calls}
    if not expected_operations:
        return "wrong value", ""
    if calls and _get_operation(calls[0]) not in expected_operations:
        return "wrong tool first", _get_operation(calls[0])
    uncalled = expected_operations - {_get_operation(call) for call in good}
    return ("not called", ", ".join(sorted(uncalled))) if uncalled else ("wrong value", "")


def _find_earlier_use(events: Sequence[Event]) -> str:
    """Return the first use of what the conversation found before; empty if there is none."""
    for event in events:
        match event:
            case CallFinished(result=result):
                if reference := next(
                    (one.reference for one in result.provenance if one.reference.startswith("earlier")), ""
                ):
                    return f"{_get_operation(result)}: {reference}"
            case ProgramStarted(program=program):
                if names := [name for name in parse_source(program.text).names if name.startswith("earlier")]:
                    return names[0]
            case _:
                pass
    return ""


def _format_path(calls: Sequence[StepResult]) -> tuple[str, ...]:
    return tuple(_get_operation(call) + ("" if call.status == "ok" else f" ({call.status})") for call in calls)


def _get_operation(call: StepResult) -> str:
    return split_tool_id(call.tool)[2]
