"""What a run may choose, and what is said of other choices."""

from pathlib import Path

import pytest

from agent.planners.registry import PLANNER_DESCRIPTIONS, PLANNERS
from tests.support.rights_matrix import a_template
from tests.support.server_world import World, serving

MODELS = {"model_url": "http://127.0.0.1:9/v1", "model_name": "usual", "model_names": "small, usual,,large"}


async def test_without_a_model_rules_decide(world: World) -> None:
    answer = await world.client.get("/api/v1/choices", headers=await world.headers_of("user"))
    told = answer.json()
    assert [one["name"] for one in told["policies"]] == ["offline"]
    assert (told["models"], told["default_model"]) == ([], "")
    assert PLANNER_DESCRIPTIONS.keys() == PLANNERS.keys()
    assert [one["name"] for one in told["planners"]] == [one for one in PLANNERS if one != "solution"]


async def test_models_are_those_of_the_settings(tmp_path: Path) -> None:
    async with serving(tmp_path, **MODELS) as world:
        headers = await world.headers_of("user")
        told = (await world.client.get("/api/v1/choices", headers=headers)).json()
        assert [one["name"] for one in told["policies"]] == ["llm", "offline"]
        assert [one["name"] for one in told["planners"]] == list(PLANNERS)
        assert (told["models"], told["default_model"]) == (["usual", "small", "large"], "usual")


async def test_rules_may_be_what_is_begun_with(tmp_path: Path) -> None:
    async with serving(tmp_path, **MODELS, policy="offline") as world:
        told = (await world.client.get("/api/v1/choices", headers=await world.headers_of("user"))).json()
        assert [one["name"] for one in told["policies"]] == ["offline", "llm"]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"policy": "llm", "model": "other"}, "there are: usual, small, large"),
        ({"policy": "offline", "model": "small"}, "by the policy llm only"),
        ({"planner": "magic"}, "no planner"),
    ],
)
async def test_what_there_is_not_is_refused(tmp_path: Path, chosen: dict[str, str], said: str) -> None:
    async with serving(tmp_path, **MODELS) as world:
        headers = await world.headers_of("user")
        talk = (await world.client.post("/api/v1/conversations", json={}, headers=headers)).json()["id"]
        url = f"/api/v1/conversations/{talk}/runs"
        answer = await world.client.post(url, json={"request": "a request", **chosen}, headers=headers)
        assert answer.status_code == 400
        assert said in answer.json()["detail"]
        assert (await world.client.get(url, headers=headers)).json() == []
        kept = await world.client.post(url, json={"request": "a", "policy": "llm", "model": "small"}, headers=headers)
        assert (kept.status_code, kept.json()["model"]) == (202, "small")


async def test_the_model_that_was_chosen_is_asked(tmp_path: Path) -> None:
    """Each has its own client; the usual one is asked where none is named."""
    from wiring.models import SharedModel
    from wiring.settings import Settings

    settings = Settings(**MODELS)  # pyright: ignore[reportArgumentType]
    named = [SharedModel(settings, name) for name in ("", "large")]
    assert [one.model.name for one in named] == ["usual", "large"]
    for one in named:
        await one.model.close()


async def test_a_template_is_run_with_what_was_chosen(tmp_path: Path) -> None:
    async with serving(tmp_path, **MODELS) as world:
        headers = await world.headers_of("user")
        talk = (await world.client.post("/api/v1/conversations", json={}, headers=headers)).json()["id"]
        url = f"/api/v1/templates/{(await a_template(world))['template_id']}/runs"
        chosen = {"conversation_id": talk, "policy": "llm", "model": "small"}
        made = await world.client.post(url, json=chosen, headers=headers)
        assert (made.status_code, made.json()["policy"], made.json()["model"]) == (202, "llm", "small")
        plain = await world.client.post(url, json={"conversation_id": talk}, headers=headers)
        assert (plain.json()["policy"], plain.json()["model"]) == ("offline", "")
        for wrong in ({"model": "other"}, {"policy": "offline"}):
            assert (await world.client.post(url, json={**chosen, **wrong}, headers=headers)).status_code == 400
