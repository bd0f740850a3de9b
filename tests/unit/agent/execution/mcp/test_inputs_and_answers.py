"""What arrives at a server of the SDK, input by input, and what is kept of answers in several parts."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import mcp.server.lowlevel
import mcp.types
import orjson
import pytest
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Mount

from agent.execution.mcp import McpExecutor, list_tools
from agent.execution.mcp.results import render_answer
from agent.execution.secret_store import EnvironmentSecrets
from agent.execution.validation import validate_arguments
from domain.errors import InvalidArgumentsError
from domain.tool import Parameter, ToolDoc
from graph.importers.mcp import McpSource
from tests.support.mcp_servers import served, sessions

STRING = {"type": "string"}
SCHEMAS: dict[str, Any] = {
    "top_anyof": {
        "anyOf": [
            {"type": "object", "properties": {"name": STRING}, "required": ["name"]},
            {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
        ]
    },
    "free_form": {"type": "object", "properties": {"kind": STRING}, "additionalProperties": True},
    "any_value": {
        "type": "object",
        "properties": {"key": STRING, "value": {"title": "Value"}},
        "required": ["key", "value"],
    },
}


def echo() -> Any:
    """An ASGI application of the SDK's low-level server whose tools answer with the arguments that arrived."""
    server: Any = mcp.server.lowlevel.Server("echo")

    @server.list_tools()
    async def _() -> list[mcp.types.Tool]:
        return [mcp.types.Tool(name=name, inputSchema=schema) for name, schema in SCHEMAS.items()]

    @server.call_tool()
    async def _(name: str, arguments: dict[str, Any]) -> Any:
        return [mcp.types.TextContent(type="text", text=f"{name} was called")], {"arrived": arguments}

    manager = StreamableHTTPSessionManager(server, stateless=True)
    return Starlette(routes=[Mount("/mcp", manager.handle_request)], lifespan=lambda _: manager.run())


@asynccontextmanager
async def echoed() -> AsyncGenerator[Callable[..., Awaitable[Any]]]:
    """A function that calls a listed tool, after the check of its arguments, and returns what arrived. ``parameters`` replaces what was listed."""
    async with served(echo()) as at, sessions() as ours:
        listing = await list_tools(ours, McpSource(f"{at}/mcp/", "harbour", "echo"), EnvironmentSecrets({}))
        docs = {doc.api: doc for doc in listing.docs}

        async def call(api: str, parameters: tuple[Parameter, ...] | None = None, **arguments: Any) -> Any:
            doc: ToolDoc = docs[api] if parameters is None else docs[api].model_copy(update={"parameters": parameters})
            result = await McpExecutor(ours).call(doc, validate_arguments(doc, arguments))
            assert result.outcome == "ok", result
            return orjson.loads(result.body)["arrived"]

        yield call


async def test_inputs_of_alternatives_and_further_fields_arrive() -> None:
    async with echoed() as call:
        assert await call("top_anyof", name="x") == {"name": "x"}
        assert await call("top_anyof", number=3) == {"number": 3}
        assert await call("free_form", kind="gale", additional_fields={"force": 9, "at": {"lat": 1.5}}) == {
            "kind": "gale", "force": 9, "at": {"lat": 1.5},
        }  # fmt: skip
        assert await call("free_form") == {}
        with pytest.raises(
            InvalidArgumentsError, match="additional_fields holds kind, which free_form has as a parameter"
        ):
            await call("free_form", kind="gale", additional_fields={"kind": "calm"})
        with pytest.raises(InvalidArgumentsError, match="additional_fields holds kind"):
            await call("free_form", additional_fields={"kind": "calm"})


@pytest.mark.parametrize("value", [5, "5", True, None, 0.5, {"a": 1}, [1, "2"]])
async def test_a_value_of_any_type_arrives_as_it_was_given(value: Any) -> None:
    parameters = (Parameter(name="key", required=True), Parameter(name="value", type="any", required=True))
    async with echoed() as call:
        assert await call("any_value", parameters, key="k", value=value) == {"key": "k", "value": value}


def text_of(*texts: str) -> list[Any]:
    return [{"type": "text", "text": text} for text in texts]


@pytest.mark.parametrize(
    ("texts", "structured"),
    [
        (['{\n "number": 4, "free": false}'], {"free": False, "number": 4}),
        (["Hello Ann "], {"result": "Hello Ann"}),
        (["4"], {"result": 4}),
        (['{"a": 1}', '{"a": 2}'], {"result": [{"a": 1}, {"a": 2}]}),
        (["first", "second"], {"result": ["first", "second"]}),
        (["first\nsecond"], {"result": "first\nsecond"}),
        ([" "], {"a": 1}),
        ([], {"a": 1}),
    ],
)
def test_a_text_that_repeats_the_structured_form_is_told_once(texts: list[str], structured: Any) -> None:
    assert json.loads(render_answer(text_of(*texts), structured, 10_000).text) == structured


@pytest.mark.parametrize(
    ("structured", "kept"),
    [
        ({"berths": [3]}, {"berths": [3], "text": "Berth 3 closes at noon."}),
        (
            {"text": "a", "content_text": 1},
            {"text": "a", "content_text": 1, "content_content_text": "Berth 3 closes at noon."},
        ),
        ([1, 2], {"result": [1, 2], "text": "Berth 3 closes at noon."}),
    ],
)
def test_a_text_that_says_something_else_is_kept_beside_the_structured_form(structured: Any, kept: Any) -> None:
    parts = text_of("Berth 3 closes at noon.", json.dumps(structured))
    assert json.loads(render_answer(parts, structured, 10_000).text) == kept


def test_a_text_beside_an_answer_that_is_nested_too_deeply_changes_nothing() -> None:
    deep: Any = []
    for _ in range(300):
        deep = [deep]
    assert "nested deeper" in render_answer(text_of("Berth 3"), {"a": deep}, 10_000).unusable
    assert render_answer(text_of("[" * 5_000), {"a": 1}, 10_000).text == json.dumps({"a": 1, "text": "[" * 5_000})
