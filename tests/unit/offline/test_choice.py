from collections.abc import Mapping

import pytest

from agent.offer.candidates import ToolCandidate
from agent.policy.protocol import MoveQuestion
from domain.event import Feed
from domain.tool import ToolDoc
from offline.choice import ChoiceParameters, PolicyMove, decide
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER, OLD_WEATHER, REMOVE, need, tool

Needs = Mapping[str, tuple[str, str]]
"""By api: what it needs, and the api that gives it."""

NEEDS: Needs = {"get_forecast": ("point", "search_places"), "get_daily_forecast": ("point", "search_places")}


def missing(found: ToolDoc, path: tuple[ToolDoc, ...], needs: Needs = NEEDS) -> frozenset[str]:
    what, giver = needs.get(found.api, ("", ""))
    return frozenset[str]() if not what or giver in {step.api for step in path} else frozenset({what})


def candidate(
    doc: ToolDoc, *relevance: float, weight: float = 0.5, available: float | None = 1.0, fed: tuple[int, ...] = ()
) -> ToolCandidate:
    feeds = tuple(Feed(parameter="point", step=at + 1, field="point", score=1.0) for at in fed)
    return ToolCandidate(doc, weight, available, relevance, "graph", feeds=feeds)


def decided(
    candidates: list[ToolCandidate], path: list[tuple[ToolDoc, tuple[float, ...]]] | None = None, clauses: tuple[str, ...] = ("the weather",),
    best: tuple[float, ...] | None = None, request: str = "the weather",
) -> PolicyMove:  # fmt: skip
    path = path or []
    rows = [c.relevance for c in candidates] + [relevance for _, relevance in path]
    situation = MoveQuestion(
        request=request,
        clauses=clauses,
        path=tuple(doc for doc, _ in path),
        path_relevance=tuple(relevance for _, relevance in path),
        best_relevance=best or tuple(max(row[i] for row in rows) for i in range(len(clauses))),
        candidates=tuple(candidates),
        finish_weight=0.5,
    )
    return decide(situation, missing, ChoiceParameters())


def test_the_producer_of_the_best_tool_comes_first() -> None:
    verdict = decided([candidate(OLD_WEATHER, 0.9), candidate(GEOCODE, 0.1)])
    assert (verdict.choice.action, verdict.choice.index) == ("advance", 1)
    assert "for get_forecast" in verdict.choice.reason
    assert '"the weather" (0.90)' in verdict.choice.reason


def test_then_the_consumer_with_what_feeds_it() -> None:
    verdict = decided([candidate(OLD_WEATHER, 0.9, fed=(0,))], [(GEOCODE, (0.1,))])
    assert verdict.choice.index == 0
    assert "fed by search_places.latitude" in verdict.choice.reason
    assert verdict.purpose == "the weather"


def test_a_producer_that_is_itself_relevant_does_not_end_the_walk() -> None:
    verdict = decided([candidate(OLD_WEATHER, 0.9, fed=(0,))], [(GEOCODE, (0.85,))])
    assert verdict.choice.action == "advance"


def test_it_finishes_once_every_clause_is_covered_whatever_else_is_frequent() -> None:
    path = [(GEOCODE, (0.1,)), (OLD_WEATHER, (0.9,))]
    verdict = decided([candidate(BOOKS, 0.2, weight=0.99)], path)
    assert verdict.choice.action == "finish"
    assert verdict.unserved == ()


def test_among_the_like_what_was_walked_and_works_is_preferred() -> None:
    path = [(GEOCODE, (0.1,))]
    often = decided([candidate(OLD_WEATHER, 0.8, weight=0.2), candidate(NEW_WEATHER, 0.8, weight=0.6)], path)
    assert often.choice.index == 1
    works = decided([candidate(OLD_WEATHER, 0.8, available=0.9), candidate(NEW_WEATHER, 0.8, available=0.2)], path)
    assert works.choice.index == 0


def test_a_frequent_neighbour_does_not_beat_a_relevant_one() -> None:
    verdict = decided([candidate(BOOKS, 0.5, weight=0.95), candidate(GEOCODE, 0.9, weight=0.01)])
    assert verdict.choice.index == 1


def test_unfit_candidates_send_it_back_and_at_the_start_it_gives_up() -> None:
    back = decided([candidate(BOOKS, 0.1)], [(GEOCODE, (0.1,))], best=(0.9,))
    assert back.choice.action == "backtrack"
    assert "none of the 1 candidates" in back.choice.reason
    assert decided([candidate(BOOKS, 0.1)], best=(0.9,)).choice.action == "give_up"
    assert decided([], [(GEOCODE, (0.1,))], best=(0.9,)).choice.action == "backtrack"


def test_a_request_below_the_floor_is_given_up_with_the_figure() -> None:
    verdict = decided([candidate(BOOKS, 0.3)])
    assert verdict.choice.action == "give_up"
    assert "0.30" in verdict.choice.reason


def test_what_cannot_be_filled_is_said() -> None:
    lonely = candidate(OLD_WEATHER, 0.9)
    verdict = decided([ToolCandidate(lonely.tool, 0.5, 1.0, (0.9,), "start", missing=("latitude",))])
    assert verdict.choice.action == "give_up"
    assert "nothing here gives its latitude" in verdict.choice.reason


def test_part_of_a_request_is_better_than_none_of_it() -> None:
    verdict = decided([candidate(GEOCODE, 0.1, 0.1)], [(BOOKS, (0.9, 0.1))], ("a book", "a poem"), best=(0.9, 0.2))
    assert verdict.choice.action == "finish"
    assert verdict.unserved == ("a poem",)
    assert '"a poem"' in verdict.choice.reason


@pytest.mark.parametrize(
    ("request_", "allowed"), [("the pages of a book", False), ("remove this book", True), ("Deleting a book", True)]
)
def test_changes_wait_for_a_word_that_asks_for_them(request_: str, allowed: bool) -> None:
    verdict = decided([candidate(REMOVE, 0.9)], request=request_)
    assert verdict.choice.action == ("advance" if allowed else "give_up")
    if not allowed:
        assert "would change something" in verdict.choice.reason


def test_a_tool_that_is_posted_to_but_only_computes_is_allowed() -> None:
    translate = tool("Text", "translate_text", "Translates a text.", [need("text")], method="POST")
    assert decided([candidate(translate, 0.9)], request="say hello in French").choice.action == "advance"
    order = tool("Food", "place_order", "Orders food.", [need("text")], method="POST")
    assert decided([candidate(order, 0.9)], request="what food is there").choice.action == "give_up"


def test_the_same_situation_is_always_decided_alike() -> None:
    candidates = [candidate(NEW_WEATHER, 0.8), candidate(OLD_WEATHER, 0.8), candidate(GEOCODE, 0.1)]
    assert decided(candidates) == decided(list(candidates))
