"""The figures and the report of an import, as ``scripts/build_graph.py`` prints and writes them."""

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
"""Maximum number of skipped records that a report lists; all are counted."""


class Trajectories(TypedDict):
    """Number of trajectories read, kept and dropped, the dropped ones by reason."""

    read: int
    kept: int
    dropped: dict[str, int]


class Seconds(TypedDict):
    """Durations of the steps of an import.

    ``parse`` and ``count`` are work time, summed over processes; ``write``, ``embed``, ``links`` and ``total`` are wall time.
    """

    parse: float
    count: float
    write: float
    embed: float
    links: float
    total: float


class ToldChange(TypedDict):
    """One property of a tool that a take-over changes."""

    what: str
    """source, host, method, credentials or side effect."""
    old: str
    new: str


class ToldTakeOver(TypedDict):
    """A take-over as a report shows it."""

    tool: str
    known: str
    """Source of the existing tool."""
    source: str
    """Source of the document."""
    changes: list[ToldChange]
    replaced: bool
    advice: str
    """What to do about it, if it was refused."""


class Links(TypedDict):
    """Number of links in the store."""

    feeds: int
    """Response fields that can fill parameters."""
    substitutes: int
    """Tools that can do another's job."""


class Summary(TypedDict):
    """Figures of an import.

    ``tools``, ``transitions``, ``finish_transitions``, ``links`` and ``documents`` describe the store, the others the sources of this import.
    """

    tools: int
    trajectories: Trajectories
    calls: CallCounts
    elsewhere: int
    """Calls whose name matched a document of another tool set than they named."""
    transitions: int
    """Distinct edges, except those to Finish."""
    finish_transitions: int
    links: Links
    documents: Survey
    already: int
    """Records that the store already had."""
    skipped: int
    duplicates: int
    """Documents left out because an earlier, different one has their id."""
    take_overs: list[ToldTakeOver]
    """Documents that would turn existing tools into different ones: refused, or ``replaced`` on request."""
    seconds: Seconds
    peak_mb: float
    """Peak memory of this process and of the largest worker, added."""


class Report(TypedDict):
    """The details that a person needs to fix the sources: unresolved names by frequency, skipped records by place."""

    summary: Summary
    unresolved: dict[str, int]
    ambiguous: dict[str, int]
    skipped: list[dict[str, str | int | None]]
    duplicates: list[str]


class Spent(NamedTuple):
    """Wall seconds of the steps after the import, and of the whole."""

    embed: float
    links: float
    total: float


def summarise(result: Ingested, store: GraphStatistics, links: LinkCounts, documents: Survey, spent: Spent) -> Summary:
    """Return the figures of an import, with seconds rounded to milliseconds."""
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
    """Return the report of an import."""
    places = sorted(result.skipped, key=lambda s: (s.file, s.line or 0))[:REPORTED_RECORDS]
    return Report(
        summary=summary,
        unresolved=dict(result.tally.unresolved.most_common()),
        ambiguous=dict(result.tally.ambiguous.most_common()),
        skipped=[{"file": s.file, "line": s.line, "reason": s.reason} for s in places],
        duplicates=sorted(result.duplicates),
    )


def peak_mb() -> float:
    """Return the peak resident memory in MiB of this process and its largest child, added.

    On Linux the own part is read from ``VmHWM``, since ``ru_maxrss`` includes the peak of the program that started this one.
    """
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    status = Path("/proc/self/status")
    if status.exists():
        high = next((line for line in status.read_text().splitlines() if line.startswith("VmHWM:")), None)
        own = int(high.split()[1]) / 1024 if high else own
    return own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
