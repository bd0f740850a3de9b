"""Sample decisions and program requests for checking a model.

The decisions are a choice among ten tools, the arguments of a call, and an answer. The program requests come with
recorded responses, so that programs can run without a network.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.offer.candidates import ToolCandidate
from agent.policy.protocol import ArgumentsQuestion, MoveQuestion
from agent.programs.program_types import CallFailure, SandboxCall
from agent.programs.program_verdict import ProgramClaim
from domain.event import Feed
from domain.plan import StepResult
from domain.tool import Parameter, ToolDoc, make_tool_id

SAMPLE_REQUEST = "Find the city of Tarnholm and tell me the highest temperature there on each of the next 3 days."


def _build_sample_tool(toolset: str, api: str, description: str, *parameters: Parameter) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("Sample", toolset, api), category="Sample", toolset=toolset, api=api, function=api,
        url=f"https://sample.invalid/{api}", description=description, parameters=parameters,
    )  # fmt: skip


def _build_parameter(name: str, kind: str = "string", description: str = "", *, required: bool = True) -> Parameter:
    return Parameter.model_validate(
        {"name": name, "type": kind, "description": description, "required": required, "maximum": 16 if name == "days" else None}
    )  # fmt: skip


_POINT = (
    _build_parameter("latitude", "number", "Degrees north."),
    _build_parameter("longitude", "number", "Degrees east."),
)
_CITY = _build_parameter("city", "string", "Name of the city.")

PLACES = _build_sample_tool(
    "atlas_places", "search_places", "Find cities by name: their country, coordinates and population.", _CITY
)
FORECAST = _build_sample_tool(
    "skyline_weather", "get_daily_forecast",
    "Daily forecast for a point: highest and lowest temperature, rain and wind, for up to 16 days from today.",
    *_POINT, _build_parameter("days", "integer", "How many days, today included.", required=False),
)  # fmt: skip
_OTHER_TOOLS = (
    _build_sample_tool("skyline_weather", "get_current_weather", "The weather at a point right now.", *_POINT),
    _build_sample_tool("skyline_weather", "get_air_quality", "Air quality at a point: particles, ozone, pollen.", *_POINT),
    _build_sample_tool("atlas_places", "get_place", "All that is known of a place, by its identifier.", _build_parameter("place_id")),
    _build_sample_tool("atlas_places", "nearby_places", "Places within a distance of a point.", *_POINT, _build_parameter("radius_km", "number")),
    _build_sample_tool("tidebook", "list_stations", "Stations that measure the tide, by country.", _build_parameter("country_code")),
    _build_sample_tool("almanac", "get_sun_times", "Sunrise, sunset and length of the day at a point.", *_POINT, _build_parameter("date")),
    _build_sample_tool("almanac", "list_holidays", "Public holidays of a country in a year.", _build_parameter("country_code"), _build_parameter("year", "integer")),
    _build_sample_tool("railway", "search_connections", "Trains between two stations at a time.", _build_parameter("from"), _build_parameter("to")),
    _build_sample_tool("headlines", "search_news", "News articles that mention a word.", _build_parameter("query")),
)  # fmt: skip

_POINT_FEEDS = (Feed(parameter="latitude", step=1, field="results[].latitude", score=0.9),
        Feed(parameter="longitude", step=1, field="results[].longitude", score=0.9))  # fmt: skip


def _build_candidate(tool: ToolDoc, weight: float, relevance: float) -> ToolCandidate:
    feeds = _POINT_FEEDS if {"latitude", "longitude"} <= {p.name for p in tool.required} else ()
    missing = tuple(p.name for p in tool.required if p.name not in {f.parameter for f in feeds})
    return ToolCandidate(tool, weight, 0.9, (relevance,), "graph", missing, feeds)


def build_choice_sample() -> MoveQuestion:
    """Build a choice of the next tool: the place is found, and the right one is the fourth of ten candidates."""
    tools = (*_OTHER_TOOLS[:3], FORECAST, *_OTHER_TOOLS[3:])
    candidates = tuple(
        _build_candidate(tool, round(0.4 / (i + 1), 2), 0.7 if tool is FORECAST else 0.3)
        for i, tool in enumerate(tools)
    )
    return MoveQuestion(
        request=SAMPLE_REQUEST, clauses=(SAMPLE_REQUEST,), path=(PLACES,), path_relevance=((0.5,),), best_relevance=(0.7,),
        candidates=candidates, finish_weight=0.2,
    )  # fmt: skip


def build_arguments_sample() -> ArgumentsQuestion:
    """Build a call to fill in: the forecast's point comes from the first step, its days from the request."""
    response = '{"count": 1, "results": [{"city": "Tarnholm", "country": "Sweden", "latitude": 59.31, "longitude": 13.82, "population": 61200}]}'
    step = StepResult(
        tool=PLACES.id, arguments={"city": "Tarnholm"}, status="ok", attempts=1, http_status=200, response=response
    )
    return ArgumentsQuestion(SAMPLE_REQUEST, FORECAST, ((PLACES, step),))


def build_answer_sample() -> list[tuple[ToolDoc, StepResult]]:
    """Return both steps with their responses."""
    days = ", ".join(
        f'{{"date": "2026-03-0{day}", "high": {4.5 + day}, "low": {day - 3}, "rain_mm": 0.4}}' for day in (1, 2, 3)
    )
    arguments = {"latitude": 59.31, "longitude": 13.82, "days": 3}
    last = StepResult(
        tool=FORECAST.id, arguments={**arguments}, status="ok", http_status=200, response=f'{{"daily": [{days}]}}'
    )
    return [*build_arguments_sample().earlier, (FORECAST, last)]


SAMPLE_TODAY = "2026-03-02"

_CITIES: dict[str, dict[str, JsonValue]] = {
    "Tarnholm": {"city_id": "c-17", "city": "Tarnholm", "population": 61200, "highs": [5.5, 6.5, 7.5]},
    "Velmora": {"city_id": "c-23", "city": "Velmora", "population": 230400, "highs": [12.25, 11.0, 9.75]},
    "Ostrava Bay": {"city_id": "c-42", "city": "Ostrava Bay", "population": 18900, "highs": [14.5, 3.0, 2.0]},
}


@dataclass(frozen=True, slots=True)
class ProgramCheckSample:
    """A sample request."""

    request: str
    is_right: Callable[[ProgramClaim], bool]
    """Returns whether a program's claim serves the request, by figures and names that only the recorded answers hold."""


def _build_city_tool(api: str, description: str, answer: str, *parameters: Parameter) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("Sample", "cities", api), category="Sample", toolset="cities", api=api, function=api,
        url=f"https://sample.invalid/{api}", description=description, parameters=parameters, example_response=answer,
    )  # fmt: skip


def _build_city_parameter(name: str, description: str, kind: str = "string", *, required: bool = True) -> Parameter:
    return Parameter.model_validate({"name": name, "description": description, "type": kind, "required": required})


SAMPLE_TOOLS = (
    _build_city_tool("list_cities", "All cities of a region.", '[{"city_id": "c-1", "city": "Aldmoor", "population": 1000}]', _build_city_parameter("region", "Name of the region.")),
    _build_city_tool("find_city", "Find a city by its name.", '{"city_id": "c-1", "city": "Aldmoor", "population": 1000}', _build_city_parameter("name", "Name of the city.")),
    _build_city_tool(
        "daily_forecast", "Highest temperature of each day in a city, tomorrow first.",
        '{"city_id": "c-1", "days": [{"number": 1, "high": 20.0}]}',
        _build_city_parameter("city_id", "Identifier of the city."), _build_city_parameter("days", "How many days.", "integer", required=False),
    ),
    _build_city_tool("list_holidays", "Public holidays of a country in a year.", '[{"date": "2026-01-01", "name": "New Year"}]', _build_city_parameter("country", "Country code.")),
)  # fmt: skip


def answer_call(call: SandboxCall) -> JsonValue | CallFailure:
    """Return the recorded answer to a call."""
    arguments: Mapping[str, JsonValue] = call.arguments
    match call.function:
        case "list_cities" if str(arguments.get("region")).casefold() == "northmark":
            return [_hide_forecast(record) for record in _CITIES.values()]
        case "list_cities" | "list_holidays":
            return []
        case "find_city":
            city = next(
                (
                    record
                    for name, record in _CITIES.items()
                    if name.casefold() == str(arguments.get("name")).casefold()
                ),
                None,
            )
            return _hide_forecast(city) if city else CallFailure("404: there is no such city")
        case _:
            return _answer_forecast(arguments)


def _hide_forecast(city: Mapping[str, JsonValue]) -> JsonValue:
    return {name: value for name, value in city.items() if name != "highs"}


def _answer_forecast(arguments: Mapping[str, JsonValue]) -> JsonValue | CallFailure:
    highs = next((city["highs"] for city in _CITIES.values() if city["city_id"] == arguments.get("city_id")), None)
    days = arguments.get("days", 3)
    if not isinstance(highs, list) or not isinstance(days, int):
        return CallFailure("404: there is no city with this city_id")
    return {
        "city_id": arguments["city_id"],
        "days": [{"number": n, "high": high} for n, high in enumerate(highs[:days], start=1)],
    }


def _create_claim_check(*words: str) -> Callable[[ProgramClaim], bool]:
    return lambda claim: claim.answered == "yes" and all(word in claim.answer for word in words)


PROGRAM_SAMPLES = (
    ProgramCheckSample("What are the highest temperatures in Tarnholm on the next 3 days?", _create_claim_check("5.5", "6.5", "7.5")),
    ProgramCheckSample("Which city of the region Northmark has the most inhabitants?", _create_claim_check("Velmora")),
    ProgramCheckSample("Which city of the region Northmark will be the warmest tomorrow, and how warm will it be there?", _create_claim_check("Ostrava Bay", "14.5")),
    ProgramCheckSample("How many cities of the region Northmark have more than 50000 inhabitants?", lambda claim: claim.answered == "yes" and ("2" in claim.answer or "two" in claim.answer.casefold())),
    ProgramCheckSample("Reserve a table for four in Tarnholm tonight.", lambda claim: claim.answered == "no"),
)  # fmt: skip
