"""What the programs of a subtask came to, folded from their events: the texts, how often they were mended, what was said at the end."""

from dataclasses import dataclass, field

from agent.programs.analysis.flow import Feeds, Site, feeds, site_of
from domain.event import ProgramEnded, ProgramFailed, ProgramLooked, ProgramRefused, Programs, ProgramStarted
from domain.model import JsonObject
from domain.plan import StepResult
from domain.program import Program


@dataclass(slots=True)
class ProgramTrace:
    """One program in its ``cells``, by their numbers. ``calls``: by step, those that were answered, each with its site. ``broken``: with what it broke off, if it did.
    ``looked``: the cells that stopped to look.
    """

    cells: dict[int, Program] = field(default_factory=dict[int, Program])
    calls: dict[int, tuple[str, StepResult]] = field(default_factory=dict[int, tuple[str, StepResult]])
    broken: str = ""
    ended: ProgramEnded | None = None
    looked: set[int] = field(default_factory=set[int])

    @property
    def text(self) -> str:
        """Its cells one below the other."""
        return "\n\n".join(self.cells[number].text for number in sorted(self.cells))

    @property
    def useful(self) -> bool:
        """Whether something of the request is served by it, as far as is known."""
        return not self.broken and (self.ended is None or self.ended.verdict != "no")

    @property
    def by_site(self) -> list[tuple[Site, StepResult]]:
        """Its calls in order, each with its place in the text."""
        calls = (self.calls[step] for step in sorted(self.calls))
        return [(site, result) for told, result in calls if (site := site_of(told)) is not None]

    def feeds(self) -> Feeds:
        """Which of its calls feeds which."""
        return feeds(self.cells)


@dataclass(slots=True)
class ProgramsTrace:
    """The programs of a subtask, the oldest first; one whose end is told again, since nothing better came, is the last again. ``repairs``: how often a text was written anew since the one before was refused or broke off."""

    written: list[ProgramTrace] = field(default_factory=list[ProgramTrace])
    refused: int = 0
    looks: int = 0
    repairs: int = 0
    _to_mend: bool = False

    @property
    def last(self) -> ProgramTrace | None:
        """The one that counts."""
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
        """The last program, as ``ask --json`` tells it."""
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
