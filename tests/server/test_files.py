"""Files that are given with questions, over the API."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from tests.support.server_world import World, copied, serving


def body(name: str, content: bytes) -> dict[str, str]:
    return {"name": name, "content": b64encode(content).decode()}


async def a_conversation(world: World, headers: dict[str, str]) -> str:
    return (await world.client.post("/api/v1/conversations", json={}, headers=headers)).json()["id"]


async def test_a_file_is_given_looked_at_exported_and_removed(home: Path, tmp_path: Path) -> None:
    async with serving(copied(home, tmp_path / "home"), file_rows=3) as world:
        headers = await world.headers_of("user")
        place = f"/api/v1/conversations/{await a_conversation(world, headers)}"
        given = await world.client.post(
            f"{place}/files", json=body("My trips.csv", b"city,days\nOslo,3\n"), headers=headers
        )
        told = given.json()
        assert (given.status_code, told["variable"], told["kind"], told["rows"]) == (201, "my_trips", "table", 1)
        assert told["sample"] == [{"city": "Oslo", "days": 3}]
        assert (await world.client.get(f"{place}/files", headers=headers)).json() == [told]
        exported: Any = (await world.client.get(f"{place}/export", headers=headers)).json()
        assert [one["file"]["value"] for one in exported["files"]] == [[{"city": "Oslo", "days": 3}]]
        for policy, planner in (("offline", ""), ("llm", "dfs")):
            asked = {"request": "How long?", "policy": policy, "planner": planner, "files": [told["id"]]}
            refused = await world.client.post(f"{place}/runs", json=asked, headers=headers)
            assert (refused.status_code, "model" in refused.json()["detail"]) == (400, True)
        assert (await world.client.delete(f"{place}/files/{told['id']}", headers=headers)).status_code == 204
        assert (await world.client.get(f"{place}/files", headers=headers)).json() == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"city,days\nOslo,3,4\n", "line 2 has 3 values"),
        (b"city\n" + b"Oslo\n" * 4, "more than 3 rows"),
        (b"%PDF", "a PDF"),
    ],
)
async def test_what_is_wrong_with_a_file_is_said(home: Path, tmp_path: Path, content: bytes, said: str) -> None:
    async with serving(copied(home, tmp_path / "home"), file_rows=3) as world:
        headers = await world.headers_of("user")
        place = f"/api/v1/conversations/{await a_conversation(world, headers)}/files"
        refused = await world.client.post(place, json=body("a.csv", content), headers=headers)
        assert (refused.status_code, said in refused.json()["detail"]) == (400, True)


async def test_a_file_of_a_mebibyte_comes_in_and_no_other_body_of_its_size(home: Path, tmp_path: Path) -> None:
    async with serving(copied(home, tmp_path / "home")) as world:
        headers = await world.headers_of("user")
        place = f"/api/v1/conversations/{await a_conversation(world, headers)}"
        whole = body("long.txt", b"word " * 209_000)
        assert (await world.client.post(f"{place}/files", json=whole, headers=headers)).status_code == 201
        assert (await world.client.post("/api/v1/conversations", json=whole, headers=headers)).status_code == 413
