"""Programs of a subtask, folded from their events: their texts, how often they were repaired, how they ended."""

from dataclasses import dataclass, field

from agent.programs.analysis.flow import Feeds, Site, feeds, site_of
from domain.event import ProgramEnded, ProgramFailed, ProgramLooked, ProgramRefused, Programs, ProgramStarted
from domain.model import JsonObject
from domain.plan import StepResult
from domain.program import Program


@dataclass(slots=True)
class ProgramTrace:
    """One program with its calls."""

    cells: dict[int, Program] = field(default_factory=dict[int, Program])
    """Its cells by their numbers."""
    calls: dict[int, tuple[str, StepResult]] = field(default_factory=dict[int, tuple[str, StepResult]])
    """Answered calls by step number, each with its site in the text."""
    broken: str = ""
    """The error that it broke off with; empty if it did not."""
    ended: ProgramEnded | None = None
    looked: set[int] = field(default_factory=set[int])
    """Cells that stopped to inspect values."""

    @property
    def text(self) -> str:
        """The texts of its cells, joined."""
        return "\n\n".join(self.cells[number].text for number in sorted(self.cells))

    @property
    def useful(self) -> bool:
        """Return whether it serves some of the request, as far as is known."""
        return not self.broken and (self.ended is None or self.ended.verdict != "no")

    @property
    def by_site(self) -> list[tuple[Site, StepResult]]:
        """Calls in order, each with its site in the text."""
        calls = (self.calls[step] for step in sorted(self.calls))
        return [(site, result) for told, result in calls if (site := site_of(told)) is not None]

    def feeds(self) -> Feeds:
        """Return which of its calls feeds which."""
        return feeds(self.cells)


@dataclass(slots=True)
class ProgramsTrace:
    """The programs of a subtask, oldest first."""

    written: list[ProgramTrace] = field(default_factory=list[ProgramTrace])
    """Programs that were run.

    One whose end is emitted again, because nothing better followed, moves to the last place.
    """
    refused: int = 0
    """Number of texts that the checks refused."""
    looks: int = 0
    """Number of times a program stopped to inspect values."""
    repairs: int = 0
    """Number of texts written because the one before was refused or broke off."""
    _to_mend: bool = False

    @property
    def last(self) -> ProgramTrace | None:
        """The program that counts; None if none was run."""
        return self.written[-1] if self.written else None

    def add(self, event: Programs) -> None:
        """Take one more event into account."""
        match event:
            case ProgramRefused(text=""):
                return
            case ProgramRefused():
                self._mended()
                self.refused, self._to_mend = self.refused + 1, True
            case ProgramStarted():
                self._mended()
                if not (event.goes_on and self.written):
                    self.written.append(ProgramTrace())
                self.written[-1].cells[event.number] = event.program
                self.written[-1].broken, self.written[-1].ended = "", None
            case ProgramLooked():
                self.looks += 1
                if self.written:
                    self.written[-1].looked.add(event.number)
            case ProgramFailed():
                self._to_mend = True
                if self.written:
                    self.written[-1].broken = event.error
            case ProgramEnded():
                self._ended(event)

    def _ended(self, event: ProgramEnded) -> None:
        own = next((one for one in self.written if event.number in one.cells), None)
        if own is not None:
            self.written.remove(own)
            self.written.append(own)
            own.ended, own.broken = event, ""

    def _mended(self) -> None:
        self.repairs += self._to_mend
        self._to_mend = False

    def to_json(self) -> JsonObject:
        """Return the last program in the form of ``ask --json``."""
        last = self.last
        told: JsonObject = {
            "text": last.text if last else "",
            "refused": self.refused,
            "repairs": self.repairs,
            "looks": self.looks,
        }
        if last is not None and last.broken:
            told["error"] = last.broken
        if last is not None and (end := last.ended) is not None:
            told |= {
                "answered": end.answered,
                "missing": end.missing,
                "verdict": end.verdict,
                "veto": end.veto,
            }
        return told
