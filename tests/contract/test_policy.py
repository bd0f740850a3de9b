"""The policies keep their contract: offline, and a model behind the real protocol that is right, wrong, hostile or gone."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from agent.llm.client.langchain_model import LangchainModel, ModelParameters
from agent.llm.policy import LlmPolicy
from agent.policy.fallback import CircuitBreaker, FallbackPolicy
from agent.policy.protocol import ArgumentsQuestion, Policy
from offline.policy import OfflinePolicy
from tests.models.brain import WHOLE, Brain, advance, bind, move, split
from tests.models.openai_replies import BROKEN_JSON, WEB_PAGE, ChatRequest, Reply, Resets, Respond, scripted
from tests.models.openai_server import model_server
from tests.support.policy_contract import REQUEST, PolicyContract, candidate, situation
from tests.support.small_world import NEW_WEATHER, REMOVE


def sensible(request: ChatRequest) -> Reply | str:
    """Right where it can be, and honest where it cannot."""
    known = "step" in request.prompt and "48.85" in request.prompt
    point = bind(
        ("latitude", 48.85, "step", "1.results[0].latitude"), ("longitude", 2.35, "step", "1.results[0].longitude")
    )
    city = bind(("city", "Paris", "request", "Paris"))
    none = bind(missing=["latitude", "longitude"])
    return Brain(
        decompose=[
            split("What is the temperature in Paris?", 'Who is the author of the book "Dune"?')
            if "Dune" in request.prompt
            else WHOLE
        ],
        choose=[advance(1) if "\n1. Places" in request.prompt else move("give_up")],
        arguments=[city if "search_places" in request.prompt.partition("[[tool ")[2] else point if known else none],
        fields_to_keep=[{"numbers": [2, 3]}],
        answer=["It has 2100000 inhabitants [1]."],
    )(request)


def inventive(request: ChatRequest) -> Reply | str:
    """Valid in form, wrong in substance: unknown numbers, made-up values and places."""
    made_up = bind(
        ("latitude", 48.85, "request", "Paris"), ("longitude", 2.35, "step", "1.results[0].longitude"),
        ("city", "Berlin", "request", "Berlin"), ("api_key", "sk-1", "default", ""),
    )  # fmt: skip
    return Brain(
        decompose=[split("What is the temperature in Lima?", "Delete the book", after=(2, 7))],
        reflect=[{"reason": "", "verdict": "partial", "first_wrong": 12, "noisy": [5]}],
        choose=[advance(99)], arguments=[made_up], fields_to_keep=[{"numbers": [0, 77]}], answer=["   "]
    )(request)  # fmt: skip


async def _policy(respond: Respond, attempts: int = 1) -> AsyncGenerator[Policy, None]:
    async with model_server(respond) as server:
        model = LangchainModel(ModelParameters(server.url, server.model, attempts=attempts, timeout=5))
        yield FallbackPolicy(LlmPolicy(model), OfflinePolicy(), CircuitBreaker())
        await model.close()


class TestOffline(PolicyContract):
    @pytest.fixture
    def policy(self) -> Policy:
        return OfflinePolicy()

    async def test_nothing_is_changed_that_the_request_does_not_ask_for(self, policy: Policy) -> None:
        tempting = replace(candidate(REMOVE, 0.9), weight=1.0, availability=1.0)
        choice = await policy.decide(situation(tempting))
        assert choice.action == "give_up"

    async def test_nothing_is_invented(self, policy: Policy) -> None:
        found = await policy.decide(ArgumentsQuestion(REQUEST, NEW_WEATHER, ()))
        assert found.values == {}
        assert found.missing == ("latitude", "longitude")


class TestSensibleModel(PolicyContract):
    @pytest.fixture
    async def policy(self) -> AsyncGenerator[Policy, None]:
        async for policy in _policy(sensible):
            yield policy


class TestInventiveModel(PolicyContract):
    @pytest.fixture
    async def policy(self) -> AsyncGenerator[Policy, None]:
        async for policy in _policy(inventive):
            yield policy


class TestModelThatTalksNonsense(PolicyContract):
    @pytest.fixture
    async def policy(self) -> AsyncGenerator[Policy, None]:
        async for policy in _policy(scripted("Ignore that. {{{[[ I would rather tell [1] a story.")):
            yield policy


class TestBrokenEndpoint(PolicyContract):
    @pytest.fixture(params=[Resets(), BROKEN_JSON, WEB_PAGE], ids=["resets", "broken", "page"])
    async def policy(self, request: pytest.FixtureRequest) -> AsyncGenerator[Policy, None]:
        async for policy in _policy(scripted(request.param)):
            yield policy
