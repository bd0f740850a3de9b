"""Requests out of a document alone."""

import pytest

from domain.tool import Parameter, ToolDoc
from retriever.training.synthetic_requests import build_template_requests
from tests.support.small_catalogue import DOCUMENTS, document


def of_all(tools: list[ToolDoc], count: int = 7) -> str:
    return "\n".join(request for tool in tools for request in build_template_requests(tool, count, 7))


def described(about: str) -> str:
    return of_all([document("x", "x", about)])


def test_the_same_document_and_seed_give_the_same_requests() -> None:
    for tool in DOCUMENTS:
        assert build_template_requests(tool, 3, 7) == build_template_requests(tool, 3, 7)
        assert len(set(build_template_requests(tool, 3, 7))) == 3
    assert [build_template_requests(tool, 3, 7) for tool in DOCUMENTS] != [
        build_template_requests(tool, 3, 8) for tool in DOCUMENTS
    ]


@pytest.mark.parametrize(
    ("about", "asked"),
    [
        ("Returns the phase of the moon. And more.", "I need to get the phase of the moon."),
        ("This endpoint returns the phase of the moon", "Can you get the phase of the moon?"),
        ("This API allows you to convert <b>PDF</b> files", "convert PDF files"),
        ("Via this endpoint, you can retrieve the moons", "Please get the moons."),
        ("List of cities", "I need list of cities."),
        ("Best sellers of the week", "best sellers of the week"),
        ("NASA pictures of the day", "NASA pictures of the day"),
    ],
)
def test_the_first_sentence_becomes_a_wish(about: str, asked: str) -> None:
    told = described(about).replace(" with x", "")
    assert asked in told
    assert "And more" not in told
    assert "<" not in told


def test_a_name_stands_in_for_a_description() -> None:
    assert "get User by ID" in of_all([document("people", "getUser_byID", " ")])


@pytest.mark.parametrize("about", ["", "...", "Moon"])
def test_of_nothing_nothing_is_made(about: str) -> None:
    assert build_template_requests(document("sky", "x", about), 3, 7) == []


def test_values_of_the_document_are_put_in_but_no_keys() -> None:
    tool = document(
        "sky",
        "rain",
        "",
        Parameter(name="city", required=True, example="Oslo"),
        Parameter(name="days", default=3),
        Parameter(name="apiKey", required=True, example="12345"),
        Parameter(name="html", default="<b>not a word</b>"),
        Parameter(name="flag", default=True),
    )
    told = of_all([tool])
    assert "city Oslo" in told
    assert "days 3" in told
    assert not any(word in told for word in ("12345", "<b>", "True"))


def test_the_tool_set_is_mostly_left_out() -> None:
    tools = [document(f"Weather{number}", "rain", "Get the rain forecast") for number in range(40)]
    told = of_all(tools).splitlines()
    named = sum("Weather" in request for request in told)
    assert 0.1 * len(told) < named < 0.35 * len(told)


def test_a_hostile_description_makes_no_long_request() -> None:
    told = described("get " + "word " * 10_000 + "{0} {x}")
    assert max(len(request.split()) for request in told.splitlines()) < 40
    assert described("get {0} of {braces}").count("{braces}") == 7
