"""What the author of a program is shown of files, and where their values are found again."""

import json

import pytest
from pydantic.types import JsonValue

from agent.files.file_origins import FileOrigins
from agent.files.file_parsing import FileLimits, read_file
from agent.files.given_files import GivenFiles
from domain.given_file import GivenFile

ORDERS = "id,name,amount,note\n" + "".join(
    f"{number},Person {number},{'' if number == 2 else number * 1.5},{'call Ada Ost first' if number == 3 else ''}\n"
    for number in range(1, 201)
)


def file(name: str, content: str) -> GivenFile:
    return read_file(name, content.encode(), FileLimits())


def test_an_author_is_shown_columns_and_a_few_rows_and_never_the_whole() -> None:
    files = GivenFiles((file("orders.csv", ORDERS), file("notes.txt", "Buy milk.\n" * 100)))
    assert files.preview.startswith(
        "orders: list[{'id':int,'name':str,'amount':float | None,'note':str}]  # orders.csv, 200 rows\n  {'id': 1"
    )
    assert ("Person 3" in files.preview, "Person 4" in files.preview, "197 more" in files.preview) == (
        True,
        False,
        True,
    )
    assert "notes: str  # notes.txt, a text of 1,000 characters" in files.preview
    assert len(files.preview) < 2_500


def test_of_many_large_files_what_is_shown_stays_short() -> None:
    wide = ",".join(f"a_rather_long_name_of_column_{at}" for at in range(60))
    files = GivenFiles(tuple(file(f"file{one}.csv", f"{wide}\n{','.join(['x' * 60] * 60)}\n" * 4) for one in range(5)))
    assert len(files.preview) < 12_000
    assert [f"file{one}: list[" in files.preview for one in range(5)] == [True] * 5


def test_a_program_finds_only_what_it_reads() -> None:
    files = GivenFiles((file("orders.csv", ORDERS),), (file("cities.json", '["Oslo"]'),))
    assert files.select_values({"cities", "today"}) == {"cities": ["Oslo"]}


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("Person 7", "orders.csv, row 7, column name"),
        (7, "orders.csv, row 7, column id"),
        ("7", "orders.csv, row 7, column id"),
        (6.0, "orders.csv, rows 4, 6, columns amount, id"),
        ("Ada Ost", "orders.csv, words inside row 3, column note"),
        ("Oslo", "cities.json, [1].city"),
        ("milk", "notes.txt, words inside a text"),
        ("nowhere", None),
    ],
)
def test_a_value_is_told_by_its_place_in_a_file(value: JsonValue, place: str | None) -> None:
    cities = json.dumps([{"city": "Rome"}, {"city": "Oslo"}])
    files = (file("orders.csv", ORDERS), file("cities.json", cities), file("notes.txt", "Buy milk.\n"))
    assert FileOrigins(files).find_place(value) == place
    if value == 6.0:
        assert FileOrigins(files).find_place(value, {"orders"}, "amount") == "orders.csv, row 4, column amount"
