"""Builds the tool graph, and the index of start tools, from tool documents, trajectories and recorded calls."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import _environment as _environment  # first: it tells where the packages are missing
import orjson
import typer
from _build_view import show_duplicates, show_skipped, show_summary, take_over_lines
from _progress import console, progress_bars

from domain.errors import FootpathError, UnavailableError, UsageError

if TYPE_CHECKING:
    from graph.import_summary import ImportSummary
    from graph.ingest import ImportResult

Paths = list[Path]


def main(
    tools: Annotated[
        list[str] | None,
        typer.Option(
            help="OpenAPI document (file or address), ToolBench folder or G*_query.json, API-Bank table, NESTFUL list or JSONL; repeatable."
        ),
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
    ray: Annotated[str, typer.Option(metavar="ADDRESS", help="Count and embed on this Ray cluster (host:port).")] = "",
    server: Annotated[str, typer.Option(help="Address that an OpenAPI document's servers are relative to.")] = "",
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Let documents change host, method or credentials of tools that are there."),
    ] = False,
) -> None:
    """Build a store, or add to it. Repeated or interrupted, it adds what is missing and nothing twice."""
    if not (tools or trajectories or calls):
        raise _stop("nothing to import: give --tools, --trajectories or --calls", 2)
    try:
        sources: dict[str, Any] = {"tools": tools and _sources(tools), "trajectories": trajectories, "calls": calls}
        result, summary = _build(
            **{name: tuple(paths or ()) for name, paths in sources.items()},
            store=store,
            server=server,
            strict=strict,
            replace=replace,
            embed=embed,
            workers=workers,
            ray=ray,
        )
        if report_to is not None:
            _write_report(report_to, result, summary)
    except KeyboardInterrupt:
        raise _stop(
            "interrupted; what was applied is kept. Run the same command again to go on from there", 130
        ) from None
    except FootpathError as error:
        raise _stop(str(error), _exit_code(error)) from error
    except OSError as error:
        raise _stop(f"cannot write the report: {error}", 3) from error
    show_skipped(result.skipped)
    show_duplicates(result.duplicates)
    show_summary(summary)
    if as_json:
        sys.stdout.write(orjson.dumps(summary).decode() + "\n")
    raise typer.Exit(1 if result.skipped or result.refused else 0)


def _sources(tools: list[str]) -> list[Path | str]:
    """Addresses as they are, paths as paths."""
    from wiring.source_fetch import is_address

    return [source if is_address(source) else Path(source) for source in tools]


def _build(**options: Any) -> "tuple[ImportResult, ImportSummary]":
    """Imported here: Ctrl-C while the program loads ends as it does later, and ``--help`` waits for nothing."""
    from graph.input_files import find_own_addresses
    from wiring.store_build import BuildOptions, build

    kept = find_own_addresses([one for one in options["tools"] if isinstance(one, Path)], options["server"])
    if kept:
        told = (
            f"warning: --server is for relative servers only; the documents name {', '.join(kept[:5])}, which is kept"
        )
        console.print(told, style="yellow", markup=False, soft_wrap=True)
    with progress_bars() as progress:
        return asyncio.run(build(BuildOptions(**options), progress, on_take_over=take_over_lines()))


def _write_report(path: Path, result: "ImportResult", summary: "ImportSummary") -> None:
    from graph.import_summary import build_report

    path.write_bytes(orjson.dumps(build_report(result, summary), option=orjson.OPT_INDENT_2))


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


if __name__ == "__main__":
    typer.run(main)
