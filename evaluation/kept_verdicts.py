"""Verdicts in a file, appended line by line, so that a long evaluation can be interrupted and resumed."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import Field
from pydantic.types import JsonValue

from domain.event import Event, ProgramEnded, ProgramFailed, ProgramLooked, ProgramRefused, ProgramStarted
from domain.usage import Usage
from evaluation.asking_back import AskedBack
from evaluation.correctness import Cause, Verdict
from evaluation.expected import Asked
from evaluation.kept_lines import KeptLine, KeptLines


class KeptVerdict(KeptLine):
    """One line of the file: a verdict with the programs of its run."""

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
    """The programs that were written and what became of each, in order."""


class VerdictFile:
    """A file of verdicts under the same conditions; verdicts of requests that are not asked for are ignored."""

    def __init__(self, path: Path | None, conditions: Mapping[str, JsonValue]) -> None:
        self._lines = KeptLines(path, conditions, KeptVerdict)

    def read(self, asked: Iterable[Asked]) -> dict[str, Verdict]:
        """Return the stored verdicts of these requests, by id. Raises as ``KeptLines.read`` does."""
        by_id = {one.id: one for one in asked}
        return {name: _verdict(kept, by_id[name]) for name, kept in self._lines.read(by_id.values()).items()}

    def add(self, verdict: Verdict, events: Sequence[Event]) -> None:
        """Append a verdict."""
        self._lines.add(self._line(verdict, events))

    def _line(self, verdict: Verdict, events: Sequence[Event]) -> KeptVerdict:
        return KeptVerdict(
            id=verdict.asked.id, conditions=self._lines.conditions, request=verdict.asked.request, group=verdict.asked.group,
            cause=verdict.cause, detail=verdict.detail, expected=verdict.asked.expect.values, answer=verdict.answer,
            path=verdict.path, usage=verdict.usage, fell_back=verdict.fell_back, dead=verdict.dead,
            repairs=verdict.repairs, looks=verdict.looks, questions=verdict.questions, programs=tuple(programs_of(events)),
        )  # fmt: skip


def programs_of(events: Iterable[Event]) -> list[dict[str, JsonValue]]:
    """Return the programs of a run and what became of each."""
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


def _verdict(kept: KeptVerdict, asked: Asked) -> Verdict:
    return Verdict(
        asked, kept.cause, kept.detail, kept.answer, kept.path, kept.usage, kept.fell_back, kept.dead, kept.repairs,
        kept.looks, kept.questions,
    )  # fmt: skip
