"""Values that are picked out of a response, as steps and texts name their places."""

import pytest

from ui.picking import expression, picks

RESPONSE = '{"results": [{"id": 7, "name": "Velmora"}, {"id": 8, "tags": ["a"]}], "total": 2}'


def test_each_value_is_offered_and_that_of_the_item_that_the_request_names() -> None:
    found = picks(RESPONSE)
    assert [one.field for one in found] == [
        "results[].id",
        "results[0].id",
        "results[].name",
        "results[0].name",
        "results[1].id",
        "results[].tags[]",
        "results[1].tags[0]",
        "total",
    ]
    assert found[1].told == "results[0].id = 7"
    assert picks("no JSON") == picks('"text"') == []
    assert len(picks(str([[1] * 50] * 50).replace("'", '"'))) <= 80


@pytest.mark.parametrize(
    ("field", "written"),
    [
        ("results[0].id", 'found["results"][0]["id"]'),
        ("results[].id", 'named(found["results"])["id"]'),
        ("results[].tags[]", 'named(named(found["results"])["tags"])'),
        ("[2].über", 'found[2]["über"]'),
    ],
)
def test_a_place_is_written_as_python(field: str, written: str) -> None:
    assert expression("found", field) == written
