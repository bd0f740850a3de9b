"""The live call: what may be called, with which values, and what its answer teaches. Real HTTP, on loopback."""

import json
from typing import Any

import orjson
import pytest

from admission.limits import ReadLimits
from admission.probe import ProbeResult, ToolProbe
from admission.probe_arguments import SeenAnswers, choose_arguments
from admission.reading_process import render_tools
from agent.execution.http import HttpExecutor, HttpParameters
from domain.model import JsonObject
from domain.tool import ToolDoc
from tests.support.scripted_http_server import Answer, Served, reply, serving
from tests.unit.admission.documents import document, operation


def tool(address: str, method: str = "get", path: str = "/ships", **parts: Any) -> ToolDoc:
    """The tool of a document of one operation at this address."""
    content = {**document({path: {method: operation("shipOf", **parts)}}), "servers": [{"url": address}]}
    first, *_ = render_tools(
        orjson.dumps(content), {"category": "Ports", "toolset": "Harbour", "server": ""}, ReadLimits()
    )
    return ToolDoc.model_validate_json(first)


def query(name: str, **parts: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": True, "schema": {"type": "string"}, **parts}


async def probed(
    answer: Answer, given: JsonObject | None = None, *, leave: str = "", **parts: Any
) -> tuple[ProbeResult, Served]:
    async with serving(answer) as served:
        executor = HttpExecutor(
            HttpParameters(allow_hosts=frozenset({f"127.0.0.1:{served.port}"}), attempts=1, timeout=3)
        )
        try:
            probe = ToolProbe(executor, allow_changes=bool(leave), account=leave)
            return await probe.call_tool(tool(served.url, **parts), given), served
        finally:
            await executor.close()


SHIP = reply(body=b'{"ship": "Anna", "length": 80}')


async def test_an_example_of_the_document_is_sent_and_the_answer_learnt() -> None:
    found, served = await probed(SHIP, parameters=[query("flag", example="MRV")])
    assert [one.verdict for one in found.findings] == ["passed"]
    assert served.requests[0].startswith(b"GET /ships?flag=MRV ")
    assert json.loads(found.learnt_doc.example_response or "") == {"ship": "Anna", "length": 80}
    assert found.findings[0].evidence["from"] == {"flag": "its example"}


async def test_what_is_given_goes_before_what_the_document_says() -> None:
    _, served = await probed(SHIP, {"flag": "VDK"}, parameters=[query("flag", example="MRV")])
    assert served.requests[0].startswith(b"GET /ships?flag=VDK ")


async def test_without_a_value_nothing_is_called() -> None:
    found, served = await probed(SHIP, parameters=[query("flag")])
    assert (found.findings[0].verdict, served.requests) == ("skipped", [])
    assert "flag" in found.findings[0].told


async def test_a_change_is_called_with_leave_for_a_named_account_only() -> None:
    body = {
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["ship"],
                    "properties": {"ship": {"type": "string", "example": "Bo"}},
                }
            }
        }
    }
    body["required"] = True  # type: ignore[assignment]
    found, served = await probed(SHIP, method="post", requestBody=body)
    assert (found.findings[0].verdict, served.requests) == ("skipped", [])
    found, served = await probed(SHIP, method="post", requestBody=body, leave="the test account of the harbour")
    assert found.findings[0].verdict == "passed"
    assert served.requests[0].endswith(b'{"ship": "Bo"}')


async def test_examples_that_do_not_fit_are_told_and_not_sent() -> None:
    day = query("day", schema={"type": "string", "enum": ["Monday"]}, example="tomorrow")
    found, served = await probed(SHIP, parameters=[day])
    assert (found.findings[0].verdict, served.requests) == ("failed", [])


async def test_a_refusal_is_one_of_the_key() -> None:
    found, _ = await probed(reply("403 Forbidden", b"{}"))
    assert [(one.check, one.verdict) for one in found.findings] == [("auth", "failed"), ("probe", "failed")]


async def test_a_long_answer_is_cut_to_an_example_that_is_json() -> None:
    many = json.dumps([{"ship": "x" * 400, "flag": n} for n in range(500)]).encode()
    found, _ = await probed(reply(body=many))
    example = found.learnt_doc.example_response or ""
    assert len(example) <= 4_000
    assert {"ship", "flag"} == set(json.loads(example)[0])


async def test_a_name_that_was_given_in_a_list_is_learnt_as_no_field() -> None:
    listed = query("cities", schema={"type": "array", "items": {"type": "string"}})
    found, _ = await probed(
        reply(body=b'{"Lisbon": {"high": 20, "sky": "clear"}}'), {"cities": ["Lisbon"]}, parameters=[listed]
    )
    assert "Lisbon" not in (found.learnt_doc.learnt_response or "Lisbon")


@pytest.mark.parametrize(
    ("documented", "verdict"),
    [
        ({"type": "object"}, "passed"),
        ({"type": "array", "items": {}}, "warned"),
        ({"type": "object", "properties": {"boat": {"type": "string"}}}, "warned"),
    ],
)
async def test_only_an_answer_that_a_document_rules_out_speaks_against_it(documented: Any, verdict: str) -> None:
    answered = {"200": {"description": "ok", "content": {"application/json": {"schema": documented}}}}
    found, _ = await probed(reply(body=b'{"ship": "Anna", "flag": "VDK", "length": 80}'), responses=answered)
    assert [one.verdict for one in found.findings] == [verdict], found.findings[0].told
    assert "flag" in (found.learnt_doc.learnt_response or "")


def test_values_come_from_answers_of_the_same_host_only() -> None:
    seen = SeenAnswers()
    ships = tool("https://harbour.example").model_copy(update={"api": "list_ships"})
    seen.add(ships, '{"ships": [{"ship_id": "S1", "name": "Anna"}]}')
    wanted = [query("ship_id")]
    here = choose_arguments(tool("https://harbour.example", path="/ship", parameters=wanted), None, seen)
    assert here.arguments == {"ship_id": "S1"}
    elsewhere = choose_arguments(tool("https://elsewhere.example", path="/ship", parameters=wanted), None, seen)
    assert elsewhere.missing == ("ship_id",)


def test_a_key_in_a_document_is_no_value() -> None:
    chosen = choose_arguments(
        tool("https://harbour.example", parameters=[query("api_key", example="abc123")]), None, SeenAnswers()
    )
    assert chosen.missing == ("api_key",)
