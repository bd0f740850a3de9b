"""Answers on the page: their parts, figures and days as people write them, and nothing of a stranger's as markup."""

import pytest
from streamlit.testing.v1 import AppTest

from domain.plan import StepResult
from domain.tool import make_tool_id
from tests.unit.ui.served import HOSTILE
from ui.answer_evidence import evidence
from ui.answer_parts import Items, Note, Sentences, Source, Table, answer_parts, asked_first
from ui.answer_view import table_html
from ui.calls import Call
from ui.people import spoken, value_told

PLACES = make_tool_id("Geo", "Atlas Places", "search_places")
DAYS = "2026-01-01: New Year's Day; 2026-03-23: Midsummer Fair; 2026-07-20: Feast of Bells"
RATE = "from currency: VDK; to currency: MRV; amount: 250; rate: 1.17; converted amount: 293.03 [2]"


def called(response: str, status: str = "ok") -> Call:
    result = StepResult.model_validate({"tool": PLACES, "status": status, "response": response})
    return Call(1, 1, PLACES, {}, result=result)


def test_days_with_names_are_a_table_and_what_it_rests_on_stands_by_itself() -> None:
    parts = answer_parts(f"{DAYS}\nBased on: [1] World Facts/find_country, [2] … [9] Day Count/get_public_holidays\n")
    (table,) = parts.said
    assert isinstance(table, Table)
    assert table.rows[0] == ("2026-01-01", "New Year's Day")
    assert parts.sources == (
        Source("World Facts/find_country", "[1]"),
        Source("Day Count/get_public_holidays", "[2] … [9]"),
    )


def test_records_of_the_same_fields_are_one_table() -> None:
    (table, after) = answer_parts("city: Oskvik, price: 12\ncity: Velmora, price: 8, or 9\nBoth by train.").said
    assert table == Table((("Oskvik", "12"), ("Velmora", "8, or 9")), ("city", "price"))
    assert after == Sentences("Both by train.")


def test_lines_of_a_name_and_its_value_are_a_table_whose_names_stay_as_they_are() -> None:
    before, table, after = answer_parts("There are two:\nOskvik: 603856\n- McMurdo: 2730533\nBoth by train.").said
    assert (before, after) == (Sentences("There are two:"), Sentences("Both by train."))
    assert table == Table((("Oskvik", "603856"), ("McMurdo", "2730533")))
    assert isinstance(table, Table)
    html = table_html(table)
    assert ("603,856" in html, ">McMurdo<" in html) == (True, True)


def test_records_in_one_line_are_a_table_of_them() -> None:
    assert answer_parts("a: 1; b: 2; a: 3; b: 4").said == (Table((("1", "2"), ("3", "4")), ("a", "b")),)


def test_records_that_rules_wrote_are_a_table_with_the_call_that_they_are_from() -> None:
    told = "- title: The Amber Garden; year: 2014 [1]\n- title: Rain; year: 2020 [1]\n- … and 3 more [1]"
    table, more = answer_parts(told).said
    assert table == Table((("The Amber Garden", "2014"), ("Rain", "2020")), ("title", "year"), "[1]")
    assert more == Items(("… and 3 more [1]",))
    (one,) = answer_parts("year: 2014; title: The Amber Garden [1]").said
    assert one == Table((("year", "2014"), ("title", "The Amber Garden")), (), "[1]")


def test_further_pairs_of_a_line_are_further_rows_and_several_calls_stay_told_apart() -> None:
    (table,) = answer_parts("Oskvik: 603856 [1]\nVelmora: 2014; Tarnholm: 8 [2]").said
    assert table == Table((("Oskvik", "603856 [1]"), ("Velmora", "2014"), ("Tarnholm", "8 [2]")))


@pytest.mark.parametrize(
    "text",
    [
        "Kesterburg, with 21 degrees",
        "It rains; take a coat.",
        "One line\n\nand another",
        "Oil; Salt; Rice",
        "Inhabitants of the cities in your file: Meghalpet has 278640 inhabitants; Tarnholm has 589835 inhabitants. You stay 9 nights in all.",
        "Meghalpet: 278640 people; Tarnholm: 589835 people; Oskvik: 603856 people. You stay 9 nights: 3 each.",
        "First: it rains; second: take a coat; third: go by train.",
        "Pigeon/find_contact gave no answer: it found nothing.\nPigeon/find_chat gave no answer: HTTP 503",
        "Oskvik: it rains there.\nVelmora: it does not.",
    ],
)
def test_sentences_stay_sentences(text: str) -> None:
    assert answer_parts(text).said == (Sentences(text),)


def test_a_table_in_markdown_is_a_table_of_plain_text() -> None:
    told = "**Two films:**\n| Title | Year |\n|:---|---:|\n| **Amber** \\| Garden | 2014 |\n| Rain |\n| a | b | c |\nBoth are old."
    before, table, after = answer_parts(told).said
    assert (before, after) == (Sentences("Two films:"), Sentences("Both are old."))
    assert table == Table((("Amber | Garden", "2014"), ("Rain", ""), ("a", "b | c")), ("Title", "Year"))


@pytest.mark.parametrize(
    "text", ["a | b\nc | d", "| a | b |\n|---|---|", "| a | b |\n|---|\n| 1 | 2 |", "2**3 and 4**5"]
)
def test_bars_and_stars_that_mark_nothing_stay(text: str) -> None:
    assert answer_parts(text).said == (Sentences(text),)


def test_lines_of_a_list_are_a_list_without_the_signs_of_markdown() -> None:
    before, items, after = answer_parts(
        "## Three cities\n- **Oskvik**: it rains.\n* Velmora: dry\n- Tarnholm\nAll."
    ).said
    assert (before, after) == (Sentences("Three cities"), Sentences("All."))
    assert items == Items(("Oskvik: it rains.", "Velmora: dry", "Tarnholm"))
    assert answer_parts("- Oskvik: 5\n- Velmora: 6\n- the others").said == (
        Items(("Oskvik: 5", "Velmora: 6", "the others")),
    )


def test_what_was_done_what_was_not_and_what_is_missing_are_told_apart() -> None:
    parts = answer_parts(
        "Done: create task Oil [1]\nNot done: create task Tea. You left this call out.\nA list.\n"
        "Whether to go is up to you.\nNot all of it is answered: the height of a mountain.\n"
    )
    assert parts.notes == (
        Note("done", "create task Oil [1]"),
        Note("not_done", "create task Tea. You left this call out."),
        Note("missing", "the height of a mountain."),
    )
    assert parts.said == (Sentences("A list.\nWhether to go is up to you."),)


def test_of_a_record_comes_first_what_was_asked_and_last_what_the_request_gave() -> None:
    (table,) = answer_parts(RATE).said
    assert isinstance(table, Table)
    first, asked = asked_first(table, "Convert 250 VDK into the currency of Marovia.", {"VDK", "MRV", "250"})
    names = [name for name, _ in first.rows]
    assert (names[:2], asked) == (["converted amount", "rate"], 1)
    assert set(names[2:]) == {"from currency", "to currency", "amount"}
    assert table.reference == "[2]"


@pytest.mark.parametrize(
    ("value", "name", "told"),
    [
        ("278640", "population", "278,640"),
        ("-1234567.25", "", "-1,234,567.25"),
        ("12500 EUR", "price", "12,500 EUR"),
        ("2026", "", "2026"),
        ("9074729", "imo", "9074729"),
        ("100234", "bookingId", "100234"),
        ("0049301", "prefix", "0049301"),
        ("2026-12-03", "day", "Thu 3 Dec 2026"),
        ("2026-12-03T14:05:00Z", "at", "Thu 3 Dec 2026 14:05 UTC"),
        ("2026-13-40", "day", "2026-13-40"),
        ("KB-2026-12-03", "reference", "KB-2026-12-03"),
    ],
)
def test_values_are_told_as_people_write_them(value: str, name: str, told: str) -> None:
    assert value_told(value, name) == told


def test_names_are_told_as_words() -> None:
    assert [spoken(one) for one in ("dueDate", "converted amount", "country_code", "寒い")] == [
        "Due date",
        "Converted amount",
        "Country code",
        "寒い",
    ]


def test_a_figure_is_known_by_the_field_that_holds_it() -> None:
    calls = [
        called('{"results": [{"city": "Meghalpet", "population": 278640}]}'),
        called('{"population": 278640}', "failed"),
    ]
    found = evidence("278640", calls)
    assert found is not None
    assert (found.field, found.call) == ("population", calls[0])
    assert evidence("278640", [called('{"a": 278640, "b": 278640}')]) is None
    assert evidence("1", [called('{"open": true}'), called("no json")]) is None


def test_a_strangers_markup_is_escaped_in_tables() -> None:
    html = table_html(Table(((HOSTILE, HOSTILE), ("b", "c")), (HOSTILE, "x")))
    assert "<img" not in html
    assert "\u202e" not in html


def page(answer: str) -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.answer_view import draw_answer

    draw_answer(answer, [], "")


@pytest.mark.parametrize("answer", [f"| {HOSTILE} | b |\n|---|---|\n| {HOSTILE} | x |", f"- {HOSTILE}\n- b"])
def test_nothing_of_a_models_markdown_becomes_markup(answer: str) -> None:
    shown = AppTest.from_function(page, default_timeout=30, kwargs={"answer": answer}).run()
    assert not shown.exception
    assert not shown.markdown
    (html,) = shown.get("html")
    assert "&lt;img src=x onerror=alert(1)&gt;" in html.proto.body
    assert not [sign for sign in ("<img", "<a ", "\u202e", "<strong", "<b>") if sign in html.proto.body]


def test_a_denied_change_says_so_before_anything_else_and_nothing_is_markup() -> None:
    lines = f"Not done: create task {HOSTILE}. You did not allow this call.\nThis could not be answered: a change.\nConsidered to start with: A/b"
    shown = AppTest.from_function(page, default_timeout=30, kwargs={"answer": lines}).run()
    assert not shown.exception
    assert shown.text[0].value.startswith("– Not done: create task <img")
    assert len(shown.text) == 1
    assert [one.value.replace("\\", "") for one in shown.caption][-1] == "Considered to start with: A/b"


def test_a_missing_key_is_told_without_the_way_of_programs() -> None:
    told = "This could not be answered: a key is needed for h:1: keep it as k on the page Keys (by the API: PUT /api/v1/me/tool-keys/k)."
    shown = AppTest.from_function(page, default_timeout=30, kwargs={"answer": told}).run()
    assert shown.text[0].value.endswith("keep it as k on the page Keys.")


def test_a_figure_stands_alone() -> None:
    shown = AppTest.from_function(
        page,
        default_timeout=30,
        kwargs={"answer": "No call was made for: “Oskvik”.\n278640\nBased on: [1] Atlas Places/search_places"},
    ).run()
    assert [one.value for one in shown.metric] == ["278,640"]
    assert "Based on" in shown.caption[0].value
    assert "No call was made for" in shown.caption[1].value
