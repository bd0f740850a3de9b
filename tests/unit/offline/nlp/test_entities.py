"""Typed spans and dates of requests."""

from datetime import date
from timeit import timeit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline.nlp import entities as spans_module
from offline.nlp.dates import find_dates, format_day
from offline.nlp.entities import Span, find_spans

TODAY = date(2026, 1, 7)  # a Wednesday


def of_kind(kind: str, request: str) -> list[str]:
    return [span.value for span in find_spans(request, TODAY) if span.kind == kind]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("today", "2026-01-07"), ("tomorrow", "2026-01-08"), ("the day after tomorrow", "2026-01-09"), ("yesterday", "2026-01-06"),
        ("next Wednesday", "2026-01-14"), ("last Monday", "2026-01-05"), ("on Friday", "2026-01-09"), ("in two weeks", "2026-01-21"),
        ("3 days ago", "2026-01-04"), ("2024-02-29", "2024-02-29"), ("1st of March 2024", "2024-03-01"), ("March 5", "2026-03-05"),
        ("Jan 2", "2027-01-02"), ("24.12.2025", "2025-12-24"), ("12/31/2025", "2025-12-31"), ("31/12/2025", "2025-12-31"),
    ],
)  # fmt: skip
def test_dates(text: str, day: str) -> None:
    assert [found.isoformat() for _, _, found in find_dates(f"What about {text}?", TODAY)] == [day]


@pytest.mark.parametrize("text", ["2024-02-30", "99.99.2024", "31 February 2025", "3 days", "May I ask"])
def test_what_is_no_date(text: str) -> None:
    assert list(find_dates(text, TODAY)) == []


@pytest.mark.parametrize(
    ("described", "example", "expected"),
    [("", "", "2026-01-07"), ("Format: YYYYMMDD", "", "20260107"), ("unix timestamp", "", "1767744000"), ("", "2020/05/15", "2026/01/07"),
     ("date-time", "", "2026-01-07T00:00:00Z"), ("MM-DD-YYYY", "2020-01-01", "01-07-2026")],
)  # fmt: skip
def test_the_form_that_a_parameter_asks_for(described: str, example: str, expected: str) -> None:
    assert format_day(TODAY, described=described, example=example) == expected


@pytest.mark.parametrize(
    ("kind", "request_text", "values"),
    [
        ("number", "from 1,250.50 to -3 and five", ["1250.50", "-3", "5"]),
        ("quoted", "say 'it is' or \"so\", it's John's", ["it is", "so"]),
        ("email", "mail a.b+c@example.co.uk now", ["a.b+c@example.co.uk"]),
        ("url", "see https://x.org/a?b=c, or www.y.com.", ["https://x.org/a?b=c", "www.y.com"]),
        ("currency", "100 USD, 5 € and Swiss francs; try it", ["USD", "EUR", "CHF"]),
        ("name", "What did Ada Lovelace write in the Bank of England?", ["Ada Lovelace", "Bank of England"]),
        ("coordinates", "at 48.85, 2.35", ["48.85,2.35"]),
        ("unit", "10 km in miles", ["kilometer", "mile"]),
        ("unit", "12 in to centimeters", ["inch", "centimeter"]),
        ("unit", "a table for 4 in the garden, or for 2 in Oslo", []),
        ("name", "I am here. Book a table for Ada Berg", ["Ada Berg"]),
        ("ip", "the address 8.8.8.8", ["8.8.8.8"]),
        ("code", "parcel tt0111161 and #42", ["tt0111161", "42"]),
    ],
)
def test_kinds_of_spans(kind: str, request_text: str, values: list[str]) -> None:
    assert of_kind(kind, request_text) == values


def test_the_words_around_are_told() -> None:
    found = next(span for span in find_spans("Fly from the Hague to Oslo", TODAY) if span.text == "Oslo")
    assert (found.cue, found.before[-1]) == ("to", "to")


@given(st.text(max_size=300))
def test_every_span_is_a_piece_of_the_request(request_text: str) -> None:
    for span in find_spans(request_text, TODAY):
        assert isinstance(span, Span)
        assert request_text[span.start : span.end] == span.text
        assert span.text


def test_a_hostile_request_is_read_quickly_and_only_in_part() -> None:
    found = find_spans("a" * 100_000 + " 1" * 50_000, TODAY)
    assert len(found) <= 120
    assert len(find_spans("'" * 5_000 + "1." * 5_000 + "A " * 5_000, TODAY)) <= 120


@pytest.mark.parametrize("text", ["a.", "A.", "a-", "-", "$", "\n"])
def test_reading_takes_time_linear_in_the_text(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read on the loop that serves everybody. Four times as long as a request may be, where looking back took ten seconds and more."""
    monkeypatch.setattr(spans_module, "MAX_REQUEST", 16_000)
    assert timeit(lambda: find_spans((text * 16_000)[:16_000], TODAY), number=1) < 3
