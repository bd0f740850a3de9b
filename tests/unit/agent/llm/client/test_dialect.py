"""What an endpoint refuses is left out, one thing at a time, as far as the settings allow."""

from typing import Any

import pytest

from agent.llm.client.dialect import AnswerFormat, EndpointDialect
from tests.unit.agent.llm.client.talking import FORM


def test_everything_is_tried_first() -> None:
    body = EndpointDialect(max_tokens=100).build_body(FORM, stream=True)
    assert set(body) == {"temperature", "max_tokens", "stream_options", "response_format"}
    assert body["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize(
    ("refusal", "left_out"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature"),
        ("Unrecognized request argument supplied: stream_options", "stream_options"),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
    ],
)
def test_what_is_named_is_left_out(refusal: str, left_out: str) -> None:
    dialect = EndpointDialect(max_tokens=100)
    body = dialect.build_body(FORM, stream=True)
    assert dialect.concede(refusal, body)
    after = dialect.build_body(FORM, stream=True)
    assert left_out not in after
    assert set(body) - {left_out} <= set(after)


def test_the_length_is_bounded_under_either_name_or_not_at_all() -> None:
    dialect, names = EndpointDialect(max_tokens=100), list[set[str]]()
    for _ in range(3):
        body = dialect.build_body(None)
        names.append(set(body) - {"temperature"})
        dialect.concede("unknown field max_tokens or max_completion_tokens", body)
    assert names == [{"max_tokens"}, {"max_completion_tokens"}, set()]


def test_a_form_gives_way_step_by_step_until_it_was_taken() -> None:
    dialect = EndpointDialect()
    assert dialect.concede("bad request", dialect.build_body(FORM))
    assert dialect.build_body(FORM)["response_format"] == {"type": "json_object"}
    dialect.record_success(FORM)
    assert not dialect.concede("the prompt is too long", dialect.build_body(FORM))
    assert dialect.concede("json mode is off now", dialect.build_body(FORM))
    assert "response_format" not in dialect.build_body(FORM)
    assert not dialect.concede("bad request", dialect.build_body(FORM))


@pytest.mark.parametrize("structured", ["json_schema", "json_object", "text"])
def test_a_form_that_the_settings_name_stays(structured: AnswerFormat) -> None:
    dialect = EndpointDialect(structured)
    body: dict[str, Any] = dialect.build_body(FORM)
    assert not dialect.concede("response_format is not supported", body)
    assert dialect.build_body(FORM) == body
