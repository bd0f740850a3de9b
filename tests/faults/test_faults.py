"""Calls through a proxy that spoils them: what is said, how often it is tried, and that no effect happens twice."""

import asyncio

import pytest

from tests.faults.modes import FAULTS
from tests.faults.table import CALLS, Row, committed, rows, written
from tests.support.playground_process import running_playground


@pytest.fixture(scope="module")
def table() -> list[Row]:
    with running_playground() as playground:
        return asyncio.run(rows(playground))


def test_every_fault_meets_every_call(table: list[Row]) -> None:
    assert [(row.fault, row.call) for row in table] == [(fault, call) for fault in FAULTS for call, _ in CALLS]


def test_no_effect_happens_twice(table: list[Row]) -> None:
    assert [row for row in table if row.effects > 1] == []


def test_what_is_said_of_a_write_is_true(table: list[Row]) -> None:
    """``ok``: it took effect. A failure: it did not. ``unknown`` covers both, and only what was sent."""
    writes = [row for row in table if row.call != "read"]
    assert [row for row in writes if row.outcome == "ok" and row.effects != 1] == []
    assert [row for row in writes if row.outcome not in ("ok", "unknown") and row.effects] == []
    assert {row.effects for row in writes if row.outcome == "unknown"} == {0, 1}


def test_a_write_that_may_not_be_repeated_is_sent_once(table: list[Row]) -> None:
    assert {row.attempts for row in table if row.call == "write"} == {1}
    assert max(row.attempts for row in table if row.call != "write") == 3


def test_a_read_is_never_unknown_and_every_trouble_is_told(table: list[Row]) -> None:
    assert [row for row in table if row.call == "read" and row.outcome == "unknown"] == []
    assert [row for row in table if row.outcome != "ok" and not row.note] == []
    assert [
        row for row in table if row.outcome == "unknown" and "not known whether it took effect" not in row.note
    ] == []


def test_the_page_has_this_table(table: list[Row]) -> None:
    assert written(table) == committed(), "write it anew: python -m tests.faults.table"
