"""What Roomly answers: snake case and numbers for identifiers."""

from datetime import date

from pydantic import BaseModel, Field


class Destination(BaseModel):
    """A city with hotels."""

    dest_id: int = Field(description="Destination id.", examples=[20000])
    label: str = Field(description="City and country.", examples=["Velmora, Veldania"])
    country_code: str = Field(examples=["XV"])
    hotel_count: int = Field(description="Hotels on Roomly.", examples=[4])


class Destinations(BaseModel):
    """The destinations found."""

    status: bool = Field(examples=[True])
    destinations: list[Destination]


class HotelHit(BaseModel):
    """A hotel in a list."""

    hotel_id: int = Field(description="Hotel id.", examples=[200001])
    hotel_name: str = Field(description="Name of the hotel.", examples=["Pension Velmora"])
    star_rating: int = Field(description="Official stars, 2-5.", examples=[4])
    review_score: float = Field(description="Guest score out of 10.", examples=[9.0])
    min_price_per_night: float = Field(description="Cheapest room, per night.", examples=[987.01])
    currency: str = Field(description="Currency of the price.", examples=["VDK"])


class HotelPage(BaseModel):
    """A page of hotels."""

    total: int = Field(examples=[1])
    hotels: list[HotelHit]


class HotelDetails(HotelHit):
    """All about a hotel."""

    city: str = Field(examples=["Velmora"])
    country: str = Field(examples=["Veldania"])
    latitude: float = Field(examples=[58.1911])
    longitude: float = Field(examples=[11.5854])
    amenities: list[str] = Field(examples=[["breakfast", "parking"]])
    check_in_from: str = Field(description="Earliest check-in.", examples=["15:00"])
    check_out_until: str = Field(description="Latest check-out.", examples=["11:00"])


class RoomRate(BaseModel):
    """A room that is free, and what it costs."""

    rate_id: str = Field(description="Needed to book this room.", examples=["rt_f42f64f"])
    room_name: str = Field(examples=["Single room"])
    sleeps: int = Field(description="Guests it is for.", examples=[1])
    price_per_night: float = Field(description="List price of an ordinary night.", examples=[987.01])
    total_price: float = Field(description="Whole stay, weekend surcharge included.", examples=[1974.02])
    currency: str = Field(examples=["VDK"])


class Rates(BaseModel):
    """The rooms of a hotel for a stay."""

    hotel_id: int = Field(examples=[200001])
    nights: int = Field(examples=[2])
    rates: list[RoomRate]


class GuestReview(BaseModel):
    """A guest's opinion."""

    guest_name: str = Field(examples=["Ileana Rosenthorn"])
    score: int = Field(description="1-10.", examples=[9])
    stayed_in: str = Field(description="Month of the stay.", examples=["2024-08"])
    comment: str = Field(examples=["We liked spotless rooms."])


class GuestReviews(BaseModel):
    """All opinions of a hotel, with their mean."""

    hotel_id: int = Field(examples=[200001])
    review_score: float = Field(description="Mean of all scores.", examples=[9.0])
    review_count: int = Field(description="How many guests wrote.", examples=[1200])
    reviews: list[GuestReview]


class BookingOrder(BaseModel):
    """What is to be booked, and for whom."""

    rate_id: str = Field(description="Rate of the room, from the hotel's rates.", examples=["rt_f42f64f"])
    check_in: date = Field(description="Day of arrival, YYYY-MM-DD.", examples=["2026-05-11"])
    check_out: date = Field(description="Day of departure, YYYY-MM-DD.", examples=["2026-05-13"])
    guest_name: str = Field(min_length=3, description="Full name of the guest.", examples=["Ileana Rosenthorn"])
    guests: int = Field(default=1, ge=1, le=4, description="Number of guests.")


class Booking(BaseModel):
    """A booked room."""

    booking_id: str = Field(description="Reference of the booking.", examples=["RML-000001"])
    status: str = Field(examples=["confirmed"])
    hotel_name: str = Field(examples=["Pension Velmora"])
    room_name: str = Field(examples=["Single room"])
    check_in: str = Field(examples=["2026-05-11"])
    check_out: str = Field(examples=["2026-05-13"])
    total_price: float = Field(examples=[1974.02])
    currency: str = Field(examples=["VDK"])
