"""Mines a store for solutions: what its tools can be asked together, the programs that answer it, and the questions that people put."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _transfer_view import console, ending, print_json, progress_bars

if TYPE_CHECKING:
    from synthesis.journal import MiningReport


def main(
    store: Annotated[Path | None, typer.Option(help="Folder of the embedded store.")] = None,
    toolset: Annotated[
        list[str] | None, typer.Option(help="Only this tool set; repeatable: several are mined together.")
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Call tools that only read, to find values and to try programs.")
    ] = False,
    model: Annotated[
        bool, typer.Option("--model", help="The language model of the settings words questions too.")
    ] = False,
    language: Annotated[str, typer.Option(help="Language of the model's questions, as it is called in English.")] = "",
    unproven: Annotated[
        bool, typer.Option("--unproven", help="Keep what could not be tried, suspended: for people to look at.")
    ] = False,
    triplets: Annotated[
        Path | None, typer.Option(help="Write query, solution and code of what is kept here, as JSON lines.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Mine solutions into the library. Only what execution proves is kept: without --live, recorded calls are what is executed on.

    Repeated or interrupted, it goes on where it was, and keeps nothing twice. Exit codes: 2 wrong use, 3 the store or the model is not there, 130 stopped.
    """
    options = {"live": live, "model": model, "language": language, "unproven": unproven}
    if language and not model:
        print("--language is for the questions of a language model: give --model, too", file=sys.stderr)
        raise typer.Exit(2)
    with ending("what was found is kept. Run the same command again to go on from there"):
        report, written = _mine(store, tuple(toolset or ()), triplets, options)
    _show(report)
    if triplets is not None:
        console.print(f"{triplets}: {written:,} triplets", markup=False, soft_wrap=True)
    if as_json:
        print_json(
            {
                **report.counts,
                "dropped": dict(report.dropped),
                "left_out": dict(report.left_out),
                **({"triplets": written} if triplets else {}),
            }
        )


def _mine(
    store: Path | None, toolsets: tuple[str, ...], triplets: Path | None, options: dict[str, Any]
) -> "tuple[MiningReport, int]":
    """Imported here: Ctrl-C while the program loads ends as it does later, and ``--help`` waits for nothing."""
    from synthesis.triplets import write_triplets
    from wiring.container import open_container
    from wiring.mining import MiningOptions, mine_store, open_journal

    async def mined() -> "tuple[MiningReport, int]":
        async with open_container(store=store) as container:
            with progress_bars() as progress:
                report = await mine_store(container, MiningOptions(toolsets, **options), progress)
            written = write_triplets(triplets, open_journal(container).read_triplets()) if triplets is not None else 0
            return report, written

    return asyncio.run(mined())


def _show(report: "MiningReport") -> None:
    """The figures of each stage, and why what is not kept is not."""
    from synthesis.solution_builder import NO_CALLS, NOT_REACHED

    for stage in ("tools", "walks", "combinations", "intents", "questions", "calls", "executed", "kept"):
        console.print(f"{stage}: {report.counts[stage]:,}", markup=False)
    for why, count in report.dropped.most_common():
        console.print(f"  not kept, {why}: {count:,}", markup=False, soft_wrap=True)
    if report.dropped[NOT_REACHED]:
        console.print(f"The first call that failed: {report.failure}", markup=False, soft_wrap=True)
    for what, count in report.left_out.items():
        console.print(
            f"{what} beyond what is taken of a tool set, head or answer: {count:,}", markup=False, soft_wrap=True
        )
    if report.dropped[NO_CALLS]:
        console.print("No call was recorded here, and none may be made. With --live, tools that only read are called.")


if __name__ == "__main__":
    typer.run(main)
