"""Sample requests for trying how a model writes programs: a few tools with recorded answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.programs.protocol import Failure, PendingCall
from agent.programs.verdict import Claim
from domain.tool import Parameter, ToolDoc, tool_id

TODAY = "2026-03-02"

_CITIES: dict[str, dict[str, JsonValue]] = {
    "Tarnholm": {"city_id": "c-17", "city": "Tarnholm", "population": 61200, "highs": [5.5, 6.5, 7.5]},
    "Velmora": {"city_id": "c-23", "city": "Velmora", "population": 230400, "highs": [12.25, 11.0, 9.75]},
    "Ostrava Bay": {"city_id": "c-42", "city": "Ostrava Bay", "population": 18900, "highs": [14.5, 3.0, 2.0]},
}


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample request."""

    request: str
    right: Callable[[Claim], bool]
    """Returns whether a program's claim serves the request, by figures and names that only the recorded answers hold."""


def _tool(api: str, description: str, answer: str, *parameters: Parameter) -> ToolDoc:
    return ToolDoc(
        id=tool_id("Sample", "cities", api), category="Sample", toolset="cities", api=api, function=api,
        url=f"https://sample.invalid/{api}", description=description, parameters=parameters, example_response=answer,
    )  # fmt: skip


def _needs(name: str, description: str, kind: str = "string", *, required: bool = True) -> Parameter:
    return Parameter.model_validate({"name": name, "description": description, "type": kind, "required": required})


TOOLS = (
    _tool("list_cities", "All cities of a region.", '[{"city_id": "c-1", "city": "Aldmoor", "population": 1000}]', _needs("region", "Name of the region.")),
    _tool("find_city", "Find a city by its name.", '{"city_id": "c-1", "city": "Aldmoor", "population": 1000}', _needs("name", "Name of the city.")),
    _tool(
        "daily_forecast", "Highest temperature of each day in a city, tomorrow first.",
        '{"city_id": "c-1", "days": [{"number": 1, "high": 20.0}]}',
        _needs("city_id", "Identifier of the city."), _needs("days", "How many days.", "integer", required=False),
    ),
    _tool("list_holidays", "Public holidays of a country in a year.", '[{"date": "2026-01-01", "name": "New Year"}]', _needs("country", "Country code.")),
)  # fmt: skip


def answer(call: PendingCall) -> JsonValue | Failure:
    """Return the recorded answer to a call."""
    given: Mapping[str, JsonValue] = call.arguments
    match call.function:
        case "list_cities" if str(given.get("region")).casefold() == "northmark":
            return [_shown(one) for one in _CITIES.values()]
        case "list_cities" | "list_holidays":
            return []
        case "find_city":
            found = next(
                (one for name, one in _CITIES.items() if name.casefold() == str(given.get("name")).casefold()), None
            )
            return _shown(found) if found else Failure("404: there is no such city")
        case _:
            return _forecast(given)


def _shown(city: Mapping[str, JsonValue]) -> JsonValue:
    return {name: value for name, value in city.items() if name != "highs"}


def _forecast(given: Mapping[str, JsonValue]) -> JsonValue | Failure:
    highs = next((one["highs"] for one in _CITIES.values() if one["city_id"] == given.get("city_id")), None)
    days = given.get("days", 3)
    if not isinstance(highs, list) or not isinstance(days, int):
        return Failure("404: there is no city with this city_id")
    return {
        "city_id": given["city_id"],
        "days": [{"number": n, "high": high} for n, high in enumerate(highs[:days], start=1)],
    }


def _says(*words: str) -> Callable[[Claim], bool]:
    return lambda claim: claim.answered == "yes" and all(word in claim.answer for word in words)


SAMPLES = (
    Sample("What are the highest temperatures in Tarnholm on the next 3 days?", _says("5.5", "6.5", "7.5")),
    Sample("Which city of the region Northmark has the most inhabitants?", _says("Velmora")),
    Sample("Which city of the region Northmark will be the warmest tomorrow, and how warm will it be there?", _says("Ostrava Bay", "14.5")),
    Sample("How many cities of the region Northmark have more than 50000 inhabitants?", lambda claim: claim.answered == "yes" and ("2" in claim.answer or "two" in claim.answer.casefold())),
    Sample("Reserve a table for four in Tarnholm tonight.", lambda claim: claim.answered == "no"),
)  # fmt: skip
