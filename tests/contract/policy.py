"""What every policy promises, whoever decides and however badly it goes. Test classes inherit this and give the fixture ``policy``."""

from dataclasses import replace

from agent.policy import ArgumentsQuestion, Candidate, FieldsQuestion, Policy, Situation
from domain.plan import StepResult
from domain.tool import ToolDoc
from tests.flows.small_world import BOOKS, GEOCODE, NEW_WEATHER, REMOVE

REQUEST = "What is the temperature in Paris on the next days?"
FOUND = '{"results": [{"city": "Paris", "latitude": 48.85, "longitude": 2.35, "population": 2100000}]}'
PLACES = StepResult(
    tool=GEOCODE.id, arguments={"city": "Paris"}, status="ok", attempts=1, http_status=200, response=FOUND
)


def situation(*candidates: Candidate, path: tuple[ToolDoc, ...] = ()) -> Situation:
    return Situation(
        request=REQUEST, clauses=(REQUEST,), path=path, path_relevance=tuple((0.4,) for _ in path), best_relevance=(0.7,),
        candidates=candidates, finish_weight=0.1,
    )  # fmt: skip


def candidate(tool: ToolDoc, relevance: float = 0.6) -> Candidate:
    return Candidate(tool, 0.5, None, (relevance,), "start")


class PolicyContract:
    async def test_a_choice_is_on_offer(self, policy: Policy) -> None:
        offered = situation(candidate(GEOCODE), candidate(BOOKS, 0.3))
        choice = await policy.choose(offered)
        assert choice.reason
        assert choice.action in ("advance", "give_up")
        assert (choice.index in (0, 1)) == (choice.action == "advance")

    async def test_with_nothing_on_offer_it_ends_or_goes_back(self, policy: Policy) -> None:
        choice = await policy.choose(situation(path=(GEOCODE,)))
        assert choice.action in ("finish", "backtrack", "give_up")
        assert choice.index is None

    async def test_nothing_is_changed_that_the_request_does_not_ask_for(self, policy: Policy) -> None:
        tempting = replace(candidate(REMOVE, 0.9), weight=1.0, availability=1.0)
        choice = await policy.choose(situation(tempting))
        assert choice.action == "give_up"

    async def test_every_value_has_an_origin_and_what_has_none_is_missing(self, policy: Policy) -> None:
        for tool, earlier in ((GEOCODE, ()), (NEW_WEATHER, ((GEOCODE, PLACES),)), (NEW_WEATHER, ())):
            found = await policy.arguments(ArgumentsQuestion(REQUEST, tool, earlier))
            assert {binding.parameter for binding in found.provenance} == set(found.values)
            assert {p.name for p in tool.required} == set(found.values) | set(found.missing)
            assert not set(found.values) & set(found.missing)

    async def test_nothing_is_invented(self, policy: Policy) -> None:
        found = await policy.arguments(ArgumentsQuestion(REQUEST, NEW_WEATHER, ()))
        assert found.values == {}
        assert found.missing == ("latitude", "longitude")

    async def test_a_tool_without_parameters_needs_nothing(self, policy: Policy) -> None:
        found = await policy.arguments(ArgumentsQuestion(REQUEST, GEOCODE.model_copy(update={"parameters": ()}), ()))
        assert (found.values, found.provenance, found.missing) == ({}, (), ())

    async def test_the_fields_to_keep_are_fields_of_the_response(self, policy: Policy) -> None:
        fields = ("results[].city", "results[].latitude", "results[].longitude", "results[].population")
        kept = await policy.fields_to_keep(FieldsQuestion(GEOCODE, FOUND, fields))
        assert kept
        assert set(kept) <= set(fields)
        assert len(set(kept)) == len(kept)

    async def test_an_answer_names_its_calls(self, policy: Policy) -> None:
        answer = "".join([piece async for piece in policy.answer(REQUEST, [(GEOCODE, PLACES)])])
        assert "Places Set/search_places" in answer
        assert "[1]" in answer

    async def test_what_it_cost_is_counted_and_notices_are_whole(self, policy: Policy) -> None:
        before = policy.cost.model_calls
        await policy.choose(situation(candidate(GEOCODE)))
        assert policy.cost.model_calls >= before
        assert sum(policy.cost.by_purpose.values()) == policy.cost.model_calls
        assert all(notice.policy and notice.to and notice.reason for notice in policy.notices)
