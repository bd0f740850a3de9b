"""Transcript of a run, folded from its events: what ``ask --json`` prints and what learning and evaluation read."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent.programs.analysis.program_flow import CallDependencies, Site, find_call_dependencies, parse_site
from agent.search.state import Path
from agent.step_numbers import ExecutedSteps, number_steps_consecutively, translate_step_references
from domain.event import (
    CallFinished,
    Event,
    EventRecord,
    NoSolution,
    PathEnded,
    PlanReady,
    ProgramEnded,
    ProgramEvent,
    ProgramFailed,
    ProgramLooked,
    ProgramRefused,
    ProgramStarted,
    QuestionAnswered,
    RunFinished,
    RunStarted,
    SolutionTaken,
    SubtaskStarted,
)
from domain.given_file import FileNote
from domain.model import JsonObject
from domain.plan import StepResult
from domain.program import Program
from domain.tool import ToolId


@dataclass(slots=True)
class ProgramTrace:
    """One program: its cells, its calls, and how it ended."""

    cells: dict[int, Program] = field(default_factory=dict[int, Program])
    """Its cells by their numbers."""
    calls: dict[int, tuple[str, StepResult]] = field(default_factory=dict[int, tuple[str, StepResult]])
    """Calls with results by step number, each with its site in the text."""
    error: str = ""
    """The error that ended it; empty if none did."""
    end: ProgramEnded | None = None
    """Its last event; None while it runs or if it broke off."""
    inspected_cells: set[int] = field(default_factory=set[int])
    """Cells that stopped to inspect values."""

    @property
    def text(self) -> str:
        """The texts of its cells, joined."""
        return "\n\n".join(self.cells[number].text for number in sorted(self.cells))

    @property
    def is_useful(self) -> bool:
        """Return whether it serves at least part of the request, as far as is known."""
        return not self.error and (self.end is None or self.end.verdict != "no")

    @property
    def calls_with_sites(self) -> list[tuple[Site, StepResult]]:
        """Calls in order, each with its site in the text."""
        calls = (self.calls[step] for step in sorted(self.calls))
        return [(site, result) for location, result in calls if (site := parse_site(location)) is not None]

    def find_feeds(self) -> CallDependencies:
        """Return which calls use the results of which others."""
        return find_call_dependencies(self.cells)


@dataclass(slots=True)
class ProgramHistory:
    """The programs of a subtask, oldest first."""

    traces: list[ProgramTrace] = field(default_factory=list[ProgramTrace])
    """Programs that were run.

    If the end of one is emitted again, because nothing better followed, it moves to the last place.
    """
    refused_count: int = 0
    """Number of texts that the checks refused."""
    inspection_count: int = 0
    """Number of times a program stopped to inspect values."""
    repair_count: int = 0
    """Number of texts written because the one before was refused or broke off."""
    _needs_repair: bool = False
    """The last text was refused or broke off, so the next one counts as a repair."""

    @property
    def last(self) -> ProgramTrace | None:
        """The program that counts; None if none was run."""
        return self.traces[-1] if self.traces else None

    def add(self, event: ProgramEvent) -> None:
        """Take one more event into account."""
        match event:
            case ProgramRefused(text=""):  # no text was written, so there is nothing to repair
                return
            case ProgramRefused():
                self._count_repair()
                self.refused_count, self._needs_repair = self.refused_count + 1, True
            case ProgramStarted():
                self._count_repair()
                if not (event.goes_on and self.traces):
                    self.traces.append(ProgramTrace())
                self.traces[-1].cells[event.number] = event.program
                self.traces[-1].error, self.traces[-1].end = "", None
            case ProgramLooked():
                self.inspection_count += 1
                if self.traces:
                    self.traces[-1].inspected_cells.add(event.number)
            case ProgramFailed():
                self._needs_repair = True
                if self.traces:
                    self.traces[-1].error = event.error
            case ProgramEnded():
                self._record_end(event)

    def _record_end(self, event: ProgramEnded) -> None:
        trace = next((candidate for candidate in self.traces if event.number in candidate.cells), None)
        if trace is not None:
            self.traces.remove(trace)
            self.traces.append(trace)
            trace.end, trace.error = event, ""

    def _count_repair(self) -> None:
        self.repair_count += self._needs_repair
        self._needs_repair = False

    def to_json(self) -> JsonObject:
        """Return the last program in the form of ``ask --json``."""
        last = self.last
        summary: JsonObject = {
            "text": last.text if last else "",
            "refused": self.refused_count,
            "repairs": self.repair_count,
            "looks": self.inspection_count,
        }
        if last is not None and last.error:
            summary["error"] = last.error
        if last is not None and (end := last.end) is not None:
            summary |= {
                "answered": end.answered,
                "missing": end.missing,
                "verdict": end.verdict,
                "veto": end.veto,
            }
        return summary


@dataclass(slots=True)
class SubtaskTranscript:
    """Transcript of one subtask: its last plan with results, and what was tried before."""

    number: int = 0
    name: str = ""
    description: str = ""
    category: str = ""
    depends_on: tuple[int, ...] = ()
    prior_count: int = 0
    """Number of prior steps that the subtask builds on; its own steps are numbered after them."""
    earlier_count: int = 0
    """How many of the prior steps are calls of earlier runs; these come first."""
    planned_path: Path = ()
    """Path of the last plan."""
    steps: dict[int, StepResult] = field(default_factory=dict[int, StepResult])
    """Results of the last plan by step number."""
    abandoned_steps: list[StepResult] = field(default_factory=list[StepResult])
    """Steps of paths that were abandoned."""
    discarded_calls: dict[int, StepResult] = field(default_factory=dict[int, StepResult])
    """Calls of programs that do not count, by step number."""
    failures_after: list[tuple[ToolId, StepResult]] = field(default_factory=list[tuple[ToolId, StepResult]])
    """Failed steps of abandoned paths that followed another tool, each with that tool."""
    is_plan_complete: bool = False
    """True if the last plan is complete: its search finished the path."""
    sites: dict[int, str] = field(default_factory=dict[int, str])
    """Sites in the program's text of the steps that a program called."""
    programs: ProgramHistory = field(default_factory=ProgramHistory)
    """Programs that were written."""
    questions: list[QuestionAnswered] = field(default_factory=list[QuestionAnswered])
    """Questions to the user."""
    solutions: list[SolutionTaken | NoSolution] = field(default_factory=list[SolutionTaken | NoSolution])
    """Selections from the library: a solution that was used, or that none fits."""

    @property
    def failed_steps(self) -> list[StepResult]:
        """Steps that were called or planned and came to nothing."""
        return [*self.abandoned_steps, *(self.discarded_calls[step] for step in sorted(self.discarded_calls))]

    @property
    def path(self) -> Path:
        """Tools of the last plan in order; for a program, each tool once, in the order of first calls."""
        called = tuple(dict.fromkeys(self.steps[step].tool for step in sorted(self.steps)))
        return called if any(step in self.sites for step in self.steps) else self.planned_path

    @property
    def is_answered(self) -> bool:
        """Return whether a finished path was executed to its last step, or a program ended with a complete answer."""
        last = self.programs.last
        if last is not None and last.end is not None and last.end.verdict == "yes":
            return True
        done = [self.steps[step] for step in sorted(self.steps) if step not in self.sites]
        return (
            self.is_plan_complete
            and len(done) == len(self.planned_path) > 0
            and all(result.status == "ok" for result in done)
        )

    def add(self, event: Event) -> None:
        """Add one more event of the subtask."""
        match event:
            case SubtaskStarted():
                self.number, self.name, self.description = event.subtask, event.name, event.description
                self.category, self.depends_on = event.category, event.depends_on
                self.prior_count, self.earlier_count = event.given, len(event.earlier)
            case PlanReady():
                self.is_plan_complete = event.plan.complete
                self._begin_plan(event.plan.path)
            case PathEnded() if not event.path:
                self._begin_plan(())
            case CallFinished():
                self._add_call(event)
            case QuestionAnswered():
                self.questions.append(event)
            case SolutionTaken() | NoSolution():
                self.solutions.append(event)
            case _:
                if isinstance(event, ProgramEvent):
                    self._add_program_event(event)

    def _add_program_event(self, event: ProgramEvent) -> None:
        """Add an event of a program, and make the calls of the program that counts the steps."""
        self.programs.add(event)
        if isinstance(event, ProgramStarted | ProgramEnded) and (last := self.programs.last) is not None:
            self._discard_calls(last)
            for step, (site, result) in last.calls.items():
                self.steps[step], self.sites[step] = result, site
                self.discarded_calls.pop(step, None)

    def _discard_calls(self, kept_program: ProgramTrace | None = None) -> None:
        """Move the calls of programs out of the steps, except those of ``kept_program``.

        If one is given, it replaces the path, so the steps of the path are moved out too.
        """
        for step in sorted(self.steps):
            if kept_program is not None and step in self.sites and step in kept_program.calls:
                continue
            if self.sites.pop(step, ""):
                self.discarded_calls[step] = self.steps.pop(step)
            elif kept_program is not None:
                self.abandoned_steps.append(self.steps.pop(step))

    def _add_call(self, event: CallFinished) -> None:
        """Add a finished call to the steps, and to the running program if it has a site."""
        self.steps[event.step] = event.result
        self.sites.pop(event.step, None)
        if event.site:
            self.sites[event.step] = event.site
            if self.programs.last is not None:
                self.programs.last.calls[event.step] = (event.site, event.result)

    def _begin_plan(self, path: Path) -> None:
        """Begin a new plan, and keep the successful first steps that it shares with the last one."""
        self._discard_calls()
        shared_results: dict[int, StepResult] = {}
        is_shared = True
        for step in sorted(self.steps):
            result, position = self.steps[step], step - self.prior_count
            is_shared = (
                is_shared and position <= len(path) and path[position - 1] == result.tool and result.status == "ok"
            )
            if is_shared:
                shared_results[step] = result
            else:
                self.abandoned_steps.append(result)
                if 1 < position <= len(self.planned_path) and result.status != "ok":
                    self.failures_after.append((self.planned_path[position - 2], result))
        self.planned_path, self.steps = path, shared_results

    def to_json(self, numbers: dict[int, int]) -> JsonObject:
        """Return the subtask as JSON: the steps of the last plan in order, then failed ones.

        ``numbers`` maps its step numbers to those of the run.
        """
        steps = [
            _step_to_json(translate_step_references(self.steps[step], numbers), self.sites.get(step, ""))
            for step in sorted(self.steps)
        ]
        steps += [_step_to_json(translate_step_references(step, numbers)) for step in self.failed_steps]
        summary: JsonObject = {
            "name": self.name,
            "description": self.description,
            "category": self.category,
            "depends_on": list(self.depends_on),
            "path": list(self.path),
            "steps": [*steps],
        }
        if self.questions:
            summary["questions"] = [
                question.model_dump(mode="json", exclude={"kind", "site"}) for question in self.questions
            ]
        if self.solutions:
            summary["solutions"] = [solution.model_dump(mode="json", exclude={"kind"}) for solution in self.solutions]
        return (
            {**summary, "program": self.programs.to_json()}
            if self.programs.refused_count or self.programs.last
            else summary
        )


@dataclass(slots=True)
class RunTranscript:
    """Transcript of a run. Its steps are those of all subtasks in order, numbered consecutively."""

    request: str = ""
    """The user's words."""
    subtasks: dict[int, SubtaskTranscript] = field(default_factory=dict[int, SubtaskTranscript])
    """Subtasks by number; 0 stands for the run as a whole."""
    end: RunFinished | None = None
    """The last event; None while the run goes on."""
    files: tuple[FileNote, ...] = ()
    """Files that were available to its programs."""

    @classmethod
    def from_records(cls, records: Iterable[EventRecord]) -> "RunTranscript":
        """Build the transcript of a whole run."""
        transcript = cls()
        for record in records:
            transcript.add(record)
        return transcript

    def add(self, record: EventRecord) -> None:
        """Add one more event."""
        match record.event:
            case RunStarted() as event:
                self.request, self.files = event.request, (*event.files, *event.files_before)
            case RunFinished() as event:
                self.end = event
            case event:
                self.subtasks.setdefault(record.subtask, SubtaskTranscript(record.subtask)).add(event)

    @property
    def ordered_subtasks(self) -> list[SubtaskTranscript]:
        """Subtasks in order, without the entry for the run as a whole unless it is the only one."""
        return [self.subtasks[number] for number in sorted(self.subtasks) if number or len(self.subtasks) == 1]

    @property
    def path(self) -> Path:
        """Tools of the last plans of all subtasks, in order."""
        return tuple(tool for subtask in self.ordered_subtasks for tool in subtask.path)

    @property
    def steps(self) -> dict[int, StepResult]:
        """Results of the last plans, by step number."""
        numbers = self.step_numbers
        return {
            numbers[subtask.number][step]: translate_step_references(subtask.steps[step], numbers[subtask.number])
            for subtask in self.ordered_subtasks
            for step in sorted(subtask.steps)
        }

    @property
    def sites(self) -> dict[int, str]:
        """Sites in program texts of the steps that programs called, by step number."""
        numbers = self.step_numbers
        return {
            numbers[subtask.number][step]: site
            for subtask in self.ordered_subtasks
            for step, site in subtask.sites.items()
            if step in subtask.steps
        }

    @property
    def has_program_calls(self) -> bool:
        """Return whether a program called anything."""
        return any(trace.calls for subtask in self.ordered_subtasks for trace in subtask.programs.traces)

    @property
    def failed_steps(self) -> list[StepResult]:
        """Steps that were called or planned and came to nothing."""
        return [result for subtask in self.ordered_subtasks for result in subtask.failed_steps]

    def is_served(self, subtask: SubtaskTranscript) -> bool:
        """Return whether the run answered a subtask; for an only subtask, whether the run is answered."""
        is_only_subtask = len(self.ordered_subtasks) == 1
        if self.end is None or is_only_subtask:
            return self.end is not None and self.end.outcome == "answered"
        return subtask.is_answered and subtask.number not in self.end.unanswered

    @property
    def step_numbers(self) -> dict[int, dict[int, int]]:
        """For each subtask, a map from its step numbers to those of the run."""
        return number_steps_consecutively(
            [
                ExecutedSteps(subtask.number, subtask.depends_on, subtask.steps, subtask.earlier_count)
                for subtask in self.ordered_subtasks
            ]
        )

    def to_json(self) -> JsonObject:
        """Return the object of the command contract (``ask --json``)."""
        end = self.end or RunFinished.model_validate({"outcome": "failed", "answer": "", "usage": {}})
        usage, numbers = end.usage, self.step_numbers
        subtasks = [subtask.to_json(numbers[subtask.number]) for subtask in self.ordered_subtasks]
        no_subtask: JsonObject = {"name": self.request, "path": [], "steps": []}
        summary: JsonObject = {
            "answer": end.answer,
            "outcome": end.outcome,
            "subtasks": [*subtasks] or [no_subtask],
            "considered": usage.considered,
            "backtracks": usage.backtracks,
            "model_calls": usage.model_calls,
            "tokens": {"prompt": usage.prompt_tokens, "completion": usage.completion_tokens},
            "seconds": {
                "plan": usage.plan_seconds,
                "write": usage.write_seconds,
                "check": usage.check_seconds,
                "execute": usage.execute_seconds,
                "total": usage.total_seconds,
            },
        }
        return {**summary, "error": end.error} if end.error else summary


def _step_to_json(result: StepResult, site: str = "") -> JsonObject:
    """Return a step in the form of ``ask --json``."""
    summary: JsonObject = {
        "tool": result.tool,
        "arguments": result.arguments,
        "provenance": [binding.model_dump(mode="json") for binding in result.provenance],
        "status": result.status,
        "attempts": result.attempts,
        "response": result.response,
        "note": result.note,
    }
    return {**summary, "site": site} if site else summary
