"""The figures of retrieval for people: for each part a table of rows and measures, with intervals and differences."""

from typing import Any

from _evaluate_output import console
from rich.console import Console
from rich.table import Table

from evaluation.retrieval import MEASURES
from evaluation.retrieval_figures import ALL

_SPARE = {"groups": "", "seen": "seen APIs only, ", "unseen": "unseen APIs only, ", "zero_shot": "zero-shot, "}
_WIDTH = 120


def show_retrieval(figures: dict[str, Any]) -> None:
    """One table a part: every row's measures, then what the others have more than the first row, paired."""
    rows: dict[str, Any] = figures["rows"]
    for section, name in _parts(rows):
        parts = {row: told[section].get(name) for row, told in rows.items()}
        compared = {
            f"{row}\nless {told['against']['row']}": told["against"][section].get(name)
            for row, told in rows.items()
            if "against" in told
        }
        _show(f"{_SPARE.get(section, '')}{name}", parts, compared)
    _remark(figures)


def _parts(rows: dict[str, Any]) -> list[tuple[str, str]]:
    """Groups, then splits that are not their own group, then all of the seen, unseen and zero-shot ones."""
    if not rows:
        return []
    first: dict[str, dict[str, Any]] = next(iter(rows.values()))
    groups, splits = first["groups"], first["splits"]
    told = [("groups", name) for name in groups] + [("splits", name) for name in splits if name not in groups]
    return told + [(section, ALL) for section in ("seen", "unseen", "zero_shot") if first[section]]


def _show(title: str, parts: dict[str, Any], compared: dict[str, Any]) -> None:
    requests = next((part["n"] for part in parts.values() if part), 0)
    shown = Table(title=f"{title}: {requests} requests, percent, 95 % interval", title_justify="left", box=None)
    shown.add_column(no_wrap=True)
    for measure in MEASURES:
        shown.add_column(measure, justify="right", overflow="fold")
    for sign, rows in (("", parts), ("+", compared)):
        for name, part in rows.items():
            if part:
                shown.add_row(name, *(_figure(part, measure, sign) for measure in MEASURES))
    page = Console()
    if not page.is_terminal:
        page.width = max(page.width, _WIDTH)  # a file has no edge to break lines at
    page.print(shown, "")


def _figure(part: dict[str, Any], measure: str, sign: str) -> str:
    low, high = part["intervals"][measure]
    return f"{100 * part[measure]:{sign}.1f}\n{100 * low:{sign}.1f}…{100 * high:{sign}.1f}"


def _remark(figures: dict[str, Any]) -> None:
    for name, told in figures["rows"].items():
        console.print(f"{name}: p50 {1e3 * told['seconds_p50']:.0f} ms a request, {told['model']}", markup=False)
    console.print(
        f"{figures['missing']} of {figures['relevant']} relevant APIs have no document and count as misses; "
        f"{figures['relevant_unseen']} were never seen",
        markup=False,
    )
