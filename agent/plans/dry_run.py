"""Dry run of a program without calling any tool: its calls and answers, the values of its names, its own answer.

Recorded calls supply the answers, else the examples in the tools' documents. Where there is neither, the dry run
stops.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic.types import JsonValue

from agent.execution.executor import Executor
from agent.execution.validation import checked
from agent.plans.compiling import speaks
from agent.policy.protocol import Arguments, Policy
from agent.programs.analysis.watched_text import WatchedText, watched
from agent.programs.answers import answer_of
from agent.programs.looks import sample
from agent.programs.open_values import NamedItems, OpenValues
from agent.programs.protocol import Broken, Failure, Looking, PendingCall, Returned, Sandbox, Session, Stop, Waiting
from agent.programs.verdict import Claim, claim_of
from domain.errors import FootpathError
from domain.model import JsonObject
from domain.plan import StepResult
from domain.program import Program, ProgramPlan
from domain.python_source import line_starts
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId

SHOWN = 2_000
"""Maximum characters of a response that are shown."""
EXAMPLE = "the example in the tool's document; no such call is recorded"
"""Note of an answer that is not recorded but taken from the tool's document."""
MOST_CALLS = 200
SECONDS = 20.0
"""Limits of a dry run: calls (``MOST_CALLS``) and seconds."""
_VALUE = 160
"""Maximum characters of a name's value."""
TryStatus = Literal["answered", "unknown", "missing"]
"""Outcome of a call in a dry run.

``unknown``: there is neither a recorded call nor an example. ``missing``: a value that the call needs would not be
found.
"""


@dataclass(frozen=True, slots=True)
class TriedCall:
    """A call of a dry run."""

    step: int
    """Number of the call in the program, from 1."""
    line: int
    """Place of the call in the text, with ``column``."""
    column: int
    function: str
    tool: ToolId
    arguments: JsonObject
    missing: tuple[str, ...] = ()
    changes: bool = False
    """The call may have side effects."""
    status: TryStatus = "unknown"
    response: str = ""
    """Recorded response or the document's example, shortened."""
    note: str = ""
    """Source of the response, and complaints that the call would cause."""
    example: bool = False
    """The response is the example in the tool's document."""
    found: tuple[str, ...] = ()
    """Parameters that the plan leaves open and that were found."""
    held: str = ""
    """Name that holds the answer, if there is one."""


@dataclass(slots=True)
class TriedLine:
    """A line that the dry run passed."""

    line: int
    times: int = 0
    """Number of passes; at the head of a loop, of its rounds."""
    values: dict[str, str] = field(default_factory=dict[str, str])
    """Values of the names that the line sets, after its last pass, shortened."""


@dataclass(frozen=True, slots=True)
class Tried:
    """Result of a dry run."""

    text: str
    """The text that was run."""
    calls: tuple[TriedCall, ...]
    lines: tuple[TriedLine, ...]
    says: Claim | None = None
    """The program's own answer; None if it did not reach one."""
    speaks: bool = True
    """The program has an answer of its own."""
    stopped: str = ""
    """Reason for stopping early; empty if the end was reached."""
    stopped_line: int = 0
    """Line of the stop; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Everything that a dry run needs besides the plan."""

    request: str
    today: str
    docs: Mapping[ToolId, ToolDoc]
    """Documents of all tools that the program calls."""
    given: Sequence[tuple[ToolId, StepResult | None]]
    """Earlier steps with their results; without a result, the document's example is used."""
    policy: Policy
    """Policy that finds the values that are left open."""
    recorded: Executor
    """Executor that answers from recordings and reaches no tool."""
    sandbox: Sandbox


async def tried(plan: ProgramPlan, around: Surroundings) -> Tried:
    """Run a checked plan dry, to its end or as far as answers are known."""
    return await _Going(plan, around).through()


class _Going:
    """A single dry run of one program; not reusable."""

    def __init__(self, plan: ProgramPlan, around: Surroundings) -> None:
        self._plan = plan
        self._program: Program = plan.program
        self._functions = {name: around.docs[tool] for name, tool in plan.program.tools.items() if tool in around.docs}
        self._around = around
        self._text: WatchedText = watched(plan.program.text)
        self._held = {
            (call.line, call.column): call.held_as for call in parse_source(plan.program.text).calls if call.held_as
        }
        self._lines: dict[int, TriedLine] = {}
        self._told = 0
        self._calls: list[TriedCall] = []
        self._given = tuple(
            (around.docs[tool], result or _result(around.docs[tool], {}, around.docs[tool].example_response or ""))
            for tool, result in around.given
        )
        self._made: list[tuple[ToolDoc, StepResult]] = []
        self._open = OpenValues(around.request, around.policy, self._given)
        self._stopped = ""
        self._stopped_line = 0

    async def through(self) -> Tried:
        """Run the whole program and return what happened."""
        says = None
        named = NamedItems(self._around.request, self._program, self._functions)

        def chosen(items: JsonValue, place: int, back: int) -> JsonValue:
            return named(items, self._text.place(place), back)

        try:
            async with asyncio.timeout(SECONDS), self._around.sandbox.session(self._at_line, chosen) as session:
                says = self._end(await self._course(session))
        except TimeoutError:
            self._stop(f"going through it took more than {SECONDS:g} seconds")
        often = Counter(call.line for call in self._calls)
        for line, times in often.items():
            told = self._lines.setdefault(line, TriedLine(line))
            # A call may be on a line that no report covers, as a later line of a statement.
            told.times = told.times or times
        lines = tuple(self._lines[line] for line in sorted(self._lines))
        speaking = speaks(self._program)
        says = says if speaking else None
        return Tried(self._program.text, tuple(self._calls), lines, says, speaking, self._stopped, self._stopped_line)

    async def _course(self, session: Session) -> Stop | None:
        """Run to the end and return how it ended; None if an answer is unknown."""
        stop = await session.start(self._text.text, self._inputs())
        while isinstance(stop, Waiting):
            answers = {call.id: await self._answer(call) for call in stop.calls}
            if self._stopped:
                return None
            stop = await session.resume(answers)
        return stop

    def _inputs(self) -> JsonObject:
        """Return the values of the names that the program starts with."""
        results = [answer_of(doc, result) for doc, result in self._given]
        given: list[JsonValue] = [one for one in results if not isinstance(one, Failure)]
        defaults = {name: schema["default"] for name, schema in self._plan.inputs.items() if "default" in schema}
        return {"today": self._around.today, "earlier": given, **defaults, **self._plan.values}

    def _end(self, stop: Stop | None) -> Claim | None:
        """Return the program's answer, or record why it did not reach one."""
        match stop:
            case Returned(value):
                return claim_of(value)
            # More line reports than calls: a loop, not its calls, used up the sandbox's limit.
            case Broken("RuntimeError", lost=True) if self._lines and self._told > len(self._calls):
                often = max(self._lines.values(), key=lambda one: one.times)
                self._stop(f"line {often.line} was gone through too often: {often.times:,} times", often.line)
            case Broken(kind, message, line):
                self._stop(f"it would break off: {kind}: {message}", self._text.line(line))
            case Looking():
                self._stop("it looks at values here, and goes on with a text that is written then")
            case _:
                pass
        return None

    def _stop(self, why: str, line: int = 0) -> None:
        if not self._stopped:
            self._stopped, self._stopped_line = why, line

    def _at_line(self, line: int, names: JsonObject) -> None:
        """Record a pass of a line, with the values of the names that it has set."""
        told = self._lines.setdefault(line, TriedLine(line))
        told.times += 1
        self._told += 1
        told.values |= {name: sample(value, _VALUE) for name, value in names.items()}

    async def _answer(self, call: PendingCall) -> JsonValue | Failure:
        """Return the answer of a call; if it is unknown, stop the dry run."""
        line, column = self._place(call)
        tool = self._functions.get(call.function)
        if tool is None:
            return self._ask(call, line)
        if len(self._calls) >= MOST_CALLS:
            self._stop(f"it makes more than {MOST_CALLS} calls", line)
            return None
        begun = TriedCall(len(self._calls) + 1, line, column, call.function, tool.id, {})
        told = await self._tried(call, tool, replace(begun, held=self._held.get((line, column), "")))
        self._calls.append(replace(told, response=told.response[:SHOWN]))
        if not told.response and told.status == "missing":
            self._stop(f"{call.function}: {told.note or 'a value that it needs would not be found'}", line)
        elif not told.response and told.status == "unknown":
            self._stop(f"nothing is known of what {call.function} answers: {told.note}", line)
        result = _result(tool, told.arguments, told.response)
        self._made.append((tool, result))
        return answer_of(tool, result)

    def _ask(self, call: PendingCall, line: int) -> JsonValue | Failure:
        """Answer a question to the user with its first choice, since no one is asked in a dry run."""
        choices = call.arguments.get("choices")
        if isinstance(choices, list) and choices:
            told = self._lines.setdefault(line, TriedLine(line))
            told.values["(your answer)"] = sample(choices[0], _VALUE)
            return str(choices[0])
        self._stop(f"{call.function} waits for an answer of yours", line)
        return None

    def _place(self, call: PendingCall) -> tuple[int, int]:
        """Return line and column of a call, from 1, the column in characters."""
        place, starts = self._text.place(call.start), line_starts(self._program.text)
        line = max(at for at, start in enumerate(starts, start=1) if start <= place)
        before = self._program.text.encode()[starts[line - 1] : place]
        return line, len(before.decode(errors="replace")) + 1

    async def _tried(self, call: PendingCall, tool: ToolDoc, told: TriedCall) -> TriedCall:
        """Complete the arguments of a call and look up its answer."""
        names = self._program.arguments.get(call.function, {})
        left_out = {one.name for one in tool.parameters if not one.required and not one.nullable}
        given = {names.get(name, name): value for name, value in call.arguments.items()}
        # None for an optional parameter that may not be null means that it is left out.
        known = Arguments({name: one for name, one in given.items() if one is not None or name not in left_out}, ())
        told = replace(told, changes=not tool.safe)
        if call.open:
            left = tuple(names.get(name, name) for name in sorted(call.open))
            known = await self._open.found(tool, known, left, tuple(self._made))
            told = replace(told, found=tuple(name for name in left if name in known.values))
        arguments, wrong = checked(tool, known.values)
        example = tool.example_response or ""
        if known.missing or wrong:
            why = known.why if known.missing else " ".join(said for _, said in wrong)
            told = replace(told, status="missing", missing=known.missing, note=why, response=example)
            return replace(told, arguments=arguments, example=bool(example))
        body, status, note = await _answered(tool, arguments, self._around.recorded)
        return replace(
            told, arguments=arguments, status=status, response=body, note=note, example=bool(body) and note == EXAMPLE
        )


async def _answered(tool: ToolDoc, arguments: JsonObject, recorded: Executor) -> tuple[str, TryStatus, str]:
    """Return a response body, whether there is one, and its source."""
    try:
        result = await recorded.call(tool, arguments)
    except FootpathError as error:
        said = error.public_message
    else:
        if result.outcome == "ok":
            return result.body, "answered", result.note
        said = result.note
    if tool.example_response:
        return tool.example_response, "answered", EXAMPLE
    return "", "unknown", said


def _result(tool: ToolDoc, arguments: JsonObject, body: str) -> StepResult:
    return StepResult(tool=tool.id, arguments=arguments, status="ok", response=body)
