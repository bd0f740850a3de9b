"""Results in a file, appended line by line, so that a long evaluation can be interrupted and resumed."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import Field, ValidationError
from pydantic.types import JsonValue

from domain.errors import BrokenInputError, UsageError
from domain.event import Event, ProgramEnded, ProgramFailed, ProgramLooked, ProgramRefused, ProgramStarted
from domain.model import Model, describe_errors
from domain.usage import Usage
from evaluation.clarification import ClarificationQuestion
from evaluation.correctness import AnswerVerdict, Cause
from evaluation.evaluation_cases import EvaluationCase
from graph.importers.lines import JsonlLine, read_lines


class ResultLine(Model):
    """One line of a results file."""

    id: str
    """Id of the request."""
    conditions: dict[str, JsonValue]
    """The conditions that it was measured under."""


K = TypeVar("K", bound=ResultLine)


class ResultFile(Generic[K]):
    """A file of results of one kind under the same conditions; with the path None nothing is stored."""

    def __init__(self, path: Path | None, conditions: Mapping[str, JsonValue], kind: type[K]) -> None:
        self.conditions = dict(conditions)
        self._path, self._kind = path, kind

    def read(self, cases: Iterable[EvaluationCase]) -> dict[str, K]:
        """Return the stored results of these requests, by id.

        Raises:
            UsageError: it was measured under other conditions.
            BrokenInputError: a line cannot be used.
        """
        ids = {one.id for one in cases}
        if self._path is None or not self._path.is_file():
            return {}
        lines = [self._parse_line(line, self._path) for line in read_lines(self._path)]
        # Results of different conditions must not be averaged in one report.
        if other_conditions := next((one.conditions for one in lines if one.conditions != self.conditions), None):
            raise UsageError(f"{self._path} was measured under other conditions ({other_conditions}); name another")
        return {one.id: one for one in lines if one.id in ids}

    def add(self, line: K) -> None:
        """Append a result."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line.model_dump_json() + "\n")

    def _parse_line(self, line: object, path: Path) -> K:
        if not isinstance(line, JsonlLine):
            raise UsageError(f"{line} cannot be read; name another file")
        try:
            return self._kind.model_validate_json(line.body)
        except ValidationError as error:
            raise BrokenInputError(describe_errors(error), file=str(path), line=line.number) from error


class VerdictLine(ResultLine):
    """One line of the file: a verdict with the programs of its run."""

    request: str
    group: str
    cause: Cause | None
    """Why the answer is wrong; None if it is right."""
    detail: str = ""
    expected: tuple[str, ...] = ()
    """The expected values, in words."""
    answer: str
    path: tuple[str, ...]
    usage: Usage
    fell_back: bool = False
    dead: tuple[str, ...] = ()
    """Operations that failed for good."""
    repairs: int = 0
    """Times that a program was refused or failed."""
    looks: int = 0
    """Times that a program stopped to look."""
    questions: tuple[ClarificationQuestion, ...] = ()
    programs: tuple[dict[str, JsonValue], ...] = Field(default=())
    """The programs that were written and what became of each, in order."""


class VerdictFile:
    """A file of verdicts under the same conditions; verdicts of requests that are not asked for are ignored."""

    def __init__(self, path: Path | None, conditions: Mapping[str, JsonValue]) -> None:
        self._lines = ResultFile(path, conditions, VerdictLine)

    def read(self, cases: Iterable[EvaluationCase]) -> dict[str, AnswerVerdict]:
        """Return the stored verdicts of these requests, by id. Raises as ``ResultFile.read`` does."""
        by_id = {one.id: one for one in cases}
        return {name: _to_verdict(kept, by_id[name]) for name, kept in self._lines.read(by_id.values()).items()}

    def add(self, verdict: AnswerVerdict, events: Sequence[Event]) -> None:
        """Append a verdict."""
        self._lines.add(self._to_line(verdict, events))

    def _to_line(self, verdict: AnswerVerdict, events: Sequence[Event]) -> VerdictLine:
        return VerdictLine(
            id=verdict.case.id, conditions=self._lines.conditions, request=verdict.case.request, group=verdict.case.group,
            cause=verdict.cause, detail=verdict.detail, expected=verdict.case.expect.values, answer=verdict.answer,
            path=verdict.path, usage=verdict.usage, fell_back=verdict.fell_back, dead=verdict.dead,
            repairs=verdict.repairs, looks=verdict.looks, questions=verdict.questions, programs=tuple(collect_programs(events)),
        )  # fmt: skip


def collect_programs(events: Iterable[Event]) -> list[dict[str, JsonValue]]:
    """Return the programs of a run and what became of each."""
    programs: list[dict[str, JsonValue]] = []
    for event in events:
        match event:
            case ProgramStarted():
                programs.append({"started": event.program.text})
            case ProgramRefused():
                programs.append({"refused": event.text, "complaints": list(event.complaints)})
            case ProgramLooked():
                programs.append({"looked": event.shown})
            case ProgramFailed():
                programs.append({"failed": event.error, "line": event.line})
            case ProgramEnded():
                programs.append({"ended": event.verdict, "veto": event.veto, "missing": event.missing})
            case _:
                pass
    return programs


def _to_verdict(line: VerdictLine, case: EvaluationCase) -> AnswerVerdict:
    return AnswerVerdict(
        case, line.cause, line.detail, line.answer, line.path, line.usage, line.fell_back, line.dead, line.repairs,
        line.looks, line.questions,
    )  # fmt: skip
