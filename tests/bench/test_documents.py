"""What importing a folder of OpenAPI documents loses, and how many of the documents' own examples the argument check accepts.

``FOOTPATH_BENCH_DOCUMENTS`` names the folder; every ``.json``, ``.yaml`` and ``.yml`` below it is read.
"""

import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from agent.execution.validation import check_arguments, drop_omitted
from domain.errors import BrokenInputError
from domain.tool import Parameter, ToolDoc
from graph.importers.openapi import METHODS, read_openapi
from graph.importers.openapi_files import read_document
from graph.importers.openapi_nodes import Schema, to_list, to_mapping
from graph.importers.openapi_schema import SchemaResolver, UnsupportedError

pytestmark = [pytest.mark.bench, pytest.mark.timeout(7200)]
FOLDER = os.environ.get("FOOTPATH_BENCH_DOCUMENTS", "")  # read here: no test sees FOOTPATH_ variables
SUFFIXES = (".json", ".yaml", ".yml")
LOST = re.compile(r"(?:([^\s/]+) )?(\S.*?) is not imported: (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What came of one document, or of all of them."""

    total: Counter[str] = field(default_factory=Counter[str])
    reasons: Counter[str] = field(default_factory=Counter[str])
    """Why operations were not imported."""
    refused: Counter[str] = field(default_factory=Counter[str])
    """Why example values were refused."""
    failures: list[str] = field(default_factory=list[str])
    """Documents that crashed the importer, or of which operations were lost without a report."""

    def add(self, other: "Measurement") -> None:
        """Add the figures of a further document."""
        self.total.update(other.total)
        self.reasons.update(other.reasons)
        self.refused.update(other.refused)
        self.failures.extend(other.failures)


@pytest.mark.skipif(not FOLDER, reason="FOOTPATH_BENCH_DOCUMENTS names no folder of OpenAPI documents")
def test_what_an_import_of_many_documents_loses(capsys: pytest.CaptureFixture[str]) -> None:
    paths = sorted(path for path in Path(FOLDER).rglob("*") if path.suffix in SUFFIXES)
    whole = Measurement()
    began = time.perf_counter()
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for path, future in [(path, pool.submit(measure_document, path)) for path in paths]:
            if error := future.exception():
                whole.failures.append(f"{path.name} crashed: {error!r}"[:300])
            else:
                whole.add(future.result())
    values, accepted = whole.total["values"], whole.total["values"] - whole.total["refused values"]
    with capsys.disabled():
        figures = ", ".join(f"{count:,} {name}" for name, count in whole.total.items())
        print(f"\n{time.perf_counter() - began:.0f} s; {figures}; {len(whole.failures)} failures")
        print(f"{accepted:,} of {values:,} example values accepted: {100 * accepted / max(values, 1):.2f} %")
        for title, counted in (("not imported", whole.reasons), ("values refused", whole.refused)):
            print(f"{title}:", *(f"\n  {count:,} {reason}" for reason, count in counted.most_common(12)))
    assert not whole.failures, "\n".join(whole.failures)


def measure_document(path: Path) -> Measurement:
    """Import one document, count what came of it, and check its examples against the tools made of it."""
    made = Measurement()
    reports: list[BrokenInputError] = []
    try:
        document = read_document(path)
        tools = list(read_openapi(path, reports.append, document=document, server="https://documents.invalid"))
    except BrokenInputError:
        made.total["refused documents"] += 1
        return made
    texts = [str(report).removeprefix(f"{path}: ") for report in reports]
    lost = [found for text in texts if (found := LOST.fullmatch(text))]
    operations = list(find_operations(document))
    made.total.update(documents=1, operations=len(operations), imported=len(tools), reported=len(lost))
    made.total["imported in part"] += len(texts) - len(lost)
    made.reasons.update(normalize_reason(found[3]) for found in lost)
    if len(operations) != len(tools) + len(lost):
        made.failures.append(f"{path.name}: {len(operations)} operations, {len(tools)} imported, {len(lost)} reported")
        return made
    gone = Counter(((found[1] or "").upper(), found[2]) for found in lost)
    kept: list[Schema] = []
    for method, route, operation in operations:
        if gone[method.upper(), route]:
            gone[method.upper(), route] -= 1
        else:
            kept.append(operation)
    for tool, operation in zip(tools, kept, strict=True):
        for checkable, arguments in find_examples(SchemaResolver(document), tool, operation):
            complaints = check_arguments(checkable, drop_omitted(checkable, arguments))[1]
            made.total.update({"values": 1, "refused values": int(bool(complaints))})
            made.refused.update(normalize_reason(sentence) for _, sentence in complaints[:1])
    return made


def find_operations(document: Schema) -> Iterator[tuple[str, str, Schema]]:
    """Method, route and operation of each, in the importer's order; a path that cannot be read is one without a method."""
    schemas = SchemaResolver(document)
    for route, given in to_mapping(document.get("paths")).items():
        if route.startswith("x-"):
            continue
        try:
            path_item = schemas.follow(given)
        except UnsupportedError:
            path_item = {}
        if not isinstance(given, dict) or not path_item.keys():
            if given != {}:
                yield "", route, {}
            continue
        for method in METHODS:
            if method in path_item:
                yield method, route, to_mapping(path_item[method])
        for method, operation in to_mapping(path_item.get("additionalOperations")).items():
            yield method, route, to_mapping(operation)


def find_examples(
    schemas: SchemaResolver, tool: ToolDoc, operation: Schema
) -> Iterator[tuple[ToolDoc, dict[str, Any]]]:
    """Minimal calls with one example or default each, and those with an example of the whole body."""
    for one in tool.parameters:
        for value in (one.example, one.default):
            if value is not None:
                yield with_parameters(tool, one.model_copy(update={"required": False})), {one.name: value}
    body = tuple(one for one in tool.parameters if one.location == "body")
    by_name = {one.wire_name: one for one in body}
    for value in find_body_examples(schemas, operation) if body and tool.body_type == "json" else ():
        if body[0].whole_body:
            yield with_parameters(tool, *body), {body[0].name: value}
        elif (fields := to_mapping(value)) == value:
            rest = next((one.name for one in body if one.spread), "")
            further = {name: part for name, part in fields.items() if name not in by_name}
            arguments = {by_name[name].name: part for name, part in fields.items() if name in by_name}
            yield with_parameters(tool, *body), arguments | ({rest: further} if rest and further else further)


def find_body_examples(schemas: SchemaResolver, operation: Schema) -> Iterator[Any]:
    """The examples of a JSON body, of its media type or of its schema."""
    content = to_mapping(schemas.follow(operation.get("requestBody")).get("content"))
    media = to_mapping(next((holder for kind, holder in content.items() if "json" in kind), None))
    for holder in (media, schemas.follow(media.get("schema"))):
        named = holder.get("examples")
        yield from (to_mapping(schemas.follow(one)).get("value") for one in to_mapping(named).values())
        yield from (*to_list(named), *([holder["example"]] if "example" in holder else []))


def with_parameters(tool: ToolDoc, *parameters: Parameter) -> ToolDoc:
    """The tool with these parameters alone."""
    return tool.model_copy(update={"parameters": parameters})


def normalize_reason(text: str) -> str:
    """A reason without the names and numbers of one document, so that those of a kind are counted together."""
    text = re.sub(r"^\S+ (?=must |has |fits )|, not .*|(?<=^Unknown): .*", "", text, flags=re.DOTALL)
    text = re.sub(r"""'[^']*'|"[^"]*"|\[.*\]|\S*#/\S*|https?://\S+""", "…", text)
    return re.sub(r"\d[\d.,]*", "N", text)[:120]


def test_the_measurement_counts_what_it_should(tmp_path: Path) -> None:
    schema: Schema = {"properties": {"n": {"type": "integer", "example": 1}}, "additionalProperties": False}
    body: Schema = {"schema": schema, "example": {"m": 1}}
    paths: Schema = {
        "/a": {"post": {"requestBody": {"content": {"application/json": body}}}, "get": {"security": [{"none": []}]}},
        "/b": {"$ref": "other.json"},
    }
    document = {"openapi": "3.1.0", "info": {"title": "T"}, "paths": paths}
    (path := tmp_path / "one.json").write_text(json.dumps(document), encoding="utf-8")
    made = measure_document(path)
    assert [made.total[name] for name in ("operations", "imported", "reported", "values", "refused values")] == [
        3, 1, 2, 2, 1,
    ]  # fmt: skip
    assert (list(made.refused), len(made.reasons), made.failures) == (["Unknown"], 2, [])
