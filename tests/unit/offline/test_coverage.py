import pytest

from offline.coverage import (
    blend_relevance,
    collect_vocabulary,
    find_telling_words,
    measure_support,
    normalize_clause,
    strip_values,
)
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER


def test_a_bare_clause_names_no_values() -> None:
    assert strip_values("What is the temperature in Paris") == "What is the temperature in"
    assert strip_values('pages of the book "Dune" please') == "pages of the book please"
    assert strip_values("list all currencies") == "list all currencies"


def test_a_clause_of_values_alone_stays_as_it_is() -> None:
    assert strip_values("Paris 42") == "Paris 42"


def test_a_plain_clause_adds_what_words_stand_for() -> None:
    assert "temperature" in normalize_clause("How warm is it in Paris").split()


def test_support_is_the_share_of_telling_words_that_a_tool_knows() -> None:
    weather, books = collect_vocabulary(NEW_WEATHER), collect_vocabulary(BOOKS)
    assert measure_support("What is the daily weather forecast for Paris", weather) == 1.0
    assert measure_support("What is the daily weather forecast for Paris", books) == 0.0
    assert measure_support("Who is the author of the weather", books) == pytest.approx(0.5)
    assert measure_support("how hot is it", weather) == 1.0


def test_response_fields_and_parameters_count_as_known_words() -> None:
    assert {"pages", "page"} & collect_vocabulary(BOOKS)
    assert "city" in collect_vocabulary(GEOCODE)


def test_similarity_without_shared_words_counts_half() -> None:
    assert blend_relevance(0.8, "what is the meaning of life", collect_vocabulary(GEOCODE)) == pytest.approx(0.4)


def test_an_e_mail_address_is_one_thing() -> None:
    assert find_telling_words("What is the e-mail address of the author?") == find_telling_words(
        "What is the e-mail of the author?"
    )
    assert find_telling_words("What is the address of the author?") != find_telling_words("What is the author?")
