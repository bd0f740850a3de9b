"""Programs without a model: what a request says, as a sentence over the offered functions."""

import asyncio
import builtins
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from agent.programs.offered_functions import build_functions
from agent.programs.program_types import ProgramAttempt, ProgramQuestion
from domain.tool import Parameter, ToolDoc, make_tool_id
from offline.planning_time import PlanningClock
from offline.policy import OfflinePolicy
from offline.sentences.author import write_program


def _tool(
    api: str, parameters: tuple[Parameter, ...], response: object, description: str, method: str = "GET"
) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("Harbour", "Berths", api), category="Harbour", toolset="Berths", api=api, function=api, method=method,
        description=description, parameters=parameters, example_response=json.dumps(response),
    )  # fmt: skip


SHIP = Parameter(name="ship_id", required=True, description="Identifier of the ship.", example="sh_1")
TOOLS = (
    _tool("searchShips", (Parameter(name="name", required=True, description="Name of the ship.", example="Mary Rose"),),
          [{"ship_id": "sh_1", "name": "Mary Rose", "length": 32}], "Search ships by name."),
    _tool("getShipVoyages", (SHIP,), [{"port": "Bergen", "year": 2019, "passengers": 120}], "The voyages of a ship."),
)  # fmt: skip


def _question(request: str, *more: ToolDoc) -> ProgramQuestion:
    offer = build_functions((*TOOLS, *more), 2_000)
    return ProgramQuestion(request=request, offer=offer.offer, today="2026-05-04", docs=offer.docs)


def _text(request: str, *more: ToolDoc) -> str:
    return write_program(PlanningClock(), _question(request, *more)).text


def test_a_field_of_a_thing_that_is_named() -> None:
    text = _text('What is the length of the ship "Queen Maud"?')
    assert "searchShips(name='Queen Maud')" in text
    assert "['length']" in text


@pytest.mark.parametrize(
    ("request_", "step"),
    [
        ('Which voyage of the ship "Queen Maud" had the most passengers?', "max("),
        ('List the ports of all voyages of the ship "Queen Maud" after 2015.', "> 2015"),
        ('How many voyages has the ship "Queen Maud" made?', "len("),
    ],
)
def test_lists_are_cut_and_counted_as_the_request_says(request_: str, step: str) -> None:
    text = _text(request_)
    assert "getShipVoyages(" in text
    assert step in text


def test_nothing_is_written_where_a_name_is_left() -> None:
    assert _text('What is the length of the ship "Queen Maud" in the museum of "Old Tarnholm"?') == ""


def test_nothing_is_written_where_a_change_is_ordered() -> None:
    cancel = _tool("cancelVoyage", (SHIP,), {"ok": True}, "Cancels a voyage of a ship.", "DELETE")
    assert _text('Cancel the voyage of the ship "Queen Maud".', cancel) == ""


def test_nothing_is_parsed_off_the_thread_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads that parse at once broke CPython 3.11's parser."""
    question = _question('What is the length of the ship "Queen Maud"?')
    broke_off = replace(
        question, attempts=(ProgramAttempt("ship = await searchShips(name='Queen Maud')\n", "it found nothing"),)
    )
    own = threading.get_ident()
    parse = cast("Callable[..., object]", builtins.compile)
    elsewhere: list[object] = []

    def watched(*given: Any, **named: Any) -> object:
        if threading.get_ident() != own:
            elsewhere.append(given[0])
        return parse(*given, **named)

    monkeypatch.setattr(builtins, "compile", watched)

    async def both() -> list[str]:
        policy = OfflinePolicy()
        texts = await asyncio.gather(policy.decide(question), policy.decide(broke_off))
        return [one.text for one in texts]

    first, second = asyncio.run(both())
    assert "searchShips(name='Queen Maud')" in first
    assert "await searchShips(name='Queen Maud')" not in second
    assert elsewhere == []


CREW = _tool("getShipCrew", (SHIP,), {"captain": "Ida Holm", "crew_size": 12}, "The crew of a ship.")
CHARTS = _tool("getCharts", (SHIP,), [{"chart": "North Approach", "soundings": 40}], "The charts kept aboard a ship.")


def test_of_two_that_are_named_the_one_with_the_most_is_gone_on_with() -> None:
    text = _text('Which ship is longer, "Queen Maud" or "Old Hob"? And who is her captain?', CREW)
    assert "['Queen Maud', 'Old Hob']" in text
    assert "max(" in text
    assert text.index("max(") < text.index("getShipCrew(")
    assert "['captain']" in text


def test_things_named_side_by_side_are_not_the_filter_of_one_another() -> None:
    assert "['Queen Maud', 'Old Hob']" in _text('Which is longer, the ship "Queen Maud" or the ship "Old Hob"?')


def test_an_item_goes_by_its_first_text_where_none_is_called_a_name() -> None:
    text = _text('How many soundings has the chart "North Approach" of the ship "Queen Maud"?', CHARTS)
    assert "'North Approach'.lower() in str(item['chart'])" in text


def test_nothing_is_written_where_one_of_two_questions_is_left() -> None:
    assert _text('What is the length of the ship "Queen Maud", and who built her engine?') == ""


def test_a_program_over_a_path_makes_all_its_calls() -> None:
    question = _question('What is the length of the ship "Queen Maud"?')
    assert write_program(PlanningClock(), question).text
    assert write_program(PlanningClock(), replace(question, follows_path=True)).text == ""


def test_after_a_call_that_failed_no_program_makes_it_again() -> None:
    question = _question('How many passengers had the voyages of the ship "Queen Maud"?')
    first = write_program(PlanningClock(), question).text
    assert "getShipVoyages(" in first
    failed = ProgramAttempt(first, "in line 4: the call of getShipVoyages failed (failed with HTTP 503)")
    assert "getShipVoyages(" not in write_program(PlanningClock(), replace(question, attempts=(failed,))).text


BOOK = Parameter(name="book_id", required=True, description="Identifier of the book.", example="b_1")
WRITER = Parameter(name="author_id", required=True, description="Identifier of the author.", example="a_1")
LIBRARY = (
    _tool("searchBooks", (Parameter(name="title", description="Title of the book.", example="Cold Harbour"),
                          Parameter(name="author", description="Name of the author.", example="Greta Ashgrove")),
          {"docs": [{"book_id": "b_1", "title": "Cold Harbour", "author_name": "Greta Ashgrove", "edition_count": 2}]}, "Find books by title or author."),
    _tool("getBook", (BOOK,), {"title": "Cold Harbour", "description": "A story of bees.", "authors": [{"author_id": "a_1", "name": "Greta Ashgrove"}]}, "A book in detail."),
    _tool("getAuthor", (WRITER,), {"name": "Greta Ashgrove", "birthplace": "Velmora", "awards": ["the Silver Quill"]}, "An author in detail."),
    _tool("getEditions", (BOOK,), {"entries": [{"isbn": "979", "publisher": "Hollow Oak", "year": 1962}]}, "The editions of a book."),
)  # fmt: skip


def test_what_follows_the_name_of_a_kind_is_a_title_and_no_person() -> None:
    text = _text("How many editions of the book Songs for Iron Bell are there?", *LIBRARY)
    assert "searchBooks(title='Songs for Iron Bell')" in text


def test_an_ordinal_picks_one_of_what_a_list_is_of() -> None:
    text = _text("What is the birthplace of the second author of the book Songs for Iron Bell?", *LIBRARY)
    assert "['authors'][1]" in text
    assert "getAuthor(author_id=" in text


def test_which_asks_for_a_kind_of_thing() -> None:
    text = _text("Which publishers have brought out the book Songs for Iron Bell?", *LIBRARY)
    assert "['publisher']" in text


def test_what_a_thing_is_about_is_its_description() -> None:
    assert "['description']" in _text("What is the book Songs for Iron Bell about?", *LIBRARY)


def _described(
    api: str, parameters: tuple[Parameter, ...], fields: dict[str, tuple[str, str]], description: str, url: str = ""
) -> ToolDoc:
    """A tool that gives a list. ``fields``: their types and descriptions."""
    properties = {name: {"type": kind, "description": told} for name, (kind, told) in fields.items()}
    schema = {"type": "array", "items": {"type": "object", "properties": properties}}
    doc = _tool(api, parameters, [], description)
    return doc.model_copy(update={"example_response": None, "response_schema": json.dumps(schema), "url": url})


NAME = ("string", "Name of the vessel.")
PUNTS = _described(
    "list_punts", (), {"name": NAME, "launched": ("integer", "Year in which it was built."), "covered": ("boolean", "Whether it has a roof."),
                          "beam_m": ("number", "Width, in metres.")}, "Punts of the harbour.")  # fmt: skip
IN_DOCK = _described(
    "punts_in_dock", (Parameter(name="dock", required=True, description="Name of the dock.", example="West Dock"),),
    {"dock": ("string", "Dock where it lies."), "launched": ("integer", "Year in which it was built.")}, "Punts that lie in a dock.",
    "https://harbour.example/docks/{dock}/punts")  # fmt: skip
BARGES = _described(
    "find_barges", (Parameter(name="name", description="Name of the barge, or part of it.", example="Molly"),),
    {"name": ("string", "Name of the barge."), "draught": ("number", "Draught.")}, "Barges of the harbour.")  # fmt: skip


def test_what_a_description_says_first_is_a_name_of_a_field() -> None:
    assert "min(" in (text := _text("Which is the oldest of the punts?", PUNTS))
    assert "['launched']" in text


def test_who_has_been_there_longest_began_first() -> None:
    text = _text("Which of the punts has been there the longest?", PUNTS)
    assert "min(" in text
    assert "['launched']" in text


def test_what_a_word_says_of_things_cuts_their_list() -> None:
    assert "== True" in _text("Which covered punts are there?", PUNTS)
    assert "== True" not in _text("Which punts are there?", PUNTS)


def test_the_kind_that_is_asked_for_ends_where_a_small_word_begins() -> None:
    assert "max(" in _text('Which voyage of the ship "Queen Maud" had the most passengers in it?')


def test_things_beneath_another_are_not_called_as_it_is() -> None:
    text = _text('What year was the oldest punt in "Mill Dock" launched?', IN_DOCK)
    assert "punts_in_dock(dock='Mill Dock')" in text
    assert "min(" in text


def test_names_that_may_be_left_out_are_compared_as_others() -> None:
    text = _text("Which has the greater draught, the Blue Tern or the Ardent Star?", BARGES)
    assert "['Blue Tern', 'Ardent Star']" in text
    assert "max(" in text


def test_what_was_chosen_among_values_is_told_by_its_value() -> None:
    draught = _tool("getDraught", (Parameter(name="vessel", required=True, description="Name of the vessel.", example="Molly"),),
                    {"draught": 4.2}, "The draught of a vessel.")  # fmt: skip
    assert "best[0]" in _text(
        'Is the draught greater of the vessel "Blue Tern" or of the vessel "Ardent Star"?', draught
    )


def test_a_class_of_things_is_searched_for_by_one_of_it() -> None:
    goods = _described("search_goods", (Parameter(name="query", required=True, description="What to search the goods for.", example="rope"),),
                       {"name": ("string", "Name of the goods."), "price": ("number", "Price.")}, "Search the goods of the shop.")  # fmt: skip
    text = _text("Which anchors does the shop have among its goods for less than 170?", goods)
    assert "search_goods(query='anchor')" in text
    assert "< 170" in text


PLOTS = _tool(
    "list_plots_plots_get", (), [{"plot_id": 1, "name": "Willow Corner", "area": 42.0, "rent": 60.0, "free": True}],
    "List the plots with their area and rent.",
)  # fmt: skip


@pytest.mark.parametrize(
    ("request_", "steps"),
    [
        ("Which plot is the cheapest?", ("min(", "['rent']")),
        ("What is the largest plot?", ("max(", "['area']")),
        ("Which plots are free?", ("['free'] == True",)),
    ],
)
def test_a_list_whose_name_a_framework_made_is_of_what_its_path_says(request_: str, steps: tuple[str, ...]) -> None:
    text = _text(request_, PLOTS)
    assert all(step in text for step in steps), text
