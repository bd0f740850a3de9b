"""Read the plan that a run has carried out: the program that served it, or its calls compiled into one.

The program of a run is that of its cells, without the calls that only look at values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.plans.parameterization import InputCandidate, find_input_candidates, parameterize_plan
from agent.plans.plan_compilation import compile_plan
from agent.plans.request_words import RequestWords, insert_placeholders
from agent.plans.steps_from_run import ParameterCandidate, build_steps
from agent.programs.sandbox_cell import LOOK
from agent.text import clean_text
from agent.transcript import ProgramTrace, RunTranscript
from domain.errors import NotLinearError, UsageError
from domain.event import EventRecord
from domain.plan import PlanDocument
from domain.program import Program, ProgramPlan
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId


def find_effective_program(transcript: RunTranscript) -> Program | None:
    """Return the program that served a run, as one text.

    None if steps served the run, if several subtasks did, or if no program reached its end.
    """
    served_subtasks = [subtask for subtask in transcript.ordered_subtasks if subtask.steps]
    last = (
        served_subtasks[0].programs.last if len(served_subtasks) == 1 and not served_subtasks[0].prior_count else None
    )
    return None if last is None or not last.calls else build_effective_program(last)


def build_effective_program(trace: ProgramTrace) -> Program | None:
    """Return the cells of a program as one; None if it did not finish, or its cells cannot be joined.

    They cannot be joined if a name stands for different tools in them. Cells after the final end are ignored.
    """
    end = trace.end
    if end is None or end.number not in trace.cells or trace.error:
        return None
    numbers = [entry for entry in sorted(trace.cells) if entry in trace.inspected_cells and entry < end.number]
    cells = [trace.cells[number] for number in (*numbers, end.number)]
    if any(
        name in entry.tools and entry.tools[name] != tool
        for cell in cells
        for entry in cells
        for name, tool in cell.tools.items()
    ):
        return None
    try:
        text = "\n".join([*(_cut_at_look(entry.text) for entry in cells[:-1]), _remove_looks(cells[-1].text)])
    except (SyntaxError, ValueError, RecursionError):
        return None
    combined = cells[-1].combine_with(cells[:-1])
    stubs = "\n".join(dict.fromkeys(cell.stubs for cell in cells if cell.stubs))
    return combined.model_copy(update={"text": text, "stubs": stubs, "tainted": any(entry.tainted for entry in cells)})


def _cut_at_look(text: str) -> str:
    """Return the part of a cell that ran before it stopped to look at values.

    Raises:
        ValueError: It may have stopped at a look within a loop or a branch, so that the part is not known.
    """
    statements = parse_source(text).statements
    outermost = [statement for statement in statements if statement.outermost]
    first_look = next((statement for statement in outermost if statement.sole_called_function == LOOK), None)
    if first_look is not None:
        return text.encode()[: first_look.start].decode().rstrip(" \t\n;")
    if not any(statement.sole_called_function == LOOK for statement in statements[statements.index(outermost[-1]) :]):
        raise ValueError("it may have stopped before its end")
    return _remove_looks(text)


def _remove_looks(text: str) -> str:
    """Return a text without its calls that look at values."""
    source = text.encode()
    looks = [
        (statement.start, statement.end)
        for statement in parse_source(text).statements
        if statement.sole_called_function == LOOK
    ]
    for start, end in sorted(looks, reverse=True):
        starts_line = start == 0 or source[start - 1 : start] == b"\n"
        if starts_line and source[end : end + 1] == b"\n":
            source = source[:start] + source[end + 1 :]
        elif starts_line and end == len(source):
            source = source[: max(start - 1, 0)]
        else:
            # Another statement shares the line, or a block would be left empty.
            source = source[:start] + b"pass" + source[end:]
    return source.decode()


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
            file_names = ", ".join(clean_text(name, 80) for name in self.files)
            raise UsageError(
                f"this run goes over a file that was given with it ({file_names}), and {artifact} has none: run it again instead, which has the same file"
            )


def generalize_plan(executed: ExecutedPlan, request: str, docs: Mapping[ToolId, ToolDoc]) -> tuple[ProgramPlan, str]:
    """Return the program with inputs for the values that its request names, and the request with these in braces.

    This includes values of a program that was compiled from steps.
    """
    candidates = executed.input_candidates or find_input_candidates(executed.executed_program, request, docs)
    return parameterize_plan(executed.executed_program, candidates), insert_placeholders(
        request, [RequestWords(candidate.request_words, candidate.name) for candidate in candidates]
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
    document, parameter_candidates, why_no_steps = None, list[ParameterCandidate](), ""
    try:
        document, parameter_candidates = build_steps(records, docs)
    except NotLinearError as error:
        why_no_steps = str(error)
    transcript = RunTranscript.from_records(records)
    effective = find_effective_program(transcript) if given_plan is None else None
    if (plan := given_plan or (ProgramPlan(program=effective) if effective is not None else None)) is not None:
        if _uses_earlier_results(plan):
            plan = None
        else:
            candidates = find_input_candidates(plan, request, docs)
            names = parse_source(plan.program.text).read_names - plan.inputs.keys() - plan.program.tools.keys()
            files = tuple(file.name for file in transcript.files if file.variable in names)
            return ExecutedPlan(plan, candidates, document, parameter_candidates, why_no_steps, files)
    if document is None:
        raise NotLinearError(why_no_steps)
    return ExecutedPlan(compile_plan(document, docs), (), document, parameter_candidates)


def _uses_earlier_results(plan: ProgramPlan) -> bool:
    """Return True if a text reads results of earlier runs of its conversation, which a plan cannot supply."""
    return any(name == "earlier" or name.startswith("earlier_") for name in parse_source(plan.program.text).read_names)
