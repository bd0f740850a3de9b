"""Execute a plan: run its program once, to its end or first error, without rewriting it."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from pydantic.types import JsonValue

from agent.compression.field_selection import FieldChoices
from agent.compression.response_compression import compress_response
from agent.execution.step_execution import build_compression_event
from agent.offer.tool_evidence import ToolEvidence
from agent.plans.plan_inputs import resolve_input_values
from agent.policy.protocol import Policy, Results
from agent.programs.author_feedback import describe_failure
from agent.programs.call_context import CellCallContext
from agent.programs.open_values import NamedItemChooser, OpenValues
from agent.programs.program_runner import CallEnvironment, ProgramRunner
from agent.programs.program_types import (
    FreeTextAnswer,
    LookRequest,
    ProgramError,
    ReturnedValue,
    Sandbox,
    UnansweredQuestion,
)
from agent.programs.program_verdict import (
    FinishedProgram,
    build_ended_event,
    judge_calls,
    judge_claim,
    judge_unanswered,
    parse_claim,
)
from agent.resume import SubtaskMemo
from agent.run_events import EmitEvent
from agent.search.state import Path
from agent.subtask_progress import SubtaskProgress
from agent.text import clean_text
from domain.errors import UsageError
from domain.event import ProgramEnded, ProgramFailed, ProgramStarted
from domain.program import Program, ProgramPlan
from domain.source_text import parse_source

_LOOK_ERROR = "it stops to look at values, and nobody goes on with a plan from there: take the look out"


async def load_program_path(plan: ProgramPlan, evidence: ToolEvidence) -> Path:
    """Load the documents of the tools that a plan calls, and return the tools in the order of its text.

    Raises:
        UsageError: the plan cannot be parsed, calls no tool, or calls one that is not indexed.
    """
    try:
        function_names = [call.name for call in parse_source(plan.program.text).calls]
    except (SyntaxError, ValueError, RecursionError) as error:
        raise UsageError(f"the plan is no program that can be read: {error}") from None
    path = tuple(plan.program.tools[name] for name in function_names if name in plan.program.tools)
    if not path:
        raise UsageError("a plan needs at least one call of a tool")
    await evidence.read(path)
    missing_tools = [clean_text(tool, 120) for tool in dict.fromkeys(path) if not evidence.has(tool)]
    if missing_tools:
        raise UsageError(f"no such tool is indexed: {', '.join(missing_tools)}; take it out of the plan, or index it")
    return path


class PlanRunner:
    """Runs the plan of one subtask; for one use."""

    def __init__(
        self,
        plan: ProgramPlan,
        variables: Mapping[str, JsonValue],
        open_values: OpenValues,
        sandbox: Sandbox,
        evidence: ToolEvidence,
        environment: CallEnvironment,
        progress: SubtaskProgress,
        memo: SubtaskMemo,
        wrong_answers: Collection[str] = (),
    ) -> None:
        """Bind the plan's functions to their tools.

        Arguments:
            plan: The plan, with values for its inputs.
            variables: Values of variables that the program finds besides the plan's inputs.
            open_values: Finds the values that the plan leaves open.
            sandbox: Runs the program.
            evidence: Documents of the tools.
            environment: Environment of the calls, before the plan's functions are bound.
            progress: Progress of the subtask, which is updated.
            memo: Record of the subtask from before an interruption.
            wrong_answers: Answers to the request that the user has rejected.
        """
        self._plan = plan
        self._wrong_answers = wrong_answers
        self._variables = variables
        self._open_values = open_values
        self._sandbox = sandbox
        self._evidence = evidence
        self._progress = progress
        self._memo = memo
        docs = {name: evidence.doc(tool) for name, tool in plan.program.tools.items() if evidence.has(tool)}
        call_context = (
            replace(environment.call_context, user_inputs=tuple(plan.inputs))
            if environment.call_context is not None
            else None
        )
        self._environment = replace(
            environment, docs=docs, call_context=call_context, open_values=open_values, is_plan=True
        )

    async def run(self, choices: FieldChoices) -> None:
        """Run the program and emit its end.

        Compress its calls' responses if it returns no answer of its own.

        Raises:
            UsageError: an input has no value, or one that does not fit; no call was made.
        """
        program, progress = self._plan.program, self._progress
        inputs = {**self._variables, **resolve_input_values(self._plan)}
        number = progress.program_count + 1
        await self._environment.emit(ProgramStarted(number=number, program=program, values=self._plan.values))
        progress.changing_tools |= {tool.id for tool in self._environment.docs.values() if not tool.safe}
        item_chooser = NamedItemChooser(self._open_values.request, program, self._environment.docs)
        async with self._sandbox.open_session(choose_item=item_chooser) as session:
            memo = self._memo.open_program(number)
            runner = ProgramRunner(session, program, number, self._environment, memo, self._build_call_context(program))
            with progress.measure_time("execute"):
                await runner.run(inputs)
        end = memo.failure or self._build_end_event(runner, number)
        if isinstance(end, ProgramEnded) and not end.spoken:
            await shorten_answers(progress, self._evidence, self._open_values.policy, choices, self._environment.emit)
        await self._environment.emit(end)

    def _build_call_context(self, program: Program) -> CellCallContext | None:
        """Return the context in which the program's calls are shown to an approver.

        The result is None if there is no approver.
        """
        subtask_context = self._environment.call_context
        return None if subtask_context is None else subtask_context.build_cell_context(program, (), program.tools)

    def _build_end_event(self, runner: ProgramRunner, number: int) -> ProgramEnded | ProgramFailed:
        """Return the event for the program's stop: an end, judged by its value or its calls, or a failure."""
        calls = tuple((self._environment.docs[call.function], call.result) for call in runner.calls)
        match runner.stop:
            case ReturnedValue(None):
                return build_end_from_calls(number, calls)
            case ReturnedValue(value):
                finished = FinishedProgram(
                    self._plan.program.text,
                    calls,
                    may_answer_without_calls=bool(self._open_values.earlier_results),
                    wrong_answers=self._wrong_answers,
                )
                return build_ended_event(number, judge_claim(parse_claim(value), finished))
            case UnansweredQuestion(question):
                return build_ended_event(number, judge_unanswered(question, changed=bool(self._progress.changes_made)))
            case ProgramError() as error:
                call_results = [(call.function, call.result) for call in runner.calls]
                message = describe_failure(error, self._plan.program.text, call_results).text + _describe_pending_call(
                    error, self._plan.program
                )
                return ProgramFailed(number=number, error=message, line=error.line, final=error.final)
            case LookRequest() | FreeTextAnswer() | None:
                return ProgramFailed(number=number, error=_LOOK_ERROR)


async def shorten_answers(
    progress: SubtaskProgress, evidence: ToolEvidence, policy: Policy, choices: FieldChoices, emit: EmitEvent
) -> None:
    """Compress the long responses of a subtask's calls, from which the answer is then written."""
    for step, result in sorted(progress.step_results.items()):
        tool = evidence.doc(result.tool)
        compressed = await compress_response(tool, result.response, policy, choices) if result.status == "ok" else None
        if compressed is not None:
            progress.step_results[step] = result.model_copy(update={"compressed": compressed.text})
            await emit(build_compression_event(step, tool, compressed))


def build_end_from_calls(number: int, calls: Results) -> ProgramEnded:
    """Return the end of a plan that returns no value, judged by its calls."""
    return build_ended_event(number, judge_calls(calls)).model_copy(update={"spoken": False})


def _describe_pending_call(error: ProgramError, program: Program) -> str:
    """Return a line that names the call whose arguments raised the error.

    The result is empty unless it starts on an earlier line.
    """
    calls_around = [
        call
        for call in parse_source(program.text).calls
        if call.name in program.tools and call.line < error.line <= call.last_line
    ]
    return f"\nfor the call of {calls_around[-1].name} in line {calls_around[-1].line}" if calls_around else ""
