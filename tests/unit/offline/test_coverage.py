import pytest

from offline.coverage import bare, plain, support, supported, telling, vocabulary
from tests.flows.small_world import BOOKS, GEOCODE, NEW_WEATHER


def test_a_bare_clause_names_no_values() -> None:
    assert bare("What is the temperature in Paris") == "What is the temperature in"
    assert bare('pages of the book "Dune" please') == "pages of the book please"
    assert bare("list all currencies") == "list all currencies"


def test_a_clause_of_values_alone_stays_as_it_is() -> None:
    assert bare("Paris 42") == "Paris 42"


def test_a_plain_clause_adds_what_words_stand_for() -> None:
    assert "temperature" in plain("How warm is it in Paris").split()


def test_support_is_the_share_of_telling_words_that_a_tool_knows() -> None:
    weather, books = vocabulary(NEW_WEATHER), vocabulary(BOOKS)
    assert support("What is the daily weather forecast for Paris", weather) == 1.0
    assert support("What is the daily weather forecast for Paris", books) == 0.0
    assert support("Who is the author of the weather", books) == pytest.approx(0.5)
    assert support("how hot is it", weather) == 1.0


def test_response_fields_and_parameters_count_as_known_words() -> None:
    assert {"pages", "page"} & vocabulary(BOOKS)
    assert "city" in vocabulary(GEOCODE)


def test_similarity_without_shared_words_counts_half() -> None:
    assert supported(0.8, "what is the meaning of life", vocabulary(GEOCODE)) == pytest.approx(0.4)


def test_an_e_mail_address_is_one_thing() -> None:
    assert telling("What is the e-mail address of the author?") == telling("What is the e-mail of the author?")
    assert telling("What is the address of the author?") != telling("What is the author?")
