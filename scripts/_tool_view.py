"""How a tool looks: as one JSON object, and on a terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic.types import JsonValue
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent.execution.secret_store import to_variable_name
from agent.execution.supplied_values import find_required_secrets
from agent.programs.signatures import ToolSignature
from domain.tool import ToolDoc
from graph.availability_history import format_parts
from graph.links import FeedLink
from graph.tool_description import DescribedEdge, ToolDescription

SHOWN = 15
SHOWN_RUNS = 50
_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Shown:
    """A tool as it is shown: what is known of it, as a function, what can fill its parameters, and what its answers can fill."""

    tool: ToolDescription
    function: ToolSignature | None
    fed_by: list[FeedLink]
    feeds: list[FeedLink]


def told(found: Shown) -> dict[str, JsonValue]:
    fed_by: list[JsonValue] = [
        {"parameter": f.parameter, "source": f.source, "field": f.field, "score": f.score} for f in found.fed_by
    ]
    feeds: list[JsonValue] = [
        {"field": f.field, "target": f.target, "parameter": f.parameter, "score": f.score} for f in found.feeds
    ]
    shown = {
        "signature": found.function.text if found.function else None,
        "tokens": found.function.tokens if found.function else 0,
    }
    return {**found.tool.to_json(), **shown, "fed_by": fed_by, "feeds": feeds}


def rendered(shown: Shown) -> RenderableType:
    """The description for people."""
    found = shown.tool
    head = Table.grid(padding=(0, 2))
    head.add_column()
    head.add_column(overflow="fold")
    head.add_row(Text("tool"), Text(printable(found.id), style="bold"))
    if found.document is None:
        head.add_row(Text("document"), Text("none: a node that past calls name", style="dim"))
    else:
        _add_document(head, found.document)
    head.add_row(Text("availability"), Text(_chance(found)))
    for line in format_parts(found.evidence, found.parts) if found.parts else ():
        head.add_row(Text(), Text(line, style="dim"))
    if len(found.history) > 1:
        head.add_row(Text("over time"), Text(drawn(list(found.history.values())[-SHOWN_RUNS:])))
    if shown.function:
        head.add_row(Text("signature"), Text(printable(shown.function.text, keep="\n")))
    _add_feeds(head, shown)
    if not found.successors and not found.predecessors:
        never = "never yet: runs and trajectories tell what comes before and after"
        head.add_row(Text("walked"), Text(never, style="dim"))
        walked: list[RenderableType] = []
    else:
        walked = [Text(), _links("after it", found.successors), Text(), _links("before it", found.predecessors)]
    return Group(head, *walked, *([Text(), _runs(found)] if found.runs else []))


def _add_document(head: Table, document: ToolDoc) -> None:
    """What its document says."""
    head.add_row(Text("function"), Text(printable(document.function)))
    head.add_row(Text("call"), Text(printable(f"{document.method} {document.url}".strip())))
    effect = document.effect
    head.add_row(Text("side effect"), Text(printable(f"{effect.kind}: {effect.why}")))
    head.add_row(Text("description"), Text(printable(document.description) or "none"))
    for parameter in document.parameters:
        need = "required" if parameter.required else "optional"
        described = printable(f"{parameter.name} ({parameter.type}, {need}) {parameter.description}")
        head.add_row(Text("parameter"), Text(described.strip()))
    for name, wanted in find_required_secrets(document).items():
        text = f"{to_variable_name(name)} gives {wanted.name} for all calls, {to_variable_name(name)}_HOSTS={document.host} says where it may go"
        head.add_row(Text("setting"), Text(printable(text)))
    for credential in document.credentials:
        need = "required" if credential.required else "optional"
        head.add_row(
            Text("key"), Text(printable(f"{credential.secret} ({credential.place} {credential.name}, {need})"))
        )


def _add_feeds(head: Table, shown: Shown) -> None:
    """The best of what can fill its parameters, and of what its answers can fill."""
    for feed in shown.fed_by[:SHOWN]:
        head.add_row(
            Text("fed by"), Text(printable(f"{feed.parameter} from {feed.source} {feed.field} ({feed.score:.2f})"))
        )
    for feed in shown.feeds[:SHOWN]:
        head.add_row(
            Text("feeds"), Text(printable(f"{feed.field} to {feed.target} {feed.parameter} ({feed.score:.2f})"))
        )
    if len(shown.fed_by) > SHOWN or len(shown.feeds) > SHOWN:
        more = f"{len(shown.fed_by)} ways into it and {len(shown.feeds)} out of it (--json has all)"
        head.add_row(Text("feeds"), Text(more, style="dim"))


def _chance(found: ToolDescription) -> str:
    facts = found.evidence
    if found.availability is None:
        return "untested"
    past = f"{facts.successes} of {facts.calls} recorded calls"
    live = f"live: {facts.ok} ok, {facts.transient} transient, {facts.gone} gone"
    return f"{found.availability:.2f} ({past}; {live})"


def drawn(values: Sequence[float]) -> str:
    """Chances, the oldest first, as a bar each, with the first and the last in figures."""
    bars = "".join(_BARS[min(len(_BARS) - 1, int(value * len(_BARS)))] for value in values)
    return f"{values[0]:.2f} {bars} {values[-1]:.2f}"


def _links(title: str, links: list[DescribedEdge]) -> RenderableType:
    table = Table(title=f"{title}: {len(links)}", title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("weight", justify="right")
    table.add_column("imported", justify="right")
    table.add_column("live", justify="right")
    table.add_column("tool", overflow="fold")
    for link in links[:SHOWN]:
        marked = f"  [{link.mark}]" if link.mark else ""
        table.add_row(f"{link.weight:.3f}", str(link.imported), str(link.live), Text(printable(link.id) + marked))
    if len(links) > SHOWN:
        table.add_row("", "", "", Text(f"and {len(links) - SHOWN} more (--json has all)", style="dim"))
    return table


def _runs(found: ToolDescription) -> RenderableType:
    table = Table(
        title=f"learnt from runs: the last {len(found.runs)}", title_justify="left", box=None, padding=(0, 2, 0, 0)
    )
    for name in ("when", "score", "calls", "availability", "run"):
        table.add_column(name)
    for lesson in found.runs[:SHOWN]:
        score = "" if lesson.score is None else f"{lesson.score:+.2f}"
        after = found.history.get(lesson.run)
        told = (
            f"{lesson.at:%Y-%m-%d %H:%M}",
            score,
            ", ".join(lesson.outcomes),
            "" if after is None else f"{after:.2f}",
        )
        table.add_row(*told, Text(printable(lesson.run)))
    if len(found.runs) > SHOWN:
        table.add_row(Text(f"and {len(found.runs) - SHOWN} more (--json has all)", style="dim"))
    return table


def printable(text: str, keep: str = "") -> str:
    """Text of strangers without control characters, which could move the cursor or recolour the terminal."""
    return "".join(c if c.isprintable() or c in keep else " " for c in text)
