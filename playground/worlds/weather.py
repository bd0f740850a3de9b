"""Weather at any coordinates on any day, from the latitude and a hash of the place: the same for every service."""

from dataclasses import dataclass
from datetime import date, timedelta

from playground.worlds import chance
from playground.worlds.clock import TODAY

OBSERVED_AT = f"{TODAY.isoformat()}T12:00"
CONDITIONS = ("clear", "partly cloudy", "overcast", "light rain", "heavy rain", "thunderstorm", "fog", "windy")
_WET = {"light rain": 3.0, "heavy rain": 18.0, "thunderstorm": 26.0}


@dataclass(frozen=True, slots=True)
class Current:
    """Temperatures in °C, wind in km/h, pressure in hPa, humidity in percent."""

    temperature: float
    feels_like: float
    humidity: int
    wind_speed: float
    pressure: int
    condition: str


@dataclass(frozen=True, slots=True)
class Day:
    """Temperatures in °C, precipitation in mm."""

    day: date
    temperature_max: float
    temperature_min: float
    precipitation: float
    condition: str


@dataclass(frozen=True, slots=True)
class Air:
    """Fine and coarse particles in µg/m³; ``index`` from 1 (good) to 5 (very poor)."""

    index: int
    pm2_5: float
    pm10: float
    ozone: float


def _spot(latitude: float, longitude: float) -> str:
    return f"{latitude:.1f},{longitude:.1f}"


def _noon(latitude: float, longitude: float, day: date) -> float:
    """Warmer near the equator, with weather of several degrees on top."""
    swing = 9 * (chance.unit("noon", _spot(latitude, longitude), day.isoformat()) - 0.5)
    return round(31 - 0.4 * abs(latitude) + swing, 1)


def current(latitude: float, longitude: float) -> Current:
    """The weather now, which is noon of the playground's day."""
    spot = _spot(latitude, longitude)
    temperature = _noon(latitude, longitude, TODAY)
    return Current(
        temperature=temperature,
        feels_like=round(temperature - 3 * chance.unit("feel", spot), 1),
        humidity=chance.between(31, 96, "humidity", spot),
        wind_speed=round(2 + 38 * chance.unit("wind", spot), 1),
        pressure=chance.between(991, 1034, "pressure", spot),
        condition=chance.pick(CONDITIONS, "condition", spot, TODAY.isoformat()),
    )


def forecast(latitude: float, longitude: float, days: int) -> list[Day]:
    """``days`` days from tomorrow on."""
    return [_day(latitude, longitude, TODAY + timedelta(days=ahead)) for ahead in range(1, days + 1)]


def air(latitude: float, longitude: float) -> Air:
    """The air now."""
    spot = _spot(latitude, longitude)
    fine = round(2 + 70 * chance.unit("pm", spot) ** 2, 1)
    bounds = (10, 20, 25, 50)
    return Air(
        index=1 + sum(fine > bound for bound in bounds),
        pm2_5=fine,
        pm10=round(fine * (1.2 + chance.unit("pm10", spot)), 1),
        ozone=round(30 + 90 * chance.unit("ozone", spot), 1),
    )


def _day(latitude: float, longitude: float, day: date) -> Day:
    spot = _spot(latitude, longitude)
    highest = _noon(latitude, longitude, day)
    condition = chance.pick(CONDITIONS, "condition", spot, day.isoformat())
    return Day(
        day=day,
        temperature_max=highest,
        temperature_min=round(highest - 4 - 7 * chance.unit("night", spot, day.isoformat()), 1),
        precipitation=round(_WET.get(condition, 0.0) * (0.5 + chance.unit("wet", spot, day.isoformat())), 1),
        condition=condition,
    )
