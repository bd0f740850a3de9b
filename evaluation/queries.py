"""Requests with the APIs that are relevant to them, and the keys by which APIs are compared.

The requests are lines of ``queries_dev.jsonl.gz``. A key is tool set and API in the form of ToolBench's file names;
categories are left out, since catalogues list one API under several.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import orjson

from domain.errors import BrokenInputError, UsageError
from evaluation.api_names import ApiName, normalize_api_name
from graph.importers.lines import read_lines
from graph.importers.records import Record, RecordError, SkippedInput, ensure_list, ensure_object, load, require_text

GROUPS = {"G1": "I1", "G2": "I2", "G3": "I3"}
"""ToolBench's names of its groups in papers, by the prefix of a split."""


@dataclass(frozen=True, slots=True)
class RetrievalQuery:
    """A request with the APIs that are relevant to it."""

    split: str
    """The part of the benchmark that it belongs to."""
    query: str
    relevant: frozenset[ApiName]
    """Keys of the relevant APIs; never empty."""

    @property
    def group(self) -> str:
        """I1, I2 or I3 for ToolBench's splits; the split's own name for any other."""
        return GROUPS.get(self.split.split("_")[0], self.split)


def read_queries(path: Path) -> tuple[list[RetrievalQuery], list[SkippedInput]]:
    """Read the queries of a file, and the lines that cannot be scored, such as a query without a relevant API.

    Raises:
        UsageError: there is no such file.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file; name a file of queries, one JSON object a line")
    queries: list[RetrievalQuery] = []
    skipped: list[SkippedInput] = []
    for line in read_lines(path):
        if isinstance(line, SkippedInput):
            skipped.append(line)
            continue
        try:
            queries.append(parse_query(load(line.body)))
        except RecordError as error:
            skipped.append(SkippedInput(str(path), line.number, str(error)))
    return queries, skipped


def read_queries_strictly(path: Path) -> list[RetrievalQuery]:
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


def write_queries(queries: Iterable[RetrievalQuery], path: Path) -> None:
    """Write lines that :func:`read_queries` reads."""
    with path.open("wb") as file:
        for query in queries:
            relevant = [{"tool": tool, "api": api} for tool, api in sorted(query.relevant)]
            line = {"split": query.split, "query": query.query, "relevant": relevant}
            file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def parse_query(record: Record) -> RetrievalQuery:
    """Return the query of a line.

    Raises:
        RecordError: the line is no query with a relevant API.
    """
    items = [ensure_object(item, "an item of 'relevant'") for item in ensure_list(record.get("relevant"), "'relevant'")]
    if not items:
        raise RecordError("'relevant' names no API")
    relevant = frozenset(normalize_api_name(require_text(item, "tool"), require_text(item, "api")) for item in items)
    return RetrievalQuery(require_text(record, "split"), require_text(record, "query"), relevant)
