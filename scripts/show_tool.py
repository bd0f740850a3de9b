"""Shows a tool of the graph: its document, its evidence, and what comes after and before it."""

import asyncio
import sys
from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _terminal import check_utf8
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from domain.errors import UnavailableError, UsageError
from graph.description import Description, Link, describe
from graph.history import in_words
from wiring.container import open_container

SHOWN = 15
SHOWN_RUNS = 50
_BARS = "▁▂▃▄▅▆▇█"


def main(
    name: Annotated[str, typer.Argument(metavar="ID|NAME", help="A tool's id, its function, or the name of its API.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what is known of a tool. Exit codes: 2 unknown or ambiguous name, 3 no store."""
    try:
        check_utf8(name, "the name")
        found = asyncio.run(_describe(name, store))
    except (UsageError, UnavailableError) as error:
        print(printable(str(error), keep="\n"), file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error
    if json:
        print(dumps(found.to_json(), indent=2))
    else:
        Console().print(rendered(found))


async def _describe(name: str, store: Path | None) -> Description:
    async with open_container(store=store) as container:
        return await describe(container.graph, name, container.weights)


def rendered(found: Description) -> RenderableType:
    """The description for people."""
    head = Table.grid(padding=(0, 2))
    head.add_row(Text("tool"), Text(printable(found.id), style="bold"))
    document = found.document
    if document is None:
        head.add_row(Text("document"), Text("none: a node that past calls name", style="dim"))
    else:
        head.add_row(Text("function"), Text(printable(document.function)))
        head.add_row(Text("call"), Text(printable(f"{document.method} {document.url}".strip())))
        effect = document.effect
        head.add_row(Text("side effect"), Text(printable(f"{effect.kind}: {effect.why}")))
        head.add_row(Text("description"), Text(printable(document.description) or "none"))
        for parameter in document.parameters:
            need = "required" if parameter.required else "optional"
            described = printable(f"{parameter.name} ({parameter.type}, {need}) {parameter.description}")
            head.add_row(Text("parameter"), Text(described.strip()))
        for credential in document.credentials:
            need = "required" if credential.required else "optional"
            head.add_row(
                Text("key"), Text(printable(f"{credential.secret} ({credential.place} {credential.name}, {need})"))
            )
    head.add_row(Text("availability"), Text(_chance(found)))
    for line in in_words(found.evidence, found.parts) if found.parts else ():
        head.add_row(Text(), Text(line, style="dim"))
    if len(found.history) > 1:
        head.add_row(Text("over time"), Text(drawn(list(found.history.values())[-SHOWN_RUNS:])))
    parts = [head, Text(), _links("after it", found.successors), Text(), _links("before it", found.predecessors)]
    return Group(*parts, *([Text(), _runs(found)] if found.runs else []))


def _chance(found: Description) -> str:
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


def _links(title: str, links: list[Link]) -> RenderableType:
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


def _runs(found: Description) -> RenderableType:
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


if __name__ == "__main__":
    typer.run(main)
