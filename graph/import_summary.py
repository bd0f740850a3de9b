"""Summary and report of an import, and a survey of all documents of a store."""

import resource
import sys
from collections.abc import AsyncIterable, Callable, Iterable
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict

from domain.tool import ToolDoc
from graph.counting import CallCounts
from graph.facts import GraphStatistics
from graph.ingest import ImportResult
from graph.links import LinkCounts
from graph.take_overs import TakeOver


class ResponseSources(TypedDict):
    """Number of tools by the origin of what is known about their responses."""

    document: int
    """The tool's document describes them."""
    learnt: int
    """They were learnt from calls."""
    unknown: int
    """Nothing is known."""


class DocumentSurvey(TypedDict):
    """Counts over all documents of a store."""

    responses: ResponseSources
    secrets: dict[str, int]
    """Keys, and other values from settings, that calls need, each with the number of its tools."""
    callable: int
    """Tools that have an address."""


async def survey_documents(
    documents: AsyncIterable[ToolDoc], secrets_wanted: Callable[[ToolDoc], Iterable[str]] = lambda _: ()
) -> DocumentSurvey:
    """Read all documents once and count.

    ``secrets_wanted`` names the secrets that fill required parameters of a tool, in addition to its credentials.
    """
    responses = ResponseSources(document=0, learnt=0, unknown=0)
    secrets: dict[str, int] = {}
    callable_tools = 0
    async for doc in documents:
        responses[_find_response_source(doc)] += 1
        callable_tools += bool(doc.url)
        needed = [credential.secret for credential in doc.credentials if credential.required]
        for name in dict.fromkeys([*needed, *secrets_wanted(doc)]):
            secrets[name] = secrets.get(name, 0) + 1
    return DocumentSurvey(responses=responses, secrets=dict(sorted(secrets.items())), callable=callable_tools)


def _find_response_source(doc: ToolDoc) -> Literal["document", "learnt", "unknown"]:
    if doc.learnt_response:
        return "learnt"
    written = (doc.response_schema, doc.example_response)
    return "document" if any(text and text.strip() not in ("{}", "[]", "null") for text in written) else "unknown"


REPORTED_RECORDS = 10_000
"""Maximum number of skipped records that a report lists; all are counted."""


class TrajectoryCounts(TypedDict):
    """Number of trajectories read, kept and dropped, the dropped ones by reason."""

    read: int
    kept: int
    dropped: dict[str, int]


class ImportSeconds(TypedDict):
    """Durations of the steps of an import.

    ``parse`` and ``count`` are work time, summed over processes; ``write``, ``embed``, ``links`` and ``total`` are wall
    time.
    """

    parse: float
    count: float
    write: float
    embed: float
    links: float
    total: float


class ReportedChange(TypedDict):
    """One property of a tool that a take-over changes."""

    what: str
    """source, host, method, credentials or side effect."""
    old: str
    new: str


class ReportedTakeOver(TypedDict):
    """A take-over as a report shows it."""

    tool: str
    known: str
    """Source of the existing tool."""
    source: str
    """Source of the document."""
    changes: list[ReportedChange]
    replaced: bool
    advice: str
    """What to do about it, if it was refused."""


class LinkTotals(TypedDict):
    """Number of links in the store."""

    feeds: int
    """Response fields that can fill parameters."""
    substitutes: int
    """Tools that can do another's job."""


class ImportSummary(TypedDict):
    """Figures of an import.

    ``tools``, ``transitions``, ``finish_transitions``, ``links`` and ``documents`` describe the store, the others the
    sources of this import.
    """

    tools: int
    trajectories: TrajectoryCounts
    calls: CallCounts
    elsewhere: int
    """Calls whose name matched a document of another tool set than they named."""
    transitions: int
    """Distinct edges, except those to Finish."""
    finish_transitions: int
    links: LinkTotals
    documents: DocumentSurvey
    already: int
    """Records that the store already had."""
    skipped: int
    duplicates: int
    """Documents left out because an earlier, different one has their id."""
    take_overs: list[ReportedTakeOver]
    """Documents that would turn existing tools into different ones: refused, or ``replaced`` on request."""
    seconds: ImportSeconds
    peak_mb: float
    """Peak memory of this process and of the largest worker, added."""


class ImportReport(TypedDict):
    """The details that a person needs to fix the sources: unresolved names by frequency, skipped records by place."""

    summary: ImportSummary
    unresolved: dict[str, int]
    ambiguous: dict[str, int]
    skipped: list[dict[str, str | int | None]]
    duplicates: list[str]


class StepSeconds(NamedTuple):
    """Wall seconds of the steps after the import, and of the whole."""

    embed: float
    links: float
    total: float


def summarise_import(
    result: ImportResult, store: GraphStatistics, links: LinkCounts, documents: DocumentSurvey, spent: StepSeconds
) -> ImportSummary:
    """Return the figures of an import, with seconds rounded to milliseconds."""
    tally = result.tally
    return ImportSummary(
        tools=store.documents,
        trajectories=TrajectoryCounts(
            read=tally.trajectories, kept=tally.kept, dropped=dict(sorted(tally.dropped.items()))
        ),
        calls=tally.summarize_calls(),
        elsewhere=tally.elsewhere,
        transitions=store.transitions,
        finish_transitions=store.finish_transitions,
        links=LinkTotals(feeds=links.feeds, substitutes=links.substitutes),
        documents=documents,
        already=result.already_known,
        skipped=len(result.skipped),
        duplicates=len(result.duplicates),
        take_overs=[_to_reported(one) for one in result.take_overs[:REPORTED_RECORDS]],
        seconds=ImportSeconds(
            parse=round(result.parse_seconds, 3),
            count=round(result.count_seconds, 3),
            write=round(result.write_seconds, 3),
            embed=round(spent.embed, 3),
            links=round(spent.links, 3),
            total=round(spent.total, 3),
        ),
        peak_mb=round(measure_peak_mb(), 1),
    )


def _to_reported(take_over: TakeOver) -> ReportedTakeOver:
    changes = [ReportedChange(what=change.what, old=change.old, new=change.new) for change in take_over.changes]
    return ReportedTakeOver(
        tool=take_over.tool,
        known=take_over.known,
        source=take_over.source,
        changes=changes,
        replaced=take_over.replaced,
        advice=take_over.advice,
    )


def build_report(result: ImportResult, summary: ImportSummary) -> ImportReport:
    """Return the report of an import."""
    places = sorted(result.skipped, key=lambda s: (s.file, s.line or 0))[:REPORTED_RECORDS]
    return ImportReport(
        summary=summary,
        unresolved=dict(result.tally.unresolved.most_common()),
        ambiguous=dict(result.tally.ambiguous.most_common()),
        skipped=[{"file": s.file, "line": s.line, "reason": s.reason} for s in places],
        duplicates=sorted(result.duplicates),
    )


def measure_peak_mb() -> float:
    """Return the peak resident memory in MiB of this process and its largest child, added.

    On Linux the own part is read from ``VmHWM``, since ``ru_maxrss`` includes the peak of the program that started this
    one.
    """
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    status = Path("/proc/self/status")
    if status.exists():
        high = next((line for line in status.read_text().splitlines() if line.startswith("VmHWM:")), None)
        own = int(high.split()[1]) / 1024 if high else own
    return own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
