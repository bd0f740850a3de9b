"""Places that a request points to in earlier answers."""

from agent.policy.protocol import ArgumentsQuestion
from domain.plan import StepResult
from domain.tool import Parameter, ToolDoc, tool_id
from offline.slots.binding import bind


def tool(api: str, *parameters: Parameter) -> ToolDoc:
    return ToolDoc(id=tool_id("C", "S", api), category="C", toolset="S", api=api, function=api, parameters=parameters)


COUNTRY = tool("find_country", Parameter(name="name", type="string", required=True))
FLATS = tool("search_flats", Parameter(name="location", type="string"))
FOUND = StepResult(tool=COUNTRY.id, status="ok", response='{"name": "Peru", "capital": "Lima", "calling_code": "+51"}')


def test_a_place_said_by_the_name_of_a_field_is_taken_from_there() -> None:
    made = bind(ArgumentsQuestion("I move to Peru. Which flats are there in its capital?", FLATS, ((COUNTRY, FOUND),)))
    assert made.values == {"location": "Lima"}
    assert [(one.origin, one.reference) for one in made.provenance] == [("step", "1.capital")]


def test_a_place_that_is_named_is_taken_as_named() -> None:
    made = bind(ArgumentsQuestion("Which flats are there in Cusco?", FLATS, ((COUNTRY, FOUND),)))
    assert made.values.get("location") in ("Cusco", None)
    assert all(one.origin == "request" for one in made.provenance)
