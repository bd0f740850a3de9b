"""Restaurants of the cities, with menus made of the known recipes."""

from dataclasses import dataclass
from functools import cache

from playground.worlds import chance
from playground.worlds.dishes import CUISINES, Recipe, recipes
from playground.worlds.geography import City, cities
from playground.worlds.money import CURRENCIES, convert

_NAMES = ("The Copper Ladle", "Salt & Sorrel", "Nonna's Table", "The Blue Plate", "Ember", "Juniper Kitchen", "Old Mill Tavern",
          "Harvest Moon", "The Laughing Crab", "Saffron Court", "Little Oven", "Pepperwood")  # fmt: skip
EVENING = ("18:00", "18:30", "19:00", "19:30", "20:00", "20:30", "21:00")


@dataclass(frozen=True, slots=True)
class Dish:
    """A line of a menu; ``price`` in the currency of the country."""

    dish_id: str
    recipe: Recipe
    price: float


@dataclass(frozen=True, slots=True)
class Restaurant:
    """``seats``: the largest party that it takes. ``closed``: the weekday on which it rests, Monday is 0."""

    restaurant_id: str
    name: str
    city: City
    cuisine: str
    rating: float
    seats: int
    closed: int
    menu: tuple[Dish, ...]


@cache
def restaurants() -> tuple[Restaurant, ...]:
    """Two or three in each city; a name occurs once in a city, and in several cities."""
    return tuple(
        _restaurant(city, name)
        for city in cities()
        for name in chance.several(_NAMES, chance.between(2, 3, "restaurants", city.name), "names", city.name)
    )


def restaurant_by_id(restaurant_id: str) -> Restaurant | None:
    """The restaurant of that identifier."""
    return next((one for one in restaurants() if one.restaurant_id == restaurant_id), None)


def _restaurant(city: City, name: str) -> Restaurant:
    key = (city.name, name)
    cuisine = chance.pick(CUISINES, "kitchen", *key)
    known = [recipe for recipe in recipes() if recipe.cuisine == cuisine]
    return Restaurant(
        restaurant_id=f"rst-{chance.identifier(6, 'restaurant', *key)}",
        name=name,
        city=city,
        cuisine=cuisine,
        rating=round(chance.between(28, 49, "stars", *key) / 10, 1),
        seats=chance.between(4, 12, "seats", *key),
        closed=chance.between(0, 6, "closed", *key),
        menu=tuple(_dish(city, name, recipe) for recipe in chance.several(known, 6, "menu", *key)),
    )


def _dish(city: City, name: str, recipe: Recipe) -> Dish:
    pounds = chance.between(700, 2600, "dish", city.name, name, recipe.title) / 100
    price = convert(pounds, CURRENCIES["AFP"], CURRENCIES[city.country.currency])
    return Dish(f"dsh_{chance.identifier(6, 'dish', city.name, name, recipe.title)}", recipe, price)
