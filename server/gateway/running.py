"""Calls, programs and whole requests, each as a run: checked, with approvals, told as it goes on, and learnt from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp.types import CallToolResult
from pydantic.types import JsonValue

from agent.plans.plan_inputs import set_input_values
from agent.plans.plan_text_check import check_plan
from agent.programs.signatures import ToolSignature
from agent.text import clean_text, format_tool_title
from agent.transcript import RunTranscript
from domain.errors import UsageError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.tool import ToolDoc
from server.gateway.answers import MOST, calls_told, fenced, parsed, said, wrong
from server.gateway.backend import Backend, Person, Task
from server.gateway.following import Told
from server.gateway.functions import SessionFunctions
from server.gateway.solutions import solution_named
from server.gateway.tools import Ask, CallTool, RunProgram
from wiring.user_programs import advise_on_complaints

_COMPLAINTS = 10
_SERVED = frozenset({"answered", "partly"})
_FRUITLESS = "All calls went well. Either nothing was found, or the program has to return more of what they answered."
_CHOOSE = "take what you need of it in run_program"


@dataclass(frozen=True, slots=True)
class Runner:
    """Of one request of a client."""

    backend: Backend
    functions: SessionFunctions
    person: Person
    told: Told

    async def ask(self, given: Ask) -> CallToolResult:
        """A whole request, planned by Footpath."""
        return await self._answered(Task(given.request))

    async def run_program(self, given: RunProgram) -> CallToolResult:
        """The client's own program, or a solution with its values."""
        if bool(given.program.strip()) == bool(given.solution):
            raise UsageError("give either a program or a solution")
        if given.solution:
            plan = await self._solution(given)
        elif given.inputs:
            raise UsageError("inputs are those of a solution; write values into your program")
        else:
            docs = await self.functions.called_in(given.program, self.backend)
            plan = await self._written(given.program, docs)
        return await self._answered(Task(given.request, plan), _FRUITLESS)

    async def call_tool(self, given: CallTool) -> CallToolResult:
        """One call, as a program of one line."""
        doc = await self.functions.tool(given.tool, self.backend)
        (shown,) = self.functions.shown([doc])
        plan = await self._written(_call(shown, given.arguments), {shown.name: doc})
        run, transcript = await self._followed(Task(f"Call {format_tool_title(doc)}.", plan, worded=False))
        return _called(run, transcript, self.person.notes)

    async def _written(self, text: str, docs: Mapping[str, ToolDoc]) -> ProgramPlan:
        """A text as a plan. Its author may have seen what tools answered, so each of its changes asks. ``UsageError`` with all that is wrong with it."""
        tools = {name: doc.id for name, doc in docs.items()}
        found = await check_plan(
            text, {}, tools, {doc.id: doc for doc in docs.values()}, self.backend.container.sandbox()
        )
        if found.complaints:
            told = [f"Line {one.line}: {one.message}" if one.line else one.message for one in found.complaints]
            more = "Functions are known by find_tools or show_tool; nothing was called. Mend the program and send it again."
            advice = await advise_on_complaints(found, docs, await self.backend.secrets())
            raise UsageError("\n".join((*told[:_COMPLAINTS], *advice, more)))
        return found.plan.model_copy(update={"program": found.plan.program.model_copy(update={"tainted": True})})

    async def _solution(self, given: RunProgram) -> ProgramPlan:
        found = await solution_named(given.solution, self.backend)
        plan, faults = set_input_values(found.plan, given.inputs)
        if faults:
            raise UsageError(" ".join(f"{name}: {told}" if name else told for name, told in faults))
        return plan

    async def _answered(self, task: Task, fruitless: str = "") -> CallToolResult:
        """``fruitless``: what to say where all calls went well and nothing came of them."""
        run, transcript = await self._followed(task)
        gave_up = transcript.end is not None and transcript.end.outcome == "gave_up"
        nothing = gave_up and fruitless and transcript.steps and not transcript.failed_steps
        return _answer(run, transcript, [*self.person.notes, *([fruitless] if nothing else [])])

    async def _followed(self, task: Task) -> tuple[str, RunTranscript]:
        return await self.backend.followed.to_its_end(self.backend.run(task, self.person), self.told)


def _call(shown: ToolSignature, given: JsonObject) -> str:
    """A call with these arguments, which may have the tool's own names for its parameters, or the function's."""
    names = {own: name for name, own in shown.arguments.items()}
    told = {names.get(name, name): value for name, value in given.items()}
    strange = [name for name in told if name not in shown.arguments]
    if strange:
        there = ", ".join(shown.arguments) or "none"
        raise UsageError(f"{shown.name} has no parameter {clean_text(strange[0], 80)}; there are: {there}")
    return f"await {shown.name}({', '.join(f'{name}={value!r}' for name, value in told.items())})"


def _answer(run: str, transcript: RunTranscript, notes: Sequence[str]) -> CallToolResult:
    """What a run came to. Where it came to nothing, that is an error, with why."""
    end = transcript.end
    outcome, answer = (end.outcome, end.answer) if end else ("failed", "")
    why = f"\n{end.error}" if end and end.error else ""
    steps: list[JsonValue] = [
        {"tool": one.tool, "status": one.status} for one in (*transcript.steps.values(), *transcript.failed_steps)
    ]
    result = {"run": run, "outcome": outcome, "answer": answer[:MOST], "calls": calls_told(steps)}
    text = "\n".join((outcome, fenced("answer", answer.strip()) + why, *notes))
    return said(text, result, error=outcome not in _SERVED)


def _called(run: str, transcript: RunTranscript, notes: Sequence[str]) -> CallToolResult:
    """What one call answered; why it failed, or was not made."""
    results = [*transcript.steps.values(), *transcript.failed_steps]
    if not results or not results[-1].attempts:
        end = transcript.end
        why = (results[-1].note if results else "") or (f"{end.answer} {end.error}".strip() if end else "")
        return wrong("\n".join((f"The call was not made. {fenced('why', why)}", *notes)))
    last = results[-1]
    body = f"{last.status}{f': {clean_text(last.note, 400)}' if last.note else ''}\n{fenced('response', last.response, _CHOOSE)}"
    value = parsed(last.response) if len(last.response) <= MOST else None
    result = {"run": run, "status": last.status, "response": value}
    return said(body, result, error=last.status != "ok")
