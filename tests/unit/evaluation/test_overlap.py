"""Requests that count as one, and trajectories held out with all that is near them."""

from evaluation.api_names import normalize_api_name
from evaluation.held_out import hold_out
from evaluation.overlap import ReferenceRequests, compute_overlap, extract_words
from evaluation.queries import RetrievalQuery

RAIN = "Will it rain in Rome tomorrow morning?"


def test_a_changed_word_does_not_set_requests_apart() -> None:
    known = ReferenceRequests([RAIN])
    assert known.has_near_duplicate("will it RAIN in oslo tomorrow morning")
    assert not known.has_near_duplicate("Which songs are in the charts of Rome?")
    assert not known.has_near_duplicate("rain")
    assert not ReferenceRequests([]).has_near_duplicate(RAIN)
    assert compute_overlap(extract_words(RAIN), extract_words(RAIN)) == 1
    assert compute_overlap(frozenset(), frozenset()) == 0


def query(text: str, *apis: str, split: str = "one") -> RetrievalQuery:
    return RetrievalQuery(split, text, frozenset(normalize_api_name("sky", api) for api in apis))


def test_what_is_near_a_request_held_out_is_not_learnt_from() -> None:
    labelled = [query(RAIN, "rain", "place"), query("the charts of today", "charts")]
    near = "Will it rain in Oslo tomorrow morning?"
    parts = hold_out(labelled, [RAIN, near, "the charts of today"], sample=5)
    assert [one.query for one in parts.queries] == [RAIN]  # the other has one API
    assert parts.learnt == {"the charts of today"}


def test_what_is_near_a_measured_request_is_not_learnt_from() -> None:
    other = "the charts of today"
    parts = hold_out([], [RAIN, other], sample=0, measured=[query("Will it rain in Oslo tomorrow morning?", "rain")])
    assert parts.queries == ()
    assert parts.learnt == {other}


def test_a_sample_of_each_split_is_held_out_whatever_the_order() -> None:
    labelled = [query(f"number {n} of {n * n}", "a", "b", split="one" if n % 2 else "two") for n in range(40)]
    parts = hold_out(labelled, [], sample=4)
    assert [one.split for one in parts.queries] == ["one"] * 4 + ["two"] * 4
    assert parts == hold_out(labelled[::-1], [], sample=4)
