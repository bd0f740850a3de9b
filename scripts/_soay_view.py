"""SoAyEval's figures as a table."""

from typing import Any

from rich.console import Console
from rich.table import Table

_COLUMNS = ("EM", "DS", "WS", "WP", "EE", "ACC")


def show_soay(figures: dict[str, Any]) -> None:
    """The cases by planner and hops in percent, each with its deviation; scores; what it cost."""
    table = Table(box=None)
    for column in ("planner", "hops", "n", *_COLUMNS):
        table.add_column(column, justify="left" if column == "planner" else "right")
    out = Console(highlight=False, soft_wrap=True)
    for name, told in figures["planners"].items():
        for hops, row in (*told["hops"].items(), ("all", told["all"])):
            cells = (f"{row[one]['share']:.1f}±{row[one]['deviation']:.0f}" for one in _COLUMNS)
            table.add_row(name, hops, str(row["n"]), *cells)
    out.print(table)
    for name, told in figures["planners"].items():
        score = "-" if told["score"] is None else f"{told['score']:.2f}"
        costs = told["costs"]
        out.print(
            f"{name} ({told['model'] or told['policy']}): score {score}; {costs['model_calls']['mean']:.2f} model calls, "
            f"{costs['tokens']['mean']:,.0f} tokens, {costs['seconds']['p50']:.2f} s (p50) a question"
        )
    out.print("paper: " + ", ".join(f"{name} {score:.2f}" for name, score in figures["paper"].items()))
