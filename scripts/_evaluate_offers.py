"""`evaluate.py offers`: whether all tools that a request needs are among the first that it is offered, beside retrieval alone."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import orjson
import typer
from _evaluate_output import console, scoring, tell
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from domain.errors import UsageError
from domain.tool import ToolId
from evaluation.api_names import get_api_name
from evaluation.graph_evidence import ApiPairs, classify_evidence, collect_linked_pairs
from evaluation.graph_variants import Edges
from evaluation.offer_figures import (
    COLUMNS,
    TOKENS,
    Values,
    compute_differences,
    compute_means,
    compute_offer_figures,
    compute_values,
    group_requests,
)
from evaluation.offer_requests import LabelledRequest, read_offer_requests
from evaluation.offers import OfferMeasurement, measure_all, resolve_requests
from graph.store import GraphStore
from wiring.container import open_container
from wiring.measured_searches import prepare_measurement

SHOWN = tuple(column for column in COLUMNS if column not in ("recall@8", "recall@24"))
Lines = Literal["all", "even", "odd"]


@dataclass(slots=True)
class Run:
    """What is measured, and what was until now: an interruption loses none of it. ``unknown``: labels without a document; ``kept``: of
    shuffled edges, the share that the store has, too; ``known``: what its transitions join.
    """

    edges: Edges
    precedents: bool
    offers: list[OfferMeasurement] = field(default_factory=list[OfferMeasurement])
    retrieval: list[OfferMeasurement] = field(default_factory=list[OfferMeasurement])
    unknown: dict[str, int] = field(default_factory=dict[str, int])
    kept: Mapping[str, float] = field(default_factory=dict[str, float])
    known: ApiPairs = frozenset()
    remembered: int = 0

    @property
    def evidence(self) -> dict[str, list[str]]:
        """The requests by the most that the store's transitions tell of their tools."""
        found: dict[str, list[str]] = {}
        for one in self.offers:
            keys = {get_api_name(tool) for needed in one.request.needed for tool in needed.ids}
            found.setdefault(classify_evidence(keys, self.known), []).append(one.request.id)
        return {name: found[name] for name in sorted(found)}


def offers(
    queries: Annotated[Path, typer.Option(help="Requests with the tools that they need, JSONL, plain or gzip.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    edges: Annotated[
        Edges, typer.Option(help="The store's edges; none; transitions and links shuffled; links without transitions.")
    ] = "real",
    precedents: Annotated[bool, typer.Option(help="Whether what served other requests counts.")] = True,
    lines: Annotated[
        Lines, typer.Option(help="Of the file, counted from 1: even ones to tune on, odd ones to report.")
    ] = "all",
    against: Annotated[
        Path | None, typer.Option(help="Another evaluation's --json of the same requests, to tell the differences.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Requests with every needed tool among the first 8, 16, 24 offered; recall; length as signatures; paired with retrieval alone."""
    stopped = False
    with scoring():
        labelled, skipped = read_offer_requests(queries)
        other = _read(against) if against else None
        run = Run(edges, precedents)
        try:
            asyncio.run(_measure(run, _half(labelled, lines), store))
        except KeyboardInterrupt:
            if not run.offers:
                raise
            stopped = True
            console.print("interrupted; these are the figures of what was measured so far")
    figures: dict[str, Any] = {
        **_figures(run),
        "lines": lines,
        "skipped": [str(one) for one in skipped],
        "stopped": stopped,
    }
    if other is not None:
        figures["against"] = _less(figures["requests"], other, run)
    _name_unknown(run)
    tell(figures, _show, as_json=as_json, skipped=skipped)
    if stopped:
        raise typer.Exit(130)


def _half(labelled: Sequence[LabelledRequest], lines: Lines) -> list[LabelledRequest]:
    """Lines are those of the file, so that the halves stay what they are where some cannot be read."""
    return [one for one in labelled if lines == "all" or (one.line % 2 == 0) == (lines == "even")]


async def _measure(run: Run, labelled: Sequence[LabelledRequest], store: Path | None) -> None:
    async with open_container(store=store) as container:
        given = resolve_requests(labelled, await _documented(labelled, container.graph))
        run.unknown, run.known = given.unknown, await collect_linked_pairs(container.graph)
        on = await prepare_measurement(container, run.edges, precedents=run.precedents)

        run.kept = on.kept_edges
        ways = [(on.offers, run.offers), (on.retrieval, run.retrieval)]
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
            task = bars.add_task("requests", total=len(given.requests))

            def asked(query: str) -> None:
                on.experience.begin_request(query)
                bars.update(task, completed=len(run.retrieval))

            try:
                await measure_all(given.requests, ways, on.tokens, asked)
            finally:
                run.remembered = len(on.experience.met)


async def _documented(labelled: Sequence[LabelledRequest], graph: GraphStore) -> set[ToolId]:
    """The documents that labels could mean: those ids, or all of them where labels are keys."""
    labels = {label for one in labelled for label in one.relevant}
    if any(isinstance(label, tuple) for label in labels):
        return {document.id async for document in graph.stream_documents()}
    return set(await graph.get_tools(label for label in labels if not isinstance(label, tuple)))


def _figures(run: Run) -> dict[str, Any]:
    alone: dict[str, Any] = compute_offer_figures(run.retrieval)
    ours = compute_values(run.offers)
    return {
        **compute_offer_figures(run.offers),
        "evidence": compute_means(ours, run.evidence)["groups"],
        "retrieval": {**alone, "difference": _less(ours, compute_values(run.retrieval), run)},
        "edges": run.edges,
        "kept_edges": dict(run.kept),
        "precedents": run.precedents,
        "remembered_requests": run.remembered,
        "unknown": run.unknown,
    }


def _less(ours: Values, theirs: Values, run: Run) -> dict[str, Any]:
    """The paired differences, by group and by what the store's transitions tell."""
    evidence = compute_differences(ours, theirs, run.evidence)["groups"]
    return {**compute_differences(ours, theirs, group_requests(run.offers)), "evidence": evidence}


def _read(path: Path) -> Values:
    try:
        return cast(Values, orjson.loads(path.read_bytes())["requests"])
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} is no output of evaluate.py offers --json ({type(error).__name__})") from error


def _name_unknown(run: Run) -> None:
    for name, count in sorted(run.unknown.items())[:20]:
        console.print(f"no document: {name}, needed by {count} requests", style="yellow", markup=False, soft_wrap=True)
    if run.unknown:
        console.print(f"{len(run.unknown)} needed tools have no document; they count as missed", style="yellow")


def _show(figures: dict[str, Any]) -> None:
    out, shown = Console(highlight=False, soft_wrap=True), Table(box=None)
    for column in ("", "n", *SHOWN):
        shown.add_column(column, justify="right" if column else "left", no_wrap=True)
    alone = figures["retrieval"]
    rows = {**figures["groups"], **figures["evidence"], "all": figures["overall"], "retrieval alone": alone["overall"]}
    for name, row in rows.items():
        shown.add_row(name, str(row["n"]), *(_number(column, row[column]) for column in SHOWN))
    out.print(shown)
    _show_differences("the offer less retrieval alone", alone["difference"]["overall"])
    if "against" in figures:
        _show_differences("the offer less the other evaluation's", figures["against"]["overall"])
    ours, theirs = 1e3 * figures["seconds_p50"], 1e3 * alone["seconds_p50"]
    out.print(f"{ours:.0f} ms an offer (median), {theirs:.0f} ms retrieval alone")
    if figures["kept_edges"]:
        kept = ", ".join(f"{share:.0%} of the {kind}" for kind, share in figures["kept_edges"].items())
        out.print(f"shuffled, and real all the same: {kept}")
    if figures["remembered_requests"]:
        out.print(f"{figures['remembered_requests']} requests were learnt from: they are no fair measure")


def _show_differences(name: str, row: dict[str, Any]) -> None:
    told = (
        f"{column} {row[column]['difference']:+.3f} ({row[column]['interval'][0]:+.3f} to {row[column]['interval'][1]:+.3f})"
        for column in SHOWN
        if column != TOKENS
    )
    Console(highlight=False, soft_wrap=True).print(f"{name}, {row['n']} requests: {', '.join(told)}")


def _number(column: str, value: float) -> str:
    return f"{value:.0f}" if column == TOKENS else f"{value:.3f}"
