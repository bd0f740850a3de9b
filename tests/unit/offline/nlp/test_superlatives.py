import pytest

from offline.nlp.superlatives import (
    OrdinalReference,
    RankCriterion,
    find_extreme,
    find_ordinals,
    find_rank_criteria,
    is_comparative,
    resolve_ordinal,
)


def test_ordinals_come_with_their_noun() -> None:
    assert find_ordinals("the e-mail of the second author of the first paper") == (
        OrdinalReference(1, "author"),
        OrdinalReference(0, "paper"),
    )
    assert find_ordinals("the last 3 days") == ()
    assert find_ordinals('who wrote "The Second Sex"') == ()


def test_an_ordinal_means_the_list_that_its_noun_names() -> None:
    assert resolve_ordinal("the second author", 3, frozenset({"author"})) == 1
    assert resolve_ordinal("the last author", 3, frozenset({"author"})) == 2
    assert resolve_ordinal("the second author", 3, frozenset({"paper"})) is None
    assert resolve_ordinal("the fifth author", 3, frozenset({"author"})) is None


@pytest.mark.parametrize(
    ("request_text", "field", "most"),
    [
        ("the cheapest flight", "price", False), ("the most expensive hotel", "price", True), ("the least expensive hotel", "price", False),
        ("which is warmer", "temperature", True), ("the most cited paper", "citation", True), ("the highest rated hotel", "rating", True),
        ("the highest population", "population", True), ("the lowest score", "score", False), ("the latest release", "date", True),
    ],
)  # fmt: skip
def test_superlatives_name_a_field_and_a_direction(request_text: str, field: str, most: bool) -> None:
    assert any(field in rank.fields and rank.most is most for rank in find_rank_criteria(request_text))


def test_the_extreme_is_found_by_number_or_date() -> None:
    flights = [{"id": "a", "price": 90}, {"id": "b", "price": "70.5"}, {"id": "c", "price": 80}]
    assert find_extreme(flights, find_rank_criteria("the cheapest flight")[0]) == (1, "price")
    films = [{"released": "2011-07-21"}, {"released": "2024-01-02"}]
    assert find_extreme(films, find_rank_criteria("the newest film")[0]) == (1, "released")
    assert find_extreme([{"name": "x"}, {"name": "y"}], find_rank_criteria("the cheapest flight")[0]) is None
    assert find_extreme([], find_rank_criteria("the cheapest flight")[0]) is None


def test_a_superlative_measures_no_word_beyond_its_clause() -> None:
    assert all(
        "direction" not in rank.fields
        for rank in find_rank_criteria("Take whichever is shorter. Whose direction is it?")
    )
    assert find_rank_criteria("what is cited the most? Please quote it") == (
        RankCriterion(frozenset({"citation"}), most=True),
    )


@pytest.mark.parametrize(
    ("request_text", "since"),
    [("the firm that has been around longer", True), ("who has worked here longest?", True), ("which has the longest wall", False), ("a longer film", False)],
)  # fmt: skip
def test_what_has_been_longer_began_earlier(request_text: str, since: bool) -> None:
    (rank,) = find_rank_criteria(request_text)
    assert ("founded" in rank.fields and not rank.most) is since


def test_adjectives_that_compare_are_known() -> None:
    assert is_comparative("oldest")
    assert is_comparative("better")
    assert not is_comparative("harvest")


def test_what_is_compared_may_stand_before_the_adjective() -> None:
    assert find_rank_criteria("Is the draught greater of the one or of the other?") == (
        RankCriterion(frozenset({"draught"}), most=True),
    )
    assert find_rank_criteria("the lowest of all fares")[0].fields >= {"fare"}
