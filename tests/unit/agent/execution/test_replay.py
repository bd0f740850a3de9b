"""Answers from recorded calls: the same arguments, the nearest, none."""

from collections.abc import AsyncIterator, Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.execution.call_similarity import (
    compute_argument_similarity,
    describe_differences,
    normalize_arguments,
    parse_recorded_arguments,
)
from agent.execution.replay import ReplayExecutor
from domain.tool import ToolDoc, ToolId, make_tool_id
from domain.trajectory import RecordedCall, RecordedOutcome

TOOL = ToolDoc(
    id=make_tool_id("Weather", "sky", "forecast"),
    category="Weather",
    toolset="sky",
    api="forecast",
    function="forecast",
)


def recorded(arguments: str, response: str, outcome: RecordedOutcome = RecordedOutcome.OK) -> RecordedCall:
    return RecordedCall("Weather", "sky", "forecast", arguments, response, outcome)


class Kept:
    """Recordings in a list."""

    def __init__(self, *calls: RecordedCall) -> None:
        self.calls = list(calls)

    async def setup(self) -> None: ...

    async def add(self, key: str, calls: Sequence[tuple[ToolId, RecordedCall]]) -> bool:
        self.calls += [call for _, call in calls]
        return bool(key)

    async def forget(self, tools: Iterable[ToolId]) -> None:
        self.calls = [] if TOOL.id in tools else self.calls

    async def list_calls(self, tool: ToolId) -> list[RecordedCall]:
        return self.calls if tool == TOOL.id else []

    async def iterate_batches(self) -> AsyncIterator[tuple[str, list[tuple[ToolId, RecordedCall]]]]:
        yield "k", [(TOOL.id, call) for call in self.calls]

    async def count(self) -> int:
        return len(self.calls)

    async def close(self) -> None: ...


@pytest.mark.parametrize(
    "text",
    ["{'city': 'Paris', 'days': 3}", '{"days": "3", "city": "Paris"}', '{"city": "Paris", "days": 3.0, "x": null}'],
)
async def test_the_same_arguments_in_any_order_and_form(text: str) -> None:
    executor = ReplayExecutor(Kept(recorded("{'city': 'Rome'}", "rome"), recorded(text, "paris")))
    result = await executor.call(TOOL, {"city": "Paris", "days": 3})
    assert (result.outcome, result.body, result.note) == ("ok", "paris", "recorded call with the same arguments")


async def test_a_success_is_preferred_among_recordings_of_the_same_call() -> None:
    executor = ReplayExecutor(Kept(recorded("{}", "busy", RecordedOutcome.FAILED), recorded("{}", "fine")))
    assert (await executor.call(TOOL, {})).body == "fine"


@pytest.mark.parametrize(
    ("outcome", "replayed"),
    [
        (RecordedOutcome.FAILED, "transient"),
        (RecordedOutcome.CALLER_FAULT, "caller_fault"),
        (RecordedOutcome.UNKNOWN, "ok"),
    ],
)
async def test_what_a_recorded_failure_becomes(outcome: RecordedOutcome, replayed: str) -> None:
    assert (await ReplayExecutor(Kept(recorded("{}", "x", outcome))).call(TOOL, {})).outcome == replayed


async def test_the_nearest_success_says_how_it_differs() -> None:
    kept = Kept(
        recorded("{'city': 'Reykjavik', 'days': 1}", "far"),
        recorded("{'city': 'Paris', 'days': 5, 'unit': 'C'}", "near"),
        recorded("{'city': 'Paris', 'days': 4}", "failed", RecordedOutcome.FAILED),
    )
    result = await ReplayExecutor(kept).call(TOOL, {"city": "Paris", "days": 3})
    assert (result.outcome, result.body) == ("ok", "near")
    assert "not this one: days: 5 instead of 3; with unit 'C'" in result.note


async def test_a_recording_of_something_else_is_no_answer() -> None:
    executor = ReplayExecutor(Kept(recorded("{'city': 'Reykjavik'}", "far")))
    result = await executor.call(TOOL, {"city": "Paris"})
    assert (result.outcome, result.body, result.attempts) == ("caller_fault", "", 0)
    assert "no recorded call of forecast is like this one (the nearest: similarity 0.00)" in result.note
    assert (
        await ReplayExecutor(Kept(recorded("{'city': 'Reykjavik'}", "far")), floor=0).call(TOOL, {"city": "Paris"})
    ).body == "far"


@pytest.mark.parametrize("response", ['{"error": "city not found"}', "\ufffdPNG\r\n\x1a\n\0\0\0"])
async def test_an_error_or_bytes_recorded_as_a_success_are_no_answer(response: str) -> None:
    exact = await ReplayExecutor(Kept(recorded("{'city': 'Rome'}", response))).call(TOOL, {"city": "Rome"})
    assert exact.outcome == "caller_fault"
    assert "city not found" in exact.note or (exact.body, exact.note[-17:]) == ("", "a binary response")
    other = Kept(recorded("{'city': 'Rome'}", response), recorded("{'city': 'Romeo'}", "fine"))
    assert (await ReplayExecutor(other).call(TOOL, {"city": "Roma"})).body == "fine"


async def test_no_recording_is_said() -> None:
    executor = ReplayExecutor(Kept(recorded("{'a': 1}", "x", RecordedOutcome.CALLER_FAULT)))
    result = await executor.call(TOOL, {"a": 2})
    assert (result.outcome, result.body, result.attempts) == ("caller_fault", "", 0)
    assert "no successful recorded call of forecast exists (there are only 1 failed ones)" in result.note


values = st.recursive(
    st.none() | st.integers() | st.text(max_size=20), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
mappings = st.dictionaries(st.text(max_size=8), values, max_size=5)


@given(mappings, mappings)
def test_similarity_is_symmetric_bounded_and_one_for_equals(
    first: dict[str, object], second: dict[str, object]
) -> None:
    one, other = parse_recorded_arguments(repr(first)), parse_recorded_arguments(repr(second))
    assert 0.0 <= compute_argument_similarity(one, other) <= 1.0
    assert compute_argument_similarity(one, one) == 1.0
    if normalize_arguments(one) == normalize_arguments(other):
        assert compute_argument_similarity(one, other) == 1.0
        assert describe_differences(one, other) == ""
