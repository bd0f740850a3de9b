"""Requests that are made for a tool from its document: such as somebody might ask."""

import json

from admission.sample_requests import make_sample_requests
from domain.tool import Parameter, ToolDoc, make_tool_id


def tool(api: str, of: str, *fields: str) -> ToolDoc:
    answer = json.dumps({"type": "object", "properties": {name: {"type": "string"} for name in fields}})
    wanted = (Parameter(name=of, required=True, type="integer", location="query"),)
    return ToolDoc(
        id=make_tool_id("garden", "Booking", api), category="garden", toolset="Booking", api=api, function=api, method="GET",
        url="https://garden.example/x", description="Get Booking", parameters=wanted, response_schema=answer,
    )  # fmt: skip


def test_none_says_a_word_twice_over() -> None:
    assert make_sample_requests(tool("booking_booking", "booking", "booking_booking", "status"))[0] == "Get Booking"
