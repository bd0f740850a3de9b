"""Where recorded arguments came from, kept once and used by coupling."""

from pathlib import Path

import pytest

from domain.tool import Parameter, ToolDoc, ToolId, make_tool_id
from domain.trajectory import RecordedOutcome, TakenValue
from graph.backends.sqlite_flows import SqliteFlows
from graph.coupling import find_best_field
from graph.dataflow import ObservedCall, add_flows, find_taken_arguments

FIND, CREDITS, PERSON = (make_tool_id("films", "reel", name) for name in ("find", "credits", "person"))


def made(tool: ToolId, arguments: str, observation: str, outcome: RecordedOutcome = RecordedOutcome.OK) -> ObservedCall:
    """A call as a trajectory records it."""
    return ObservedCall(tool, outcome, arguments, observation)


def test_a_value_is_traced_to_every_field_of_the_nearest_answer_that_held_it() -> None:
    calls = [
        made(FIND, '{"query": "Rain"}', '{"results": [{"id": 61, "title": "Rain"}]}'),
        made(CREDITS, '{"movie_id": 61}', '{"id": 61, "crew": [{"id": 907, "job": "Director"}, {"id": 908}]}'),
        made(PERSON, '{"person_id": "907"}', "{}"),
    ]
    assert find_taken_arguments("Who directed Rain?", calls) == [
        TakenValue(FIND, CREDITS, "movie_id", ("results[].id",)),
        TakenValue(CREDITS, PERSON, "person_id", ("crew[].id",)),
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
    assert find_taken_arguments(request_text, calls) == []


@pytest.mark.parametrize("observation", ["", "no JSON", '{"id": 9', "[" * 5_000, '"907"', "x" * 300_000])
def test_answers_that_cannot_be_read_give_nothing(observation: str) -> None:
    calls = [made(CREDITS, "{}", observation), made(PERSON, '{"person_id": 907}', "{}")]
    assert find_taken_arguments("who?", calls) == []


def test_failed_calls_neither_give_nor_take() -> None:
    calls = [
        made(CREDITS, "{}", '{"id": 907}', RecordedOutcome.FAILED),
        made(PERSON, '{"person_id": 907}', "{}"),
        made(FIND, '{"query": 907}', "{}", RecordedOutcome.CALLER_FAULT),
    ]
    assert find_taken_arguments("who?", calls) == []


def test_an_answer_wrapped_by_the_recorder_is_opened() -> None:
    calls = [
        made(CREDITS, "{}", '{"error": "", "response": "{\\"crew\\": [{\\"id\\": 907}]}"}'),
        made(PERSON, '{"person_id": 907}', "{}"),
    ]
    assert find_taken_arguments("who?", calls) == [TakenValue(CREDITS, PERSON, "person_id", ("crew[].id",))]


async def test_flows_are_counted_once_per_key(tmp_path: Path) -> None:
    flows = SqliteFlows(tmp_path / "flows.db")
    await flows.setup()
    crew = TakenValue(CREDITS, PERSON, "person_id", ("crew[].id",))
    both = TakenValue(CREDITS, PERSON, "person_id", ("cast[].id", "crew[].id"))
    assert await flows.add("one", [crew, both])
    assert not await flows.add("one", [crew])
    assert await flows.add("two", [crew])
    found = await flows.find_flows_into([PERSON, FIND])
    await flows.close()
    assert {(f.field, f.count, f.total) for f in found[PERSON]} == {("crew[].id", 3, 3), ("cast[].id", 1, 3)}
    assert FIND not in found


async def test_recorded_flows_decide_where_names_say_nothing(tmp_path: Path) -> None:
    answer = document(CREDITS, example='{"cast": [{"id": 1}], "crew": [{"id": 2}]}')
    person = document(PERSON, Parameter(name="ref", type="integer", required=True))
    assert find_best_field(answer, person.parameters[0], person) is None
    flows = SqliteFlows(tmp_path / "flows.db")
    await flows.setup()
    await flows.add("a", [TakenValue(CREDITS, PERSON, "ref", ("crew[].id",))] * 3)
    known = add_flows(person, (await flows.find_flows_into([PERSON]))[PERSON])
    await flows.close()
    found = find_best_field(answer, known.parameters[0], known)
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
