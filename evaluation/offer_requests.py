"""Requests with the tools that they need, from lines of ``id, query, relevant, group``."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ConfigDict, Field, ValidationError

from domain.errors import UsageError
from domain.model import Model, describe_errors
from domain.tool import ToolId
from evaluation.api_names import ApiName
from evaluation.queries import parse_query
from graph.importers.lines import JsonlLine, read_lines
from graph.importers.records import Record, RecordError, SkippedInput, ensure_list, load


class OfferRequest(Model):
    """A line of the file: a request and the tools that serve it."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)

    id: str = Field(min_length=1)
    query: str = Field(min_length=1)
    relevant: tuple[ToolId, ...] = Field(min_length=1)
    """Ids of all tools that serve the request together; at least one."""
    group: str = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class LabelledRequest:
    """A request with what it needs: tools by id, or APIs by key in the form of ``queries_dev``."""

    id: str
    query: str
    group: str
    line: int
    """Line number in the file, from 1."""
    relevant: tuple[ToolId | ApiName, ...]


def read_offer_requests(path: Path) -> tuple[list[LabelledRequest], list[SkippedInput]]:
    """Return the requests, each with a unique id, and the lines that cannot be scored.

    Lines in the form of ``queries_dev`` may be among them.

    Raises:
        UsageError: there is no such file.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file; name a file of requests, one JSON object a line")
    requests: dict[str, LabelledRequest] = {}
    skipped: list[SkippedInput] = []
    for line in read_lines(path):
        if isinstance(line, SkippedInput):
            skipped.append(line)
            continue
        try:
            request = _parse_line(line)
            request_id = request.id if request.id not in requests else f"{request.id}, line {line.number}"
            requests[request_id] = replace(request, id=request_id)
        except RecordError as error:
            skipped.append(SkippedInput(str(path), line.number, str(error)))
    return list(requests.values()), skipped


def write_offer_requests(requests: Iterable[OfferRequest], path: Path) -> None:
    """Write lines that :func:`read_offer_requests` reads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(one.model_dump_json().encode() + b"\n" for one in requests))


def _parse_line(line: JsonlLine) -> LabelledRequest:
    record = load(line.body)
    if _is_queries_dev_record(record):
        query = parse_query(record)
        return LabelledRequest(str(line.number), query.query, query.group, line.number, tuple(sorted(query.relevant)))
    try:
        request = OfferRequest.model_validate_json(line.body)
    except ValidationError as error:
        raise RecordError(describe_errors(error)) from error
    return LabelledRequest(
        request.id, request.query, request.group, line.number, tuple(dict.fromkeys(request.relevant))
    )


def _is_queries_dev_record(record: Record) -> bool:
    """Return whether 'relevant' names APIs by tool set and API, an object each, rather than tools by id."""
    return all(isinstance(item, dict) for item in ensure_list(record.get("relevant"), "'relevant'"))
