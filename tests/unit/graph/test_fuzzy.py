"""Which inputs a user says in words."""

import pytest

from domain.tool import Parameter, ToolDoc, make_tool_id
from graph.entities import ServiceEntities
from graph.fuzzy import can_user_state, is_fuzzy, list_input_subsets


def tool(*inputs: Parameter, api: str = "find") -> ToolDoc:
    """A tool that takes these."""
    return ToolDoc(
        id=make_tool_id("Any", "Thing", api), category="Any", toolset="Thing", api=api, function=api, parameters=inputs
    )


def alone(doc: ToolDoc) -> ServiceEntities:
    return ServiceEntities([(doc, ())])


@pytest.mark.parametrize(
    "said",
    [
        Parameter(name="title"),
        Parameter(name="country"),
        Parameter(name="departure_date", format="date"),
        Parameter(name="topic", description="What it is about."),
        Parameter(name="guests", type="integer"),
        Parameter(name="kind", enum=("a", "b")),
        Parameter(name="currency_code", example="EUR"),
        Parameter(name="name", description="Name or id of the club."),
        Parameter(name="phone", example="5550100200"),
        Parameter(name="tags", type="array", json_schema='{"type":"array","items":{"type":"string"}}'),
    ],
)
def test_words_are_said(said: Parameter) -> None:
    assert can_user_state(said, tool(said), alone(tool(said)))


@pytest.mark.parametrize(
    "machine",
    [
        Parameter(name="person_id"),
        Parameter(name="idMedia"),
        Parameter(name="api_key"),
        Parameter(name="player", example="8123"),
        Parameter(name="video", example="a1b2c3d4e5f7"),
        Parameter(name="album", description="The Spotify id of the album."),
        Parameter(name="latitude", type="number"),
        Parameter(name="page_url"),
        Parameter(name="thing", format="uuid"),
        Parameter(name="filter", type="object"),
        Parameter(name="trace", location="header"),
        Parameter(name="code"),
    ],
)
def test_what_machines_tell_things_by_is_not(machine: Parameter) -> None:
    assert not can_user_state(machine, tool(machine), alone(tool(machine)))


def test_the_default_of_an_id_is_an_example() -> None:
    club = Parameter(name="club_id", required=True, default="42")
    page = Parameter(name="page", type="integer", required=True, default=1)
    assert not is_fuzzy(tool(club), alone(tool(club)))
    assert is_fuzzy(tool(page), alone(tool(page)))


def test_a_tool_named_after_what_its_only_id_identifies_needs_it() -> None:
    doc = tool(Parameter(name="channel_id"), api="List channel posts")
    assert not is_fuzzy(doc, alone(doc))


def test_inputs_that_need_not_be_given_are_given_one_or_two_at_once() -> None:
    doc = tool(*(Parameter(name=name) for name in ("name", "town", "topic")), Parameter(name="page", type="integer"))
    names = [",".join(one.name for one in some) for some in list_input_subsets(doc, alone(doc))]
    assert names == ["name", "town", "topic", "name,town", "name,topic", "town,topic"]


def test_what_is_required_is_always_given() -> None:
    doc = tool(Parameter(name="town", required=True), Parameter(name="topic"), Parameter(name="month"))
    names = [",".join(one.name for one in some) for some in list_input_subsets(doc, alone(doc))]
    assert names == ["town", "town,topic", "town,month"]


def test_a_tool_that_takes_nothing_is_called_as_it_is() -> None:
    assert list_input_subsets(tool(), alone(tool())) == [()]
