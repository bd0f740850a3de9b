"""Measured: what compressing a long response costs, against parsing it once."""

import gzip
import time
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from agent.compression.json_paths import list_field_paths
from agent.compression.json_truncation import truncate_json
from agent.compression.response_compression import COMPRESSION_LIMIT, parse_structure, shorten_response
from agent.policy.protocol import FieldsQuestion
from domain.tool import ToolDoc
from graph.importers.jsonl import parse_tool
from offline.field_selection import select_fields
from tests.unit.agent.compression.test_compress import tool as nameless

pytestmark = pytest.mark.bench


def body(megabytes: float) -> str:
    """A list of records as services send them, this long."""
    record = {"id": 17, "title": "A title of some words", "url": "https://x.example/" + "a" * 60, "tags": ["a", "b"],
              "price": {"amount": 12.5, "currency": "EUR"}, "description": "Some text about the thing. " * 6}  # fmt: skip
    return orjson.dumps({"total": 9, "items": [record] * int(megabytes * 1e6 / len(orjson.dumps(record)))}).decode()


def timed(work: Callable[[], object]) -> float:
    """The best of three runs, in seconds."""
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def whole(document: ToolDoc, response: str) -> None:
    """All of a first response of a tool: read, fields found, chosen, filtered, fitted."""
    value = parse_structure(response)
    assert value is not None
    kept = select_fields(FieldsQuestion(document, truncate_json(value, 4_096), list_field_paths(value)))
    assert len(shorten_response(response, value, kept).text) <= COMPRESSION_LIMIT


def test_time_grows_with_the_length_of_the_body() -> None:
    print()
    for megabytes in (0.1, 0.3, 1.0, 3.0):
        response = body(megabytes)
        parse, compress = timed(lambda r=response: orjson.loads(r)), timed(lambda r=response: whole(nameless(), r))
        print(
            f"{len(response):>9,} characters: orjson.loads {parse * 1e3:6.1f} ms, compression {compress * 1e3:6.1f} ms, "
            f"{compress / parse:.1f} times as long"
        )


@pytest.mark.shared_data
def test_documented_examples(shared_data: Path) -> None:
    """Over all documented examples above the limit: time per response, and the ratio to parsing."""
    with gzip.open(shared_data / "toolbench" / "tools.jsonl.gz") as file:
        documents = [parse_tool(orjson.loads(line)) for line in file]
    long = [
        (doc, text)
        for doc in documents
        if (text := doc.example_response) and len(text) > COMPRESSION_LIMIT and parse_structure(text) is not None
    ]
    parse = timed(lambda: [parse_structure(text) for _, text in long])
    compress = timed(lambda: [whole(doc, text) for doc, text in long])
    print(
        f"\n{len(long):,} examples: {compress / len(long) * 1e3:.2f} ms each, {compress / parse:.1f} times as long as reading"
    )
