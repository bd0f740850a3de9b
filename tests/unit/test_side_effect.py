"""What is known of a call's side effect, and what follows from it."""

from pathlib import Path
from typing import Any

import pytest
from orjson import dumps

from agent.execution.approval import describe_side_effect
from domain.side_effect import DeclaredEffect, determine_side_effect
from domain.tool import ToolDoc, make_tool_id
from graph.importers.side_effects import classify_graphql, parse_side_effect
from graph.input_files import read_tools
from offline.change_orders import may_call, may_change

GETS = [
    "current_weather",
    "list-orders",
    "transfers",
    "posts",
    "getRemoved",
    "created_since",
    "GET /jobs/{id}/result",
    "删除",
    "",
]
WARNED = [
    "remove_all_compost",
    "removeJob",
    "/Remove job",
    "SENDMail",
    "DELETE a hook",
    "GET /jobs/{id}/cancel",
    "create-qr",
]


def tool(method: str, api: str = "x", said: DeclaredEffect = "", marked: DeclaredEffect = "", **more: Any) -> ToolDoc:
    made = ToolDoc(
        id=make_tool_id("c", "t", api), category="c", toolset="t", api=api, function="f", method=method, **more
    )
    return made.model_copy(update={"side_effect": said, "marked": marked})


def body(*queries: str) -> dict[str, Any]:
    """An operation's body with a field of these values only."""
    schema = {"type": "object", "properties": {"query": {"type": "string", "enum": list(queries)}}}
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


@pytest.mark.parametrize(
    ("method", "api", "said", "marked", "kind", "by"),
    [
        *[("GET", api, "", "", "reads", "method") for api in GETS],
        *[("GET", api, "", "", "unknown", "name") for api in WARNED],
        ("QUERY", "search", "", "", "reads", "method"),
        ("QUERY", "delete_found", "", "", "unknown", "name"),
        ("POST", "search", "", "", "changes", "method"),
        ("POST", "search", "reads", "", "reads", "document"),
        ("DELETE", "x", "reads", "", "changes", "method"),
        ("GET", "x", "changes", "", "changes", "document"),
        ("GET", "remove_background", "reads", "", "reads", "document"),
        ("GET", "x", "reads", "changes", "changes", "administrator"),
        ("DELETE", "x", "", "reads", "reads", "administrator"),
        ("GET", "remove_background", "", "reads", "reads", "administrator"),
    ],
)
def test_the_first_source_that_knows_counts(
    method: str, api: str, said: DeclaredEffect, marked: DeclaredEffect, kind: str, by: str
) -> None:
    effect = determine_side_effect(method, api, said, marked)
    assert (effect.kind, effect.by) == (kind, by)
    assert tool(method, api, said, marked).safe is (kind == "reads")


@pytest.mark.parametrize(
    ("document", "again"),
    [
        (tool("GET"), True),
        (tool("GET", "remove_all"), False),
        (tool("GET", marked="changes"), False),
        (tool("POST"), False),
        (tool("POST", said="reads"), True),
        (tool("POST", idempotent=True), True),
        (tool("PUT"), True),
        (tool("DELETE", marked="changes"), True),
    ],
)
def test_what_may_be_repeated(document: ToolDoc, again: bool) -> None:
    assert (document.is_effectively_idempotent, document.repeatable) == (again, again)


def test_only_a_server_that_tells_repetitions_apart_may_be_asked_again() -> None:
    keyed = tool("POST", idempotency_header="idempotency-key")
    assert (keyed.is_effectively_idempotent, keyed.repeatable) == (False, True)


def test_a_user_is_told_why_a_call_is_asked_about() -> None:
    assert describe_side_effect(tool("POST")) == "It changes something: it is called by POST."
    assert describe_side_effect(tool("GET", "remove_all")) == (
        "It may change something: its name begins with “remove”, though it is called by GET."
    )


def test_offline_a_change_is_made_only_where_it_is_asked_for() -> None:
    remove = tool("GET", "remove_all_compost")
    assert may_change(remove)
    assert not may_call(remove, "How much compost is there?")
    assert may_call(remove, "Remove all compost, please.")
    assert not may_change(tool("GET", "remove_background", marked="reads"))
    assert may_change(tool("POST", "search_and_log", marked="changes"))
    assert may_call(tool("GET", "get_report", marked="changes"), "Get me the report.")


@pytest.mark.parametrize(
    ("extension", "said"),
    [
        ({}, ""),
        ({"x-side-effect": "reads"}, "reads"),
        ({"x-side-effect": "changes"}, "changes"),
        ({"x-readOnlyHint": True}, "reads"),
        ({"x-readOnlyHint": False}, "changes"),
        ({"x-readOnlyHint": "yes"}, ""),
        ({"x-destructiveHint": False}, "changes"),
        ({"x-readOnlyHint": True, "x-destructiveHint": False}, "reads"),
        ({"x-openai-isConsequential": True}, "changes"),
        ({"x-openai-isConsequential": False}, ""),
        ({"x-openai-isConsequential": True, "x-readOnlyHint": True}, "reads"),
        (body("query Q($id: ID) { thing(id: $id) { name } }"), "reads"),
        (body("mutation M { remove }"), "changes"),
        (body("{ a }", "{ b }"), ""),
        ({"x-side-effect": "none"}, None),
    ],
    ids=str,
)
def test_an_openapi_document_says_it_of_its_operations(
    tmp_path: Path, extension: dict[str, Any], said: str | None
) -> None:
    path = tmp_path / "api.json"
    said_there: dict[str, Any] = {"operationId": "query", "responses": {}, **extension}
    path.write_bytes(dumps({"openapi": "3.0.3", "info": {"title": "T"}, "paths": {"/q": {"post": said_there}}}))
    (found,) = read_tools(path)
    if isinstance(found, ToolDoc):
        assert found.side_effect == said
    else:
        assert (said, "'x-side-effect' must be reads or changes, not 'none'" in found.reason) == (None, True)


def test_a_line_says_it_in_words_or_as_mcp_does(tmp_path: Path) -> None:
    path = tmp_path / "tools.jsonl"
    record = {"category": "C", "tool_name": "T", "function": "f", "method": "POST"}
    hints = [{"readOnlyHint": True}, {"readOnlyHint": False}, {"destructiveHint": True}, {"title": "T"}]
    said = [{"side_effect": "reads"}, *({"annotations": one} for one in hints)]
    lines = [
        dumps(record | {"api_name": str(number)} | one) for number, one in enumerate([*said, {"annotations": "x"}])
    ]
    path.write_bytes(b"\n".join(lines))
    found = [one for one in read_tools(path) if isinstance(one, ToolDoc)]
    assert [one.side_effect for one in found] == ["reads", "reads", "changes", "changes", "", ""]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{ things { name } }", "reads"),
        ('query Q($id: ID = "mutation") @cached { thing(id: $id) { name } } # mutation M { x }', "reads"),
        ("query A { a } fragment F on Thing { b }", "reads"),
        ("query A { a }\nmutation B { b }", "changes"),
        ("fragment F on T { b } mutation ($in: In = {a: 1}) { remove(in: $in) { id } }", "changes"),
        ('query A { a(text: """}} mutation""") }', "reads"),
        ("subscription S { s }", ""),
        ("fragment F on T { b }", ""),
        ("query A { a", ""),
        ("query A { a } }", ""),
        ("weather in Lisbon", ""),
        ("", ""),
    ],
)
def test_a_graphql_document_is_read_by_its_grammar(text: str, said: str) -> None:
    assert classify_graphql(text) == said


def test_the_plain_word_goes_before_the_hint() -> None:
    assert parse_side_effect("side_effect", "changes", True) == "changes"
