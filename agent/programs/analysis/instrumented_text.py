"""Instrumentation of a program's text, so that it reports its progress while it runs.

A report gives the values of the names that a line has set; loops report each iteration. Reports are inserted between
the statements of the original text, so positions in the running text can be mapped to positions in the original.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.programs.sandbox_cell import WATCH
from domain.python_source import find_line_starts
from domain.source_text import SourceStatement, SourceText, parse_source

_Insertion = tuple[int, str]
"""Position of an insertion in a text, in UTF-8 bytes, and the inserted text."""


@dataclass(frozen=True, slots=True)
class InstrumentedText:
    """A text with reports inserted."""

    text: str
    """The text to run."""
    insertions: tuple[_Insertion, ...]
    """The insertions, in the order of their positions in the original text."""

    def to_original_position(self, position: int) -> int:
        """Map a position in this text to the original text, both in UTF-8 bytes."""
        inserted_length = 0
        for insert_position, code in self.insertions:
            if insert_position + inserted_length >= position:
                break
            inserted_length += len(code.encode())
        return position - inserted_length

    def to_original_line(self, line: int) -> int:
        """Map a line of this text to the original text, both from 1; lines out of range are returned unchanged."""
        starts = find_line_starts(self.text)
        if not 1 <= line < len(starts):
            return line
        original = b"".join(_remove_insertions(self.text.encode(), self.insertions))
        return bisect_right(find_line_starts(original.decode()), self.to_original_position(starts[line] - 1))


def instrument_text(text: str) -> InstrumentedText:
    """Insert reports into a text, which must parse."""
    source, encoded = parse_source(text), text.encode()
    last = next(
        (statement for statement in reversed(source.statements) if statement.outermost), None
    )  # the value of the last statement is the program's answer, so nothing may follow it
    unsorted_insertions = (
        insertion
        for statement in source.statements
        for insertion in _find_insertions(statement, source, encoded, may_follow=statement is not last)
    )
    insertions = tuple(sorted(unsorted_insertions, key=lambda put: put[0]))
    return InstrumentedText(b"".join(_apply_insertions(encoded, insertions)).decode(), insertions)


def _find_insertions(
    statement: SourceStatement, source: SourceText, encoded: bytes, *, may_follow: bool
) -> Iterator[_Insertion]:
    """Yield the insertions for one statement. ``may_follow``: whether a report may follow it."""
    match statement.kind:
        case "loop":
            yield _build_insertion_before(statement.body_start, statement, source, encoded)
        case "leaving":
            yield _build_insertion_before(statement.start, statement, source, encoded)
        case "simple" if may_follow:
            yield statement.end, "; " + _render_call(statement)
        case _:
            return


def _build_insertion_before(
    position: int, statement: SourceStatement, source: SourceText, encoded: bytes
) -> _Insertion:
    """Return a report to insert before a position: on a line of its own if the position begins a line."""
    indent = encoded[source.line_starts[bisect_right(source.line_starts, position) - 1] : position]
    separator = "; " if indent.strip() else "\n" + indent.decode()
    return position, _render_call(statement) + separator


def _render_call(statement: SourceStatement) -> str:
    """Return the code of a report: the line, and the values of the names that the statement sets."""
    return f"{WATCH}({statement.line}, {{{', '.join(f'{name!r}: {name}' for name in statement.assigned_names)}}})"


def _apply_insertions(encoded: bytes, insertions: Sequence[_Insertion]) -> Iterator[bytes]:
    """Yield the pieces of a text with the insertions."""
    copied = 0
    for position, code in insertions:
        yield encoded[copied:position]
        yield code.encode()
        copied = position
    yield encoded[copied:]


def _remove_insertions(encoded: bytes, insertions: Sequence[_Insertion]) -> Iterator[bytes]:
    """Yield the pieces of a text without its insertions."""
    copied = inserted_length = 0
    for position, code in insertions:
        yield encoded[copied : position + inserted_length]
        inserted_length += len(code.encode())
        copied = position + inserted_length
    yield encoded[copied:]
