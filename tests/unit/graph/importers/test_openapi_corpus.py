"""Odd-shaped documents, each named by what is odd in it: every operation is imported or reported, and nothing crashes.

``expected.json`` is the table: the names imported and the reasons reported, file by file.
"""

import copy
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import BrokenInputError
from domain.tool import ToolDoc
from graph.importers.openapi import METHODS, read_openapi
from graph.importers.openapi_nodes import to_list, to_mapping
from graph.importers.yaml_events import read_yaml
from graph.input_files import read_tools

FOLDER = Path(__file__).parents[3] / "data" / "openapi"
EXPECTED: dict[str, dict[str, list[str]]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def imported(path: Path) -> tuple[list[ToolDoc], list[str]]:
    problems: list[BrokenInputError] = []
    docs: list[ToolDoc] = []
    try:
        docs += read_openapi(path, problems.append)
    except BrokenInputError as error:
        problems.append(error)
    return docs, [str(problem).removeprefix(f"{path}: ") for problem in problems]


def test_the_table_knows_every_document() -> None:
    assert {path.name for path in FOLDER.iterdir()} - {"expected.json"} == EXPECTED.keys()
    assert len(EXPECTED) >= 30


@pytest.mark.parametrize("name", sorted(EXPECTED))
@pytest.mark.timeout(20)
def test_what_is_imported_and_what_is_reported(name: str) -> None:
    docs, problems = imported(FOLDER / name)
    assert [doc.api for doc in docs] == EXPECTED[name]["imported"]
    assert problems == EXPECTED[name]["reported"]
    assert len({doc.id for doc in docs}) == len(docs)
    for doc in docs:
        assert len({one.name for one in doc.parameters}) == len(doc.parameters)
        assert ToolDoc.model_validate_json(doc.model_dump_json()) == doc


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_operation_is_accounted_for(name: str) -> None:
    """Counted from the document alone: as many operations as were imported or told to be left out."""
    try:
        content = (FOLDER / name).read_bytes()
        document: Any = json.loads(content) if name.endswith(".json") else read_yaml(content)
    except ValueError:
        assert EXPECTED[name]["imported"] == []
        return
    declared = 0
    for route, item in document.get("paths", {}).items():
        here = {} if "$ref" in (item or {}) else to_mapping(item)
        operations = len(set(here) & set(METHODS)) + len(to_mapping(here.get("additionalOperations")))
        declared += 0 if route.startswith("x-") else operations if here else 1
    left_out = [reason for reason in EXPECTED[name]["reported"] if " is not imported: " in reason]
    assert len(EXPECTED[name]["imported"]) + len(left_out) == declared


@pytest.mark.parametrize("name", ["swagger_2.json", "yaml_1_1_words.yaml", "broken_operations.json", "not_json.json"])
def test_the_command_reads_what_the_importer_reads(name: str) -> None:
    found = list(read_tools(FOLDER / name))
    assert [one.api for one in found if isinstance(one, ToolDoc)] == EXPECTED[name]["imported"]
    assert len([one for one in found if not isinstance(one, ToolDoc)]) == len(EXPECTED[name]["reported"])


@pytest.mark.shared_data
@pytest.mark.parametrize(("name", "operations", "secret"), [
    ("tmdb", 54, "api_api_key"), ("spotify", 40, "spotify_web_api_oauth_2_0"),
])  # fmt: skip
def test_real_documents_are_imported_whole(shared_data: Path, name: str, operations: int, secret: str) -> None:
    docs, problems = imported(shared_data / "benchmarks" / "restbench" / f"{name}_oas.json")
    assert (len(docs), problems) == (operations, [])
    assert {one.secret for doc in docs for one in doc.credentials} == {secret}


BASES: list[Any] = [
    json.loads((FOLDER / name).read_bytes()) if name.endswith(".json") else read_yaml((FOLDER / name).read_bytes())
    for name in sorted(EXPECTED)
    if EXPECTED[name]["imported"] and name != "deep_nesting.json"
]
ODD: list[Any] = [
    None, True, 0, -1, 1e308, "", "x", [], {}, [None], [[]], {"$ref": "#"}, {"$ref": "#/paths"}, {"$ref": 3}, {"$ref": "#/a/b"},
    {"type": ["null"]}, {"type": 3}, {"allOf": [{"$ref": "#/paths"}]}, {"oneOf": []}, {"": {}}, {"type": "array"}, "{", "}{", "\u0000", "é" * 50,
]  # fmt: skip


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a document."""
    inner: Iterable[tuple[Any, Any]] = to_mapping(node).items() or enumerate(to_list(node))
    return [path, *(place for key, part in inner for place in places(part, (*path, key)))]


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A document with a few of its values dropped, replaced, or put where others stand."""
    document = copy.deepcopy(draw(st.sampled_from(BASES)))
    for _ in range(draw(st.integers(1, 6))):
        found = [place for place in places(document) if place]
        if not found:
            break
        *above, last = draw(st.sampled_from(found))
        holder = document
        for step in above:
            holder = holder[step]
        if draw(st.booleans()):
            holder[last] = copy.deepcopy(
                draw(st.sampled_from([*ODD, document.get("paths"), document.get("components")]))
            )
        elif to_mapping(holder) and draw(st.booleans()):
            holder[
                draw(
                    st.sampled_from(
                        ["$ref", "type", "allOf", "properties", "items", "content", "required", "enum", "in"]
                    )
                )
            ] = holder.pop(last)
        else:
            del holder[last]
    return document


@settings(max_examples=400)
@given(mutated())
def test_no_document_crashes_the_importer(document: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutated.json"
        path.write_text(json.dumps(document))
        docs, problems = imported(path)
    assert docs or problems
    assert len({doc.id for doc in docs}) == len(docs)
    for doc in docs:
        doc.model_dump_json()
