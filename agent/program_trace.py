"""Programs of a subtask, folded from their events."""

from dataclasses import dataclass, field

from agent.programs.analysis.program_flow import CallDependencies, Site, find_call_dependencies, parse_site
from domain.event import ProgramEnded, ProgramEvent, ProgramFailed, ProgramLooked, ProgramRefused, ProgramStarted
from domain.model import JsonObject
from domain.plan import StepResult
from domain.program import Program


@dataclass(slots=True)
class ProgramTrace:
    """One program: its cells, its calls, and how it ended."""

    cells: dict[int, Program] = field(default_factory=dict[int, Program])
    """Its cells by their numbers."""
    calls: dict[int, tuple[str, StepResult]] = field(default_factory=dict[int, tuple[str, StepResult]])
    """Calls with results by step number, each with its site in the text."""
    broken: str = ""
    """The error that ended it; empty if none did."""
    ended: ProgramEnded | None = None
    """Its last event; None while it runs or if it broke off."""
    inspected: set[int] = field(default_factory=set[int])
    """Cells that stopped to inspect values."""

    @property
    def text(self) -> str:
        """The texts of its cells, joined."""
        return "\n\n".join(self.cells[number].text for number in sorted(self.cells))

    @property
    def useful(self) -> bool:
        """Return whether it serves at least part of the request, as far as is known."""
        return not self.broken and (self.ended is None or self.ended.verdict != "no")

    @property
    def by_site(self) -> list[tuple[Site, StepResult]]:
        """Calls in order, each with its site in the text."""
        calls = (self.calls[step] for step in sorted(self.calls))
        return [(site, result) for location, result in calls if (site := parse_site(location)) is not None]

    def find_feeds(self) -> CallDependencies:
        """Return which calls use the results of which others."""
        return find_call_dependencies(self.cells)


@dataclass(slots=True)
class ProgramHistory:
    """The programs of a subtask, oldest first."""

    written: list[ProgramTrace] = field(default_factory=list[ProgramTrace])
    """Programs that were run.

    If the end of one is emitted again, because nothing better followed, it moves to the last place.
    """
    refused: int = 0
    """Number of texts that the checks refused."""
    looks: int = 0
    """Number of times a program stopped to inspect values."""
    repairs: int = 0
    """Number of texts written because the one before was refused or broke off."""
    _needs_repair: bool = False
    """The last text was refused or broke off, so the next one counts as a repair."""

    @property
    def last(self) -> ProgramTrace | None:
        """The program that counts; None if none was run."""
        return self.written[-1] if self.written else None

    def add(self, event: ProgramEvent) -> None:
        """Take one more event into account."""
        match event:
            case ProgramRefused(text=""):  # no text was written, so there is nothing to repair
                return
            case ProgramRefused():
                self._count_repair()
                self.refused, self._needs_repair = self.refused + 1, True
            case ProgramStarted():
                self._count_repair()
                if not (event.goes_on and self.written):
                    self.written.append(ProgramTrace())
                self.written[-1].cells[event.number] = event.program
                self.written[-1].broken, self.written[-1].ended = "", None
            case ProgramLooked():
                self.looks += 1
                if self.written:
                    self.written[-1].inspected.add(event.number)
            case ProgramFailed():
                self._needs_repair = True
                if self.written:
                    self.written[-1].broken = event.error
            case ProgramEnded():
                self._record_end(event)

    def _record_end(self, event: ProgramEnded) -> None:
        trace = next((one for one in self.written if event.number in one.cells), None)
        if trace is not None:
            self.written.remove(trace)
            self.written.append(trace)
            trace.ended, trace.broken = event, ""

    def _count_repair(self) -> None:
        self.repairs += self._needs_repair
        self._needs_repair = False

    def to_json(self) -> JsonObject:
        """Return the last program in the form of ``ask --json``."""
        last = self.last
        summary: JsonObject = {
            "text": last.text if last else "",
            "refused": self.refused,
            "repairs": self.repairs,
            "looks": self.looks,
        }
        if last is not None and last.broken:
            summary["error"] = last.broken
        if last is not None and (end := last.ended) is not None:
            summary |= {
                "answered": end.answered,
                "missing": end.missing,
                "verdict": end.verdict,
                "veto": end.veto,
            }
        return summary
