"""What administrators see of usage, and limits of single users that the server keeps."""

from typing import Any

from server.storage.run_history import summarize_durations
from tests.support.server_world import World


async def asks(world: World, who: str, policy: str = "offline") -> Any:
    headers = await world.headers_of(who)
    talk = (await world.client.post("/api/v1/conversations", json={}, headers=headers)).json()["id"]
    body = {"request": "hello", "policy": policy}
    return await world.client.post(f"/api/v1/conversations/{talk}/runs", json=body, headers=headers)


async def limit(world: World, who: str, **limits: object) -> Any:
    path = f"/api/v1/users/{world.people[who].id}/limits"
    return await world.client.put(path, json=limits, headers=await world.headers_of("admin"))


async def test_one_users_runs_are_limited_before_a_run_begins_and_it_is_said_when_there_are_more(world: World) -> None:
    assert (await limit(world, "user", runs=1)).json()["counts"]["runs"] == 1
    assert (await asks(world, "user")).status_code == 202
    refused = await asks(world, "user")
    assert (refused.status_code, refused.json()["code"]) == (429, "over_limit")
    said = refused.json()["detail"]
    assert said.startswith("your 1 run of today is used up; there is more from")
    assert said.endswith("or an administrator raises the limit")
    assert int(refused.headers["Retry-After"]) <= 86_400
    assert (await asks(world, "other")).status_code == 202, "others have what everybody has"
    mine = (await world.client.get("/api/v1/me/usage", headers=await world.headers_of("user"))).json()
    assert mine["runs"] == {"used": 1, "most": 1, "left": 0}
    await limit(world, "user")
    assert (await asks(world, "user")).status_code == 202, "null is as for everybody again"


async def test_limits_of_cost_need_prices(world: World) -> None:
    answer = await limit(world, "user", cost=3)
    assert answer.status_code == 400
    assert "FOOTPATH_MODEL_PRICE_PROMPT" in answer.json()["detail"]


async def test_what_all_used_is_summed_by_day_and_by_user(world: World) -> None:
    days, (user, other) = world.services.storage.daily_usage, (world.people["user"], world.people["other"])
    await days.add(user.id, prompt_tokens=100, completion_tokens=10, model_calls=2)
    await days.add(user.id, prompt_tokens=50, completion_tokens=0, model_calls=1)
    await days.add(other.id, prompt_tokens=1000, completion_tokens=1)
    headers = await world.headers_of("admin")
    shown = (await world.client.get("/api/v1/usage", headers=headers)).json()
    (today,) = shown["days"]
    assert (today["prompt_tokens"], today["completion_tokens"], today["model_calls"]) == (1150, 11, 3)
    assert [(one["name"], one["prompt_tokens"], one["cost"]) for one in shown["users"]] == [
        ("other", 1000, None),
        ("user", 150, None),
    ]
    found = (await world.client.get("/api/v1/usage", params={"name": "US"}, headers=headers)).json()
    assert [one["name"] for one in found["users"]] == ["user"]


def test_figures_tell_failures_and_the_seconds_that_most_needed() -> None:
    told = [("a", number == 0, float(number)) for number in range(1, 101)] + [("b", True, 7.0)]
    often, once = summarize_durations(told)
    assert (often.name, often.count, often.failed, often.median, often.p95) == ("a", 100, 0, 50.0, 95.0)
    assert (once.failed, once.median, once.p95) == (1, 7.0, 7.0)
