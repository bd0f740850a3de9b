from playground.reserved import (
    KEPT_BOOKS,
    KEPT_COUNTRIES,
    KEPT_FILMS,
    KEPT_PAPERS,
    KEPT_PRODUCTS,
    KEPT_RECIPES,
    KEPT_SCHOLARS,
    kept_in,
    kept_names,
)
from playground.worlds import dishes, films, goods, library, scholars
from playground.worlds.geography import COUNTRIES


def test_whole_names_are_found() -> None:
    assert kept_in("Caldera pays in CLD; the Calderan peseta, Fort Caldera.") == ["CLD", "Caldera"]
    assert kept_in("From Fort Calder to Velmora") == ["Fort Calder"]
    assert kept_in("Velmora, Marovia, VDK") == []


def test_every_name_is_one_of_the_worlds() -> None:
    worlds = {one.title for one in (*library.books(), *scholars.papers(), *films.films(), *dishes.recipes())}
    worlds |= {one.name for one in (*scholars.scholars(), *goods.products(), *COUNTRIES)}
    named = {*KEPT_COUNTRIES, *KEPT_BOOKS, *KEPT_SCHOLARS, *KEPT_PAPERS, *KEPT_FILMS, *KEPT_RECIPES, *KEPT_PRODUCTS}
    assert named - worlds == set()
    assert named < kept_names()
