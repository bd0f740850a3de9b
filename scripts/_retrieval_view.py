"""The figures of ``evaluate.py retrieval`` for people."""

from typing import Any

from rich.console import Console
from rich.table import Table

console = Console(stderr=True)


def show_retrieval(figures: dict[str, Any]) -> None:
    """Tables on stdout, the rest below them on stderr."""
    for part in ("groups", "splits", "seen", "unseen"):
        rows: dict[str, dict[str, float]] = figures[part]
        shown = Table(title=part, title_justify="left", box=None)
        for column in ("", *(next(iter(rows.values())) if rows else ())):
            shown.add_column(column, justify="right" if column else "left")
        for name, row in rows.items():
            shown.add_row(name, *(str(value) if key == "n" else f"{value:.3f}" for key, value in row.items()))
        Console().print(shown)
    console.print(
        f"{figures['missing']} of {figures['relevant']} relevant APIs have no document and count as misses; "
        f"{figures['seconds']:.1f} s with {figures['model']}",
        markup=False,
    )
