"""A model's word on a remembered path, and its scores: what it is shown, and what becomes of answers that cannot be used."""

import json
from datetime import UTC, datetime

import pytest

from agent.llm.policy import LlmPolicy
from agent.policy.protocol import AdoptionQuestion, ScoreQuestion
from domain.errors import InvalidDecisionError
from domain.memory import Memory, RecalledMemory
from domain.plan import StepResult
from domain.tool import ToolDoc
from tests.support.small_world import BOOKS, GEOCODE, OLD_WEATHER, REMOVE
from tests.unit.agent.llm.test_policy import Told


def proposal(*path: ToolDoc) -> AdoptionQuestion:
    asked, at = "What is the weather in Rome?", datetime(2026, 5, 4, tzinfo=UTC)
    one = Memory(id="m", request=asked, pattern="p", path=tuple(tool.id for tool in path), at=at)
    return AdoptionQuestion("What is the weather in Paris?", RecalledMemory(memory=one, similarity=0.87), path)


def question() -> ScoreQuestion:
    good = StepResult(tool=GEOCODE.id, status="ok", outcome="ok", response='{"city": "Paris"}')
    bad = StepResult(tool=OLD_WEATHER.id, status="failed", outcome="gone", note="HTTP 410")
    return ScoreQuestion("Weather in Paris?", "It is mild.", True, ((GEOCODE, good),), ((OLD_WEATHER, bad),))


def scores(*values: object) -> str:
    return json.dumps({"scores": values})


@pytest.mark.parametrize("adopted", [True, False])
async def test_the_model_says_whether_a_path_is_taken(adopted: bool) -> None:
    model = Told(json.dumps({"reason": "same question", "adopted": adopted}))
    policy = LlmPolicy(model)
    found = await policy.decide(proposal(GEOCODE, OLD_WEATHER))
    assert (found.adopted, found.reason) == (adopted, "same question")
    shown = model.heard[0][1].text
    assert "What is the weather in Paris?" in shown
    assert "What is the weather in Rome?" in shown
    assert "0.87" in shown
    assert "1. Places Set/search_places" in shown
    assert "2. Weather Set/get_forecast" in shown
    assert policy.cost.by_purpose == {"adopt": 1}


async def test_a_path_that_changes_something_is_shown_as_such_and_the_model_decides() -> None:
    model = Told(json.dumps({"reason": "it asks for the same", "adopted": True}))
    assert (await LlmPolicy(model).decide(proposal(BOOKS, REMOVE))).adopted
    shown = model.heard[0][1].text
    assert "1. Books Set/search_books: " in shown
    assert "2. Books Set/delete_book (CHANGES SOMETHING): " in shown


async def test_no_valid_word_on_a_path_is_a_no() -> None:
    model = Told("perhaps", "{}")
    found = await LlmPolicy(model).decide(proposal(GEOCODE))
    assert (found.adopted, len(model.heard)) == (False, 2)


async def test_scores_are_the_model_s_own_one_a_step() -> None:
    model = Told(scores(0.5, -1))
    assert await LlmPolicy(model).decide(question()) == (0.5, -1.0)
    shown = model.heard[0][1].text
    assert "It is mild." in shown
    assert "From step 2 on they were given up on the way." in shown
    assert "The 2 scores?" in shown


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (scores(1), "there are 2 steps, and 1 scores were given"),
        (scores(1, 0, 0), "there are 2 steps, and 3 scores were given"),
        (scores(1, 1.01), "every score is a number from -1 to 1"),
        ('{"scores": [1, NaN]}', ""),
    ],
)
async def test_scores_that_cannot_be_used_are_told_back_once(said: str, complaint: str) -> None:
    model = Told(said, scores(1, 0))
    assert await LlmPolicy(model).decide(question()) == (1.0, 0.0)
    assert complaint in model.heard[1][-1].text
    with pytest.raises(InvalidDecisionError, match="scores"):
        await LlmPolicy(Told(said, said)).decide(question())
