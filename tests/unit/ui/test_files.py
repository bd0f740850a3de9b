"""Files with a question on the page: how one begins, and what is said of it."""

import pytest
from pydantic import JsonValue

from tests.unit.ui.served import HOSTILE, Served
from ui.client import ServerError
from ui.files import File, Preview, give, preview

GIVEN = {
    "id": "f",
    "name": "a.csv",
    "variable": "a",
    "kind": "table",
    "rows": 2,
    "bytes": 9,
    "created_at": "2026-03-01T12:00:00Z",
    "sample": [{"n": 1, "m": None}],
}


def file(sample: JsonValue) -> File:
    return File.model_validate(GIVEN | {"sample": sample})


@pytest.mark.parametrize(
    ("sample", "seen"),
    [
        (
            [{"n": 1, "m": None}, {"n": 2.5, "k": HOSTILE}],
            Preview(heads=["n", "m", "k"], rows=[["1", "", ""], ["2.5", "", HOSTILE]]),
        ),
        (["Oslo", 3], Preview(rows=[["Oslo"], ["3"]])),
        ("Dear Ann", Preview(text="Dear Ann")),
        ({"a": 1}, Preview(text="{'a': 1}")),
        ([], Preview()),
        (None, Preview()),
    ],
)
def test_how_a_file_begins_is_seen(sample: JsonValue, seen: Preview) -> None:
    assert preview(file(sample)) == seen


def test_a_file_is_sent_whole_and_refused_in_words() -> None:
    served = Served({"POST /conversations/c/files": GIVEN})
    assert give(served.client, "c", "a.csv", b"n,m\n1,\n").rows == 2
    assert served.asked == [("POST /conversations/c/files", {"name": "a.csv", "content": "bixtCjEsCg=="})]
    with pytest.raises(ServerError):
        give(Served({}).client, "c", "a.csv", b"")
