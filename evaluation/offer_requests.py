"""Requests with the tools that they need, from lines of ``id, query, relevant, group``."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ConfigDict, Field, ValidationError

from domain.errors import UsageError
from domain.model import Model, what_is_wrong
from domain.tool import ToolId
from evaluation.api_keys import Key
from evaluation.queries import query_of
from graph.importers.lines import Line, read_lines
from graph.importers.records import Record, RecordError, Skipped, as_list, load


class OfferRequest(Model):
    """A line of the file: a request and the tools that serve it."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)

    id: str = Field(min_length=1)
    query: str = Field(min_length=1)
    relevant: tuple[ToolId, ...] = Field(min_length=1)
    """Ids of all tools that serve the request together; at least one."""
    group: str = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A request with what it needs: tools by id, or APIs by key in the form of ``queries_dev``."""

    id: str
    query: str
    group: str
    line: int
    """Line number in the file, from 1."""
    relevant: tuple[ToolId | Key, ...]


def read_offer_requests(path: Path) -> tuple[list[Labelled], list[Skipped]]:
    """Return the requests, each with a unique id, and the lines that cannot be scored.

    Lines in the form of ``queries_dev`` may be among them.

    Raises:
        UsageError: there is no such file.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file; name a file of requests, one JSON object a line")
    found: dict[str, Labelled] = {}
    skipped: list[Skipped] = []
    for line in read_lines(path):
        if isinstance(line, Skipped):
            skipped.append(line)
            continue
        try:
            one = _labelled(line)
            name = one.id if one.id not in found else f"{one.id}, line {line.number}"
            found[name] = replace(one, id=name)
        except RecordError as error:
            skipped.append(Skipped(str(path), line.number, str(error)))
    return list(found.values()), skipped


def write_offer_requests(requests: Iterable[OfferRequest], path: Path) -> None:
    """Write lines that :func:`read_offer_requests` reads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(one.model_dump_json().encode() + b"\n" for one in requests))


def _labelled(line: Line) -> Labelled:
    record = load(line.body)
    if _of_queries_dev(record):
        query = query_of(record)
        return Labelled(str(line.number), query.query, query.group, line.number, tuple(sorted(query.relevant)))
    try:
        one = OfferRequest.model_validate_json(line.body)
    except ValidationError as error:
        raise RecordError(what_is_wrong(error)) from error
    return Labelled(one.id, one.query, one.group, line.number, tuple(dict.fromkeys(one.relevant)))


def _of_queries_dev(record: Record) -> bool:
    """Return whether 'relevant' names APIs by tool set and API, an object each, rather than tools by id."""
    return all(isinstance(item, dict) for item in as_list(record.get("relevant"), "'relevant'"))
