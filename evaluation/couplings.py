"""Dependencies between calls in gold programs (GraphQLRestBench, 2024), and which of them a store's feeds know."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from domain.errors import BrokenInputError, UsageError
from domain.tool import ToolDoc, ToolId
from evaluation.code_calls import Dependency, dependencies
from evaluation.corpora.graphqlrestbench import rows
from graph.importers.lines import read_lines
from graph.importers.records import RecordError, Skipped, load, text
from graph.links import Feed

VERDICTS: tuple[str, ...] = ("needed", "possible", "wrong")
"""Verdicts on an edge.

A value that calls are made for; a valid value that nobody would look up; no value of the parameter.
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A gold program with its dependencies."""

    half: int
    """Row number modulo 2; rules may be fitted to even rows (0)."""
    dependencies: frozenset[Dependency]


@dataclass(frozen=True, slots=True)
class Judged:
    """A dependency with what the store knows of it."""

    dependency: Dependency
    known: bool
    """True if its tools and its parameter have documents."""
    fed: bool
    """True if the source feeds this parameter of the target."""
    exact: bool
    """True if it feeds it from this very field."""


class Functions:
    """Documents by the programs' function names: ``GET_artists__id__albums`` for ``GET /artists/{id}/albums``."""

    def __init__(self, documents: Iterable[ToolDoc]) -> None:
        found: dict[str, tuple[int, ToolDoc]] = {}
        for document in documents:
            segments = [part for part in unquote(urlsplit(document.url).path).split("/") if part]
            # Programs leave out what all paths of a service begin with, like its version.
            for left_out in range(len(segments)):
                name = re.sub(r"\W", "_", f"{document.method}/{'/'.join(segments[left_out:])}", flags=re.ASCII)
                if name not in found or left_out < found[name][0]:
                    found[name] = (left_out, document)
        self._found = found

    def get(self, name: str) -> ToolDoc | None:
        """Return the document of a function."""
        found = self._found.get(name)
        return found[1] if found else None


def read_programs(folder: Path) -> tuple[list[Program], list[Skipped]]:
    """Return the programs of a folder of GraphQLRestBench, in the order of its files.

    Raises:
        UsageError: one of the files does not exist.
    """
    programs: list[Program] = []
    skipped: list[Skipped] = []
    for row, (path, line) in enumerate(rows(folder)):
        if isinstance(line, Skipped):
            skipped.append(line)
            continue
        try:
            programs.append(Program(row % 2, frozenset(dependencies(text(load(line.body), "output")))))
        except RecordError as error:
            skipped.append(Skipped(str(path), line.number, str(error)))
    return programs, skipped


def read_verdicts(path: Path) -> dict[Dependency, str]:
    """Return the edges that a person judged, with their verdicts; a field's path is written as the feed has it.

    Raises:
        UsageError: there is no such file.
        BrokenInputError: a line is no judged edge.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file; name a file of judged edges, one JSON object a line")
    found: dict[Dependency, str] = {}
    for line in read_lines(path):
        if isinstance(line, Skipped):
            raise BrokenInputError(line.reason, file=line.file, line=line.line)
        try:
            record = load(line.body)
            edge = Dependency(*(text(record, name) for name in ("source", "field", "target", "parameter")))
            found[edge] = text(record, "verdict")
            if found[edge] not in VERDICTS:
                raise RecordError(f"{found[edge]!r} is no verdict: one of {', '.join(VERDICTS)}")
        except RecordError as error:
            raise BrokenInputError(str(error), file=str(path), line=line.number) from error
    return found


def precision(
    verdicts: Mapping[Dependency, str], functions: Functions, feeds: Mapping[ToolId, Iterable[Feed]]
) -> dict[str, int]:
    """Count the verdicts on the judged edges that are among the feeds."""
    counted = dict.fromkeys(VERDICTS, 0)
    for edge, verdict in verdicts.items():
        source, target = functions.get(edge.source), functions.get(edge.target)
        if source is not None and target is not None:
            place = (source.id, edge.field, edge.parameter)
            there = any((feed.source, feed.field, feed.parameter) == place for feed in feeds.get(target.id, ()))
            counted[verdict] += there
    return counted


def judge(dependency: Dependency, functions: Functions, feeds: Mapping[ToolId, Iterable[Feed]]) -> Judged:
    """Return whether a feed into the target matches the program's dependency.

    A parameter of the body also counts under the name that it is sent by.
    """
    source, target = functions.get(dependency.source), functions.get(dependency.target)
    if source is None or target is None:
        return Judged(dependency, known=False, fed=False, exact=False)
    names = {one.name for one in target.parameters if dependency.parameter in (one.name, one.wire_name)}
    found = [f for f in feeds.get(target.id, ()) if f.source == source.id and f.parameter in names]
    exact = any(feed.field.replace("[]", "") == dependency.field for feed in found)
    return Judged(dependency, known=bool(names), fed=bool(found), exact=exact)


def figures(programs: Iterable[Program], judged: Mapping[Dependency, Judged]) -> dict[str, Any]:
    """Return how many distinct dependencies were found, by half and overall; one in both halves counts in both."""
    halves: dict[str, set[Dependency]] = {"fitted": set(), "kept_back": set()}
    for program in programs:
        halves["kept_back" if program.half else "fitted"] |= program.dependencies
    groups = {**halves, "overall": halves["fitted"] | halves["kept_back"]}
    return {name: _counts([judged[one] for one in group]) for name, group in groups.items()}


def _counts(judged: list[Judged]) -> dict[str, int]:
    return {
        "n": len(judged),
        "known": sum(one.known for one in judged),
        "fed": sum(one.fed for one in judged),
        "exact": sum(one.exact for one in judged),
    }
