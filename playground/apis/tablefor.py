"""TableFor: restaurants, their menus and tables. Its list of restaurants is JSON that says it is HTML."""

import datetime as dt
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.failures import MISLABELLED, MislabelledJson, fails
from playground.state import record_effect, state_of
from playground.worlds import restaurants
from playground.worlds.clock import TODAY

router = APIRouter(prefix="/tablefor/api", tags=["Food"])
_RESTAURANT = refusals(e404="Unknown restaurant.")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
Evening = Literal["18:00", "18:30", "19:00", "19:30", "20:00", "20:30", "21:00"]


class RestaurantHit(BaseModel):
    """A restaurant."""

    restaurant_id: str = Field(description="id of the restaurant", examples=["rst-0a4c11"])
    restaurant_name: str = Field(examples=["The Copper Ladle"])
    cuisine: str = Field(examples=["tessalian"])
    rating: float = Field(description="out of 5", examples=[4.3])
    largest_party: int = Field(description="most guests at a table", examples=[8])
    closed_on: str = Field(examples=["Monday"])


class MenuItem(BaseModel):
    """A dish on a menu."""

    dish_id: str = Field(examples=["dsh_77a0c1"])
    dish: str = Field(description="name of the dish", examples=["Potato Rice Curry"])
    price: float = Field(examples=[151.2])
    recipe_id: int = Field(description="the recipe at Pantry Pal", examples=[715000])


class Menu(BaseModel):
    """A restaurant's menu."""

    restaurant_name: str = Field(examples=["The Copper Ladle"])
    currency: str = Field(examples=["VDK"])
    items: list[MenuItem]


class TableOrder(BaseModel):
    """Which table is wanted."""

    restaurant_id: str = Field(description="id of the restaurant", examples=["rst-0a4c11"])
    date: dt.date = Field(description="day of the dinner", examples=["2026-05-09"])
    time: Evening = Field(description="when the table is wanted", examples=["19:30"])
    party_size: int = Field(ge=1, le=20, description="number of guests", examples=[4])
    name: str = Field(min_length=2, description="name the table is booked under", examples=["Dagny Aldermoor"])


class Reservation(BaseModel):
    """A reserved table."""

    reservation_code: str = Field(description="say it at the door", examples=["TF0001"])
    restaurant_name: str = Field(examples=["The Copper Ladle"])
    date: str = Field(examples=["2026-05-09"])
    time: str = Field(examples=["19:30"])
    party_size: int = Field(examples=[4])
    name: str = Field(examples=["Dagny Aldermoor"])


@router.get(
    "/restaurants",
    operation_id="restaurants_in_city",
    summary="restaurants of a city",
    response_class=MislabelledJson,
    dependencies=[fails(MISLABELLED)],
)
async def restaurants_in_city(
    city: Annotated[str, Query(min_length=2, description="name of the city", examples=["Velmora"])],
    cuisine: Annotated[str | None, Query(description="only this cuisine", examples=["tessalian"])] = None,
    min_rating: Annotated[float, Query(ge=0, le=5, description="only restaurants with this rating or better")] = 0,
) -> list[RestaurantHit]:
    """Restaurants in a city, best rated first"""
    found = [
        _hit(one)
        for one in restaurants.restaurants()
        if one.city.name.casefold() == city.strip().casefold()
        and (cuisine or one.cuisine).casefold() == one.cuisine
        and one.rating >= min_rating
    ]
    return sorted(found, key=lambda hit: -hit.rating)


@router.get("/restaurants/{restaurant_id}/menu", operation_id="restaurant_menu", summary="menu", responses=_RESTAURANT)
async def restaurant_menu(
    restaurant_id: Annotated[str, Path(description="id of the restaurant", examples=["rst-0a4c11"])],
) -> Menu:
    """Menu of a restaurant with prices in local currency"""
    place = _restaurant(restaurant_id)
    items = [
        MenuItem(dish_id=dish.dish_id, dish=dish.recipe.title, price=dish.price, recipe_id=dish.recipe.recipe_id)
        for dish in place.menu
    ]
    return Menu(restaurant_name=place.name, currency=place.city.country.currency, items=items)


@router.post(
    "/reservations",
    operation_id="reserve_table",
    summary="reserve a table",
    responses=refusals(
        e400="The restaurant is closed then, or has no such table.", e404="Unknown restaurant.", e409="Taken."
    ),
)
async def reserve_table(request: Request, order: TableOrder) -> Reservation:
    """Reserves a table for an evening. one table per restaurant and half hour."""
    place = _restaurant(order.restaurant_id)
    if order.date < TODAY or order.date.weekday() == place.closed:
        refuse(400, f"{place.name} has no table on {order.date}: choose a day from {TODAY} on, not a {_rest(place)}.")
    if order.party_size > place.seats:
        refuse(400, f"The largest table of {place.name} is for {place.seats}.")
    kept = state_of(request).table(Reservation)
    slot = f"{order.restaurant_id} {order.date} {order.time}"
    if slot in kept:
        refuse(409, f"The table at {order.time} on {order.date} is taken. Choose another time.")
    effect = record_effect(request, order.model_dump(mode="json"))
    kept[slot] = Reservation(
        reservation_code=f"TF{effect.at_seq:04}",
        restaurant_name=place.name,
        date=order.date.isoformat(),
        time=order.time,
        party_size=order.party_size,
        name=order.name,
    )
    return kept[slot]


def _restaurant(restaurant_id: str) -> restaurants.Restaurant:
    found = restaurants.restaurant_by_id(restaurant_id)
    if found is None:
        refuse(404, f"Unknown restaurant: {restaurant_id}.")
    return found


def _hit(place: restaurants.Restaurant) -> RestaurantHit:
    return RestaurantHit(
        restaurant_id=place.restaurant_id,
        restaurant_name=place.name,
        cuisine=place.cuisine,
        rating=place.rating,
        largest_party=place.seats,
        closed_on=_rest(place),
    )


def _rest(place: restaurants.Restaurant) -> str:
    return WEEKDAYS[place.closed]


SERVICE = Service(router, "TableFor", "restaurant menus and table reservations")
