"""Recipes, what goes into them, what that costs, and the nutrition that follows from it."""

from dataclasses import dataclass
from functools import cache
from itertools import permutations

from playground.worlds import chance
from playground.worlds.geography import Country
from playground.worlds.money import CURRENCIES, convert


@dataclass(frozen=True, slots=True)
class Ingredient:
    """Of 100 g: ``kcal`` and grams of ``protein``, ``fat`` and ``carbs``; ``pence`` of an Ashford pound. ``animal``: 0 a plant,
    1 milk or eggs, 2 meat or fish.
    """

    ingredient_id: int
    name: str
    kcal: int
    protein: float
    fat: float
    carbs: float
    pence: int
    animal: int
    gluten: bool = False


@dataclass(frozen=True, slots=True)
class Recipe:
    """``parts``: ingredients with grams for all ``servings``."""

    recipe_id: int
    title: str
    cuisine: str
    minutes: int
    servings: int
    parts: tuple[tuple[Ingredient, int], ...]

    @property
    def diets(self) -> tuple[str, ...]:
        """The diets that it suits."""
        animal = max(part.animal for part, _ in self.parts)
        kinds = ("vegan",) * (animal == 0) + ("vegetarian",) * (animal < 2)
        return kinds + ("gluten free",) * (not any(part.gluten for part, _ in self.parts))

    def per_serving(self, nutrient: str) -> float:
        """``kcal``, ``protein``, ``fat`` or ``carbs`` of a serving, to one place."""
        total = sum(getattr(part, nutrient) * grams / 100 for part, grams in self.parts)
        return round(total / self.servings, 1)


def _ingredients() -> tuple[Ingredient, ...]:
    rows = (
        ("chickpeas", 164, 8.9, 2.6, 27.4, 22, 0, False), ("lentils", 116, 9.0, 0.4, 20.1, 19, 0, False),
        ("rice", 130, 2.7, 0.3, 28.2, 16, 0, False), ("noodles", 138, 4.5, 2.1, 25.2, 24, 0, True),
        ("barley", 123, 2.3, 0.4, 28.2, 15, 0, True), ("flour", 364, 10.3, 1.0, 76.3, 9, 0, True),
        ("potato", 77, 2.0, 0.1, 17.5, 11, 0, False), ("tomato", 18, 0.9, 0.2, 3.9, 28, 0, False),
        ("spinach", 23, 2.9, 0.4, 3.6, 46, 0, False), ("mushroom", 22, 3.1, 0.3, 3.3, 55, 0, False),
        ("pumpkin", 26, 1.0, 0.1, 6.5, 21, 0, False), ("beetroot", 43, 1.6, 0.2, 9.6, 18, 0, False),
        ("apple", 52, 0.3, 0.2, 13.8, 23, 0, False), ("walnut", 654, 15.2, 65.2, 13.7, 140, 0, False),
        ("coconut milk", 197, 2.2, 21.3, 2.8, 48, 0, False), ("olive oil", 884, 0.0, 100.0, 0.0, 95, 0, False),
        ("butter", 717, 0.9, 81.1, 0.1, 88, 1, False), ("egg", 155, 12.6, 10.6, 1.1, 42, 1, False),
        ("goat cheese", 364, 21.6, 29.8, 2.5, 165, 1, False), ("yoghurt", 61, 3.5, 3.3, 4.7, 30, 1, False),
        ("salmon", 208, 20.4, 13.4, 0.0, 240, 2, False), ("herring", 158, 18.0, 9.0, 0.0, 110, 2, False),
        ("chicken", 165, 31.0, 3.6, 0.0, 98, 2, False), ("lamb", 294, 24.5, 21.0, 0.0, 205, 2, False),
        ("beef", 250, 26.1, 15.4, 0.0, 190, 2, False),
    )  # fmt: skip
    return tuple(Ingredient(9_000 + 7 * place, *row) for place, row in enumerate(rows))


INGREDIENTS = _ingredients()
RECIPES = 100
CUISINES = ("veldanian", "calderan", "tessalian", "qanari", "sundari", "jinzhai", "kaimanan", "boreal")
_SHAPES = ("{} and {} Stew", "Baked {} with {}", "{} {} Curry", "{} Soup with {}", "{} and {} Pie", "{} {} Salad",
           "Grilled {} on {}", "{} {} Dumplings")  # fmt: skip


@cache
def recipes() -> tuple[Recipe, ...]:
    """All recipes; titles are unique."""
    main = [one for one in INGREDIENTS if one.kcal < 300]
    pairs = chance.several(list(permutations(main, 2)), RECIPES, "pairs")
    return tuple(_recipe(place, first, second) for place, (first, second) in enumerate(pairs))


def recipe_by_id(recipe_id: int) -> Recipe | None:
    """The recipe of that number."""
    return next((recipe for recipe in recipes() if recipe.recipe_id == recipe_id), None)


def ingredient_by_id(ingredient_id: int) -> Ingredient | None:
    """The ingredient of that number."""
    return next((one for one in INGREDIENTS if one.ingredient_id == ingredient_id), None)


def price_per_kilogram(ingredient: Ingredient, country: Country) -> float:
    """In the currency of a country, where it may be dearer or cheaper than elsewhere."""
    level = 0.7 + 0.8 * chance.unit("groceries", ingredient.name, country.code)
    return convert(round(ingredient.pence / 10 * level, 2), CURRENCIES["AFP"], CURRENCIES[country.currency])


def _recipe(place: int, first: Ingredient, second: Ingredient) -> Recipe:
    shape = _SHAPES[place % len(_SHAPES)]
    others = [one for one in INGREDIENTS if one not in (first, second)]
    parts = (first, second, *chance.several(others, chance.between(1, 4, "more", place), "others", place))
    servings = chance.between(2, 6, "servings", place)
    grams = [10 * chance.between(12, 24, "grams", place, one.name) * servings // 2 for one in parts[:2]]
    grams += [5 * chance.between(4, 14, "grams", place, one.name) * servings // 2 for one in parts[2:]]
    return Recipe(
        recipe_id=715_000 + 37 * place,
        title=shape.format(first.name.title(), second.name.title()),
        cuisine=chance.pick(CUISINES, "cuisine", place),
        minutes=5 * chance.between(3, 24, "minutes", place),
        servings=servings,
        parts=tuple(zip(parts, grams, strict=True)),
    )
