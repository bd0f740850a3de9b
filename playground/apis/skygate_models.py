"""What SkyGate Flights answers: camel case, lists within ``data.items``, and money as text, as booking systems have it."""

from pydantic import Field

from playground.apis.shapes import CamelBody


class AirportHit(CamelBody):
    """An airport."""

    iata_code: str = Field(description="IATA code of the airport.", examples=["VEL"])
    airport_name: str = Field(description="Airport name.", examples=["Velmora Airport"])
    city_name: str = Field(description="City served.", examples=["Velmora"])
    country_code: str = Field(description="ISO country code.", examples=["XV"])
    latitude: float = Field(examples=[58.2])
    longitude: float = Field(examples=[11.6])
    time_zone: str = Field(description="Time zone name.", examples=["Veldania/Velmora"])


class AirportDetails(AirportHit):
    """An airport with its facilities and where one can fly from it."""

    terminals: int = Field(description="Number of passenger terminals.", examples=[2])
    elevation_metres: int = Field(description="Elevation of the airfield.", examples=[624])
    destinations: list[str] = Field(description="IATA codes served non-stop.", examples=[["TAR", "KES"]])


class Price(CamelBody):
    """Money as text."""

    total: str = Field(description="Amount for all travellers, decimal as string.", examples=["913.47"])
    currency: str = Field(description="ISO 4217 currency code.", examples=["VDK"])


class Offer(CamelBody):
    """A flight that can be booked."""

    flight_number: str = Field(description="Carrier code and number.", examples=["VE101"])
    carrier_name: str = Field(examples=["Veldanian Airways"])
    origin_code: str = Field(examples=["VEL"])
    destination_code: str = Field(examples=["TAR"])
    departure_at: str = Field(description="Local time of departure.", examples=["2026-05-06T05:30"])
    arrival_at: str = Field(description="Local time of arrival.", examples=["2026-05-06T06:25"])
    duration_minutes: int = Field(description="Time in the air and on the runway.", examples=[55])
    stops: int = Field(description="Always 0: we sell non-stop flights.", examples=[0])
    price: Price


class OfferItems(CamelBody):
    """A page of offers."""

    items: list[Offer]


class Meta(CamelBody):
    """About the page."""

    total_count: int = Field(examples=[1])
    cabin: str = Field(examples=["economy"])


class Offers(CamelBody):
    """The answer of a search."""

    data: OfferItems
    meta: Meta


class FlightStatus(CamelBody):
    """How a flight is doing."""

    flight_number: str = Field(examples=["VE101"])
    date: str = Field(description="Date of departure.", examples=["2026-05-04"])
    status: str = Field(description="scheduled, delayed, landed or not operating.", examples=["landed"])
    delay_minutes: int = Field(examples=[0])
    gate: str | None = Field(description="Departure gate.", examples=["B14"])
    origin_code: str = Field(examples=["VEL"])
    destination_code: str = Field(description="Arrival airport.", examples=["TAR"])
    scheduled_departure: str = Field(description="Local time.", examples=["2026-05-04T05:30"])
    estimated_arrival: str = Field(description="Local time, delay included.", examples=["2026-05-04T06:25"])
