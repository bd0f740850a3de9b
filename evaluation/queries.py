"""Requests with their relevant APIs, as stored in the lines of ``queries_dev.jsonl.gz``."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import orjson

from domain.errors import BrokenInputError, UsageError
from evaluation.api_keys import Key, key
from graph.importers.lines import read_lines
from graph.importers.records import Record, RecordError, Skipped, as_list, as_object, load, text

GROUPS = {"G1": "I1", "G2": "I2", "G3": "I3"}


@dataclass(frozen=True, slots=True)
class Query:
    """A request with the APIs that are relevant to it."""

    split: str
    query: str
    relevant: frozenset[Key]
    """Never empty."""

    @property
    def group(self) -> str:
        """I1, I2 or I3 for ToolBench's splits; the split's own name for any other."""
        return GROUPS.get(self.split.split("_")[0], self.split)


def read_queries(path: Path) -> tuple[list[Query], list[Skipped]]:
    """Return the queries and the lines that cannot be scored (a query without a relevant API has no score).

    Raises:
        UsageError: there is no such file.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file; name a file of queries, one JSON object a line")
    queries: list[Query] = []
    skipped: list[Skipped] = []
    for line in read_lines(path):
        if isinstance(line, Skipped):
            skipped.append(line)
            continue
        try:
            queries.append(query_of(load(line.body)))
        except RecordError as error:
            skipped.append(Skipped(str(path), line.number, str(error)))
    return queries, skipped


def whole_queries(path: Path) -> list[Query]:
    """Return the queries of a file in which every line must be readable.

    Training data is taken from these queries or kept apart from them, so none may be missed.

    Raises:
        UsageError: there is no such file.
        BrokenInputError: a line cannot be read.
    """
    queries, skipped = read_queries(path)
    if skipped:
        first = skipped[0]
        raise BrokenInputError(f"{first.reason}; {len(skipped)} lines cannot be read", file=first.file, line=first.line)
    return queries


def write_queries(queries: Iterable[Query], path: Path) -> None:
    """Write lines that :func:`read_queries` reads."""
    with path.open("wb") as file:
        for one in queries:
            relevant = [{"tool": tool, "api": api} for tool, api in sorted(one.relevant)]
            line = {"split": one.split, "query": one.query, "relevant": relevant}
            file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def query_of(record: Record) -> Query:
    """Return the query of a line.

    Raises:
        RecordError: the line is no query with a relevant API.
    """
    items = [as_object(item, "an item of 'relevant'") for item in as_list(record.get("relevant"), "'relevant'")]
    if not items:
        raise RecordError("'relevant' names no API")
    relevant = frozenset(key(text(item, "tool"), text(item, "api")) for item in items)
    return Query(text(record, "split"), text(record, "query"), relevant)
