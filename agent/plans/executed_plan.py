"""Read the plan that a run has carried out: the program that served it, or its calls compiled into one.

The program of a run is that of its cells, without the calls that only look at values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.plans.compilation import compile_plan
from agent.plans.effective_program import find_effective_program
from agent.plans.parameterize import InputCandidate, find_input_candidates, parameterize_plan
from agent.plans.request_template import RequestWords, insert_names
from agent.plans.steps_from_run import ParameterCandidate, build_steps
from agent.text import clean
from agent.transcript import RunTranscript
from domain.errors import NotLinearError, UsageError
from domain.event import EventRecord
from domain.plan import PlanDocument
from domain.program import ProgramPlan
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class ExecutedPlan:
    """A finished run as a plan."""

    executed_program: ProgramPlan
    """The program as it ran."""
    input_candidates: Sequence[InputCandidate] = ()
    """Constants of its text that may become inputs."""
    document: PlanDocument | None = None
    """The run as steps, if steps can express it."""
    parameter_candidates: Sequence[ParameterCandidate] = ()
    """Values in the steps that may become parameters."""
    why_no_steps: str = ""
    """Reason why steps cannot express the run; empty if they can."""
    files: tuple[str, ...] = ()
    """Names, as the user knows them, of attached files that the text reads."""

    @property
    def plan(self) -> ProgramPlan:
        """The program with its input candidates turned into inputs."""
        return parameterize_plan(self.executed_program, self.input_candidates)

    def refuse_files(self, artifact: str) -> None:
        """Raise ``UsageError`` if the program reads a file, which only its own run has.

        ``artifact``: what is to be made of the run, such as a template, for the message.
        """
        if self.files:
            file_names = ", ".join(clean(one, 80) for one in self.files)
            raise UsageError(
                f"this run goes over a file that was given with it ({file_names}), and {artifact} has none: run it again instead, which has the same file"
            )


def generalize_plan(executed: ExecutedPlan, request: str, docs: Mapping[ToolId, ToolDoc]) -> tuple[ProgramPlan, str]:
    """Return the program with inputs for the values that its request names, and the request with these in braces.

    This includes values of a program that was compiled from steps.
    """
    candidates = executed.input_candidates or find_input_candidates(executed.executed_program, request, docs)
    return parameterize_plan(executed.executed_program, candidates), insert_names(
        request, [RequestWords(one.request_words, one.name) for one in candidates]
    )


def build_executed_plan(
    request: str,
    records: Sequence[EventRecord],
    docs: Mapping[ToolId, ToolDoc],
    given_plan: ProgramPlan | None = None,
) -> ExecutedPlan:
    """Build the plan of a run from its events.

    Arguments:
        request: Request of the run.
        records: Events of the run.
        docs: Documents of the tools that it called.
        given_plan: The plan that the run was started with, if any.

    Raises:
        NotLinearError: neither a program nor steps can express the run.
    """
    document, offered, why = None, list[ParameterCandidate](), ""
    try:
        document, offered = build_steps(records, docs)
    except NotLinearError as error:
        why = str(error)
    transcript = RunTranscript.from_records(records)
    effective = find_effective_program(transcript) if given_plan is None else None
    if (plan := given_plan or (ProgramPlan(program=effective) if effective is not None else None)) is not None:
        if _uses_earlier_results(plan):
            plan = None
        else:
            candidates = find_input_candidates(plan, request, docs)
            names = parse_source(plan.program.text).uses - plan.inputs.keys() - plan.program.tools.keys()
            files = tuple(one.name for one in transcript.files if one.variable in names)
            return ExecutedPlan(plan, candidates, document, offered, why, files)
    if document is None:
        raise NotLinearError(why)
    return ExecutedPlan(compile_plan(document, docs), (), document, offered)


def _uses_earlier_results(plan: ProgramPlan) -> bool:
    """Return True if a text reads results of earlier runs of its conversation, which a plan cannot supply."""
    return any(name == "earlier" or name.startswith("earlier_") for name in parse_source(plan.program.text).uses)
