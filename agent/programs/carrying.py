"""Execution of one plan: its program is run once, as it is, to its end or first error, and never rewritten."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from pydantic.types import JsonValue

from agent.compression.compress import compress
from agent.compression.field_selection import FieldChoices
from agent.execution.execute import compressed_event
from agent.offer.tool_facts import Evidence
from agent.plans.parameters import input_values
from agent.policy.protocol import Policy, Results
from agent.programs.leave import ProgramLeave
from agent.programs.open_values import NamedItems, OpenValues
from agent.programs.protocol import Answered, Broken, LeftOpen, Looking, Returned, Sandbox
from agent.programs.running import Calling, ProgramRunner
from agent.programs.telling import told_failure
from agent.programs.verdict import Ran, by_calls, claim_of, ended, judged, left_open
from agent.resume import Memo
from agent.run_events import Tell
from agent.search.state import Path
from agent.subtask_progress import Progress
from agent.text import clean
from domain.errors import UsageError
from domain.event import ProgramEnded, ProgramFailed, ProgramStarted
from domain.program import Program, ProgramPlan
from domain.source_text import parse_source

_LOOKS = "it stops to look at values, and nobody goes on with a plan from there: take the look out"


async def tools_of(plan: ProgramPlan, evidence: Evidence) -> Path:
    """Return the tools that a plan calls, in the order of its text, with their documents loaded.

    Raises:
        UsageError: the plan cannot be parsed, calls no tool, or calls one that is not indexed.
    """
    try:
        named = [call.name for call in parse_source(plan.program.text).calls]
    except (SyntaxError, ValueError, RecursionError) as error:
        raise UsageError(f"the plan is no program that can be read: {error}") from None
    path = tuple(plan.program.tools[name] for name in named if name in plan.program.tools)
    if not path:
        raise UsageError("a plan needs at least one call of a tool")
    await evidence.read(path)
    unknown = [clean(tool, 120) for tool in dict.fromkeys(path) if not evidence.has(tool)]
    if unknown:
        raise UsageError(f"no such tool is indexed: {', '.join(unknown)}; take it out of the plan, or index it")
    return path


class Carrying:
    """Runs the plan of one subtask; made for one plan and used once."""

    def __init__(
        self,
        plan: ProgramPlan,
        names: Mapping[str, JsonValue],
        opened: OpenValues,
        sandbox: Sandbox,
        evidence: Evidence,
        calling: Calling,
        progress: Progress,
        memo: Memo,
        wrong: Collection[str] = (),
    ) -> None:
        """Bind the plan's functions to their tools.

        ``names``: variables that the program finds besides the plan's inputs. ``wrong``: answers that the user has rejected, as in :class:`Ran`.
        """
        self._plan = plan
        self._wrong = wrong
        self._names = names
        self._opened = opened
        self._sandbox = sandbox
        self._evidence = evidence
        self._progress = progress
        self._memo = memo
        docs = {name: evidence.doc(tool) for name, tool in plan.program.tools.items() if evidence.has(tool)}
        leave = replace(calling.leave, own=tuple(plan.inputs)) if calling.leave is not None else None
        self._calling = replace(calling, docs=docs, leave=leave, opened=opened, plan=True)

    async def carry_out(self, choices: FieldChoices) -> None:
        """Run the program, shorten its answers if it returns none of its own, and emit its end.

        Raises:
            UsageError: an input has no value, or one that does not fit; no call was made.
        """
        program, progress = self._plan.program, self._progress
        inputs = {**self._names, **input_values(self._plan)}
        number = progress.programs + 1
        await self._calling.tell(ProgramStarted(number=number, program=program, values=self._plan.values))
        progress.writes |= {tool.id for tool in self._calling.docs.values() if not tool.safe}
        named = NamedItems(self._opened.request, program, self._calling.docs)
        async with self._sandbox.session(named=named) as session:
            memo = self._memo.program(number)
            runner = ProgramRunner(session, program, number, self._calling, memo, self._leave(program))
            with progress.spends("execute"):
                await runner.run(inputs)
        end = memo.broke_off or self._come_to(runner, number)
        if isinstance(end, ProgramEnded) and not end.spoken:
            await shorten(progress, self._evidence, self._opened.policy, choices, self._calling.tell)
        await self._calling.tell(end)

    def _leave(self, program: Program) -> ProgramLeave | None:
        """Return what an approver can be told of the program's calls, if anyone is to be told."""
        leave = self._calling.leave
        return None if leave is None else leave.of(program, (), program.tools)

    def _come_to(self, runner: ProgramRunner, number: int) -> ProgramEnded | ProgramFailed:
        """Return the event for how the program stopped: judged by its value or its calls, or as a failure."""
        made = tuple((self._calling.docs[one.function], one.result) for one in runner.calls)
        match runner.stop:
            case Returned(None):
                return said_by_calls(number, made)
            case Returned(value):
                ran = Ran(self._plan.program.text, made, given=bool(self._opened.given), wrong=self._wrong)
                return ended(number, judged(claim_of(value), ran))
            case LeftOpen(question):
                return ended(number, left_open(question, changed=bool(self._progress.changes_made)))
            case Broken() as broken:
                called = [(one.function, one.result) for one in runner.calls]
                told = told_failure(broken, self._plan.program.text, called).text + _for_which(
                    broken, self._plan.program
                )
                return ProgramFailed(number=number, error=told, line=broken.line, final=broken.final)
            case Looking() | Answered() | None:
                return ProgramFailed(number=number, error=_LOOKS)


async def shorten(progress: Progress, evidence: Evidence, policy: Policy, choices: FieldChoices, tell: Tell) -> None:
    """Compress the long answers of a program's calls, for the text that is written from them."""
    for step, result in sorted(progress.done.items()):
        tool = evidence.doc(result.tool)
        short = await compress(tool, result.response, policy, choices) if result.status == "ok" else None
        if short is not None:
            progress.done[step] = result.model_copy(update={"compressed": short.text})
            await tell(compressed_event(step, tool, short))


def said_by_calls(number: int, calls: Results) -> ProgramEnded:
    """Return the end of a plan that returns no value, judged by its calls."""
    return ended(number, by_calls(calls)).model_copy(update={"spoken": False})


def _for_which(broken: Broken, program: Program) -> str:
    """Return a line that names the call that a plan failed to prepare, if that call starts on an earlier line."""
    within = [
        call
        for call in parse_source(program.text).calls
        if call.name in program.tools and call.line < broken.line <= call.last_line
    ]
    return f"\nfor the call of {within[-1].name} in line {within[-1].line}" if within else ""
