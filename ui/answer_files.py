"""An answer as a file: its values as they came, for programs and for other papers."""

import csv
import io
from collections.abc import Iterable, Sequence

from ui.answer_parts import Table

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(table: Table) -> str:
    """A line for each row, as RFC 4180 has it. A stranger's text that a spreadsheet would take for a formula begins with an apostrophe."""
    return csv_text(table.heads or ("name", "value"), table.rows)


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The same of any rows."""
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow([_plain(one) for one in heads])
    lines.writerows([_plain(one) for one in row] for row in rows)
    return written.getvalue()


def as_markdown(request: str, answer: str) -> str:
    """The question and the answer with what it rests on, word for word in a fence."""
    ticks = "```"
    while ticks in answer:
        ticks += "`"
    asked = "\n".join(f"    {line}" for line in request.splitlines())
    return f"{asked}\n\n{ticks}text\n{answer.strip()}\n{ticks}\n"


def _plain(text: str) -> str:
    if not text.startswith(_FORMULA) or _is_number(text):
        return text
    return f"'{text}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
