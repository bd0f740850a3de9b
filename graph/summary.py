"""An import in figures, as ``scripts/build_graph.py`` prints and reports them."""

import resource
import sys
from pathlib import Path
from typing import NamedTuple, TypedDict

from graph.counting import CallCounts
from graph.facts import GraphStatistics
from graph.ingest import Ingested
from graph.links import LinkCounts
from graph.survey import Survey
from graph.take_overs import TakeOver

REPORTED_RECORDS = 10_000
"""Skipped records that a report lists; all are counted."""


class Trajectories(TypedDict):
    read: int
    kept: int
    dropped: dict[str, int]


class Seconds(TypedDict):
    """``parse``, ``count``: work, added over processes. ``write``, ``embed``, ``links``, ``total``: wall time."""

    parse: float
    count: float
    write: float
    embed: float
    links: float
    total: float


class ToldChange(TypedDict):
    """``what``: host, method, credentials or side effect."""

    what: str
    old: str
    new: str


class ToldTakeOver(TypedDict):
    """``known``: the source of the tool as it is; ``source``: the document's; ``advice``: what to do where it was refused."""

    tool: str
    known: str
    source: str
    changes: list[ToldChange]
    replaced: bool
    advice: str


class Links(TypedDict):
    """``feeds``: fields of responses that can fill parameters. ``substitutes``: tools that can do another's job."""

    feeds: int
    substitutes: int


class Summary(TypedDict):
    """``tools``, ``transitions``, ``finish_transitions``, ``links`` and ``documents`` describe the store, the others the sources of this import.

    ``transitions`` are distinct edges, those to Finish apart. ``already``: records that the store had before.
    ``duplicates``: documents left out because an earlier, different one has their id.
    ``take_overs``: documents that would make other tools of those that are there: refused, or ``replaced`` because that was said.
    ``elsewhere``: calls whose name joined a document of another tool set than they named. ``peak_mb``: of this process
    and of the largest worker together.
    """

    tools: int
    trajectories: Trajectories
    calls: CallCounts
    elsewhere: int
    transitions: int
    finish_transitions: int
    links: Links
    documents: Survey
    already: int
    skipped: int
    duplicates: int
    take_overs: list[ToldTakeOver]
    seconds: Seconds
    peak_mb: float


class Report(TypedDict):
    """What a person reads to mend the sources: names by frequency, records by place."""

    summary: Summary
    unresolved: dict[str, int]
    ambiguous: dict[str, int]
    skipped: list[dict[str, str | int | None]]
    duplicates: list[str]


class Spent(NamedTuple):
    """Wall seconds of the steps after the import, and of all."""

    embed: float
    links: float
    total: float


def summarise(result: Ingested, store: GraphStatistics, links: LinkCounts, documents: Survey, spent: Spent) -> Summary:
    """The figures of an import, seconds rounded to milliseconds."""
    tally = result.tally
    return Summary(
        tools=store.documents,
        trajectories=Trajectories(
            read=tally.trajectories, kept=tally.kept, dropped=dict(sorted(tally.dropped.items()))
        ),
        calls=tally.call_counts(),
        elsewhere=tally.elsewhere,
        transitions=store.transitions,
        finish_transitions=store.finish_transitions,
        links=Links(feeds=links.feeds, substitutes=links.substitutes),
        documents=documents,
        already=result.already,
        skipped=len(result.skipped),
        duplicates=len(result.duplicates),
        take_overs=[_told(one) for one in result.take_overs[:REPORTED_RECORDS]],
        seconds=Seconds(
            parse=round(result.parse_seconds, 3),
            count=round(result.count_seconds, 3),
            write=round(result.write_seconds, 3),
            embed=round(spent.embed, 3),
            links=round(spent.links, 3),
            total=round(spent.total, 3),
        ),
        peak_mb=round(peak_mb(), 1),
    )


def _told(one: TakeOver) -> ToldTakeOver:
    changes = [ToldChange(what=change.what, old=change.old, new=change.new) for change in one.changes]
    return ToldTakeOver(
        tool=one.tool, known=one.known, source=one.source, changes=changes, replaced=one.replaced, advice=one.advice
    )


def report(result: Ingested, summary: Summary) -> Report:
    """The report of an import."""
    places = sorted(result.skipped, key=lambda s: (s.file, s.line or 0))[:REPORTED_RECORDS]
    return Report(
        summary=summary,
        unresolved=dict(result.tally.unresolved.most_common()),
        ambiguous=dict(result.tally.ambiguous.most_common()),
        skipped=[{"file": s.file, "line": s.line, "reason": s.reason} for s in places],
        duplicates=sorted(result.duplicates),
    )


def peak_mb() -> float:
    """Peak resident memory in MiB. On Linux that of this program alone, not of the one that started it."""
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    status = Path("/proc/self/status")
    if status.exists():
        high = next((line for line in status.read_text().splitlines() if line.startswith("VmHWM:")), None)
        own = int(high.split()[1]) / 1024 if high else own
    return own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
