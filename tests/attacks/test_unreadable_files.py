"""A file that no answer could be written of again is refused, and its conversation stays as it was."""

from pathlib import Path

import pytest

from tests.server.test_files import a_conversation, body
from tests.support.server_world import copied, serving


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("half.json", rb'"\ud800"', "its only value"),
        ("half.json", rb'{"rows": [{"a\udfff": 1}]}', "['rows'][0]"),
        ("nul.json", rb'[["\u0000"]]', "[0][0]"),
        ("none.json", b"NaN", "its only value"),
        ("none.txt", b'{"n": -Infinity}', "['n']"),
        ("large.json", b'{"rows": [{"n": 1}, {"n": 1e999}]}', "['rows'][1]['n']"),
        ("large.jsonl", b'{"n": 1}\n{"n": 1e999}\n', "line 2 ['n']"),
        ("digits.json", b'{"n": ' + b"9" * 5_000 + b"}", "line 1, column 7"),
        ("commas.csv", b",,,\n,,,\n", "line 1"),
        ("semicolons.csv", b";;;\n", "line 1"),
    ],
)
async def test_a_file_that_no_answer_can_hold_is_refused_with_its_place(
    home: Path, tmp_path: Path, name: str, content: bytes, place: str
) -> None:
    async with serving(copied(home, tmp_path / "home")) as world:
        headers = await world.headers_of("user")
        files = f"/api/v1/conversations/{await a_conversation(world, headers)}/files"
        refused = await world.client.post(files, json=body(name, content), headers=headers)
        assert (refused.status_code, place in refused.json()["detail"]) == (400, True), refused.text
        listed = await world.client.get(files, headers=headers)
        assert (listed.status_code, listed.json()) == (200, [])
