"""Execution of a path of tools step by step, and of the single calls that programs make as well."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from agent.compression.field_selection import FieldChoices
from agent.compression.markup_text import replace_surrogates
from agent.compression.response_compression import CompressedResponse, compress_response
from agent.execution.call_identity import is_different_json
from agent.execution.error_bodies import is_empty_response
from agent.execution.executor import CallResult, Executor
from agent.execution.validation import validate_arguments
from agent.failure_message import TRIED_BEFORE_NOTE
from agent.policy.protocol import ArgumentsQuestion, CallArguments, Policy
from agent.run_events import EmitEvent
from agent.text import format_scalar
from domain.errors import ExcludedCallError, ForbiddenAddressError, InvalidArgumentsError, NotAllowedError
from domain.event import CallFinished, CallStarted, Event, ResponseCompressed
from domain.model import JsonObject
from domain.plan import CORRECTED, Binding, CallOutcome, StepResult, StepStatus
from domain.tool import ToolDoc

MAX_ARGUMENT_ANSWERS = 3
"""Number of times the policy may answer for one step's arguments, the first answer included."""

OUT_OF_TIME_NOTE = "the budget's time was used up during this step"
_MAX_SHOWN_ARGUMENTS = 400
"""Characters of a call's arguments in a complaint."""
_STATUS_BY_OUTCOME: dict[CallOutcome, StepStatus] = {
    "ok": "ok",
    "transient": "failed",
    "gone": "failed",
    "absent": "failed",
    "undecided": "failed",
    "refused": "failed",
    "unreached": "failed",
    "caller_fault": "failed",
    "unknown": "unknown",
}

TimeLimiter = Callable[[], AbstractAsyncContextManager[None]]
"""Returns a context manager that raises ``TimeoutError`` when the run's time is used up inside it."""


async def execute_steps(
    request: str,
    tools: Sequence[ToolDoc],
    policy: Policy,
    executor: Executor,
    known_results: Mapping[int, StepResult],
    emit: EmitEvent,
    *,
    field_choices: FieldChoices | None = None,
    limit_time: TimeLimiter = nullcontext,
) -> None:
    """Execute a path of tools until a step does not succeed.

    Steps are numbered from 1, in events, in ``known_results`` and in references such as ``2.items[0].lat``. Each step emits
    ``CallStarted`` if a call is made, then ``CallFinished``, and ``ResponseCompressed`` if the long response of an
    ``ok`` step was shortened. A safe call that an ``ok`` step already made with the same arguments is answered from
    that step, with ``attempts`` 0 and a note.

    Execution ends after the first step whose status is not ``ok``: a required argument is ``missing``, the call
    ``failed`` or was not allowed by its user (``skipped``), or the answer of a write was lost (``unknown``).

    ``known_results`` holds the results of steps that are not executed again, by step. They emit nothing, and only ``ok`` ones
    supply values to later steps. ``field_choices`` holds known choices of response fields, for compression. ``limit_time``
    limits the time of each step: one that runs out of it has failed, or is ``unknown`` if it may have changed
    something.
    """
    path = _PathExecution(request, tools, policy, executor, emit, field_choices or FieldChoices(), limit_time)
    for step in range(1, len(tools) + 1):
        if step in known_results:
            path.results[step] = known_results[step]
        elif not await path.execute_step(step):
            return


class _PathExecution:
    """Execution of one path; ``results`` holds the results of its steps so far, by step."""

    def __init__(
        self,
        request: str,
        tools: Sequence[ToolDoc],
        policy: Policy,
        executor: Executor,
        emit: EmitEvent,
        field_choices: FieldChoices,
        limit_time: TimeLimiter,
    ) -> None:
        self._request = request
        self._tools = tools
        self._policy = policy
        self._executor = executor
        self._emit = emit
        self._field_choices = field_choices
        self._limit_time = limit_time
        self.results: dict[int, StepResult] = {}

    async def execute_step(self, step: int) -> bool:
        """Execute one step and return whether it succeeded."""
        tool, attempts = self._tools[step - 1], list[StepResult]()
        started: CallStarted | None = None
        try:
            prepared = await self._prepare(step)
            while not isinstance(prepared, StepResult):
                repeated_step = _find_same_call(tool, prepared.values, self.results)
                if repeated_step is None:
                    arguments, provenance = prepared.values, prepared.provenance
                    started = CallStarted(step=step, tool=tool.id, arguments=arguments, provenance=provenance)
                    await self._emit(started)
                    async with self._limit_time():
                        attempts.append(await execute_call(tool, prepared, self._executor))
                else:
                    attempts.append(_reuse_result(repeated_step, self.results[repeated_step], prepared))
                complaint = _build_retry_complaint(tool, attempts[-1]) if len(attempts) < MAX_ARGUMENT_ANSWERS else ""
                prepared = await self._prepare(step, complaint) if complaint else attempts[-1]
                if not isinstance(prepared, StepResult) and any(
                    prepared.values == attempt.arguments for attempt in attempts
                ):
                    break
            result = _select_best_attempt(tool, attempts) if attempts else prepared
            assert isinstance(result, StepResult)  # noqa: S101  # nothing was tried only where nothing could be prepared
            return await self._emit_result(step, tool, result, was_called=bool(attempts))
        except TimeoutError:
            await self._emit(_build_out_of_time_event(step, tool, started))
            return False

    async def _prepare(self, step: int, complaint: str = "") -> CallArguments | StepResult:
        async with self._limit_time():
            return await _prepare_arguments(self._request, step, self._tools, self.results, self._policy, complaint)

    async def _emit_result(self, step: int, tool: ToolDoc, result: StepResult, *, was_called: bool) -> bool:
        """Emit the result of a step, and how a long response was shortened; return whether the step succeeded."""
        compressed = None
        if was_called:
            compression_policy = self._policy if result.status == "ok" else None
            try:
                async with self._limit_time():
                    compressed = await compress_response(tool, result.response, compression_policy, self._field_choices)
            except TimeoutError:
                # The call was answered, so its result stands. Without time for a model, no policy selects the fields.
                compressed = await compress_response(tool, result.response, None, self._field_choices)
        self.results[step] = result = (
            result.model_copy(update={"compressed": compressed.text}) if compressed else result
        )
        await self._emit(CallFinished(step=step, result=result))
        if compressed and result.status == "ok":
            await self._emit(build_compression_event(step, tool, compressed))
        return result.status == "ok"


def _build_retry_complaint(tool: ToolDoc, result: StepResult) -> str:
    """Return a complaint about a safe call that found nothing or was refused for its arguments, else an empty text.

    The statuses 400, 404 and 422 count as refusals; the policy is asked again with the complaint.
    """
    if not tool.safe:
        return ""
    shown_arguments = format_scalar(result.arguments, _MAX_SHOWN_ARGUMENTS)
    if result.status == "ok":
        return (
            f"The call found nothing; it was asked with {shown_arguments}."
            if is_empty_response(result.response)
            else ""
        )
    return (
        f"The call with {shown_arguments} was refused: {result.note}" if result.http_status in (400, 404, 422) else ""
    )


def _select_best_attempt(tool: ToolDoc, attempts: Sequence[StepResult]) -> StepResult:
    """Return the last attempt if it found something, else the first; the note names the arguments tried before."""
    best = attempts[-1] if not _build_retry_complaint(tool, attempts[-1]) else attempts[0]
    if len(attempts) == 1 or best is attempts[0]:
        return best
    earlier_arguments = "; ".join(json.dumps(attempt.arguments, ensure_ascii=False)[:80] for attempt in attempts[:-1])
    return best.model_copy(update={"note": f"{best.note} {TRIED_BEFORE_NOTE} {earlier_arguments}".strip()})


async def _prepare_arguments(
    request: str,
    step: int,
    tools: Sequence[ToolDoc],
    results: Mapping[int, StepResult],
    policy: Policy,
    complaint: str = "",
) -> CallArguments | StepResult:
    """Return valid arguments, or the result of a step that cannot be called.

    The policy is asked again, with the complaint, when its arguments are not valid.
    """
    tool = tools[step - 1]
    earlier = tuple((tools[number - 1], results[number]) for number in sorted(results))
    answer = CallArguments({}, ())
    for _ in range(MAX_ARGUMENT_ANSWERS):
        question = ArgumentsQuestion(request, tool, earlier, later=tuple(tools[step:]), complaint=complaint)
        previous, answer = answer, await policy.decide(question)
        if answer.missing:
            note = answer.reason or f"No value was found for: {', '.join(answer.missing)}."
            return _build_uncalled_result(tool, answer, "missing", note)
        try:
            return CallArguments(validate_arguments(tool, answer.values), answer.provenance)
        except InvalidArgumentsError as error:
            if complaint and answer.values == previous.values:
                break
            complaint = str(error)
    return _build_uncalled_result(tool, answer, "failed", complaint)


async def rebuild_compression_event(
    last_event: Event | None, tools: Sequence[ToolDoc], policy: Policy, field_choices: FieldChoices
) -> ResponseCompressed | None:
    """Return the compression event that an interrupted run had yet to emit; None if its ``last_event`` event needs none."""
    if not isinstance(last_event, CallFinished) or last_event.result.status != "ok" or not last_event.result.compressed:
        return None
    tool = tools[last_event.step - 1]
    compressed = await compress_response(tool, last_event.result.response, policy, field_choices)
    return build_compression_event(last_event.step, tool, compressed) if compressed else None


def build_compression_event(step: int, tool: ToolDoc, compressed: CompressedResponse) -> ResponseCompressed:
    """Build the event that reports how a step's long response was shortened."""
    return ResponseCompressed(
        step=step,
        tool=tool.id,
        fields=compressed.fields,
        before=compressed.before,
        after=len(compressed.text),
        cut=compressed.cut,
    )


def _build_uncalled_result(tool: ToolDoc, answer: CallArguments, status: StepStatus, note: str) -> StepResult:
    return StepResult(tool=tool.id, arguments=answer.values, provenance=answer.provenance, status=status, note=note)


def _find_same_call(tool: ToolDoc, arguments: JsonObject, results: Mapping[int, StepResult]) -> int | None:
    """Return the number of a step that made the same safe call with success; None if there is none."""
    if not tool.safe:
        return None
    canonical = _to_canonical_json(arguments)
    return next(
        (
            step
            for step, result in results.items()
            if result.tool == tool.id and result.status == "ok" and _to_canonical_json(result.arguments) == canonical
        ),
        None,
    )


def _to_canonical_json(arguments: JsonObject) -> str:
    return json.dumps(arguments, sort_keys=True)


def _reuse_result(step: int, earlier: StepResult, prepared: CallArguments) -> StepResult:
    note = f"The same call as step {step}; answered from it."
    return earlier.model_copy(update={"provenance": prepared.provenance, "attempts": 0, "seconds": 0.0, "note": note})


async def execute_call(tool: ToolDoc, prepared: CallArguments, executor: Executor, identity: str = "") -> StepResult:
    """Make one call and return its step result, whatever the outcome.

    Errors that are due neither to the tool, nor to its arguments, nor to a missing permission are raised.
    """
    started = time.perf_counter()
    try:
        call_result = await executor.call(tool, prepared.values, identity)
    except NotAllowedError as error:
        left_out = isinstance(error, ExcludedCallError)
        return _build_uncalled_result(tool, prepared, "skipped", str(error)).model_copy(update={"left_out": left_out})
    except (ForbiddenAddressError, InvalidArgumentsError) as error:
        call_result = CallResult("caller_fault", "", attempts=0, note=str(error))
    arguments = prepared.values if call_result.corrected is None else call_result.corrected
    return StepResult(
        tool=tool.id,
        arguments=arguments,
        provenance=(*_rebind_corrected_arguments(prepared, arguments), *call_result.secrets),
        intended=prepared.values if call_result.corrected is not None else None,
        status=_STATUS_BY_OUTCOME[call_result.outcome],
        outcome=call_result.outcome,
        attempts=call_result.attempts,
        http_status=call_result.http_status,
        response=replace_surrogates(call_result.body),
        note=replace_surrogates(call_result.note),
        instead=call_result.instead,
        seconds=time.perf_counter() - started,
        changes=not tool.safe,
    )


def _rebind_corrected_arguments(prepared: CallArguments, sent_arguments: JsonObject) -> tuple[Binding, ...]:
    """Return the bindings of the sent arguments, with those that the user corrected bound to the user."""
    changed = [name for name in sent_arguments if is_different_json(sent_arguments[name], prepared.values.get(name))]
    unchanged = (
        binding
        for binding in prepared.provenance
        if binding.parameter in sent_arguments and binding.parameter not in changed
    )
    return (*unchanged, *(Binding(parameter=name, origin="user", reference=CORRECTED) for name in changed))


def _build_out_of_time_event(step: int, tool: ToolDoc, started: CallStarted | None) -> CallFinished:
    """Build the event of a step that ran out of time; a write that had started is ``unknown``."""
    may_have_changed = started is not None and not tool.safe
    result = StepResult(
        tool=tool.id,
        arguments=started.arguments if started else {},
        provenance=started.provenance if started else (),
        status="unknown" if may_have_changed else "failed",
        note=OUT_OF_TIME_NOTE,
    )
    return CallFinished(step=step, result=result)
