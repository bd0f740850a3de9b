"""The tests' own author of programs: what it writes is read out of replies as a real author's is, its slips included."""

import ast
import random

import pytest

from agent.llm.client.chat import ModelReply, ModelTokenUsage
from agent.llm.program_authoring import build_program_messages
from agent.llm.program_reply import extract_program
from agent.llm.prompts import PromptFence, load_instructions
from agent.programs.program_types import ProgramAttempt, ProgramQuestion
from agent.programs.signatures import render_offer
from agent.programs.value_previews import preview_values
from domain.tool import Parameter, ToolDoc, ToolId
from tests.models.openai_replies import ChatRequest
from tests.models.rule_based import RuleBasedModel
from tests.models.slips import slip
from tests.support.small_world import REMOVE

PLACES = ToolDoc(
    id=ToolId("it/places"), category="It", toolset="Places", api="search_places", function="search_places", description="find a city by its name",
    parameters=(Parameter(name="city", type="string", required=True),),
    response_schema='{"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": '
    '{"place_id": {"type": "string"}, "population": {"type": "integer"}}}}}}',
)  # fmt: skip
WEATHER = ToolDoc(
    id=ToolId("it/weather"), category="It", toolset="Weather", api="get_weather", function="get_weather", description="weather at a place",
    parameters=(Parameter(name="place_id", type="string", required=True),),
)  # fmt: skip
REQUEST = "What is the weather in Paris?"


async def asked(model: RuleBasedModel, *attempts: ProgramAttempt, request: str = REQUEST) -> str:
    question = ProgramQuestion(request, render_offer([PLACES, WEATHER, REMOVE]), "2026-11-23", attempts=attempts)
    messages = build_program_messages(question, await load_instructions("program"), PromptFence())
    body = {"messages": [{"role": one.role, "content": one.text} for one in messages]}
    return extract_program(ModelReply(model(ChatRequest("/v1/chat/completions", {}, body)), ModelTokenUsage(1, 1))).text


FIRST = (
    "found1 = await search_places(city='Paris')\n"
    "found2 = await get_weather(place_id=found1['results'][0]['place_id'])\n"
    "look(found2)"
)


async def test_inputs_come_from_other_functions_and_unknown_structures_are_looked_at() -> None:
    assert await asked(RuleBasedModel()) == FIRST


async def test_a_further_cell_uses_what_was_seen() -> None:
    seen = preview_values({"now": {"weather": "rain", "pressure": 1000}})
    written = await asked(RuleBasedModel(), ProgramAttempt(FIRST, seen.text, seen.foreign, names_valid=True))
    assert written == (
        '{"answered": "yes", "answer": f"weather: {found2[\'now\'][\'weather\']}", "missing": ""}'
    )  # fmt: skip


async def test_known_fields_are_told() -> None:
    written = await asked(RuleBasedModel(), request="What is the population of Paris?")
    assert "population: {found1['results'][0]['population']}" in written


async def test_what_no_function_serves_is_not_served() -> None:
    assert ast.literal_eval(await asked(RuleBasedModel(), request="Sing me a song"))["answered"] == "no"


async def test_errors_come_at_their_rate_and_a_second_try_has_other_luck() -> None:
    model = RuleBasedModel(0.5)
    texts = [await asked(model) for _ in range(40)]
    assert 8 <= model.errors.total() <= 32
    assert FIRST in texts


@pytest.mark.parametrize("seed", range(12))
def test_slips_are_programs_with_one_thing_wrong(seed: int) -> None:
    way, reply = slip(FIRST, random.Random(seed))
    text = extract_program(ModelReply(reply, ModelTokenUsage(1, 1))).text
    assert (text == FIRST) == (way == "prose around")
    ast.parse(text)
