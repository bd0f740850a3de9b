"""Profiles are kept by what the document says, not by its id alone."""

from agent.offer.tool_profile import build_profile
from domain.tool import Parameter, ToolDoc, make_tool_id


def document(description: str, *parameters: Parameter) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", "set", "kept"), category="c", toolset="set", api="kept", function="f",
        description=description, parameters=parameters,
    )  # fmt: skip


def test_a_document_that_changed_is_read_anew() -> None:
    first = build_profile(document("weather"))
    assert build_profile(document("weather")) is first
    changed = build_profile(document("weather", Parameter(name="place_id", required=True)))
    assert (first.required_inputs, changed.required_inputs) == (frozenset(), {"place_id"})
    assert build_profile(document("forecast")).description_terms == {"forecast"}
