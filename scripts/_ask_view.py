"""What ``ask`` shows of a run while it goes on: Rich text, an event at a time."""

from typing import assert_never

from _program_view import ProgramView
from rich.console import Console
from rich.markup import escape
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from agent.text import clean_text, format_scalar
from domain.event import (
    AnswerDelta,
    CallFinished,
    CallStarted,
    CandidatesConsidered,
    ConsideredTool,
    Event,
    InputNeeded,
    MemoryRecalled,
    NoSolution,
    PathEnded,
    PlanningEvent,
    PlanReady,
    PolicyFellBack,
    ProgramEnded,
    ProgramFailed,
    ProgramLooked,
    ProgramRefused,
    ProgramStarted,
    QuestionAnswered,
    ReflectionMade,
    ResponseCompressed,
    RunDelayed,
    RunFinished,
    RunStarted,
    SolutionTaken,
    StepBacktracked,
    StepChosen,
    SubtaskStarted,
    WeightsLearned,
    describe_selection,
)
from domain.plan import Binding
from domain.tool import ToolId, split_tool_id
from domain.usage import Usage

_EXCERPT = 160
_GOOD = {"ok": "green", "missing": "yellow", "unknown": "yellow"}


class AskView:
    """Writes events to a console. ``all_candidates``: every candidate of a node, not only the first few."""

    def __init__(self, console: Console, *, all_candidates: bool = False) -> None:
        self._console = console
        self._most = 100 if all_candidates else 5
        self._programs = ProgramView(console, whole=all_candidates)
        self._request = ""

    def show(self, event: Event) -> None:
        """Write one event."""
        match event:
            case CallStarted() | CallFinished() if self._programs.takes(event):
                return
            case CallStarted() | CallFinished() | ResponseCompressed():
                self._call(event)
            case ProgramRefused() | ProgramStarted() | ProgramLooked() | ProgramFailed() | ProgramEnded():
                self._programs.show(event)
            case InputNeeded():
                self._line(f"  [yellow]?[/yellow]  {escape(clean_text(event.reason, 400))}")
            case QuestionAnswered():
                said = f"“{event.answer}”" if event.answer else event.unanswered
                self._line(f"  [yellow]?[/yellow]  {escape(event.question)}  [dim]{escape(said)}[/dim]")
            case RunDelayed():
                self._line(f"  [yellow]…  {escape(clean_text(event.reason, 400))}[/yellow]")
            case AnswerDelta():
                return  # the whole of it stands below everything else
            case WeightsLearned():
                self._learned(event)
            case RunFinished():
                self._end(event)
            case _:
                self._planning(event)

    def _planning(self, event: PlanningEvent) -> None:
        """What leads to a plan."""
        match event:
            case RunStarted():
                self._request = clean_text(event.request, 400)
                self._line(f"[bold]{escape(self._request)}[/bold]\n")
            case SubtaskStarted():
                self._subtask(event)
            case MemoryRecalled():
                self._memories(event)
            case SolutionTaken() | NoSolution():
                self._line(f"  [cyan]≈[/cyan] {escape(clean_text(describe_selection(event), 400))}")
            case ReflectionMade():
                self._reflection(event)
            case CandidatesConsidered():
                self._candidates(event)
            case StepChosen():
                self._line(f"  [green]→ {_name(event.tool)}[/green]  {escape(clean_text(event.reason, 300))}")
            case StepBacktracked():
                self._line(f"  [yellow]← {_name(event.dropped)}[/yellow]  {escape(clean_text(event.reason, 300))}")
            case PathEnded():
                colour = "green" if event.how == "finished" else "yellow"
                self._line(
                    f"  [{colour}]■ {event.how.replace('_', ' ')}[/{colour}]  {escape(clean_text(event.reason, 300))}"
                )
            case PlanReady():
                self._line(f"\n[bold]plan[/bold]  {' → '.join(_name(tool) for tool in event.plan.path)}")
            case PolicyFellBack():
                self._line(f"  [yellow]{event.policy} → {event.to}[/yellow]  {escape(clean_text(event.reason, 300))}")
            case _:
                assert_never(event)

    def _subtask(self, event: SubtaskStarted) -> None:
        """A part of the request; a request that is its own only part is on the screen already."""
        if clean_text(event.description, 400) != self._request:
            waits = f" after {', '.join(map(str, event.depends_on))}" if event.depends_on else ""
            kind = f" ({escape(clean_text(event.category, 60))})" if event.category else ""
            self._line(
                f"\n[bold]subtask {event.subtask}{kind}{waits}[/bold]  {escape(clean_text(event.description, 400))}"
            )

    def _reflection(self, event: ReflectionMade) -> None:
        """A judgement that changes nothing is not worth a line."""
        if event.verdict == "success" or not event.resumed:
            return
        place = f" from step {event.first_wrong} on" if event.verdict == "partial" else ""
        self._line(
            f"  [yellow]↺ {event.verdict} failure, again{place}[/yellow]  {escape(clean_text(event.reason, 300))}"
        )

    def _memories(self, event: MemoryRecalled) -> None:
        if event.note:
            self._line(f"[yellow]{escape(clean_text(event.note, 400))}[/yellow]")
        for one in event.memories[: min(3, self._most)]:
            path = " → ".join(_name(tool) for tool in one.path)
            self._line(f"[dim]remembered {one.similarity:.2f}  {escape(clean_text(one.request, 120))}: {path}[/dim]")

    def _call(self, event: CallStarted | CallFinished | ResponseCompressed) -> None:
        """What happens around a call."""
        match event:
            case CallStarted():
                self._line(f"  [cyan]{event.step}. {_name(event.tool)}[/cyan]")
                for binding in event.provenance:
                    value = format_scalar(event.arguments.get(binding.parameter), 80)
                    self._line(
                        f"     {escape(clean_text(binding.parameter, 60))} = {escape(value)}  [dim]{_origin(binding)}[/dim]"
                    )
            case CallFinished():
                self._result(event)
            case ResponseCompressed():
                kept = (
                    f"to {', '.join(clean_text(field, 60) for field in event.fields[:8])}"
                    if event.fields
                    else "by cutting"
                )
                self._line(f"     [dim]shortened {event.before} → {event.after} characters {escape(kept)}[/dim]")
            case _:
                assert_never(event)

    def _learned(self, event: WeightsLearned) -> None:
        if event.error:
            part = event.transitions or event.tools or event.remembered or event.solutions
            what = "Not all that this run teaches was learnt" if part else "Nothing was learnt from this run"
            why = event.error.partition(": ")[2] or event.error
            self._line(f"\n[yellow]{what}, and it is not made up for later: {escape(clean_text(why, 300))}.[/yellow]")
            return
        kept = "; remembered" if event.remembered else ""
        kept += "; kept as a solution" if event.solutions else ""
        self._line(f"\n[dim]learnt: {len(event.transitions)} transitions, {len(event.tools)} tools{kept}[/dim]")

    def _line(self, markup: str) -> None:
        self._console.print(Text.from_markup(markup))

    def _candidates(self, event: CandidatesConsidered) -> None:
        place = f"after {_name(event.path[-1])}" if event.path else "start"
        self._line(f"[bold]{place}[/bold]  {len(event.candidates)} candidates, Finish {event.finish_weight:.2f}")
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=bool(event.candidates), header_style="dim")
        for title in ("  weight", "available", "relevance"):
            table.add_column(title, justify="right")
        table.add_column("tool", overflow="fold")
        for candidate in event.candidates[: self._most]:
            available = "—" if candidate.availability is None else f"{candidate.availability:.2f}"
            needs = (
                f"  [dim]needs {escape(clean_text(', '.join(candidate.missing), 80))}[/dim]"
                if candidate.missing
                else ""
            )
            name = Text.from_markup(f"{_name(candidate.tool)}{_fed(candidate)}{needs}")
            table.add_row(f"{candidate.weight:.2f}", available, f"{candidate.relevance:.2f}", name)
        self._console.print(table)
        if len(event.candidates) > self._most:
            self._line(f"  [dim]and {len(event.candidates) - self._most} more (--all shows them)[/dim]")

    def _result(self, event: CallFinished) -> None:
        result = event.result
        colour = _GOOD.get(result.status, "red")
        status = f"{result.status} {result.http_status}" if result.http_status else result.status
        told = " ".join(
            part
            for part in (clean_text(result.response, _EXCERPT), result.note and f"({clean_text(result.note)})")
            if part
        )
        self._line(f"     [{colour}]{status}[/{colour}] {result.seconds * 1000:.0f} ms  {escape(told)}")

    def _end(self, event: RunFinished) -> None:
        if event.error:
            self._line(f"[red]{escape(clean_text(event.error, 400))}[/red]")
        self._line(f"\n[dim]{event.outcome.replace('_', ' ')} {_took(event.usage)}[/dim]")
        if event.answer:
            self._line("")
            self._console.print(Rule("answer", style="dim", align="left"))
            self._console.print(
                Text("".join(c if c.isprintable() or c == "\n" else " " for c in event.answer).rstrip())
            )


def _took(usage: Usage) -> str:
    """How long a run took, where its time went, and what it used."""
    planning = f"plan {usage.plan_seconds:.2f} s"
    if usage.write_seconds or usage.check_seconds:
        planning += f" (write {usage.write_seconds:.2f} s, check {usage.check_seconds:.2f} s)"
    told = f"in {usage.total_seconds:.2f} s: {planning}, run {usage.execute_seconds:.2f} s; "
    told += f"{usage.considered} considered, {usage.decisions} decisions, {usage.backtracks} backtracks"
    tokens = usage.prompt_tokens + usage.completion_tokens
    return told + (f", {usage.model_calls} model calls, {tokens:,} tokens" if usage.model_calls else "")


def _name(tool: ToolId) -> str:
    """Tool set and API, safe to print."""
    _, toolset, api = split_tool_id(tool)
    return escape(f"{clean_text(toolset, 50)}/{clean_text(api, 60)}")


def _fed(candidate: ConsideredTool) -> str:
    """The fields of earlier steps that fill its parameters: ``← 1.places[].id``."""
    fields = dict.fromkeys(f"{feed.step}.{clean_text(feed.field, 60)}" for feed in candidate.feeds)
    return f"  [cyan]← {escape(', '.join(list(fields)[:4]))}[/cyan]" if fields else ""


def _origin(binding: Binding) -> str:
    """Where a value comes from, in words."""
    reference = escape(clean_text(binding.reference, 80))
    match binding.origin:
        case "step":
            return f"from step {reference}"
        case "request":
            return f"from the request: “{reference}”"
        case "file":
            return f"from your file {reference}"
        case "field" | "prose":
            return f"from an earlier answer: {reference}"
        case "computed":
            return f"worked out: {reference}"
        case "default" | "example" | "secret" | "memory" | "user":
            return f"{binding.origin}{': ' + reference if reference else ''}"
        case _:
            assert_never(binding.origin)
