"""What ``ask`` shows of programs: the text, briefly, its calls as their answers come, what became of it."""

from collections import Counter
from typing import assert_never

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from agent.programs.analysis.program_flow import parse_site
from agent.text import clean_text, format_scalar
from domain.event import (
    CallFinished,
    CallStarted,
    ProgramEnded,
    ProgramEvent,
    ProgramFailed,
    ProgramLooked,
    ProgramRefused,
    ProgramStarted,
)
from domain.tool import ToolId, split_tool_id

_EXCERPT = 120
_COMPLAINTS = 5
_COLOURS = {"ok": "green", "missing": "yellow", "unknown": "yellow"}
_VERDICTS = {"yes": "green", "partly": "yellow", "no": "red"}


class ProgramView:
    """Writes what programs do to a console. ``whole``: all lines of a text and all calls of a loop, not only the first few."""

    def __init__(self, console: Console, *, whole: bool = False) -> None:
        self._console = console
        self._lines = 1_000 if whole else 24
        self._calls = 1_000 if whole else 5
        self._made = Counter[tuple[str, ToolId]]()
        self._told = Counter[tuple[str, ToolId]]()
        self._texts: dict[int, bytes] = {}
        self._refused = False

    def show(self, event: ProgramEvent) -> None:
        """Write one event of a program."""
        self._left_out()
        match event:
            case ProgramStarted():
                self._line(f"\n[bold]program {event.number}[/bold]{' goes on' if event.goes_on else ''}")
                self._texts[event.number] = event.program.text.encode()
                self._code(event.program.text)
            case ProgramRefused(text=""):
                self._line(f"\n[yellow]no program was written[/yellow]  {escape(clean_text(event.complaints[0], 300))}")
            case ProgramRefused():
                self._line("\n[yellow]program refused before anything was called[/yellow]")
                for complaint in event.complaints[:_COMPLAINTS]:
                    self._line(f"  [yellow]{escape(clean_text(complaint, 300))}[/yellow]")
            case ProgramLooked():
                self._line(f"  [dim]looked at {escape(clean_text(event.shown, 300))}[/dim]")
            case ProgramFailed():
                place = f" on line {event.line}" if event.line else ""
                why = "" if self._refused else escape(clean_text(event.error, 300))  # the answer says why
                self._line(f"  [yellow]↺ broke off{place}[/yellow]  {why}".rstrip())
            case ProgramEnded():
                missing = f"missing: {event.missing}" if event.missing else ""
                why = "; ".join(clean_text(part, 300) for part in (event.veto, missing) if part)
                colour = _VERDICTS[event.verdict]
                self._line(f"  [{colour}]■ answered: {event.verdict}[/{colour}]  {escape(why)}")
            case _:
                assert_never(event)

    def takes(self, event: CallStarted | CallFinished) -> bool:
        """Write a call of a program, in one line when its answer is there; whether it is one. Of a loop's, the first few and those that failed."""
        if isinstance(event, CallFinished) and event.site:
            place = (event.site.partition("#")[0], event.result.tool)
            self._made[place] += 1
            if self._made[place] <= self._calls or event.result.status != "ok":
                self._told[place] += 1
                self._result(event)
        return bool(event.site)

    def _result(self, event: CallFinished) -> None:
        result = event.result
        colour = _COLOURS.get(result.status, "red")
        given = ", ".join(
            f"{clean_text(name, 40)}={format_scalar(value, 60)}" for name, value in result.arguments.items()
        )
        status = f"{result.status} {result.http_status}" if result.http_status else result.status
        self._refused = result.status == "skipped"
        told = clean_text(result.response, _EXCERPT) or ("" if self._refused else clean_text(result.note, _EXCERPT))
        line = self._line_of(event.site)
        place = f"[dim]line {line}[/dim] " if line else ""
        self._line(f"  {event.step}. {place}[cyan]{_name(result.tool)}[/cyan]({escape(given)})")
        answered = f"[{colour}]{status}[/{colour}] {result.seconds * 1000:.0f} ms  {escape(told)}"
        self._console.print(Padding(Text.from_markup(answered), (0, 0, 0, 5)))

    def _line_of(self, site: str) -> int:
        """The line that makes a call; 0: a text that is not known here."""
        found = parse_site(site)
        text = self._texts.get(found[0]) if found else None
        return text[: found[1]].count(b"\n") + 1 if found and text is not None else 0

    def _left_out(self) -> None:
        for place, count in self._made.items():
            if left := count - self._told[place]:
                self._line(f"  [dim]and {left} calls more of {_name(place[1])} (--all shows them)[/dim]")
        self._made.clear()
        self._told.clear()

    def _code(self, text: str) -> None:
        lines = text.strip().splitlines()
        for number, line in enumerate(lines[: self._lines], start=1):
            plain = "".join(c if c.isprintable() else " " for c in line)
            self._console.print(Text(f"  {number:>3}  {plain}", style="cyan"), soft_wrap=True)
        if len(lines) > self._lines:
            self._line(f"  [dim]and {len(lines) - self._lines} lines more (--all shows them)[/dim]")

    def _line(self, markup: str) -> None:
        self._console.print(Text.from_markup(markup))


def _name(tool: ToolId) -> str:
    """Tool set and API, safe to print."""
    _, toolset, api = split_tool_id(tool)
    return escape(f"{clean_text(toolset, 50)}/{clean_text(api, 60)}")
