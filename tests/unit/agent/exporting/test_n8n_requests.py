"""Calls as n8n's HTTP requests: each value where the tool's document puts it, as Footpath itself sends it; what n8n writes otherwise goes to the server."""

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from agent.execution.http.request import outgoing
from agent.exporting.exported import exported
from agent.exporting.forms import written
from domain.program import Program, ProgramPlan
from domain.tool import Credential, Parameter, ToolDoc, tool_id
from tests.flows.n8n_reading import carried_out, read

VALUES: dict[str, Any] = {"text": "a b&c=ü/{x}", "number": 2.5, "flag": True, "several": ["a", "b c"]}
KINDS: dict[str, Any] = {"text": "string", "number": "number", "flag": "boolean", "several": "array"}


def tool(**fields: Any) -> ToolDoc:
    return ToolDoc(
        id=tool_id("a", "B", "c"),
        category="a",
        toolset="B",
        api="c",
        function="c",
        url="https://b.example/v1/c?fixed=1",
    ).model_copy(update=fields)


def workflow(doc: ToolDoc, code: str, **inputs: Any) -> dict[str, Any]:
    program = Program(text=code, tools={"c": doc.id})
    plan = ProgramPlan(program=program, inputs={name: {"type": KINDS[name]} for name in inputs}, values=inputs)
    return read(written(exported(plan, "What it serves", {doc.id: doc}), "n8n").text)


def request(made: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the one node that makes a request."""
    (one,) = [one for one in made["nodes"] if one["type"] == "n8n-nodes-base.httpRequest"]
    return one["parameters"]


@pytest.mark.parametrize("given", ["inputs", "constants"])
@pytest.mark.parametrize(
    ("place", "names", "fields"),
    [
        ("query", [*VALUES], {}),
        ("path", ["text"], {"url": "https://b.example/v1/{text}/c"}),
        ("header", ["number", "flag"], {}),
        ("body", [*VALUES], {"method": "POST"}),
        ("body", ["number", "flag"], {"method": "PUT", "body_type": "form"}),
        ("body", [], {"method": "POST", "body_required": True}),
    ],
)
def test_a_request_is_the_one_that_footpath_sends(given: str, place: Any, names: list[str], fields: Any) -> None:
    parameters = tuple(Parameter(name=name, type=KINDS[name], location=place, required=True) for name in names)
    doc, values = tool(parameters=parameters, **fields), {name: VALUES[name] for name in names}
    told = ", ".join(f"{name}={name if given == 'inputs' else repr(VALUES[name])}" for name in names)
    made = workflow(doc, f"await c({told})", **(values if given == "inputs" else {}))
    sent: list[httpx.Request] = []

    def send(method: str, url: str, query: Any, others: Any) -> dict[str, Any]:
        body = {
            name: one
            for name, one in others.items()
            if (one or (name == "json" and one is not None)) and name != "headers"
        }
        sent.append(httpx.Request(method, httpx.URL(url).copy_merge_params(query), headers=others["headers"], **body))
        return {"body": {}}

    carried_out(made, {}, send)
    [ours], theirs = sent, outgoing(doc, values)
    assert (ours.method, urlsplit(str(ours.url)).path) == (theirs.method, urlsplit(str(httpx.URL(theirs.url))).path)
    assert sorted(parse_qsl(ours.url.query.decode())) == sorted(parse_qsl(urlsplit(theirs.url).query))
    for name, value in theirs.headers.items():
        assert ours.headers[name].partition(";")[0] == value.partition(";")[0]
    content = theirs.body or b""
    assert (json.loads(ours.content) == json.loads(content)) if content[:1] == b"{" else (ours.content == content)


@pytest.mark.parametrize(
    ("credentials", "kind"),
    [
        ([Credential(secret="KEY", name="X-Key")], "httpHeaderAuth"),
        ([Credential(secret="KEY", place="query", name="key")], "httpQueryAuth"),
        ([Credential(secret="KEY", basic=True)], "httpBasicAuth"),
        ([Credential(secret="KEY", place="cookie", name="sid")], "httpCustomAuth"),
        ([Credential(secret="KEY"), Credential(secret="OTHER", name="X-Other")], "httpCustomAuth"),
        ([Credential(secret="KEY", required=False)], None),
    ],
)
def test_a_key_is_a_credential_that_is_chosen_in_n8n(credentials: list[Credential], kind: str | None) -> None:
    made = workflow(tool(credentials=tuple(credentials)), "await c()")
    assert request(made).get("genericAuthType") == kind
    (one,) = [one for one in made["nodes"] if one["type"] == "n8n-nodes-base.httpRequest"]
    assert "KEY" in one["notes"]
    assert all("credentials" not in one for one in made["nodes"])


@pytest.mark.parametrize(
    ("fields", "text", "why"),
    [
        ({"method": "MCP", "url": "https://b.example/mcp"}, "await c()", "MCP server"),
        ({"url": ""}, "await c()", "no address"),
        (
            {"body_type": "multipart", "parameters": (Parameter(name="text", location="body"),)},
            "await c(text='a')",
            "multipart",
        ),
        ({"body_type": "form", "body_required": True}, "await c()", "without a field"),
        (
            {"parameters": (Parameter(name="more", type="object", location="body", spread=True),)},
            "await c(more={'a': 1})",
            "further fields",
        ),
        ({"parameters": (Parameter(name="text", allow_reserved=True),)}, "await c(text='a')", "style"),
        ({"parameters": (Parameter(name="text", location="cookie"),)}, "await c(text='a')", "cookie"),
        ({"parameters": (Parameter(name="several", type="array", explode=False),)}, "await c(several=['a'])", "style"),
        ({}, "[await c() for _ in range(3)]", "line 1 of the program calls c in a loop"),
        (
            {"parameters": (Parameter(name="text"),)},
            "a = await c()\nawait c(text=a['b'].upper())",
            "computes or chooses",
        ),
    ],
)
def test_what_n8n_cannot_do_is_done_by_the_server_and_it_says_why(fields: Any, text: str, why: str) -> None:
    made = workflow(tool(**fields), text)
    assert [one["name"] for one in made["nodes"]][2:] == ["Inputs", "Conversation", "Run", "Events", "Answer", "About"]
    assert why in made["nodes"][-1]["parameters"]["content"]


def test_the_answer_is_the_value_that_the_program_says() -> None:
    text = "one = await c()\ntwo = await c()\n{'answered': 'yes', 'answer': one['items'][0]['a\"b'], 'missing': ''}"
    made = workflow(tool(), text)
    code = next(one for one in made["nodes"] if one["name"] == "Answer")["parameters"]["jsCode"]
    assert code == 'return { json: { answer: $("1 c").item.json.body["items"][0]["a\\"b"] } };'
