"""Pantry Pal: recipes, what is in them, and what that costs."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds import dishes
from playground.worlds.geography import country_by_code

router = APIRouter(prefix="/pantry", tags=["Food"])
_RECIPE = refusals(e404="A recipe with this id does not exist.")
Diet = Literal["vegan", "vegetarian", "gluten free"]
Cuisine = Literal["veldanian", "calderan", "tessalian", "qanari", "sundari", "jinzhai", "kaimanan", "boreal"]
RecipeId = Annotated[int, Path(description="The recipe id.", examples=[715000])]


class RecipeHit(BaseModel):
    """A recipe in a list."""

    id: int = Field(description="The recipe id.", examples=[715000])
    title: str = Field(examples=["Potato Rice Curry"])
    readyInMinutes: int = Field(examples=[20])  # noqa: N815 (the vendor mixes its cases)


class RecipeResults(BaseModel):
    """The recipes found."""

    results: list[RecipeHit]
    offset: int = Field(examples=[0])
    number: int = Field(description="Recipes in this answer.", examples=[1])
    totalResults: int = Field(description="Recipes found.", examples=[1])  # noqa: N815


class RecipePart(BaseModel):
    """An ingredient of a recipe."""

    id: int = Field(description="The ingredient id.", examples=[9140])
    name: str = Field(examples=["salmon"])
    amount: int = Field(examples=[400])
    unit: str = Field(examples=["g"])


class RecipeInformation(RecipeHit):
    """All about a recipe."""

    servings: int = Field(examples=[4])
    cuisine: str = Field(examples=["kaimanan"])
    diets: list[str] = Field(examples=[["gluten free"]])
    extendedIngredients: list[RecipePart]  # noqa: N815


class Nutrition(BaseModel):
    """Of one serving; every value is text with its unit."""

    calories: str = Field(description="Energy of a serving in kcal.", examples=["303.4"])
    carbs: str = Field(examples=["29.4g"])
    fat: str = Field(examples=["12.1g"])
    protein: str = Field(examples=["24.6g"])


class IngredientPrice(BaseModel):
    """What an ingredient costs in a country."""

    id: int = Field(description="The ingredient id.", examples=[9140])
    name: str = Field(examples=["salmon"])
    price_per_kg: float = Field(description="Supermarket price of a kilogram.", examples=[388.2])
    currency: str = Field(examples=["VDK"])
    country: str = Field(examples=["Veldania"])


@router.get("/recipes/complexSearch", operation_id="search_recipes", summary="Search Recipes")
async def search_recipes(
    query: Annotated[
        str | None, Query(description="The (natural language) recipe search query.", examples=["soup"])
    ] = None,
    cuisine: Annotated[Cuisine | None, Query(description="The cuisine of the recipes.")] = None,
    diet: Annotated[Diet | None, Query(description="The diet for which the recipes must be suitable.")] = None,
    max_ready_time: Annotated[
        int | None,
        Query(alias="maxReadyTime", ge=5, description="The maximum time in minutes to prepare and cook the recipe."),
    ] = None,
    include_ingredients: Annotated[
        list[str] | None,
        Query(
            alias="includeIngredients", description="Ingredients that must be in the recipes.", examples=[["tomato"]]
        ),
    ] = None,
    offset: Annotated[int, Query(ge=0, le=900, description="The number of results to skip.")] = 0,
    number: Annotated[int, Query(ge=1, le=100, description="The number of expected results.")] = 10,
) -> RecipeResults:
    """Search through hundreds of recipes by words of the title, cuisine, diet, cooking time and ingredients."""
    wanted = set((query or "").casefold().split())
    needed = {name.strip().casefold() for name in include_ingredients or ()}
    found = [
        _hit(recipe)
        for recipe in dishes.recipes()
        if wanted <= set(recipe.title.casefold().split())
        and cuisine in (None, recipe.cuisine)
        and (diet is None or diet in recipe.diets)
        and recipe.minutes <= (max_ready_time or recipe.minutes)
        and needed <= {part.name for part, _ in recipe.parts}
    ]
    page = found[offset : offset + number]
    return RecipeResults(results=page, offset=offset, number=len(page), totalResults=len(found))


@router.get(
    "/recipes/{id}/information",
    operation_id="get_recipe_information",
    summary="Get Recipe Information",
    responses=_RECIPE,
)
async def get_recipe_information(id: RecipeId) -> RecipeInformation:  # noqa: A002 (the vendor's name)
    """Use a recipe id to get full information about a recipe, such as ingredients, servings, cuisine and diets."""
    recipe = _recipe(id)
    parts = [RecipePart(id=one.ingredient_id, name=one.name, amount=grams, unit="g") for one, grams in recipe.parts]
    return RecipeInformation(
        **_hit(recipe).model_dump(),
        servings=recipe.servings,
        cuisine=recipe.cuisine,
        diets=list(recipe.diets),
        extendedIngredients=parts,
    )


@router.get(
    "/recipes/{id}/nutritionWidget.json",
    operation_id="get_recipe_nutrition",
    summary="Nutrition by ID",
    responses=_RECIPE,
)
async def get_recipe_nutrition(id: RecipeId) -> Nutrition:  # noqa: A002
    """Get the nutrition of one serving of a recipe: calories, carbohydrates, fat and protein."""
    recipe = _recipe(id)
    return Nutrition(
        calories=f"{recipe.per_serving('kcal')}",
        carbs=f"{recipe.per_serving('carbs')}g",
        fat=f"{recipe.per_serving('fat')}g",
        protein=f"{recipe.per_serving('protein')}g",
    )


@router.get(
    "/ingredients/{id}/price",
    operation_id="get_ingredient_price",
    summary="Price of an ingredient",
    responses=refusals(e404="No such ingredient or country."),
)
async def get_ingredient_price(
    id: Annotated[int, Path(description="The ingredient id.", examples=[9140])],  # noqa: A002
    country_code: Annotated[str, Query(alias="countryCode", description="Where you shop.", examples=["XV"])],
) -> IngredientPrice:
    """What a kilogram of an ingredient costs in the supermarkets of a country."""
    ingredient, country = dishes.ingredient_by_id(id), country_by_code(country_code)
    if ingredient is None:
        refuse(404, f"No ingredient has the id {id}.")
    if country is None:
        refuse(404, f"No country has the code {country_code}.")
    price = dishes.price_per_kilogram(ingredient, country)
    return IngredientPrice(
        id=id, name=ingredient.name, price_per_kg=price, currency=country.currency, country=country.name
    )


def _recipe(recipe_id: int) -> dishes.Recipe:
    found = dishes.recipe_by_id(recipe_id)
    if found is None:
        refuse(404, f"A recipe with the id {recipe_id} does not exist.")
    return found


def _hit(recipe: dishes.Recipe) -> RecipeHit:
    return RecipeHit(id=recipe.recipe_id, title=recipe.title, readyInMinutes=recipe.minutes)


SERVICE = Service(router, "Pantry Pal", "The only food API you'll ever need: recipes, nutrition, grocery prices.")
