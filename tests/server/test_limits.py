"""What a user may ask for is limited, and the answer says until when. Told over HTTP; counted as tests/contract/rows says."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from domain.errors import UsageError
from tests.support.server_world import PASSWORD, World, copied, serving

LATER = {"user_runs_per_day": 2, "user_tokens_per_day": 1000, "model_price_prompt": 1.0, "model_price_completion": 2.0}


async def asked(world: World, who: str, **choices: Any) -> httpx.Response:
    headers = await world.headers_of(who)
    talk = (await world.client.post("/api/v1/conversations", json={}, headers=headers)).json()["id"]
    body = {"request": "a request", **choices}
    return await world.client.post(f"/api/v1/conversations/{talk}/runs", json=body, headers=headers)


async def test_so_many_requests_a_minute(home: Path, tmp_path: Path) -> None:
    async with serving(copied(home, tmp_path / "home"), user_requests_per_minute=20) as world:
        mine, others = await world.headers_of("user"), await world.headers_of("other")
        statuses = [(await world.client.get("/api/v1/me", headers=mine)).status_code for _ in range(40)]
        assert statuses[:20] == [200] * 20
        assert statuses.count(429) >= 18
        refused = await world.client.get("/api/v1/me", headers=await world.headers_of("user"))
        assert refused.json()["code"] == "over_limit", "whichever of the user's sessions asks"
        assert int(refused.headers["Retry-After"]) >= 1
        assert (await world.client.get("/api/v1/me", headers=others)).status_code == 200
        assert (await world.client.get("/health")).status_code == 200


async def test_so_many_runs_a_day_and_what_is_left(home: Path, tmp_path: Path) -> None:
    async with serving(copied(home, tmp_path / "home"), **LATER) as world:
        assert [(await asked(world, "user")).status_code for _ in range(3)] == [202, 202, 429]
        refused = await asked(world, "user")
        assert refused.json()["code"] == "over_limit"
        assert "2 runs of today" in refused.json()["detail"]
        assert 0 < int(refused.headers["Retry-After"]) <= 86_400
        assert (await asked(world, "other")).status_code == 202
        days = world.services.storage.daily_usage
        await days.add(world.people["user"].id, prompt_tokens=300, completion_tokens=100)
        told = (await world.client.get("/api/v1/me/usage", headers=await world.headers_of("user"))).json()
        assert told["runs"] == {"used": 2, "most": 2, "left": 0}
        assert told["tokens"] == {"used": 400, "most": 1000, "left": 600}
        assert told["cost"] == {"used": pytest.approx(0.0005), "most": None, "left": None}
        assert datetime.fromisoformat(told["until"]) > datetime.now(UTC)


async def test_tokens_that_are_used_up_refuse_runs_that_would_take_any(home: Path, tmp_path: Path) -> None:
    model: dict[str, Any] = {"model_url": "http://127.0.0.1:9/v1", "model_name": "a-model"}
    async with serving(copied(home, tmp_path / "home"), user_tokens_per_day=1000, **model) as world:
        await world.services.storage.daily_usage.add(world.people["user"].id, prompt_tokens=900, completion_tokens=100)
        refused = await asked(world, "user", policy="llm")
        assert (refused.status_code, refused.json()["code"]) == (429, "over_limit")
        assert "1,000 tokens" in refused.json()["detail"]
        assert (await asked(world, "user")).status_code == 202


async def test_a_limit_of_costs_without_prices_is_refused_at_the_start(home: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="FOOTPATH_MODEL_PRICE_PROMPT"):
        async with serving(copied(home, tmp_path / "home"), user_cost_per_day=1.0, model_url="http://127.0.0.1:9/v1"):
            pass


async def test_answers_with_tokens_and_keys_are_kept_by_nobody(world: World) -> None:
    login = {"name": "user", "password": PASSWORD}
    for path, body in (("login", login), ("register", {"name": "new", "password": PASSWORD})):
        answer = await world.client.post(f"/api/v1/auth/{path}", json=body)
        assert answer.json()["access_token"]
        assert answer.headers["Cache-Control"] == "no-store"
    pair = {"refresh_token": answer.json()["refresh_token"]}
    answers = [
        await world.client.post("/api/v1/auth/refresh", json=pair),
        await world.client.get("/api/v1/me/tool-keys", headers=await world.headers_of("user")),
        await world.client.post("/api/v1/invitations", json={"role": "user"}, headers=await world.headers_of("admin")),
    ]
    assert [one.status_code for one in answers] == [200, 200, 201]
    assert {one.headers["Cache-Control"] for one in answers} == {"no-store"}
