"""Answers as files: what a spreadsheet or another page would run is text there."""

import csv
import io

from ui.answer_files import as_csv, as_markdown
from ui.answer_parts import Table


def test_a_table_is_read_back_and_no_cell_is_a_formula() -> None:
    table = Table((('=HYPERLINK("http://evil.example")', "-12.5"), ("Oskvik, north", "@x\nline")), ("place", "degrees"))
    assert list(csv.reader(io.StringIO(as_csv(table), newline=""))) == [
        ["place", "degrees"],
        ['\'=HYPERLINK("http://evil.example")', "-12.5"],
        ["Oskvik, north", "'@x\nline"],
    ]
    assert as_csv(Table((("day", "2026-01-01"),))).splitlines() == ["name,value", "day,2026-01-01"]


def test_an_answer_cannot_leave_its_fence() -> None:
    written = as_markdown("What?\n# head", "one\n```\n<b>two</b>\n")
    assert written == "    What?\n    # head\n\n````text\none\n```\n<b>two</b>\n````\n"
