"""What is wrong with a request is told in the words of JSON, not in those of what the server is written in."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from server.json_words import said
from tests.support.rights_matrix import EXPECTED
from tests.support.server_world import World

QUOTED = re.compile(r"'[^']*'")
"""A value that is one of a few, in quotes: as it is written in JSON."""
PYTHON = re.compile(
    r"dictionary|\bdict\b|\bstr(ing)?\b|\bint(eger)?\b|\bNone|\blist\b|tuple|\bset\b|float|\bbool|Value error|validation|instance|input should",
    re.I,
)
WRONG: tuple[Any, ...] = (None, "☔", "", 3, 2.5, 10**30, True, [], [None], ["☔"], {}, {"x": None}, {"☔": 3})


class Point(BaseModel):
    model_config = ConfigDict(extra="forbid")

    at: int


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (dict[str, int], [], "must be an object"),
        (Point, 3, "must be an object"),
        (Point, {}, "is required"),
        (Point, {"at": 1, "by": 2}, "is a field that is not known here"),
        (tuple[int, ...], {}, "must be an array"),
        (str, None, "must be a text"),
        (int, "x", "must be a whole number"),
        (int, 1.5, "must be a whole number"),
        (float, "x", "must be a number"),
        (bool, "x", "must be true or false"),
        (None, 1, "must be null"),
        (Literal["a", "b"], 1, "must be 'a' or 'b'"),
        (Annotated[int, Field(ge=1)], 0, "must be at least 1"),
        (Annotated[int, Field(lt=1)], 1, "must be less than 1"),
        (Annotated[str, Field(min_length=1)], "", "must have at least 1 character"),
        (Annotated[str, Field(min_length=2)], "", "must have at least 2 characters"),
        (Annotated[SecretStr, Field(min_length=8)], "short", "must have at least 8 characters"),
        (Annotated[str, Field(pattern="^a$")], "b", "must match the pattern ^a$"),
        (Annotated[list[int], Field(max_length=1)], [1, 2], "must have at most 1 item"),
        (dict[Annotated[str, Field(max_length=2)], int], {"abc": 1}, "as a name, it must have at most 2 characters"),
    ],
)  # fmt: skip
def test_it_is_said_in_words_of_json(kind: Any, value: Any, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(value)
    (error,) = caught.value.errors()
    place, told = said(error)
    assert (told, "[key]" in place) == (message, False)


@pytest.mark.parametrize("kind", [datetime, set[int], frozenset[int], dict[int, int] | None, int | list[str]])
def test_what_has_no_words_of_its_own_gets_those_of_json(kind: Any) -> None:
    for value in ("☔", 1.5, [None], {"x": None}):
        try:
            TypeAdapter(kind).validate_python(value)
        except ValidationError as caught:
            for error in caught.errors():
                assert not PYTHON.search(said(error)[1])


def test_what_a_check_of_ours_says_is_said_as_it_is() -> None:
    error = ErrorDetails(
        type="value_error", loc=("body",), msg="Value error, no", input=1, ctx={"error": ValueError("no")}
    )
    assert said(error) == ("body", "no")
    own = PydanticCustomError("ours", "No {what}.", {"what": "way"})
    assert said(ErrorDetails(type="ours", loc=("body", 1, "a"), msg=own.message(), input=1)) == ("body.1.a", "No way.")


def bodies(body: Any) -> Iterator[Any]:
    """The body with something else in each of its places."""
    yield from WRONG
    if isinstance(body, dict):
        for name, value in body.items():  # pyright: ignore[reportUnknownVariableType]
            yield from ({**body, name: other} for other in bodies(value))  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(body, list):
        yield from ([other] for one in body[:1] for other in bodies(one))  # pyright: ignore[reportUnknownVariableType]


@pytest.mark.parametrize(
    "key", [key for key, access in EXPECTED.items() if isinstance(access.body, dict)], ids=" ".join
)
async def test_no_operation_speaks_of_python(world: World, key: tuple[str, str]) -> None:
    method, path = key
    access, refused = EXPECTED[key], 0
    usual = "user" if access.user < 400 or access.admin >= 400 else "admin"
    headers = await world.headers_of("admin" if access.user == 403 != access.admin else usual)
    place = path.format(**await access.things(world))
    for body in bodies(access.body):
        answer = await world.client.request(method, place, json=body, headers=headers)
        if answer.status_code == 422:
            refused += 1
            told = answer.json()
            if told["code"] == "broken_input":  # what is no document is told in words of its own
                continue
            for one in told["errors"]:
                assert not PYTHON.search(QUOTED.sub("", one["message"])), one
    assert refused
