"""Shows which tools a request finds, best first, and why: what a run starts from. Nothing is planned or called."""

import asyncio
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import _environment as _environment  # first: it tells where the packages are missing
import orjson
import typer
from _evaluate_output import scoring
from _offer_view import absence_figures, offer_figures, show_absence, show_offer
from _terminal import check_utf8
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agent.text import clean_text
from domain.errors import UsageError
from graph.tool_description import find_category, find_tool
from wiring.container import open_container


def main(
    request: Annotated[str, typer.Argument(help="What to find tools for, in words.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Tools to show.")] = 10,
    category: Annotated[str, typer.Option(help="Of this category alone, however it is written.")] = "",
    explain: Annotated[
        bool, typer.Option("--explain", help="What a run is offered, graph and search together, and why each.")
    ] = False,
    why_not: Annotated[
        str, typer.Option(metavar="ID|NAME", help="Why this tool is not in that offer: what would have brought it.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the best tools. Exit codes: 1 none was found, 2 wrong use, 3 no store, or it cannot be used."""
    with scoring("interrupted; nothing was found"):
        check_utf8(request + category + why_not, "what is asked for")
        if not request.strip():
            raise UsageError("the request is empty; say in words what to find tools for")
        if category and (explain or why_not):
            raise UsageError("an offer is made of all categories; leave --category out, or --explain and --why-not")
        if explain or why_not:
            found = asyncio.run(_offered(request, store, limit, why_not))
        else:
            found = asyncio.run(_found(request, store, limit, category))
    if as_json:
        sys.stdout.write(orjson.dumps(found).decode() + "\n")
    else:
        _show_any(found, why_not)
    raise typer.Exit(0 if found["tools"] else 1)


async def _offered(request: str, store: Path | None, limit: int, why_not: str) -> dict[str, Any]:
    async with open_container(store=store) as container:
        tool = await find_tool(container.graph, why_not) if why_not else None
        offers = await container.create_offer_maker()
        start = perf_counter()
        offer = await offers.offer(request, limit)
        seconds = perf_counter() - start
        absence = await offers.explain_absence(request, limit, tool) if tool else None
    told = {"absence": absence_figures(absence)} if absence else {}
    return {**offer_figures(offer), **told, "seconds": seconds}


def _show_any(found: dict[str, Any], why_not: str) -> None:
    if "absence" in found:
        show_absence(why_not, found["absence"])
    elif "considered" in found:
        show_offer(found)
        print(f"of {found['considered']} tools weighed; {found['seconds'] * 1e3:.0f} ms", file=sys.stderr)
    else:
        _show(found)


async def _found(request: str, store: Path | None, limit: int, category: str) -> dict[str, Any]:
    async with open_container(store=store) as container:
        search = await container.open_search()
        category = category and await find_category(container.graph, category)
        start = perf_counter()
        hits = await search.find_tools(request, limit, {"category": category} if category else None)
        seconds = perf_counter() - start
        documents = await container.graph.get_tools([hit.id for hit in hits])
        tools = [
            {
                "id": hit.id,
                "description": documents[hit.id].description if hit.id in documents else "",
                "score": hit.score,
                "cosine": hit.dense,
                "bm25": hit.lexical,
                "alike": list(hit.alike),
            }
            for hit in hits
        ]
        encoder = (await container.embedder()).identity
    return {"tools": tools, "encoder": encoder, "reranked": search.reranks, "seconds": seconds}


def _show(found: dict[str, Any]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("", "score", "cosine", "bm25"):
        table.add_column(name, justify="right")
    table.add_column("tool", overflow="fold")
    for place, tool in enumerate(found["tools"], start=1):
        figures = (f"{tool[name]:.2f}" for name in ("score", "cosine", "bm25"))
        text = Text(clean_text(tool["id"]))
        text.append(f"\n{clean_text(tool['description'], 160)}", style="dim")
        if tool["alike"]:
            text.append(f"\nalso as {', '.join(map(clean_text, tool['alike']))}", style="dim")
        table.add_row(str(place), *figures, text)
    if not found["tools"]:
        print("no tool is found: the store has none, or none of that category", file=sys.stderr)
        return
    Console().print(table)
    order = "in the re-ranker's order, which need not be that of the scores" if found["reranked"] else "by score"
    print(f"{order}; {found['seconds'] * 1e3:.0f} ms; {found['encoder']}", file=sys.stderr)


if __name__ == "__main__":
    typer.run(main)
