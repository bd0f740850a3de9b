"""Programs of a run as the page shows them: each text with what became of it, its calls by the places that make them, how far it came.

Every event is taken in by itself, however many came before it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from domain.event import ProgramEnded, ProgramEvent, ProgramFailed, ProgramLooked, ProgramRefused, ProgramStarted
from domain.tool import ToolId
from ui.calls import Call, CallState, UnderWay
from ui.language import message, say
from ui.program_lines import ProgramLines, program_lines

_SITE = re.compile(r"(\d+):(\d+)(?:~(\d+))?#")
_WORST: tuple[CallState, ...] = ("waits", "running", "failed", "not_made", "done", "unreached")
_ENDED = {"yes": message("answered"), "partly": message("answered in part"), "no": message("found no answer")}
Waits = Callable[[Call], bool]
"""Whether a call waits for the user's answer."""


@dataclass
class Written:
    """A text. ``number`` 0: it was never run, with the ``complaints`` why. ``mends``: it was written since the one before was refused or broke off.
    ``calls``: by the places in this text that make them. ``looks``: what its author was shown. ``line`` of the ``error``, 0: unknown. ``reached``:
    the outermost statement that it came to, -1: none.
    """

    subtask: int
    read: ProgramLines
    number: int = 0
    goes_on: bool = False
    mends: bool = False
    complaints: tuple[str, ...] = ()
    calls: dict[int, list[Call]] = field(default_factory=dict[int, list[Call]])
    looks: list[str] = field(default_factory=list[str])
    error: str = ""
    line: int = 0
    reached: int = -1
    ended: ProgramEnded | None = None
    times: dict[int, UnderWay] = field(default_factory=dict[int, UnderWay])

    @property
    def text(self) -> str:
        """As it was written."""
        return self.read.text

    @property
    def over(self) -> bool:
        """Whether it runs no more."""
        return bool(not self.number or self.error or self.ended or self.looks)

    @property
    def became(self) -> str:
        """What became of it, in a word or two."""
        if not self.text:
            return say("none was written")
        if self.complaints or not self.number:
            return say("refused before anything was called")
        if self.error:
            return say("broke off on line {line}", line=self.line) if self.line else say("broke off")
        if self.ended:
            return say(_ENDED[self.ended.verdict])
        return say("stopped to look") if self.looks else say("under way")

    @property
    def called(self) -> list[tuple[int, int, ToolId]]:
        """Each place that calls something with its line and tool, whether it was come to or not, in the order of the text."""
        known = {one.place: (one.line, one.tool) for one in self.read.calls}
        for place, calls in self.calls.items():
            known.setdefault(place, (self.read.line_of(place), calls[0].tool))
        return [(place, *known[place]) for place in sorted(known)]

    def state_of(self, place: int, waits: Waits) -> CallState:
        """How the calls of a place stand."""
        calls = self.calls.get(place, ())
        open_ones = [call for call in calls if call.result is None]
        if any(waits(call) for call in open_ones):
            return "waits"
        if open_ones:
            return "running"
        if not calls:
            return "unreached"
        if any(call.failed for call in calls):
            return "failed"
        return "not_made" if all(call.not_made for call in calls) else "done"

    def lines(self, waits: Waits) -> dict[int, CallState]:
        """The state of each line that calls something, of the one that it broke off on, and of those that it has not come to."""
        found: dict[int, CallState] = {}
        for statement in self.read.statements[self.reached + 1 :]:
            for line in range(statement.first, statement.last + 1):
                found[line] = "unreached"
        by_line: dict[int, list[CallState]] = {}
        for place, line, _ in self.called:
            by_line.setdefault(line, []).append(self.state_of(place, waits))
        for line, states in by_line.items():
            found[line] = min(states, key=_WORST.index)
        if self.line and found.get(self.line) != "not_made":
            found[self.line] = "failed"
        return found

    def begun(self, call: Call, at: datetime) -> None:
        """One of its calls begins."""
        place = site_of(call.site)[1]
        line = self.read.line_of(place)
        self.calls.setdefault(place, []).append(call)
        self.times.setdefault(line, UnderWay()).begin(at)
        self.reached = max(self.reached, self.read.at(line, self.reached))

    def finished(self, call: Call, at: datetime) -> None:
        """One of its calls has ended."""
        self.times[self.read.line_of(site_of(call.site)[1])].end(at)

    def became_of(self, event: ProgramLooked | ProgramFailed | ProgramEnded) -> None:
        """It stops."""
        match event:
            case ProgramLooked():
                self.looks.append(event.shown)
                self.reached = max(self.reached, self.read.looks)
            case ProgramFailed():
                self.error, self.line = event.error, event.line
                self.reached = max(self.reached, self.read.at(event.line, self.reached))
            case ProgramEnded():
                self.ended, self.reached = event, len(self.read.statements) - 1


@dataclass
class RunPrograms:
    """All texts of a run in the order in which they were written."""

    texts: list[Written] = field(default_factory=list[Written])
    _by_number: dict[tuple[int, int], Written] = field(default_factory=dict[tuple[int, int], Written])
    _last: dict[int, Written] = field(default_factory=dict[int, Written])

    def add(self, event: ProgramEvent, subtask: int) -> None:
        """Take an event into account."""
        match event:
            case ProgramRefused():
                self._write(Written(subtask, ProgramLines(event.text), complaints=event.complaints))
            case ProgramStarted():
                read = program_lines(event.program.text, event.program.tools)
                made = Written(subtask, read, event.number, event.goes_on)
                self._write(made)
                self._by_number[subtask, event.number] = made
            case ProgramLooked() | ProgramFailed() | ProgramEnded():
                if own := self._by_number.get((subtask, event.number)):
                    own.became_of(event)

    def making(self, call: Call) -> Written | None:
        """The text in which a call stands; None where it is of no program."""
        return self._by_number.get((call.subtask, site_of(call.site)[0]))

    def _write(self, text: Written) -> None:
        before = self._last.get(text.subtask)
        text.mends = before is not None and bool(before.complaints or before.error) and bool(text.text)
        self._last[text.subtask] = text
        self.texts.append(text)


def site_of(told: str) -> tuple[int, int]:
    """The program's number and the place in its text, in bytes, of ``2:57#0``, or ``3:57~1#0`` for the text before; zeros where it is of no program."""
    found = _SITE.match(told)
    return (int(found[1]) - int(found[3] or 0), int(found[2])) if found else (0, 0)
