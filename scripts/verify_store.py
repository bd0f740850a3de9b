"""Compares a store's graph with the indexes of its tools, and repairs the indexes."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _transfer_view import console, ending, print_json, progress_bars

if TYPE_CHECKING:
    from wiring.store_verification import StoreVerification

SHOWN = 20


def main(
    store: Annotated[Path | None, typer.Option(help="Folder of the embedded store.")] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Index what is missing or changed, remove orphans.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Every document must be indexed, as it is now and by the encoder in use, and nothing else.

    Exit codes: 0 no difference (after --repair: none left), 1 differences, 3 the store is not there or cannot be read.
    """
    with ending("nothing is lost. Run the same command again"):
        found = _verify(store, mend=repair)
    figures = _figures(found)
    _show(found, figures)
    if as_json:
        print_json(figures)
    raise typer.Exit(0 if found.equal else 1)


def _figures(found: "StoreVerification") -> dict[str, Any]:
    from wiring.store_verification import to_json

    return to_json(found, SHOWN)


def _verify(store: Path | None, *, mend: bool) -> "StoreVerification":
    """Imported here: Ctrl-C while the program loads ends as it does later, and ``--help`` waits for nothing."""
    from wiring.store_verification import verify

    with progress_bars() as progress:
        return asyncio.run(verify(store, progress, repair=mend))


def _show(found: "StoreVerification", figures: dict[str, Any]) -> None:
    graph = found.graph
    edges = graph.transitions + graph.finish_transitions
    lines = [
        f"graph: {graph.documents:,} documents, {graph.nodes:,} nodes, {edges:,} edges",
        f"encoder: {found.encoder}",
    ]
    for name in ("vectors", "words"):
        if part := figures.get(name):
            kinds = ", ".join(f"{part[kind]['count']:,} {kind}" for kind in ("missing", "changed", "orphans"))
            lines.append(f"{name}: {part['indexed']:,} indexed; {kinds}")
    if found.solutions:
        lines.append(f"solutions: {found.solutions:,}; {len(found.unseen):,} without vectors of all their patterns")
    if found.embedded is not None:
        lines.append(f"repaired: {found.embedded:,} tools embedded")
    lines.append("no difference" if found.equal else "the indexes differ from the graph: --repair makes them equal")
    console.print("\n".join(lines), markup=False, soft_wrap=True)


if __name__ == "__main__":
    typer.run(main)
