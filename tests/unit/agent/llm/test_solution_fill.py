"""The small question whether a solution serves a request: what a model is shown, and what becomes of its answer."""

import json
from collections.abc import Sequence

import pytest
from pydantic.types import JsonValue

from agent.llm.policy import LlmPolicy
from agent.llm.solutions import MAX_WORDINGS
from agent.solutions.protocol import FillQuestion
from domain.model import JsonObject
from offline.policy import OfflinePolicy
from tests.unit.agent.llm.test_policy import Told
from tests.unit.agent.policy.test_fallback import BUSY, made

DAY: JsonObject = {"type": "string", "format": "date", "description": "The day.", "x-looks": "digits 0000-00-00"}
QUESTION = FillQuestion("What weekday is tomorrow?", "Which weekday is {day}?", {"day": DAY}, "2026-11-23", {})


def answer(fits: object, wordings: Sequence[str] = (), **values: JsonValue) -> str:
    inputs = [{"input": name, "value": value} for name, value in values.items()]
    return json.dumps({"reason": "so it is", "fits": fits, "inputs": inputs, "wordings": list(wordings)})


async def test_pattern_inputs_day_and_request_are_shown_and_no_code() -> None:
    model = Told(answer(True, ["{What|Which} weekday is {day}?"] * 5, day="2026-11-24"))
    policy = LlmPolicy(model)
    filled = await policy.decide(QUESTION)
    assert (filled.fits, filled.values) == (True, {"day": "2026-11-24"})
    assert filled.wordings == ("{What|Which} weekday is {day}?",) * MAX_WORDINGS
    shown = model.heard[0][1].text
    assert "Which weekday is {day}?" in shown
    assert '"format": "date"' in shown
    assert "x-looks" not in shown
    assert "today = '2026-11-23'" in shown
    assert policy.cost.by_purpose == {"fill": 1}


@pytest.mark.parametrize(
    "said", [answer(True, day="soon"), answer(True, date="2026-11-24"), "it fits", answer("maybe")]
)
async def test_what_cannot_be_used_is_told_back_once_and_then_does_not_fit(said: str) -> None:
    model = Told(said, said)
    filled = await LlmPolicy(model).decide(QUESTION)
    assert (filled.fits, filled.values) == (False, {})
    assert len(model.heard) == 2


async def test_one_that_does_not_fit_gives_neither_values_nor_wordings() -> None:
    filled = await LlmPolicy(Told(answer(False, ["{day}"], day="2026-11-24"))).decide(QUESTION)
    assert (filled.fits, filled.values, filled.wordings) == (False, {}, ())


async def test_without_a_model_rules_decide() -> None:
    asked = FillQuestion("Tell me the population of Oslo.", "What is the population of {city}?", {"city": {"type": "string"}}, "2026-11-23", {})  # fmt: skip
    filled = await OfflinePolicy().decide(asked)
    assert (filled.fits, filled.values) == (True, {"city": "Oslo"})
    assert (await made(BUSY)[0].decide(asked)).reason == "offline"
    assert not (await OfflinePolicy().decide(QUESTION)).fits
