"""Entities that no trajectory may mention: the requests that the system is measured with ask about them.

Four of the countries with all that lies there, and in the other worlds those that are named here.
"""

import re
from functools import cache

from playground.worlds.geography import COUNTRIES, cities

KEPT_COUNTRIES = ("Caldera", "Sundara", "Rioverde", "Boreal Union")
KEPT_BOOKS = (
    "The Paper Garden", "The Drowned Archive", "The Last Clockmaker", "The Silent Cartographer",
    "The Amber Cathedral", "The Wandering Bridge", "The Amber Orchard", "The Salt Orchard", "The Velvet Archive",
    "The Midnight Meridian", "The Crimson Observatory", "The Drowned Orchard", "The Last Cartographer",
    "The Hollow Harbour", "The Drowned Cartographer", "The Hollow Lantern", "The Copper Archive",
    "The Midnight Sparrow", "The Amber Labyrinth", "The Velvet Cathedral", "The Hollow Meridian",
    "The Midnight Observatory", "The Ninth Harbour", "The Copper Sparrow", "The Silent Orchard", "The Glass Lantern",
    "The Crimson Meridian", "The Winter Archive", "The Forgotten Harbour", "The Hollow Tide", "The Copper Lantern",
    "The Ninth Kingdom",
)  # fmt: skip
KEPT_SCHOLARS = (
    "Elowen Ashgrove", "Emeric Drummondsen", "Gideon Blomkvist", "Mairead Santorelli", "Dario Ashgrove",
    "Matteus Castellane", "Sunniva Thackersley", "Bertil Farquharson", "Greta Iversholt", "Mairead Castellane",
    "Perpetua Oyelaran", "Farah Blomkvist", "Yasmin Nakagawara", "Casimir Drummondsen", "Linnea Castellane",
    "Zoltan Bellweather", "Joaquin Underhollow", "Greta Westergard", "Odile Xanthos", "Kester Santorelli",
    "Matteus Xanthos",
)  # fmt: skip
KEPT_PAPERS = (
    "Uncertainty in Protein Folding", "A Field Guide to Robot Grasping", "Scalable Methods for Earthquake Prediction",
    "Sparse Models of Earthquake Prediction across Regions", "Rethinking Machine Translation",
    "Uncertainty in Bird Migration", "The Hidden Structure of Protein Folding in the Wild",
    "New Evidence on Soil Chemistry", "A Field Guide to Urban Planning", "Fast Approximations for Urban Planning",
    "Sparse Models of Speech Recognition", "Scalable Methods for Cancer Imaging", "Measuring Robot Grasping",
    "New Evidence on Speech Recognition", "Learning from Failures in Coral Reefs",
    "The Hidden Structure of Cancer Imaging", "Learning from Failures in Cryptography",
    "Sparse Models of Cryptography with Few Examples", "Uncertainty in Cancer Imaging",
    "A Survey of Graph Neural Networks over Time",
)  # fmt: skip
KEPT_FILMS = (
    "Return to Halloway Street", "A Winter in Moonfall", "The Keeper of Paper Mountain", "Strangers in Saint Corvin",
    "Escape from Juniper Lane", "The Road to Ember Hill", "Letters from the Iron Coast", "Last Train to Cinder Bay",
)  # fmt: skip
KEPT_RECIPES = (
    "Lamb Beetroot Dumplings", "Pumpkin Beetroot Salad", "Baked Lamb with Potato", "Salmon Soup with Rice",
    "Tomato and Chickpeas Pie", "Grilled Egg on Rice", "Coconut Milk Spinach Curry", "Barley and Beef Stew",
)  # fmt: skip
KEPT_PRODUCTS = (
    "Cobalt Marble Run", "Birchline Rocking Horse", "Driftmark Coffee Mill", "Cobalt Camp Stove", "Aldous Sea Chest",
    "Driftmark Copper Kettle", "Birchline Puppet Theatre", "Aldous Wool Blanket", "Cobalt Desk Globe",
)  # fmt: skip


@cache
def kept_names() -> frozenset[str]:
    """Every name that is kept back: the countries with their codes, currencies and cities, and those listed above."""
    countries = [country for country in COUNTRIES if country.name in KEPT_COUNTRIES]
    places = [city.name for city in cities() if city.country in countries]
    codes = [code for country in countries for code in (country.name, country.code, country.currency)]
    return frozenset(
        (*codes, *places, *KEPT_BOOKS, *KEPT_SCHOLARS, *KEPT_PAPERS, *KEPT_FILMS, *KEPT_RECIPES, *KEPT_PRODUCTS)
    )


def kept_in(text: str) -> list[str]:
    """The kept names that a text mentions as whole words, sorted; empty for a text that may be used."""
    names = sorted(kept_names(), key=len, reverse=True)
    return sorted(set(re.findall(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", text)))
