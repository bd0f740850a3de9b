"""Weather: first the coordinates, then the weather there. The old forecast service worked once, and is still tried."""

from collections.abc import Iterator

from playground.scenarios.choice import some_cities, some_countries, told
from playground.session import Scenario, Session

_NOW = (
    "What's the weather like in {city} at the moment?",
    "How warm is it in {city} right now?",
    "I'm about to leave for {city}. Tell me the current temperature and wind there.",
    "Current weather conditions in {city}, please.",
    "Is it windy in {city} today?",
)
_AHEAD = (
    "What will the weather be in {city} over the next {days} days?",
    "I need a {days}-day forecast for {city}.",
    "We travel to {city} tomorrow and stay for {days} days. What weather should we expect?",
    "Will it rain in {city} in the next {days} days?",
    "Please give me the highest temperatures forecast for {city} for {days} days.",
    "Show me the weather forecast of {city}, {days} days ahead.",
)
_AIR = (
    "How good is the air in {city}?",
    "What is the air quality index of {city} now?",
    "Is the air in {city} polluted? I am interested in fine particles.",
)
_FAHRENHEIT = (
    "What is the current temperature in {city} in degrees Fahrenheit?",
    "Tell me how many degrees Fahrenheit it is in {city} now.",
)
_CAPITAL = (
    "How is the weather in the capital of {country}?",
    "What is the temperature in the capital city of {country} right now?",
)


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_NOW, _now, [{"city": city.name} for city in some_cities(14, "now")])
    yield from told(_AHEAD, _old_forecast, _stays(26, "old"), old=True)
    yield from told(_AHEAD[2:] + _AHEAD[:2], _around, _stays(6, "around"))
    yield from told(_AHEAD[1:], _forecast, _stays(3, "new"))
    yield from told(_AHEAD[3:], _hopeless, _stays(2, "hopeless"))
    yield from told(_AIR, _air, [{"city": city.name} for city in some_cities(6, "air")])
    yield from told(_FAHRENHEIT, _fahrenheit, [{"city": city.name} for city in some_cities(6, "fahrenheit")])
    yield from told(_CAPITAL, _capital, [{"country": country.name} for country in some_countries(6, "capital")])


def _stays(count: int, key: str) -> list[dict[str, str | int | float]]:
    return [{"city": city.name, "days": 2 + position % 5} for position, city in enumerate(some_cities(count, key))]


def _now(session: Session, city: str) -> None:
    place = session.call("search_places", city=city)["results"][0]
    now = session.call("get_current_weather", latitude=place["latitude"], longitude=place["longitude"])
    session.answer(
        f"In {city} it is {now['temperature']} °C with {now['condition']} and wind of {now['wind_speed']} km/h."
    )


def _old_forecast(session: Session, city: str, days: int) -> None:
    place = session.call("search_places", city=city)["results"][0]
    found = session.call("get_place_forecast", place_id=place["place_id"], days=days)
    session.answer(_told_forecast(city, found["days"]))


def _around(session: Session, city: str, days: int) -> None:
    place = session.call("search_places", city=city)["results"][0]
    session.fails("get_place_forecast", place_id=place["place_id"], days=days)
    session.turn_back(
        "Meteo Classic is not available. Another service gives forecasts for coordinates; I use that one."
    )
    found = session.call("get_daily_forecast", latitude=place["latitude"], longitude=place["longitude"], days=days)
    session.answer(_told_forecast(city, found["daily"]))


def _forecast(session: Session, city: str, days: int) -> None:
    place = session.call("search_places", city=city)["results"][0]
    found = session.call("get_daily_forecast", latitude=place["latitude"], longitude=place["longitude"], days=days)
    session.answer(_told_forecast(city, found["daily"]))


def _hopeless(session: Session, city: str, days: int) -> None:
    place = session.call("search_places", city=city)["results"][0]
    session.fails("get_place_forecast", place_id=place["place_id"], days=days)
    session.turn_back("The forecast service did not answer. I try once more.")
    session.fails("get_place_forecast", place_id=place["place_id"], days=days)
    session.give_up()


def _air(session: Session, city: str) -> None:
    place = session.call("search_places", city=city)["results"][0]
    air = session.call("get_air_quality", latitude=place["latitude"], longitude=place["longitude"])
    session.answer(f"The air quality index of {city} is {air['air_quality_index']}; PM2.5 is {air['pm2_5']} µg/m³.")


def _fahrenheit(session: Session, city: str) -> None:
    place = session.call("search_places", city=city)["results"][0]
    now = session.call("get_current_weather", latitude=place["latitude"], longitude=place["longitude"])
    value = session.call("convert_units", value=now["temperature"], from_unit="celsius", to_unit="fahrenheit")
    session.answer(f"It is {value['result']} °F in {city}.")


def _capital(session: Session, country: str) -> None:
    capital = session.call("find_country", name=country)["capital"]
    place = session.call("search_places", city=capital)["results"][0]
    now = session.call("get_current_weather", latitude=place["latitude"], longitude=place["longitude"])
    session.answer(f"In {capital}, the capital of {country}, it is {now['temperature']} °C with {now['condition']}.")


def _told_forecast(city: str, days: list[dict[str, str | float]]) -> str:
    parts = [
        f"{day['date']}: {day['condition']}, {day['temperature_min']} to {day['temperature_max']} °C" for day in days
    ]
    return f"The forecast for {city}: {'; '.join(parts)}."
