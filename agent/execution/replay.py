"""Executor that answers from recorded calls and notes how the recorded call differs from the requested one."""

import time
from dataclasses import replace

from agent.execution.call_similarity import (
    compute_argument_similarity,
    describe_differences,
    find_differing_values,
    has_usable_answer,
    normalize_arguments,
    parse_recorded_arguments,
)
from agent.execution.error_bodies import classify_error_message, find_error_message, is_binary_text
from agent.execution.executor import CallResult
from domain.model import JsonObject
from domain.plan import CallOutcome
from domain.tool import ToolDoc
from domain.trajectory import RecordedCall, RecordedOutcome
from graph.recordings import RecordingStore

_MAX_COMPARED = 600
"""Most recorded calls of one tool that are compared."""

_OUTCOME_OF_RECORDING: dict[RecordedOutcome, CallOutcome] = {
    RecordedOutcome.OK: "ok",
    RecordedOutcome.UNKNOWN: "ok",
    RecordedOutcome.FAILED: "transient",
    RecordedOutcome.CALLER_FAULT: "caller_fault",
}


class ReplayExecutor:
    """Answers a call with a recorded call of the same arguments, else with the tool's most similar successful one.

    Arguments are the same if they are equal apart from order and the types their values are written in; of several such
    recordings, a successful one is preferred. Otherwise the recording with the greatest
    :func:`agent.execution.call_similarity.compute_argument_similarity` answers, the earlier one if two are equal. If it is below
    ``floor``, the recorded call was about something else, and the call fails.

    ``FAILED`` is replayed as ``transient``. A recording of unknown outcome counts as an answer unless its body is an
    error or binary.
    """

    name = "replay"

    def __init__(self, recordings: RecordingStore, *, floor: float = 0.3) -> None:
        self._recordings = recordings
        self._floor = floor

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:  # noqa: ARG002  # each call is answered
        """Answer from the recordings; the outcome is ``caller_fault`` if no recording is close enough."""
        started = time.perf_counter()
        calls = await self._recordings.list_calls(tool.id)
        normalized = normalize_arguments(arguments)
        differing_values: JsonObject = {}
        exact = [call for call in calls if normalize_arguments(parse_recorded_arguments(call.arguments)) == normalized]
        if exact:
            recorded_call = next((call for call in exact if has_usable_answer(call)), exact[0])
            note = "recorded call with the same arguments"
        else:
            nearest = _find_nearest(arguments, calls)
            if nearest is None:
                return _build_none_recorded_result(tool, len(calls), time.perf_counter() - started)
            recorded_call, similarity = nearest
            if similarity < self._floor:
                return _build_too_different_result(tool, similarity, time.perf_counter() - started)
            differing_values = find_differing_values(arguments, parse_recorded_arguments(recorded_call.arguments))
            difference = describe_differences(arguments, parse_recorded_arguments(recorded_call.arguments))
            note = f"nearest recorded call of this API (similarity {similarity:.2f}), not this one: {difference}"
        return _build_result(
            recorded_call,
            CallResult(
                _OUTCOME_OF_RECORDING[recorded_call.outcome],
                recorded_call.response,
                note=note,
                instead=differing_values,
            ),
            time.perf_counter() - started,
        )

    async def close(self) -> None:
        """Do nothing: the recordings belong to the caller."""


def _find_nearest(arguments: JsonObject, calls: list[RecordedCall]) -> tuple[RecordedCall, float] | None:
    best: tuple[RecordedCall, float] | None = None
    for call in [call for call in calls if has_usable_answer(call)][:_MAX_COMPARED]:
        similarity = compute_argument_similarity(arguments, parse_recorded_arguments(call.arguments))
        if best is None or similarity > best[1]:
            best = (call, similarity)
    return best


def _build_result(call: RecordedCall, result: CallResult, seconds: float) -> CallResult:
    """Complete the result; a recorded success whose body is binary or an error becomes a failure."""
    if not call.outcome.failed and is_binary_text(call.response):
        return replace(
            result, outcome="caller_fault", body="", note=f"{result.note}; a binary response", seconds=seconds
        )
    if not call.outcome.failed and (error_message := find_error_message(call.response)):
        note = f"{result.note}; its answer is an error: {error_message}"
        return replace(result, outcome=classify_error_message(error_message), note=note, seconds=seconds)
    return replace(result, seconds=seconds)


def _build_too_different_result(tool: ToolDoc, similarity: float, seconds: float) -> CallResult:
    note = f"no recorded call of {tool.api} is like this one (the nearest: similarity {similarity:.2f}); use --executor http"
    return CallResult("caller_fault", "", attempts=0, note=note, seconds=seconds)


def _build_none_recorded_result(tool: ToolDoc, failed_count: int, seconds: float) -> CallResult:
    had = f"only {failed_count} failed ones" if failed_count else "none"
    note = f"no successful recorded call of {tool.api} exists (there are {had}); build the store with --calls, or use --executor http"
    return CallResult("caller_fault", "", attempts=0, note=note, seconds=seconds)
