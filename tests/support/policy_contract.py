"""What every policy promises, whoever decides and however badly it goes. Test classes inherit this and give the fixture ``policy``."""

from typing import Literal

import pytest

from agent.offer.candidates import ToolCandidate
from agent.policy.protocol import (
    ArgumentsQuestion,
    DecomposeQuestion,
    FieldsQuestion,
    MoveQuestion,
    Policy,
    ReflectionQuestion,
)
from domain.plan import StepResult
from domain.tool import ToolDoc
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER, REMOVE

REQUEST = "What is the temperature in Paris on the next days?"
FOUND = '{"results": [{"city": "Paris", "latitude": 48.85, "longitude": 2.35, "population": 2100000}]}'
PLACES = StepResult(
    tool=GEOCODE.id, arguments={"city": "Paris"}, status="ok", attempts=1, http_status=200, response=FOUND
)


TWO = 'What is the temperature in Paris? Who is the author of the book "Dune"?'


def reflection(*path: ToolDoc, how: Literal["finished", "gave_up", "budget"] = "finished") -> ReflectionQuestion:
    return ReflectionQuestion(
        request=REQUEST, clauses=(REQUEST,), earlier_tools=(), path=path, relevance=tuple((0.5,) for _ in path),
        starts=(candidate(GEOCODE), candidate(BOOKS, 0.3)), ending=how, reason="so it is",
    )  # fmt: skip


def situation(*candidates: ToolCandidate, path: tuple[ToolDoc, ...] = ()) -> MoveQuestion:
    return MoveQuestion(
        request=REQUEST, clauses=(REQUEST,), path=path, path_relevance=tuple((0.4,) for _ in path), best_relevance=(0.7,),
        candidates=candidates, finish_weight=0.1,
    )  # fmt: skip


def candidate(tool: ToolDoc, relevance: float = 0.6) -> ToolCandidate:
    return ToolCandidate(tool, 0.5, None, (relevance,), "start")


class PolicyContract:
    async def test_what_asks_one_thing_is_not_split(self, policy: Policy) -> None:
        found = await policy.decide(DecomposeQuestion(REQUEST))
        assert [(one.number, one.description, one.depends_on) for one in found.subtasks] == [(1, REQUEST, ())]

    async def test_subtasks_are_in_order(self, policy: Policy) -> None:
        found = await policy.decide(DecomposeQuestion(TWO))
        assert found.reason
        assert [one.number for one in found.subtasks] == list(range(1, len(found.subtasks) + 1))
        for one in found.subtasks:
            assert one.name
            assert one.description
            assert all(1 <= other < one.number for other in one.depends_on)
        if len(found.subtasks) == 1:
            assert found.subtasks[0].description == TWO

    @pytest.mark.parametrize(
        "question",
        [reflection(GEOCODE, NEW_WEATHER), reflection(NEW_WEATHER), reflection(how="gave_up"), reflection(GEOCODE, how="gave_up"),
         reflection(REMOVE), reflection(GEOCODE, how="budget"), reflection(how="budget")],
        ids=["good", "lacks", "nothing", "left", "changes", "cut", "cut at once"],
    )  # fmt: skip
    async def test_a_judgement_names_what_is_there(self, policy: Policy, question: ReflectionQuestion) -> None:
        found = await policy.decide(question)
        assert found.reason
        assert (found.first_wrong is not None) == (found.verdict == "partial")
        assert found.first_wrong is None or (question.path and 1 <= found.first_wrong <= len(question.path) + 1)
        assert set(found.noisy) <= {GEOCODE.id, BOOKS.id}
        assert not found.noisy or found.verdict == "total"
        assert found.verdict != "success" or (question.path and question.ending != "gave_up")

    async def test_a_choice_is_on_offer(self, policy: Policy) -> None:
        offered = situation(candidate(GEOCODE), candidate(BOOKS, 0.3))
        choice = await policy.decide(offered)
        assert choice.reason
        assert choice.action in ("advance", "give_up")
        assert (choice.index in (0, 1)) == (choice.action == "advance")

    async def test_with_nothing_on_offer_it_ends_or_goes_back(self, policy: Policy) -> None:
        choice = await policy.decide(situation(path=(GEOCODE,)))
        assert choice.action in ("finish", "backtrack", "give_up")
        assert choice.index is None

    async def test_every_value_has_an_origin_and_what_has_none_is_missing(self, policy: Policy) -> None:
        for tool, earlier in ((GEOCODE, ()), (NEW_WEATHER, ((GEOCODE, PLACES),)), (NEW_WEATHER, ())):
            found = await policy.decide(ArgumentsQuestion(REQUEST, tool, earlier))
            assert {binding.parameter for binding in found.provenance} == set(found.values)
            assert {p.name for p in tool.required} == set(found.values) | set(found.missing)
            assert not set(found.values) & set(found.missing)

    async def test_a_tool_without_parameters_needs_nothing(self, policy: Policy) -> None:
        found = await policy.decide(ArgumentsQuestion(REQUEST, GEOCODE.model_copy(update={"parameters": ()}), ()))
        assert (found.values, found.provenance, found.missing) == ({}, (), ())

    async def test_the_fields_to_keep_are_fields_of_the_response(self, policy: Policy) -> None:
        fields = ("results[].city", "results[].latitude", "results[].longitude", "results[].population")
        kept = await policy.decide(FieldsQuestion(GEOCODE, FOUND, fields))
        assert kept
        assert set(kept) <= set(fields)
        assert len(set(kept)) == len(kept)

    async def test_an_answer_names_its_calls(self, policy: Policy) -> None:
        answer = "".join([piece async for piece in policy.answer(REQUEST, [(GEOCODE, PLACES)])])
        assert "Places Set/search_places" in answer
        assert "[1]" in answer

    async def test_what_it_cost_is_counted_and_notices_are_whole(self, policy: Policy) -> None:
        before = policy.cost.model_calls
        await policy.decide(situation(candidate(GEOCODE)))
        assert policy.cost.model_calls >= before
        assert sum(policy.cost.by_purpose.values()) == policy.cost.model_calls
        assert all(notice.old_policy and notice.new_policy and notice.reason for notice in policy.notices)
