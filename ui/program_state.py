"""Programs of a run as the page shows them: each text with what became of it, and the lines that its calls are on."""

import re
from dataclasses import dataclass, field

from domain.event import ProgramEnded, ProgramFailed, ProgramLooked, ProgramRefused, Programs, ProgramStarted

_SITE = re.compile(r"(\d+):(\d+)(?:~(\d+))?#")


@dataclass
class Written:
    """A text. ``number`` 0: it was never run, with the ``complaints`` why. ``looks``: what its author was shown. ``line`` of the ``error``, 0: unknown."""

    subtask: int
    text: str
    number: int = 0
    goes_on: bool = False
    complaints: tuple[str, ...] = ()
    looks: list[str] = field(default_factory=list[str])
    error: str = ""
    line: int = 0
    ended: ProgramEnded | None = None

    @property
    def became(self) -> str:
        """What became of it, in a word or two."""
        if self.complaints or not self.number:
            return "refused before anything was called"
        if self.error:
            return f"broke off on line {self.line}" if self.line else "broke off"
        if self.ended:
            return {"yes": "answered", "partly": "answered in part", "no": "found no answer"}[self.ended.verdict]
        return "stopped to look" if self.looks else "under way"


def site_of(told: str) -> tuple[int, int]:
    """The program's number and the place in its text, in bytes, of ``2:57#0``, or ``3:57~1#0`` for the text before; zeros where it is of no program."""
    found = _SITE.match(told)
    return (int(found[1]) - int(found[3] or 0), int(found[2])) if found else (0, 0)


def line_of(text: str, place: int) -> int:
    """The line, from 1, that a place in a text is on."""
    return text.encode()[:place].count(b"\n") + 1


def written(programs: list[Written], event: Programs, subtask: int) -> None:
    """Take an event into account."""
    match event:
        case ProgramRefused():
            programs.append(Written(subtask, event.text, complaints=event.complaints))
        case ProgramStarted():
            programs.append(Written(subtask, event.program.text, event.number, event.goes_on))
        case ProgramLooked() | ProgramFailed() | ProgramEnded():
            own = [one for one in programs if (one.subtask, one.number) == (subtask, event.number)]
            if own:
                _became(own[-1], event)


def _became(program: Written, event: ProgramLooked | ProgramFailed | ProgramEnded) -> None:
    match event:
        case ProgramLooked():
            program.looks.append(event.shown)
        case ProgramFailed():
            program.error, program.line = event.error, event.line
        case ProgramEnded():
            program.ended = event
