"""Dry run of a plan: its program is run without calling any tool, to show its calls, variables and answer.

Responses come from recorded calls, otherwise from the examples in the tools' documents. Where there is neither, the dry
run stops.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic.types import JsonValue

from agent.execution.executor import Executor
from agent.execution.validation import check_arguments
from agent.plans.plan_compilation import has_own_answer
from agent.policy.protocol import CallArguments, Policy
from agent.programs.analysis.instrumented_text import InstrumentedText, instrument_text
from agent.programs.open_values import NamedItemChooser, OpenValues
from agent.programs.program_types import (
    CallFailure,
    CellStop,
    LookRequest,
    PendingCalls,
    ProgramError,
    ReturnedValue,
    Sandbox,
    SandboxCall,
    SandboxSession,
)
from agent.programs.program_values import to_answer
from agent.programs.program_verdict import ProgramClaim, parse_claim
from agent.programs.value_previews import render_sample
from domain.errors import FootpathError
from domain.model import JsonObject
from domain.plan import StepResult
from domain.program import Program, ProgramPlan
from domain.python_source import find_line_starts
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId

MAX_SHOWN_RESPONSE = 2_000
"""Maximum number of characters of a response that are shown."""
EXAMPLE_NOTE = "the example in the tool's document; no such call is recorded"
"""Note on a response that is the example of the tool's document."""
MAX_DRY_RUN_CALLS = 200
"""Maximum number of calls of a dry run."""
DRY_RUN_SECONDS = 20.0
"""Time limit of a dry run."""
_MAX_VALUE_LENGTH = 160
"""Maximum number of characters of a variable's value."""
TryStatus = Literal["answered", "unknown", "missing"]
"""Outcome of a call in a dry run.

``unknown``: there is neither a recorded call nor an example. ``missing``: the call would fail for lack of a value.
"""


@dataclass(frozen=True, slots=True)
class TriedCall:
    """A call of a dry run, with what is known of its response."""

    step: int
    """Number of the call in the program, from 1."""
    line: int
    """Line of the call in the text, from 1."""
    column: int
    """Column of the call in characters, from 1."""
    function: str
    tool: ToolId
    arguments: JsonObject
    """Arguments by the tool's parameter names."""
    missing: tuple[str, ...] = ()
    """Required parameters for which no value would be found."""
    changes: bool = False
    """The call may have side effects."""
    status: TryStatus = "unknown"
    response: str = ""
    """Recorded response or the document's example, shortened."""
    note: str = ""
    """Source of the response, or the reason why the call would fail."""
    example: bool = False
    """The response is the example in the tool's document."""
    found: tuple[str, ...] = ()
    """Parameters that the plan leaves open and whose values were found."""
    held: str = ""
    """Variable that the response is assigned to; empty if there is none."""


@dataclass(slots=True)
class TriedLine:
    """A line that the dry run passed."""

    line: int
    times: int = 0
    """Number of times that the line was passed; for the head of a loop, its iterations."""
    values: dict[str, str] = field(default_factory=dict[str, str])
    """Values of the variables that the line sets, after its last pass, shortened."""


@dataclass(frozen=True, slots=True)
class DryRunResult:
    """Result of a dry run."""

    text: str
    """Text of the program."""
    calls: tuple[TriedCall, ...]
    lines: tuple[TriedLine, ...]
    says: ProgramClaim | None = None
    """The program's own answer; None if it did not reach one."""
    speaks: bool = True
    """The program has an answer of its own."""
    stopped: str = ""
    """Reason why the dry run stopped early; empty if it reached the end."""
    stopped_line: int = 0
    """Line of the stop; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class DryRunContext:
    """Everything that a dry run needs besides the plan."""

    request: str
    today: str
    docs: Mapping[ToolId, ToolDoc]
    """Documents of all tools that the program calls."""
    earlier_steps: Sequence[tuple[ToolId, StepResult | None]]
    """Tools of the earlier steps with their results; without a result, the document's example is used."""
    policy: Policy
    """Policy that finds the values that are left open."""
    recorded: Executor
    """Executor that answers from recordings and reaches no tool."""
    sandbox: Sandbox


async def simulate_plan(plan: ProgramPlan, context: DryRunContext) -> DryRunResult:
    """Run a checked plan dry, to its end or as far as responses are known."""
    return await _DryRun(plan, context).run()


class _DryRun:
    """The dry run of one plan; for one use."""

    def __init__(self, plan: ProgramPlan, context: DryRunContext) -> None:
        self._plan = plan
        self._program: Program = plan.program
        self._functions = {
            name: context.docs[tool] for name, tool in plan.program.tools.items() if tool in context.docs
        }
        self._context = context
        self._instrumented: InstrumentedText = instrument_text(plan.program.text)
        self._assigned_names = {
            (call.line, call.column): call.assigned_to
            for call in parse_source(plan.program.text).calls
            if call.assigned_to
        }
        self._lines: dict[int, TriedLine] = {}
        self._lines_passed = 0
        self._calls: list[TriedCall] = []
        self._earlier_results = tuple(
            (
                context.docs[tool],
                result or _build_successful_result(context.docs[tool], {}, context.docs[tool].example_response or ""),
            )
            for tool, result in context.earlier_steps
        )
        self._results: list[tuple[ToolDoc, StepResult]] = []
        self._open_values = OpenValues(context.request, context.policy, self._earlier_results)
        self._stopped = ""
        self._stopped_line = 0

    async def run(self) -> DryRunResult:
        """Run the program and return what happened."""
        answer = None
        item_chooser = NamedItemChooser(self._context.request, self._program, self._functions)

        def choose_item(items: JsonValue, place: int, back: int) -> JsonValue:
            return item_chooser(items, self._instrumented.to_original_position(place), back)

        try:
            async with (
                asyncio.timeout(DRY_RUN_SECONDS),
                self._context.sandbox.open_session(self._record_line, choose_item) as session,
            ):
                answer = self._read_end(await self._run_to_end(session))
        except TimeoutError:
            self._record_stop(f"going through it took more than {DRY_RUN_SECONDS:g} seconds")
        calls_by_line = Counter(call.line for call in self._calls)
        for line, times in calls_by_line.items():
            line_record = self._lines.setdefault(line, TriedLine(line))
            # A call on a later line of a statement has no line report of its own.
            line_record.times = line_record.times or times
        lines = tuple(self._lines[line] for line in sorted(self._lines))
        has_answer = has_own_answer(self._program)
        answer = answer if has_answer else None
        return DryRunResult(
            self._program.text, tuple(self._calls), lines, answer, has_answer, self._stopped, self._stopped_line
        )

    async def _run_to_end(self, session: SandboxSession) -> CellStop | None:
        """Run to the end and return how the program ended; None if the response of a call is unknown."""
        stop = await session.start(self._instrumented.text, self._build_inputs())
        while isinstance(stop, PendingCalls):
            answers = {call.id: await self._answer_call(call) for call in stop.calls}
            if self._stopped:
                return None
            stop = await session.resume(answers)
        return stop

    def _build_inputs(self) -> JsonObject:
        """Return the values of the variables with which the program starts."""
        results = [to_answer(doc, result) for doc, result in self._earlier_results]
        earlier_answers: list[JsonValue] = [answer for answer in results if not isinstance(answer, CallFailure)]
        defaults = {name: schema["default"] for name, schema in self._plan.inputs.items() if "default" in schema}
        return {"today": self._context.today, "earlier": earlier_answers, **defaults, **self._plan.values}

    def _read_end(self, stop: CellStop | None) -> ProgramClaim | None:
        """Return the program's answer, or record why it did not reach one."""
        match stop:
            case ReturnedValue(value):
                return parse_claim(value)
            # With more line reports than calls, a loop rather than its calls has used up the limit of the sandbox.
            case ProgramError("RuntimeError", lost=True) if self._lines and self._lines_passed > len(self._calls):
                busiest_line = max(self._lines.values(), key=lambda one: one.times)
                self._record_stop(
                    f"line {busiest_line.line} was gone through too often: {busiest_line.times:,} times",
                    busiest_line.line,
                )
            case ProgramError(kind, message, line):
                self._record_stop(f"it would break off: {kind}: {message}", self._instrumented.to_original_line(line))
            case LookRequest():
                self._record_stop("it looks at values here, and goes on with a text that is written then")
            case _:
                pass
        return None

    def _record_stop(self, why: str, line: int = 0) -> None:
        if not self._stopped:
            self._stopped, self._stopped_line = why, line

    def _record_line(self, line: int, names: JsonObject) -> None:
        """Record that a line was passed, with the values of the variables that it has set."""
        line_record = self._lines.setdefault(line, TriedLine(line))
        line_record.times += 1
        self._lines_passed += 1
        line_record.values |= {name: render_sample(value, _MAX_VALUE_LENGTH) for name, value in names.items()}

    async def _answer_call(self, call: SandboxCall) -> JsonValue | CallFailure:
        """Return the value or failure for a call; stop the dry run if its response is unknown."""
        line, column = self._locate_call(call)
        tool = self._functions.get(call.function)
        if tool is None:
            return self._answer_question(call, line)
        if len(self._calls) >= MAX_DRY_RUN_CALLS:
            self._record_stop(f"it makes more than {MAX_DRY_RUN_CALLS} calls", line)
            return None
        pending = TriedCall(len(self._calls) + 1, line, column, call.function, tool.id, {})
        trial = await self._try_call(call, tool, replace(pending, held=self._assigned_names.get((line, column), "")))
        self._calls.append(replace(trial, response=trial.response[:MAX_SHOWN_RESPONSE]))
        if not trial.response and trial.status == "missing":
            self._record_stop(f"{call.function}: {trial.note or 'a value that it needs would not be found'}", line)
        elif not trial.response and trial.status == "unknown":
            self._record_stop(f"nothing is known of what {call.function} answers: {trial.note}", line)
        result = _build_successful_result(tool, trial.arguments, trial.response)
        self._results.append((tool, result))
        return to_answer(tool, result)

    def _answer_question(self, call: SandboxCall, line: int) -> JsonValue | CallFailure:
        """Answer a question to the user with its first choice, because a dry run asks nobody."""
        choices = call.arguments.get("choices")
        if isinstance(choices, list) and choices:
            line_record = self._lines.setdefault(line, TriedLine(line))
            line_record.values["(your answer)"] = render_sample(choices[0], _MAX_VALUE_LENGTH)
            return str(choices[0])
        self._record_stop(f"{call.function} waits for an answer of yours", line)
        return None

    def _locate_call(self, call: SandboxCall) -> tuple[int, int]:
        """Return line and column of a call, both from 1, the column in characters."""
        place, starts = self._instrumented.to_original_position(call.start), find_line_starts(self._program.text)
        line = max(at for at, start in enumerate(starts, start=1) if start <= place)
        before = self._program.text.encode()[starts[line - 1] : place]
        return line, len(before.decode(errors="replace")) + 1

    async def _try_call(self, call: SandboxCall, tool: ToolDoc, trial: TriedCall) -> TriedCall:
        """Complete the arguments of a call and look up its response."""
        parameter_names = self._program.arguments.get(call.function, {})
        omittable = {entry.name for entry in tool.parameters if not entry.required and not entry.nullable}
        given_arguments = {parameter_names.get(name, name): value for name, value in call.arguments.items()}
        # None for an optional parameter that may not be null means that it is left out.
        found_arguments = CallArguments(
            {name: entry for name, entry in given_arguments.items() if entry is not None or name not in omittable}, ()
        )
        trial = replace(trial, changes=not tool.safe)
        if call.open_arguments:
            open_names = tuple(parameter_names.get(name, name) for name in sorted(call.open_arguments))
            found_arguments = await self._open_values.find_arguments(
                tool, found_arguments, open_names, tuple(self._results)
            )
            trial = replace(trial, found=tuple(name for name in open_names if name in found_arguments.values))
        arguments, faults = check_arguments(tool, found_arguments.values)
        example = tool.example_response or ""
        if found_arguments.missing or faults:
            why = found_arguments.reason if found_arguments.missing else " ".join(message for _, message in faults)
            trial = replace(trial, status="missing", missing=found_arguments.missing, note=why, response=example)
            return replace(trial, arguments=arguments, example=bool(example))
        body, status, note = await _look_up_answer(tool, arguments, self._context.recorded)
        return replace(
            trial,
            arguments=arguments,
            status=status,
            response=body,
            note=note,
            example=bool(body) and note == EXAMPLE_NOTE,
        )


async def _look_up_answer(tool: ToolDoc, arguments: JsonObject, recorded: Executor) -> tuple[str, TryStatus, str]:
    """Return the response body of a call, its status, and a note on its source."""
    try:
        result = await recorded.call(tool, arguments)
    except FootpathError as error:
        note = error.public_message
    else:
        if result.outcome == "ok":
            return result.body, "answered", result.note
        note = result.note
    if tool.example_response:
        return tool.example_response, "answered", EXAMPLE_NOTE
    return "", "unknown", note


def _build_successful_result(tool: ToolDoc, arguments: JsonObject, body: str) -> StepResult:
    return StepResult(tool=tool.id, arguments=arguments, status="ok", response=body)
