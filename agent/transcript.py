"""Transcript of a run, folded from its events: what ``ask --json`` prints and what learning and evaluation read."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent.program_trace import ProgramHistory, ProgramTrace
from agent.search.state import Path
from agent.step_numbers import ExecutedSteps, number_steps, renumber
from domain.event import (
    CallFinished,
    Event,
    EventRecord,
    PathEnded,
    PlanReady,
    ProgramEnded,
    ProgramEvent,
    ProgramStarted,
    QuestionAnswered,
    RunFinished,
    RunStarted,
    SubtaskStarted,
)
from domain.given_file import FileNote
from domain.learning_events import NoSolution, SolutionTaken
from domain.model import JsonObject
from domain.plan import StepResult
from domain.tool import ToolId


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
    planned: Path = ()
    """Path of the last plan."""
    steps: dict[int, StepResult] = field(default_factory=dict[int, StepResult])
    """Results of the last plan by step number."""
    gone_around: list[StepResult] = field(default_factory=list[StepResult])
    """Steps of paths that were abandoned."""
    set_aside: dict[int, StepResult] = field(default_factory=dict[int, StepResult])
    """Calls of programs that do not count, by step number."""
    failed_after: list[tuple[ToolId, StepResult]] = field(default_factory=list[tuple[ToolId, StepResult]])
    """Failed steps of abandoned paths that followed another tool, each with that tool."""
    finished: bool = False
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
    def failed(self) -> list[StepResult]:
        """Steps that were called or planned and came to nothing."""
        return [*self.gone_around, *(self.set_aside[step] for step in sorted(self.set_aside))]

    @property
    def path(self) -> Path:
        """Tools of the last plan in order; for a program, each tool once, in the order of first calls."""
        called = tuple(dict.fromkeys(self.steps[step].tool for step in sorted(self.steps)))
        return called if any(step in self.sites for step in self.steps) else self.planned

    @property
    def answered(self) -> bool:
        """Return whether a finished path was executed to its last step, or a program ended with a complete answer."""
        last = self.programs.last
        if last is not None and last.ended is not None and last.ended.verdict == "yes":
            return True
        done = [self.steps[step] for step in sorted(self.steps) if step not in self.sites]
        return self.finished and len(done) == len(self.planned) > 0 and all(result.status == "ok" for result in done)

    def add(self, event: Event) -> None:
        """Add one more event of the subtask."""
        match event:
            case SubtaskStarted():
                self.number, self.name, self.description = event.subtask, event.name, event.description
                self.category, self.depends_on = event.category, event.depends_on
                self.prior_count, self.earlier_count = event.given, len(event.earlier)
            case PlanReady():
                self.finished = event.plan.complete
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
            self._set_calls_aside(last)
            for step, (site, result) in last.calls.items():
                self.steps[step], self.sites[step] = result, site
                self.set_aside.pop(step, None)

    def _set_calls_aside(self, kept_program: ProgramTrace | None = None) -> None:
        """Move the calls of programs out of the steps, except those of ``kept_program``.

        If one is given, it replaces the path, so the steps of the path are moved out too.
        """
        for step in sorted(self.steps):
            if kept_program is not None and step in self.sites and step in kept_program.calls:
                continue
            if self.sites.pop(step, ""):
                self.set_aside[step] = self.steps.pop(step)
            elif kept_program is not None:
                self.gone_around.append(self.steps.pop(step))

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
        self._set_calls_aside()
        common: dict[int, StepResult] = {}
        shared = True
        for step in sorted(self.steps):
            result, at = self.steps[step], step - self.prior_count
            shared = shared and at <= len(path) and path[at - 1] == result.tool and result.status == "ok"
            if shared:
                common[step] = result
            else:
                self.gone_around.append(result)
                if 1 < at <= len(self.planned) and result.status != "ok":
                    self.failed_after.append((self.planned[at - 2], result))
        self.planned, self.steps = path, common

    def to_json(self, numbers: dict[int, int]) -> JsonObject:
        """Return the subtask as JSON: the steps of the last plan in order, then failed ones.

        ``numbers`` maps its step numbers to those of the run.
        """
        steps = [
            _step_to_json(renumber(self.steps[step], numbers), self.sites.get(step, "")) for step in sorted(self.steps)
        ]
        steps += [_step_to_json(renumber(step, numbers)) for step in self.failed]
        summary: JsonObject = {
            "name": self.name,
            "description": self.description,
            "category": self.category,
            "depends_on": list(self.depends_on),
            "path": list(self.path),
            "steps": [*steps],
        }
        if self.questions:
            summary["questions"] = [one.model_dump(mode="json", exclude={"kind", "site"}) for one in self.questions]
        if self.solutions:
            summary["solutions"] = [one.model_dump(mode="json", exclude={"kind"}) for one in self.solutions]
        return (
            {**summary, "program": self.programs.to_json()} if self.programs.refused or self.programs.last else summary
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
        return [self.subtasks[n] for n in sorted(self.subtasks) if n or len(self.subtasks) == 1]

    @property
    def path(self) -> Path:
        """Tools of the last plans of all subtasks, in order."""
        return tuple(tool for one in self.ordered_subtasks for tool in one.path)

    @property
    def steps(self) -> dict[int, StepResult]:
        """Results of the last plans, by step number."""
        numbers = self.numbers
        return {
            numbers[one.number][step]: renumber(one.steps[step], numbers[one.number])
            for one in self.ordered_subtasks
            for step in sorted(one.steps)
        }

    @property
    def sites(self) -> dict[int, str]:
        """Sites in program texts of the steps that programs called, by step number."""
        numbers = self.numbers
        return {
            numbers[one.number][step]: site
            for one in self.ordered_subtasks
            for step, site in one.sites.items()
            if step in one.steps
        }

    @property
    def has_program_calls(self) -> bool:
        """Return whether a program called anything."""
        return any(trace.calls for one in self.ordered_subtasks for trace in one.programs.written)

    @property
    def failed(self) -> list[StepResult]:
        """Steps that were called or planned and came to nothing."""
        return [result for one in self.ordered_subtasks for result in one.failed]

    def is_served(self, subtask: SubtaskTranscript) -> bool:
        """Return whether the run answered a subtask; for an only subtask, whether the run is answered."""
        alone = len(self.ordered_subtasks) == 1
        if self.end is None or alone:
            return self.end is not None and self.end.outcome == "answered"
        return subtask.answered and subtask.number not in self.end.unanswered

    @property
    def numbers(self) -> dict[int, dict[int, int]]:
        """For each subtask, a map from its step numbers to those of the run."""
        return number_steps(
            [ExecutedSteps(one.number, one.depends_on, one.steps, one.earlier_count) for one in self.ordered_subtasks]
        )

    def to_json(self) -> JsonObject:
        """Return the object of the command contract (``ask --json``)."""
        end = self.end or RunFinished.model_validate({"outcome": "failed", "answer": "", "usage": {}})
        usage, numbers = end.usage, self.numbers
        subtasks = [one.to_json(numbers[one.number]) for one in self.ordered_subtasks]
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
