"""Verdicts in a file, a line each as soon as it is there: a long evaluation is interrupted and gone on with."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import Field, ValidationError
from pydantic.types import JsonValue

from domain.errors import BrokenInputError, UsageError
from domain.event import Event, ProgramEnded, ProgramFailed, ProgramLooked, ProgramRefused, ProgramStarted
from domain.model import Model, what_is_wrong
from domain.usage import Usage
from evaluation.asking_back import AskedBack
from evaluation.correctness import Cause, Verdict
from evaluation.expected import Asked
from graph.importers.lines import Line, read_lines


class KeptVerdict(Model):
    """``conditions``: what it was measured under. ``programs``: what was written and what became of it, in order."""

    id: str
    conditions: dict[str, JsonValue]
    request: str
    group: str
    cause: Cause | None
    detail: str = ""
    expected: tuple[str, ...] = ()
    answer: str
    path: tuple[str, ...]
    usage: Usage
    fell_back: bool = False
    dead: tuple[str, ...] = ()
    repairs: int = 0
    looks: int = 0
    questions: tuple[AskedBack, ...] = ()
    programs: tuple[dict[str, JsonValue], ...] = Field(default=())


class VerdictFile:
    """A file of verdicts under the same conditions. Only verdicts of requests that are asked are taken from it."""

    def __init__(self, path: Path | None, conditions: Mapping[str, JsonValue]) -> None:
        self._path, self._conditions = path, dict(conditions)

    def read(self, asked: Iterable[Asked]) -> dict[str, Verdict]:
        """What is there already, by request.

        Raises:
            UsageError: it was measured under other conditions. BrokenInputError: a line cannot be used.
        """
        by_id = {one.id: one for one in asked}
        if self._path is None or not self._path.is_file():
            return {}
        found: dict[str, Verdict] = {}
        for line in read_lines(self._path):
            kept = _kept(line)
            if kept.conditions != self._conditions:
                raise UsageError(f"{self._path} was measured under other conditions ({kept.conditions}); name another")
            if kept.id in by_id:
                found[kept.id] = _verdict(kept, by_id[kept.id])
        return found

    def add(self, verdict: Verdict, events: Sequence[Event]) -> None:
        """Write a verdict down."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(self._line(verdict, events).model_dump_json() + "\n")

    def _line(self, verdict: Verdict, events: Sequence[Event]) -> KeptVerdict:
        return KeptVerdict(
            id=verdict.asked.id, conditions=self._conditions, request=verdict.asked.request, group=verdict.asked.group,
            cause=verdict.cause, detail=verdict.detail, expected=verdict.asked.expect.values, answer=verdict.answer,
            path=verdict.path, usage=verdict.usage, fell_back=verdict.fell_back, dead=verdict.dead,
            repairs=verdict.repairs, looks=verdict.looks, questions=verdict.questions, programs=tuple(programs_of(events)),
        )  # fmt: skip


def programs_of(events: Iterable[Event]) -> list[dict[str, JsonValue]]:
    """The programs of a run, and what became of each."""
    told: list[dict[str, JsonValue]] = []
    for event in events:
        match event:
            case ProgramStarted():
                told.append({"started": event.program.text})
            case ProgramRefused():
                told.append({"refused": event.text, "complaints": list(event.complaints)})
            case ProgramLooked():
                told.append({"looked": event.shown})
            case ProgramFailed():
                told.append({"failed": event.error, "line": event.line})
            case ProgramEnded():
                told.append({"ended": event.verdict, "veto": event.veto, "missing": event.missing})
            case _:
                pass
    return told


def _kept(line: object) -> KeptVerdict:
    if not isinstance(line, Line):
        raise UsageError(f"{line} cannot be read; name another file")
    try:
        return KeptVerdict.model_validate_json(line.body)
    except ValidationError as error:
        raise BrokenInputError(what_is_wrong(error), file=str(line.number), line=line.number) from error


def _verdict(kept: KeptVerdict, asked: Asked) -> Verdict:
    return Verdict(
        asked, kept.cause, kept.detail, kept.answer, kept.path, kept.usage, kept.fell_back, kept.dead, kept.repairs,
        kept.looks, kept.questions,
    )  # fmt: skip
