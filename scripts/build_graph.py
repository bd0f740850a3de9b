"""Builds the tool graph, and the index of start tools, from tool documents, trajectories and recorded calls."""

import asyncio
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Table

from domain.errors import FootpathError, UnavailableError, UsageError
from domain.tool import ToolId, tool_id_parts
from graph.importers.records import Skipped
from graph.ingest import Progress
from graph.summary import Summary, report
from wiring.build import BuildOptions, build

SHOWN = 20
"""Skipped records shown on the terminal; the report lists more."""
console = Console(stderr=True)
Paths = list[Path]


def main(
    tools: Annotated[
        Paths | None, typer.Option(help="ToolBench folder, OpenAPI document, API-Bank table or JSONL; repeatable.")
    ] = None,
    trajectories: Annotated[
        Paths | None, typer.Option(help="ToolBench answers, API-Bank dialogues or JSONL; repeatable.")
    ] = None,
    calls: Annotated[Paths | None, typer.Option(help="Recorded calls, JSONL; repeatable.")] = None,
    store: Annotated[Path | None, typer.Option(help="Folder of the embedded store.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first broken file or record.")] = False,
    report_to: Annotated[
        Path | None, typer.Option("--report", help="Write names that did not resolve and skipped records here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
    embed: Annotated[bool, typer.Option("--embed/--no-embed", help="Index the tools for retrieval as well.")] = True,
    workers: Annotated[int, typer.Option(min=0, help="Counting processes; 0 chooses.")] = 0,
    server: Annotated[str, typer.Option(help="Address that an OpenAPI document's servers are relative to.")] = "",
) -> None:
    """Build a store, or add to it. Repeated or interrupted, it adds what is missing and nothing twice."""
    options = BuildOptions(
        tuple(tools or ()), tuple(trajectories or ()), tuple(calls or ()), store, server, strict, embed, workers
    )
    if not (options.tools or options.trajectories or options.calls):
        raise _stop("nothing to import: give --tools, --trajectories or --calls", 2)
    try:
        with _progress() as progress:
            result, summary = asyncio.run(build(options, progress))
        if report_to is not None:
            report_to.write_bytes(orjson.dumps(report(result, summary), option=orjson.OPT_INDENT_2))
    except KeyboardInterrupt:
        raise _stop(
            "interrupted; what was applied is kept. Run the same command again to go on from there", 130
        ) from None
    except FootpathError as error:
        raise _stop(str(error), _exit_code(error)) from error
    except OSError as error:
        raise _stop(f"cannot write the report: {error}", 3) from error
    _show_skipped(result.skipped)
    _show_duplicates(result.duplicates)
    _show(summary)
    if as_json:
        sys.stdout.write(orjson.dumps(summary).decode() + "\n")
    raise typer.Exit(1 if result.skipped else 0)


def _exit_code(error: FootpathError) -> int:
    match error:
        case UsageError():
            return 2
        case UnavailableError():
            return 3
        case _:
            return 1


def _stop(message: str, code: int) -> typer.Exit:
    console.print(message, style="red", markup=False, soft_wrap=True)
    return typer.Exit(code)


@contextmanager
def _progress() -> Generator[Progress]:
    """Bars on a terminal; nothing where stderr is a file."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    with Bars(*columns, console=console, disable=not console.is_terminal) as bars:

        def advance(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield advance


def _show_skipped(skipped: list[Skipped]) -> None:
    for item in skipped[:SHOWN]:
        console.print(f"skipped {item}", style="yellow", markup=False, soft_wrap=True)
    if len(skipped) > SHOWN:
        console.print(f"… and {len(skipped) - SHOWN} more; --report F lists them", style="yellow", markup=False)


def _show_duplicates(ids: list[ToolId]) -> None:
    """Two tools of one name: the first counts. Told, though nothing is broken."""
    if ids:
        shown = ", ".join("/".join(tool_id_parts(tool)) for tool in ids[:3])
        more = f" and {len(ids) - 3} more (--report F lists them)" if len(ids) > 3 else ""
        text = (
            f"{len(ids)} documents left out, each the second, different one of its category, tool set and name: {shown}"
        )
        console.print(text + more, style="yellow", markup=False, soft_wrap=True)


def _show(summary: Summary) -> None:
    table = Table(show_header=False, box=None)
    trajectories, calls = summary["trajectories"], summary["calls"]
    dropped = ", ".join(f"{reason} {n:,}" for reason, n in trajectories["dropped"].items()) or "none"
    table.add_row("tools", f"{summary['tools']:,}")
    table.add_row("trajectories", f"{trajectories['read']:,} read, {trajectories['kept']:,} kept; dropped: {dropped}")
    table.add_row("calls", ", ".join(f"{n:,} {key}" for key, n in calls.items()))
    table.add_row("transitions", f"{summary['transitions']:,}, and {summary['finish_transitions']:,} to Finish")
    table.add_row("records", f"{summary['already']:,} were in the store already, {summary['skipped']:,} skipped")
    table.add_row("seconds", ", ".join(f"{key} {value:.1f}" for key, value in summary["seconds"].items()))
    table.add_row("peak", f"{summary['peak_mb']:.0f} MB")
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
