"""Recipes by number, what is in them and what that costs; restaurants, their dishes and tables."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from playground.scenarios.choice import some_countries, told
from playground.scenarios.entities import Entries, some, some_day, town_entries, town_money
from playground.session import Scenario, Session
from playground.worlds.dishes import recipes
from playground.worlds.names import full_name

_DIET = (
    "Find me a {diet} recipe that takes less than {minutes} minutes.",
    "What {diet} dish can I cook in {minutes} minutes?",
    "I eat only {diet} food and have {minutes} minutes to cook. Any ideas?",
)
_WITH = (
    "What can I cook with {first} and {second}?",
    "Recipes with {first} and {second}, please.",
    "I have {first} and {second} left. Suggest a dish.",
)
_CALORIES = (
    "How many calories does a serving of {title} have?",
    "How much protein is in {title}?",
    "What is the nutrition of the recipe '{title}'?",
)
_PARTS = (
    "What do I need to cook {title}?",
    "Give me the ingredients of '{title}'.",
    "How many servings does {title} make?",
)
_PRICE = (
    "What does the main ingredient of {title} cost in {country}?",
    "How expensive is a kilogram of the first ingredient of '{title}' in {country}?",
)
_RESTAURANTS = (
    "Where can I eat well in {city}?",
    "Which restaurant in {city} has the best rating?",
    "Restaurants in {city}?",
)
_MENU = (
    "What is on the menu of the best restaurant in {city}?",
    "What dishes does the top restaurant of {city} serve?",
)
_LIGHT = ("How many calories has the first dish on the menu of the best restaurant of {city}?",)
_PAID = (
    "How much in {currency} is the cheapest dish at the best restaurant in {city}?",
    "I have {currency} only. What does the cheapest meal at the top restaurant of {city} cost me?",
)
_TABLE = (
    "Reserve a table for {guests} in the best restaurant of {city} on {day} at {time} under the name {name}.",
    "Please book us a table in {city} on {day} at {time}: {guests} people, name {name}.",
)
_UNKNOWN = ("How do I cook {title}?",)


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    diets = (("vegan", 35), ("vegetarian", 30), ("gluten free", 20), ("vegan", 50), ("vegetarian", 45))
    yield from told(_DIET, _diet, [{"diet": diet, "minutes": minutes} for diet, minutes in diets])
    pairs = (
        ("potato", "mushroom"),
        ("rice", "tomato"),
        ("salmon", "spinach"),
        ("egg", "butter"),
        ("lentils", "beetroot"),
    )
    yield from told(_WITH, _with, [{"first": first, "second": second} for first, second in pairs])
    yield from told(_CALORIES, _calories, _titles(7, "calories"))
    yield from told(_PARTS, _parts, _titles(6, "parts"))
    lands = some_countries(5, "groceries")
    yield from told(
        _PRICE, _price, [{**one, "country": land.name} for one, land in zip(_titles(5, "price"), lands, strict=False)]
    )
    yield from told(_RESTAURANTS, _restaurants, town_entries(5, "restaurants"))
    yield from told(_MENU, _menu, town_entries(5, "menu"))
    yield from told(_LIGHT, _light, town_entries(4, "light"))
    yield from told(_PAID, _paid, town_money(6, "meal"))
    yield from told(_TABLE, _table, _evenings(6))
    yield from told(_UNKNOWN, _unknown, [{"title": "Zzyzx fritters"}])


def _titles(count: int, key: str) -> Entries:
    return [{"title": one.title} for one in some(recipes(), lambda recipe: recipe.title, count, "recipes", key)]


def _evenings(count: int) -> Entries:
    made: Entries = []
    for place, entry in enumerate(town_entries(count, "table")):
        table = {
            "guests": 2 + place % 3,
            "time": ("19:00", "20:30", "18:30")[place % 3],
            "name": full_name("guests", 340 + place),
        }
        made.append({**entry, **table, "day": some_day("table", place).isoformat()})
    return made


def _search(session: Session, **wishes: Any) -> list[dict[str, Any]]:
    return session.call("search_recipes", **wishes)["results"]


def _diet(session: Session, diet: str, minutes: int) -> None:
    found = _search(session, diet=diet, maxReadyTime=minutes, number=5)
    session.answer("; ".join(f"{one['title']} ({one['readyInMinutes']} minutes)" for one in found) + ".")


def _with(session: Session, first: str, second: str) -> None:
    found = _search(session, includeIngredients=[first, second], number=5)
    session.answer(", ".join(one["title"] for one in found) + "." if found else "There is no such recipe.")


def _calories(session: Session, title: str) -> None:
    found = session.call("get_recipe_nutrition", id=_search(session, query=title)[0]["id"])
    session.answer(f"A serving of {title} has {found['calories']} kcal and {found['protein']} of protein.")


def _information(session: Session, title: str) -> dict[str, Any]:
    return session.call("get_recipe_information", id=_search(session, query=title)[0]["id"])


def _parts(session: Session, title: str) -> None:
    recipe = _information(session, title)
    parts = ", ".join(f"{part['amount']} {part['unit']} {part['name']}" for part in recipe["extendedIngredients"])
    session.answer(f"For {recipe['servings']} servings of {title}: {parts}.")


def _price(session: Session, title: str, country: str) -> None:
    main = _information(session, title)["extendedIngredients"][0]
    code = session.call("find_country", name=country)["country_code"]
    found = session.call("get_ingredient_price", id=main["id"], countryCode=code)
    session.answer(f"A kilogram of {found['name']} costs {found['price_per_kg']} {found['currency']} in {country}.")


def _restaurants(session: Session, city: str) -> None:
    found = session.call("restaurants_in_city", city=city)
    session.answer(", ".join(f"{one['restaurant_name']} ({one['rating']})" for one in found) + ".")


def _best_menu(session: Session, city: str) -> dict[str, Any]:
    best = session.call("restaurants_in_city", city=city)[0]
    return session.call("restaurant_menu", restaurant_id=best["restaurant_id"])


def _menu(session: Session, city: str) -> None:
    menu = _best_menu(session, city)
    dishes = "; ".join(f"{item['dish']} {item['price']} {menu['currency']}" for item in menu["items"])
    session.answer(f"{menu['restaurant_name']}: {dishes}.")


def _light(session: Session, city: str) -> None:
    first = _best_menu(session, city)["items"][0]
    found = session.call("get_recipe_nutrition", id=first["recipe_id"])
    session.answer(f"{first['dish']} has {found['calories']} kcal.")


def _paid(session: Session, city: str, currency: str) -> None:
    menu = _best_menu(session, city)
    cheapest = min(menu["items"], key=lambda item: item["price"])
    paid = session.call(
        "convert_currency", from_currency=menu["currency"], to_currency=currency, amount=cheapest["price"]
    )
    session.answer(f"{cheapest['dish']} costs {paid['converted_amount']} {currency}.")


def _table(session: Session, city: str, guests: int, time: str, name: str, day: str) -> None:
    """The best restaurant may be closed or too small: then the next one."""
    for place in session.call("restaurants_in_city", city=city):
        order = {"restaurant_id": place["restaurant_id"], "date": day, "time": time, "party_size": guests, "name": name}
        if place["closed_on"] != f"{date.fromisoformat(day):%A}" and guests <= place["largest_party"]:
            table = session.call("reserve_table", **order)
            session.answer(f"{table['restaurant_name']}, {table['date']} {table['time']}: {table['reservation_code']}.")
            return
        session.fails("reserve_table", **order)
        session.turn_back(f"{place['restaurant_name']} has no table for us then. I try the next best.")
    session.give_up()


def _unknown(session: Session, title: str) -> None:
    session.call("search_recipes", query=title)
    session.give_up()
