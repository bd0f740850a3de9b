"""Skyline Weather: weather and air at coordinates."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service
from playground.worlds import weather

router = APIRouter(prefix="/skyline", tags=["Weather"])
Latitude = Annotated[
    float, Query(ge=-90, le=90, description="Latitude of the place in decimal degrees.", examples=[58.2])
]
Longitude = Annotated[
    float, Query(ge=-180, le=180, description="Longitude of the place in decimal degrees.", examples=[11.6])
]


class CurrentWeather(BaseModel):
    """The weather at a point now."""

    observed_at: str = Field(description="Local time of the observation.", examples=[weather.OBSERVED_AT])
    temperature: float = Field(description="Air temperature in degrees Celsius.", examples=[9.6])
    feels_like: float = Field(description="Felt temperature in degrees Celsius.", examples=[7.9])
    humidity: int = Field(description="Relative humidity in percent.", examples=[71])
    wind_speed: float = Field(description="Wind speed in kilometres per hour.", examples=[18.4])
    pressure: int = Field(description="Air pressure in hectopascals.", examples=[1013])
    condition: str = Field(description="The weather in words.", examples=["light rain"])


class DayForecast(BaseModel):
    """One day of a forecast."""

    date: str = Field(description="The day.", examples=["2026-05-05"])
    temperature_max: float = Field(description="Highest temperature in degrees Celsius.", examples=[13.1])
    temperature_min: float = Field(description="Lowest temperature in degrees Celsius.", examples=[5.4])
    precipitation: float = Field(description="Rain or snow in millimetres.", examples=[2.3])
    condition: str = Field(description="The weather in words.", examples=["partly cloudy"])


class Forecast(BaseModel):
    """A forecast, from tomorrow on."""

    latitude: float = Field(description="Latitude asked for.", examples=[58.2])
    longitude: float = Field(description="Longitude asked for.", examples=[11.6])
    daily: list[DayForecast]


class AirQuality(BaseModel):
    """The air at a point now."""

    air_quality_index: int = Field(description="From 1 (good) to 5 (very poor).", examples=[2])
    pm2_5: float = Field(description="Fine particles in micrograms per cubic metre.", examples=[11.2])
    pm10: float = Field(description="Coarse particles in micrograms per cubic metre.", examples=[18.0])
    ozone: float = Field(description="Ozone in micrograms per cubic metre.", examples=[64.5])


@router.get("/current", operation_id="get_current_weather", summary="Current weather at coordinates")
async def get_current_weather(latitude: Latitude, longitude: Longitude) -> CurrentWeather:
    """The weather right now at the given coordinates: temperature, wind, humidity, air pressure."""
    now = weather.current(latitude, longitude)
    return CurrentWeather(
        observed_at=weather.OBSERVED_AT,
        temperature=now.temperature,
        feels_like=now.feels_like,
        humidity=now.humidity,
        wind_speed=now.wind_speed,
        pressure=now.pressure,
        condition=now.condition,
    )


@router.get("/forecast", operation_id="get_daily_forecast", summary="Daily weather forecast at coordinates")
async def get_daily_forecast(
    latitude: Latitude,
    longitude: Longitude,
    days: Annotated[int, Query(ge=1, le=10, description="Number of days to forecast.", examples=[3])] = 3,
) -> Forecast:
    """Weather forecast for the next days at the given coordinates: highest and lowest temperature and rain, day by
    day.
    """
    daily = [day_forecast(day) for day in weather.forecast(latitude, longitude, days)]
    return Forecast(latitude=latitude, longitude=longitude, daily=daily)


@router.get("/air", operation_id="get_air_quality", summary="Air quality at coordinates")
async def get_air_quality(latitude: Latitude, longitude: Longitude) -> AirQuality:
    """Air pollution right now at the given coordinates: air quality index, fine and coarse particles, ozone."""
    now = weather.air(latitude, longitude)
    return AirQuality(air_quality_index=now.index, pm2_5=now.pm2_5, pm10=now.pm10, ozone=now.ozone)


def day_forecast(day: weather.Day) -> DayForecast:
    """A day as both weather services show it."""
    return DayForecast(
        date=day.day.isoformat(),
        temperature_max=day.temperature_max,
        temperature_min=day.temperature_min,
        precipitation=day.precipitation,
        condition=day.condition,
    )


SERVICE = Service(router, "Skyline Weather", "Weather, forecasts and air quality for any coordinates.")
