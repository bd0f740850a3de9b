"""Sample decisions for trying a model, as they come in practice.

The samples are ten candidates after a path of one tool, a call to fill in, and an answer.
"""

from agent.offer.candidates import Candidate
from agent.policy.protocol import ArgumentsQuestion, Situation
from domain.event import Feed
from domain.plan import StepResult
from domain.tool import Parameter, ToolDoc, tool_id

REQUEST = "Find the city of Tarnholm and tell me the highest temperature there on each of the next 3 days."


def _tool(toolset: str, api: str, description: str, *parameters: Parameter) -> ToolDoc:
    return ToolDoc(
        id=tool_id("Sample", toolset, api), category="Sample", toolset=toolset, api=api, function=api,
        url=f"https://sample.invalid/{api}", description=description, parameters=parameters,
    )  # fmt: skip


def _need(name: str, kind: str = "string", description: str = "", *, required: bool = True) -> Parameter:
    return Parameter.model_validate(
        {"name": name, "type": kind, "description": description, "required": required, "maximum": 16 if name == "days" else None}
    )  # fmt: skip


_POINT = (_need("latitude", "number", "Degrees north."), _need("longitude", "number", "Degrees east."))
_CITY = _need("city", "string", "Name of the city.")

PLACES = _tool(
    "atlas_places", "search_places", "Find cities by name: their country, coordinates and population.", _CITY
)
FORECAST = _tool(
    "skyline_weather", "get_daily_forecast",
    "Daily forecast for a point: highest and lowest temperature, rain and wind, for up to 16 days from today.",
    *_POINT, _need("days", "integer", "How many days, today included.", required=False),
)  # fmt: skip
_OTHERS = (
    _tool("skyline_weather", "get_current_weather", "The weather at a point right now.", *_POINT),
    _tool("skyline_weather", "get_air_quality", "Air quality at a point: particles, ozone, pollen.", *_POINT),
    _tool("atlas_places", "get_place", "All that is known of a place, by its identifier.", _need("place_id")),
    _tool("atlas_places", "nearby_places", "Places within a distance of a point.", *_POINT, _need("radius_km", "number")),
    _tool("tidebook", "list_stations", "Stations that measure the tide, by country.", _need("country_code")),
    _tool("almanac", "get_sun_times", "Sunrise, sunset and length of the day at a point.", *_POINT, _need("date")),
    _tool("almanac", "list_holidays", "Public holidays of a country in a year.", _need("country_code"), _need("year", "integer")),
    _tool("railway", "search_connections", "Trains between two stations at a time.", _need("from"), _need("to")),
    _tool("headlines", "search_news", "News articles that mention a word.", _need("query")),
)  # fmt: skip

_FED = (Feed(parameter="latitude", step=1, field="results[].latitude", score=0.9),
        Feed(parameter="longitude", step=1, field="results[].longitude", score=0.9))  # fmt: skip


def _candidate(tool: ToolDoc, weight: float, relevance: float) -> Candidate:
    fed = _FED if {"latitude", "longitude"} <= {p.name for p in tool.required} else ()
    missing = tuple(p.name for p in tool.required if p.name not in {f.parameter for f in fed})
    return Candidate(tool, weight, 0.9, (relevance,), "graph", missing, fed)


def choice_sample() -> Situation:
    """Build a choice of the next tool: the place is found, and the right one is the fourth of ten candidates."""
    tools = (*_OTHERS[:3], FORECAST, *_OTHERS[3:])
    candidates = tuple(
        _candidate(tool, round(0.4 / (i + 1), 2), 0.7 if tool is FORECAST else 0.3) for i, tool in enumerate(tools)
    )
    return Situation(
        request=REQUEST, clauses=(REQUEST,), path=(PLACES,), path_relevance=((0.5,),), best_relevance=(0.7,),
        candidates=candidates, finish_weight=0.2,
    )  # fmt: skip


def arguments_sample() -> ArgumentsQuestion:
    """Build a call to fill in: the forecast's point comes from the first step, its days from the request."""
    found = '{"count": 1, "results": [{"city": "Tarnholm", "country": "Sweden", "latitude": 59.31, "longitude": 13.82, "population": 61200}]}'
    step = StepResult(
        tool=PLACES.id, arguments={"city": "Tarnholm"}, status="ok", attempts=1, http_status=200, response=found
    )
    return ArgumentsQuestion(REQUEST, FORECAST, ((PLACES, step),))


def answer_sample() -> list[tuple[ToolDoc, StepResult]]:
    """Return both steps with their responses."""
    days = ", ".join(
        f'{{"date": "2026-03-0{day}", "high": {4.5 + day}, "low": {day - 3}, "rain_mm": 0.4}}' for day in (1, 2, 3)
    )
    arguments = {"latitude": 59.31, "longitude": 13.82, "days": 3}
    last = StepResult(
        tool=FORECAST.id, arguments={**arguments}, status="ok", http_status=200, response=f'{{"daily": [{days}]}}'
    )
    return [*arguments_sample().earlier, (FORECAST, last)]
