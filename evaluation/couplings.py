"""Dependencies between calls in gold programs (GraphQLRestBench, 2024), and which of them a store's feeds know."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from domain.errors import BrokenInputError, UsageError
from domain.tool import ToolDoc, ToolId
from evaluation.code_calls import FieldDependency, find_dependencies
from evaluation.corpora.graphqlrestbench import read_rows
from graph.importers.lines import read_lines
from graph.importers.records import RecordError, SkippedInput, load, require_text
from graph.links import FeedLink

VERDICTS: tuple[str, ...] = ("needed", "possible", "wrong")
"""Verdicts on an edge.

A value that calls are made for; a valid value that nobody would look up; no value of the parameter.
"""


@dataclass(frozen=True, slots=True)
class GoldProgram:
    """A gold program with its dependencies."""

    half: int
    """Row number modulo 2; rules may be fitted to even rows (0)."""
    dependencies: frozenset[FieldDependency]


@dataclass(frozen=True, slots=True)
class DependencyVerdict:
    """A dependency with what the store knows of it."""

    dependency: FieldDependency
    known: bool
    """True if its tools and its parameter have documents."""
    fed: bool
    """True if the source feeds this parameter of the target."""
    exact: bool
    """True if it feeds it from this very field."""


class FunctionDocuments:
    """Documents by the programs' function names: ``GET_artists__id__albums`` for ``GET /artists/{id}/albums``."""

    def __init__(self, documents: Iterable[ToolDoc]) -> None:
        documents_by_name: dict[str, tuple[int, ToolDoc]] = {}
        for document in documents:
            segments = [part for part in unquote(urlsplit(document.url).path).split("/") if part]
            # Programs leave out what all paths of a service begin with, like its version.
            for skipped in range(len(segments)):
                name = re.sub(r"\W", "_", f"{document.method}/{'/'.join(segments[skipped:])}", flags=re.ASCII)
                if name not in documents_by_name or skipped < documents_by_name[name][0]:
                    documents_by_name[name] = (skipped, document)
        self._documents = documents_by_name

    def get(self, name: str) -> ToolDoc | None:
        """Return the document of a function."""
        entry = self._documents.get(name)
        return entry[1] if entry else None


def read_programs(folder: Path) -> tuple[list[GoldProgram], list[SkippedInput]]:
    """Return the programs of a folder of GraphQLRestBench, in the order of its files.

    Raises:
        UsageError: one of the files does not exist.
    """
    programs: list[GoldProgram] = []
    skipped: list[SkippedInput] = []
    for row, (path, line) in enumerate(read_rows(folder)):
        if isinstance(line, SkippedInput):
            skipped.append(line)
            continue
        try:
            programs.append(GoldProgram(row % 2, frozenset(find_dependencies(require_text(load(line.body), "output")))))
        except RecordError as error:
            skipped.append(SkippedInput(str(path), line.number, str(error)))
    return programs, skipped


def read_verdicts(path: Path) -> dict[FieldDependency, str]:
    """Return the edges that a person judged, with their verdicts; a field's path is written as the feed has it.

    Raises:
        UsageError: there is no such file.
        BrokenInputError: a line is no judged edge.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file; name a file of judged edges, one JSON object a line")
    verdicts: dict[FieldDependency, str] = {}
    for line in read_lines(path):
        if isinstance(line, SkippedInput):
            raise BrokenInputError(line.reason, file=line.file, line=line.line)
        try:
            record = load(line.body)
            edge = FieldDependency(*(require_text(record, name) for name in ("source", "field", "target", "parameter")))
            verdicts[edge] = require_text(record, "verdict")
            if verdicts[edge] not in VERDICTS:
                raise RecordError(f"{verdicts[edge]!r} is no verdict: one of {', '.join(VERDICTS)}")
        except RecordError as error:
            raise BrokenInputError(str(error), file=str(path), line=line.number) from error
    return verdicts


def count_verdicts(
    verdicts: Mapping[FieldDependency, str], functions: FunctionDocuments, feeds: Mapping[ToolId, Iterable[FeedLink]]
) -> dict[str, int]:
    """Count the verdicts on the judged edges that are among the feeds."""
    counted = dict.fromkeys(VERDICTS, 0)
    for edge, verdict in verdicts.items():
        source, target = functions.get(edge.source), functions.get(edge.target)
        if source is not None and target is not None:
            place = (source.id, edge.field, edge.parameter)
            is_fed = any((feed.source, feed.field, feed.parameter) == place for feed in feeds.get(target.id, ()))
            counted[verdict] += is_fed
    return counted


def judge_dependency(
    dependency: FieldDependency, functions: FunctionDocuments, feeds: Mapping[ToolId, Iterable[FeedLink]]
) -> DependencyVerdict:
    """Return whether a feed into the target matches the program's dependency.

    A parameter of the body also counts under the name that it is sent by.
    """
    source, target = functions.get(dependency.source), functions.get(dependency.target)
    if source is None or target is None:
        return DependencyVerdict(dependency, known=False, fed=False, exact=False)
    names = {one.name for one in target.parameters if dependency.parameter in (one.name, one.wire_name)}
    matching_feeds = [f for f in feeds.get(target.id, ()) if f.source == source.id and f.parameter in names]
    exact = any(feed.field.replace("[]", "") == dependency.field for feed in matching_feeds)
    return DependencyVerdict(dependency, known=bool(names), fed=bool(matching_feeds), exact=exact)


def compute_figures(
    programs: Iterable[GoldProgram], verdicts: Mapping[FieldDependency, DependencyVerdict]
) -> dict[str, Any]:
    """Return how many distinct dependencies were found, by half and overall; one in both halves counts in both."""
    halves: dict[str, set[FieldDependency]] = {"fitted": set(), "kept_back": set()}
    for program in programs:
        halves["kept_back" if program.half else "fitted"] |= program.dependencies
    groups = {**halves, "overall": halves["fitted"] | halves["kept_back"]}
    return {name: _count_findings([verdicts[one] for one in group]) for name, group in groups.items()}


def _count_findings(verdicts: list[DependencyVerdict]) -> dict[str, int]:
    return {
        "n": len(verdicts),
        "known": sum(one.known for one in verdicts),
        "fed": sum(one.fed for one in verdicts),
        "exact": sum(one.exact for one in verdicts),
    }
