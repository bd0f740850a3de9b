"""A user's tokens of language models end within a run that takes the last of them, and all later ones are refused until tomorrow."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.models.openai_server import model_server
from tests.models.rule_based import RuleBasedModel
from tests.support.playground_process import running_playground
from tests.support.server_load import Follower, many_users, sent
from tests.support.server_process import INHABITANTS, built, serving


@pytest.fixture
def playground() -> Iterator[str]:
    with running_playground() as address:
        yield address


async def asked(address: str, token: str, planner: str) -> tuple[int, Any]:
    """Status and answer of asking for a run with the model: ``program`` needs one call of it, ``dfs`` several."""
    _, conversation = await sent(address, token, "POST", "/conversations", {})
    body = {"request": INHABITANTS, "policy": "llm", "planner": planner}
    return await sent(address, token, "POST", f"/conversations/{conversation['id']}/runs", body)


@pytest.mark.parametrize(("most", "planner"), [("0", "program"), ("1", "dfs")])
async def test_tokens_end_within_a_run(playground: str, tmp_path: Path, most: str, planner: str) -> None:
    answered = most == "0"
    place = await asyncio.to_thread(built, tmp_path, playground)
    ada, eve = await many_users(tmp_path / "home", 2)
    async with model_server(RuleBasedModel()) as model:
        settings = {
            "FOOTPATH_MODEL_URL": model.url,
            "FOOTPATH_MODEL_NAME": model.model,
            "FOOTPATH_MODEL_PRICE_PROMPT": "1",
            "FOOTPATH_MODEL_PRICE_COMPLETION": "1",
            "FOOTPATH_USER_TOKENS_PER_DAY": most,
        }
        with serving(place, tmp_path / "home", **settings) as (address, _):
            status, run = await asked(address, ada, planner)
            assert status == 202, run
            follower = Follower(address, ada, run["id"])
            await follower.follow()
            end = json.loads(follower.received[-1][1][6:])["event"]
            assert (end["outcome"] == "answered") == answered, end
            _, used = await sent(address, ada, "GET", "/me/usage")
            taken = end["usage"]["prompt_tokens"] + end["usage"]["completion_tokens"]
            assert used["tokens"]["used"] == taken > 0
            assert used["cost"]["used"] == pytest.approx(taken / 1_000_000)
            status, refused = await asked(address, ada, planner)
            if answered:
                assert status == 202, refused
                return
            assert (status, refused["code"]) == (429, "over_limit")
            assert "UTC" in refused["detail"]
            assert end["usage"]["model_calls"] <= 2, "the call that took the last, and one about how it ends"
            assert (await asked(address, eve, planner))[0] == 202, "another user's are her own"
