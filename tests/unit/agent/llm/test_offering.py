"""A tool that changes something is on offer whenever it is among the candidates, in whatever words the request is put."""

import json
from dataclasses import replace

import pytest

from agent.llm.policy import LlmPolicy
from agent.offer.candidates import FollowingCandidate, ToolCandidate
from agent.policy.protocol import PathQuestion, ReflectionQuestion
from domain.tool import Parameter, ToolDoc, make_tool_id
from tests.support.policy_contract import candidate, situation
from tests.support.small_world import GEOCODE
from tests.unit.agent.llm.test_policy import Told, choice

BOOK_TABLE = ToolDoc(
    id=make_tool_id("Food", "Tables", "create_reservation"), category="Food", toolset="Tables", api="create_reservation",
    function="create_reservation_for_tables", method="POST", url="https://tables.example/reservations",
    description="Reserve a table at a restaurant.", parameters=(Parameter(name="guests", type="integer", required=True),),
)  # fmt: skip
CANCEL = BOOK_TABLE.model_copy(
    update={"id": make_tool_id("Food", "Tables", "cancel"), "api": "cancelReservation", "method": "GET"}
)
REQUESTS = [
    "Get me a table for four at Salt & Sorrel",
    "Einen Tisch für vier im Salt & Sorrel, bitte",
    "在 Salt & Sorrel 订一张四人桌",
    "What is the temperature in Paris?",
]
CHANGES = "Tables/create_reservation (CHANGES SOMETHING): Reserve a table at a restaurant."


@pytest.mark.parametrize("request_text", REQUESTS)
async def test_a_move_to_it_is_offered_and_taken(request_text: str) -> None:
    model = Told(choice("advance", 2))
    given = replace(situation(candidate(GEOCODE), candidate(BOOK_TABLE)), request=request_text)
    found = await LlmPolicy(model).decide(given)
    assert (found.action, found.index) == ("advance", 1)
    assert f"2. {CHANGES}" in model.heard[0][1].text
    assert "A tool that changes something is taken where the request asks for that change" in model.heard[0][0].text


@pytest.mark.parametrize("request_text", REQUESTS)
async def test_so_it_is_in_a_whole_path_and_as_a_start_tool(request_text: str) -> None:
    model = Told(json.dumps({"reason": "so", "numbers": [1]}), json.dumps({"reason": "so", "verdict": "success"}))
    policy, one = LlmPolicy(model), candidate(BOOK_TABLE)
    path = PathQuestion(request_text, (request_text,), (), (), (0.7,), (one,), max_steps=3)
    assert (await policy.decide(path)).steps == (0,)
    judged = ReflectionQuestion(
        request_text, (request_text,), (), (BOOK_TABLE,), ((0.7,),), (one,), "finished", "all is served"
    )
    assert (await policy.decide(judged)).verdict == "success"
    assert all(f"1. {CHANGES}" in heard[1].text for heard in model.heard)


async def test_what_follows_goes_by_the_number_it_comes_behind() -> None:
    behind = FollowingCandidate(1, ToolCandidate(BOOK_TABLE, 0.5, None, (0.6,), "graph"))
    model = Told(json.dumps({"reason": "so", "action": "advance", "number": 2, "then": [3], "done": True}))
    given = replace(situation(candidate(CANCEL), candidate(GEOCODE)), followers=(behind,))
    found = await LlmPolicy(model).decide(given)
    assert (found.index, found.next_tools, found.completes_path) == (1, (BOOK_TABLE.id,), True)
    shown = model.heard[0][1].text
    assert "1. Tables/cancelReservation (MAY CHANGE SOMETHING): " in shown
    assert f"3. {CHANGES} | after 2" in shown


async def test_where_there_is_nothing_the_model_is_not_asked() -> None:
    model = Told()
    policy = LlmPolicy(model)
    assert (await policy.decide(situation())).action == "give_up"
    assert (await policy.decide(PathQuestion("x", ("x",), (), (), (0.7,), (), max_steps=3))).steps == ()
    assert model.heard == []
