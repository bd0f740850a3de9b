"""Recipes follow from their ingredients; restaurants serve them, and each table is reserved once."""

from datetime import date, timedelta
from typing import Any, get_args

import httpx
import pytest

from playground.apis.pantry import Cuisine, Diet
from playground.apis.tablefor import Evening
from playground.worlds import dishes, restaurants
from playground.worlds.clock import TODAY
from playground.worlds.geography import COUNTRIES
from tests.unit.playground.asking import effects, get, post

PLACE = restaurants.restaurants()[0]
OPEN = next(
    TODAY + timedelta(days=ahead) for ahead in (1, 2) if (TODAY + timedelta(days=ahead)).weekday() != PLACE.closed
)
CLOSED = OPEN + timedelta(days=(PLACE.closed - OPEN.weekday()) % 7)
TABLE: dict[str, Any] = {
    "restaurant_id": PLACE.restaurant_id,
    "date": OPEN.isoformat(),
    "time": "19:30",
    "party_size": 2,
    "name": "Dagny Iversholt",
}


def test_names_and_numbers_are_unique() -> None:
    for values in (
        [one.title for one in dishes.recipes()],
        [one.recipe_id for one in dishes.recipes()],
        [one.name for one in dishes.INGREDIENTS],
        [one.restaurant_id for one in restaurants.restaurants()],
        [dish.dish_id for one in restaurants.restaurants() for dish in one.menu],
    ):
        assert len(set(values)) == len(values)


def test_the_documented_choices_are_the_worlds() -> None:
    assert get_args(Cuisine) == dishes.CUISINES
    assert get_args(Evening) == restaurants.EVENING
    assert {diet for one in dishes.recipes() for diet in one.diets} == set(get_args(Diet))


def test_diets_follow_from_ingredients() -> None:
    for recipe in dishes.recipes():
        names = {part.name for part, _ in recipe.parts}
        assert ("vegan" not in recipe.diets) or not names & {"egg", "butter", "salmon", "beef", "yoghurt"}
        assert ("gluten free" in recipe.diets) == (not names & {"noodles", "barley", "flour"})
        assert ("vegan" not in recipe.diets) or "vegetarian" in recipe.diets


async def test_nutrition_is_text_and_follows_from_the_parts(client: httpx.AsyncClient) -> None:
    known = {one.ingredient_id: one for one in dishes.INGREDIENTS}
    for recipe in dishes.recipes()[:10]:
        about = await get(client, f"/pantry/recipes/{recipe.recipe_id}/information")
        told = await get(client, f"/pantry/recipes/{recipe.recipe_id}/nutritionWidget.json")
        energy = sum(known[part["id"]].kcal * part["amount"] / 100 for part in about["extendedIngredients"])
        assert float(told["calories"]) == pytest.approx(energy / about["servings"], abs=0.06)
        assert told["protein"].endswith("g")


async def test_recipes_have_all_that_was_asked_for(client: httpx.AsyncClient) -> None:
    path = "/pantry/recipes/complexSearch"
    found = await get(client, path, includeIngredients=["rice", "tomato"], number=100)
    assert found["totalResults"] == len(found["results"]) > 0
    for hit in found["results"]:
        about = await get(client, f"/pantry/recipes/{hit['id']}/information")
        assert {"rice", "tomato"} <= {part["name"] for part in about["extendedIngredients"]}
    quick = await get(client, path, diet="vegan", maxReadyTime=45, number=100)
    assert all(hit["readyInMinutes"] <= 45 for hit in quick["results"])
    both = [await get(client, path, number=7, offset=offset) for offset in (0, 7)]
    assert not {hit["id"] for hit in both[0]["results"]} & {hit["id"] for hit in both[1]["results"]}


async def test_groceries_are_paid_in_the_country_s_money(client: httpx.AsyncClient) -> None:
    path = f"/pantry/ingredients/{dishes.INGREDIENTS[0].ingredient_id}/price"
    for country in COUNTRIES:
        told = await get(client, path, countryCode=country.code)
        assert (told["currency"], told["country"]) == (country.currency, country.name)
        assert told["price_per_kg"] > 0


async def test_the_list_of_restaurants_says_that_it_is_html(client: httpx.AsyncClient) -> None:
    response = await client.get("/tablefor/api/restaurants", params={"city": PLACE.city.name})
    assert response.headers["content-type"].startswith("text/html")
    ratings = [one["rating"] for one in response.json()]
    assert ratings == sorted(ratings, reverse=True)
    good = await get(client, "/tablefor/api/restaurants", city=PLACE.city.name, min_rating=ratings[0])
    assert [one["rating"] for one in good] == [ratings[0]]


async def test_menus_name_recipes_that_exist(client: httpx.AsyncClient) -> None:
    menu = await get(client, f"/tablefor/api/restaurants/{PLACE.restaurant_id}/menu")
    assert menu["currency"] == PLACE.city.country.currency
    for item in menu["items"]:
        about = await get(client, f"/pantry/recipes/{item['recipe_id']}/information")
        assert (about["title"], about["cuisine"]) == (item["dish"], PLACE.cuisine)


async def test_a_table_is_reserved_once(client: httpx.AsyncClient) -> None:
    first = await post(client, "/tablefor/api/reservations", TABLE)
    assert first["reservation_code"] == "TF0001"
    again = await client.post("/tablefor/api/reservations", json=TABLE | {"name": "Somebody Else"})
    assert again.status_code == 409
    assert [one["arguments"] for one in await effects(client)] == [TABLE]
    await post(client, "/tablefor/api/reservations", TABLE | {"time": "21:00"})
    assert len(await effects(client)) == 2


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"date": CLOSED.isoformat()}, 400),
        ({"date": (TODAY - timedelta(days=1)).isoformat()}, 400),
        ({"party_size": PLACE.seats + 1}, 400),
        ({"party_size": 0}, 422),
        ({"time": "19:31"}, 422),
        ({"restaurant_id": "rst-0"}, 404),
    ],
)
async def test_an_impossible_table_changes_nothing(
    client: httpx.AsyncClient, change: dict[str, Any], status: int
) -> None:
    response = await client.post("/tablefor/api/reservations", json=TABLE | change)
    assert response.status_code == status, response.text
    assert await effects(client) == []
    assert date.fromisoformat(TABLE["date"]).weekday() != PLACE.closed


@pytest.mark.parametrize(
    "path", ["/pantry/recipes/1/information", "/pantry/recipes/1/nutritionWidget.json",
             "/pantry/ingredients/1/price?countryCode=XV", "/pantry/ingredients/9000/price?countryCode=QQ",
             "/tablefor/api/restaurants/rst-0/menu"],
)  # fmt: skip
async def test_refusals_say_why(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert response.status_code == 404
    assert response.json()["detail"]
