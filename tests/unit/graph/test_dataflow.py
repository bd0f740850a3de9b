"""Where recorded arguments came from, kept once and used by coupling."""

from pathlib import Path

import pytest

from domain.tool import Parameter, ToolDoc, ToolId, tool_id
from domain.trajectory import Outcome, Taken
from graph.backends.sqlite_dataflow import SqliteFlows
from graph.coupling import best_field
from graph.dataflow import Made, taken, with_flows

FIND, CREDITS, PERSON = (tool_id("films", "reel", name) for name in ("find", "credits", "person"))


def made(tool: ToolId, arguments: str, observation: str, outcome: Outcome = Outcome.OK) -> Made:
    """A call as a trajectory records it."""
    return Made(tool, outcome, arguments, observation)


def test_a_value_is_traced_to_every_field_of_the_nearest_answer_that_held_it() -> None:
    calls = [
        made(FIND, '{"query": "Rain"}', '{"results": [{"id": 61, "title": "Rain"}]}'),
        made(CREDITS, '{"movie_id": 61}', '{"id": 61, "crew": [{"id": 907, "job": "Director"}, {"id": 908}]}'),
        made(PERSON, '{"person_id": "907"}', "{}"),
    ]
    assert taken("Who directed Rain?", calls) == [
        Taken(FIND, CREDITS, "movie_id", ("results[].id",)),
        Taken(CREDITS, PERSON, "person_id", ("crew[].id",)),
    ]


@pytest.mark.parametrize(
    ("request_text", "value"),
    [("person 907 please", "907"), ("the Iron Coast", "Iron Coast"), ("who?", True), ("who?", 7), ("who?", None)],
)
def test_what_the_request_says_or_says_too_little_was_not_taken(request_text: str, value: object) -> None:
    import orjson

    calls = [
        made(CREDITS, "{}", orjson.dumps({"value": value}).decode()),
        made(PERSON, orjson.dumps({"person_id": value}).decode(), "{}"),
    ]
    assert taken(request_text, calls) == []


@pytest.mark.parametrize("observation", ["", "no JSON", '{"id": 9', "[" * 5_000, '"907"', "x" * 300_000])
def test_answers_that_cannot_be_read_give_nothing(observation: str) -> None:
    calls = [made(CREDITS, "{}", observation), made(PERSON, '{"person_id": 907}', "{}")]
    assert taken("who?", calls) == []


def test_failed_calls_neither_give_nor_take() -> None:
    calls = [
        made(CREDITS, "{}", '{"id": 907}', Outcome.FAILED),
        made(PERSON, '{"person_id": 907}', "{}"),
        made(FIND, '{"query": 907}', "{}", Outcome.CALLER_FAULT),
    ]
    assert taken("who?", calls) == []


def test_an_answer_wrapped_by_the_recorder_is_opened() -> None:
    calls = [
        made(CREDITS, "{}", '{"error": "", "response": "{\\"crew\\": [{\\"id\\": 907}]}"}'),
        made(PERSON, '{"person_id": 907}', "{}"),
    ]
    assert taken("who?", calls) == [Taken(CREDITS, PERSON, "person_id", ("crew[].id",))]


async def test_flows_are_counted_once_per_key(tmp_path: Path) -> None:
    flows = SqliteFlows(tmp_path / "flows.db")
    await flows.setup()
    crew = Taken(CREDITS, PERSON, "person_id", ("crew[].id",))
    both = Taken(CREDITS, PERSON, "person_id", ("cast[].id", "crew[].id"))
    assert await flows.add("one", [crew, both])
    assert not await flows.add("one", [crew])
    assert await flows.add("two", [crew])
    found = await flows.into([PERSON, FIND])
    await flows.close()
    assert {(f.field, f.count, f.total) for f in found[PERSON]} == {("crew[].id", 3, 3), ("cast[].id", 1, 3)}
    assert FIND not in found


async def test_recorded_flows_decide_where_names_say_nothing(tmp_path: Path) -> None:
    answer = document(CREDITS, example='{"cast": [{"id": 1}], "crew": [{"id": 2}]}')
    person = document(PERSON, Parameter(name="ref", type="integer", required=True))
    assert best_field(answer, person.parameters[0], person) is None
    flows = SqliteFlows(tmp_path / "flows.db")
    await flows.setup()
    await flows.add("a", [Taken(CREDITS, PERSON, "ref", ("crew[].id",))] * 3)
    known = with_flows(person, (await flows.into([PERSON]))[PERSON])
    await flows.close()
    found = best_field(answer, known.parameters[0], known)
    assert found is not None
    assert (found.field.path, found.score) == ("crew[].id", 1.0)


def document(tool: ToolId, *parameters: Parameter, example: str | None = None) -> ToolDoc:
    """A document of the set ``reel``."""
    api = tool.rpartition("/")[2]
    return ToolDoc(
        id=tool,
        category="films",
        toolset="reel",
        api=api,
        function=api,
        parameters=parameters,
        example_response=example,
    )
