"""What a parameter's schema tells beyond its type, and what is made of it."""

import json
from datetime import date

import pytest

from agent.parameter_needs import derive_need, find_format, list_allowed_values
from agent.policy.protocol import ArgumentsQuestion
from domain.tool import Parameter, ToolDoc, make_tool_id
from offline.nlp.entities import find_spans
from offline.slots.binding import bind

STATES = json.dumps({"anyOf": [{"type": "array", "items": {"type": "string", "enum": ["open", "in_progress", "done"]}}, {"type": "null"}]})  # fmt: skip
TO = Parameter(
    name="to", type="array", required=True, description="Addresses of the recipients.",
    json_schema=json.dumps({"type": "array", "items": {"type": "string", "pattern": r"^[^@\s]+@[^@\s]+$"}}),
)  # fmt: skip


def tool(*parameters: Parameter) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", "t", "a"), category="c", toolset="t", api="a", function="a", parameters=parameters
    )


@pytest.mark.parametrize(
    ("parameter", "form"),
    [
        (TO, "email"),
        (Parameter(name="x", type="array", json_schema='{"items":{"type":"string","format":"email"}}'), "email"),
        (Parameter(name="x", example="dagny@oskvik.example"), "email"),
        (Parameter(name="x", example="Write to dagny@oskvik.example"), ""),
        (Parameter(name="x", format="date"), "date"),
        (Parameter(name="x", type="integer", example=3), ""),
    ],
)
def test_the_form_is_told_by_format_pattern_or_example(parameter: Parameter, form: str) -> None:
    assert find_format(parameter) == form


def test_items_of_a_list_may_be_few() -> None:
    parameter = Parameter(name="state", type="array", json_schema=STATES)
    assert list_allowed_values(parameter) == ("open", "in_progress", "done")
    assert derive_need(parameter).enum == ("open", "in_progress", "done")
    assert list_allowed_values(Parameter(name="state", type="array", json_schema="{broken")) == ()
    found = bind(ArgumentsQuestion("List the low priority tasks which are done", tool(parameter), ()))
    assert found.values == {"state": ["done"]}


def test_what_a_thing_is_to_become_is_no_filter() -> None:
    question = ArgumentsQuestion("Mark the task 'Ferry' as done", tool(Parameter(name="state", type="array", json_schema=STATES)), ())  # fmt: skip
    assert bind(question).values == {}


def test_a_recipient_is_an_address_and_no_quotation() -> None:
    request = "Send an e-mail to joe@example.org with the subject 'Hi there' and the body 'See you'"
    parameters = (TO, Parameter(name="subject", required=True), Parameter(name="body", required=True))
    found = bind(ArgumentsQuestion(request, tool(*parameters), ()))
    assert found.values == {"to": ["joe@example.org"], "subject": "Hi there", "body": "See you"}


@pytest.mark.parametrize(
    ("request_", "values"),
    [
        ("Convert minus 5 VDK to CLD", ["-5"]),
        ("Is it minus three degrees there?", ["-3"]),
        ("What is 10 minus 5?", ["10", "5"]),
        ("ten minus five", ["10", "5"]),
    ],
)
def test_minus_is_read_where_nothing_is_taken_away(request_: str, values: list[str]) -> None:
    assert [span.value for span in find_spans(request_, date(2026, 1, 1)) if span.kind == "number"] == values
