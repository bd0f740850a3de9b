"""A text instrumented to report its progress while it runs.

It reports the values of the names that each line has set, and each round of a loop. The reports are inserted between
the statements as they stand, so every place of the running text can be mapped to a place of the text as it was
written.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.programs.stops import WATCH
from domain.python_source import line_starts
from domain.source_text import SourceText, Statement, parse_source

_Put = tuple[int, str]
"""Position of an insertion in a text, in UTF-8 bytes, and the inserted text."""


@dataclass(frozen=True, slots=True)
class WatchedText:
    """A text with reports inserted."""

    text: str
    """The text to run."""
    puts: tuple[_Put, ...]
    """The insertions by their positions in the original text, in order."""

    def place(self, place: int) -> int:
        """Return the position in the original text of a position in this text, both in UTF-8 bytes."""
        more = 0
        for at, put in self.puts:
            if at + more >= place:
                break
            more += len(put.encode())
        return place - more

    def line(self, line: int) -> int:
        """Return the line of the original text for a line of this text, from 1; 0 stays 0."""
        starts = line_starts(self.text)
        if not 1 <= line < len(starts):
            return line
        made_of = b"".join(_without(self.text.encode(), self.puts))
        return bisect_right(line_starts(made_of.decode()), self.place(starts[line] - 1))


def watched(text: str) -> WatchedText:
    """Return a text, which must parse, with reports inserted."""
    source, data = parse_source(text), text.encode()
    last = next(
        (one for one in reversed(source.statements) if one.outermost), None
    )  # its value is the program's answer, so nothing comes after
    told = (put for one in source.statements for put in _puts(one, source, data, after=one is not last))
    puts = tuple(sorted(told, key=lambda put: put[0]))
    return WatchedText(b"".join(_with(data, puts)).decode(), puts)


def _puts(statement: Statement, source: SourceText, data: bytes, *, after: bool) -> Iterator[_Put]:
    """Yield the insertions for one statement. ``after``: whether a report may follow it."""
    match statement.kind:
        case "loop":
            yield _before(statement.body_start, statement, source, data)
        case "leaving":
            yield _before(statement.start, statement, source, data)
        case "simple" if after:
            yield statement.end, "; " + _call(statement)
        case _:
            return


def _before(at: int, statement: Statement, source: SourceText, data: bytes) -> _Put:
    """Return a report before a position, on a line of its own if the code that follows begins one."""
    indent = data[source.starts[bisect_right(source.starts, at) - 1] : at]
    end = "; " if indent.strip() else "\n" + indent.decode()
    return at, _call(statement) + end


def _call(statement: Statement) -> str:
    """Return the code of a report: the line, and the names that the statement sets with their values."""
    return f"{WATCH}({statement.line}, {{{', '.join(f'{name!r}: {name}' for name in statement.sets)}}})"


def _with(source: bytes, puts: Sequence[_Put]) -> Iterator[bytes]:
    """Yield the pieces of a text with the insertions."""
    done = 0
    for at, put in puts:
        yield source[done:at]
        yield put.encode()
        done = at
    yield source[done:]


def _without(source: bytes, puts: Sequence[_Put]) -> Iterator[bytes]:
    """Yield the pieces of a text without its insertions."""
    done = more = 0
    for at, put in puts:
        yield source[done : at + more]
        more += len(put.encode())
        done = at + more
    yield source[done:]
