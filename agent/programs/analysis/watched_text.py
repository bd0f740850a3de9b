"""A text that tells where it is while it runs: after each line the values of the names that it has set, at each round of a loop its round.

What is told is put between the statements as they stand, so that every place of the text that runs is a place of the text as it was written.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.programs.stops import WATCH
from domain.python_source import line_starts
from domain.source_text import SourceText, Statement, parse_source

_Put = tuple[int, str]
"""Where something is put into a text, in UTF-8 bytes, and what."""


@dataclass(frozen=True, slots=True)
class WatchedText:
    """``text``: what is to be run. ``puts``: what it has more than the text that it was made of, by its places there, in order."""

    text: str
    puts: tuple[_Put, ...]

    def place(self, place: int) -> int:
        """A place of this text, in UTF-8 bytes, in the one that it was made of."""
        more = 0
        for at, put in self.puts:
            if at + more >= place:
                break
            more += len(put.encode())
        return place - more

    def line(self, line: int) -> int:
        """A line of this text, from 1, in the one that it was made of; 0 stays 0."""
        starts = line_starts(self.text)
        if not 1 <= line < len(starts):
            return line
        made_of = b"".join(_without(self.text.encode(), self.puts))
        return bisect_right(line_starts(made_of.decode()), self.place(starts[line] - 1))


def watched(text: str) -> WatchedText:
    """A text that parses, made to tell where it is."""
    source, data = parse_source(text), text.encode()
    last = next(
        (one for one in reversed(source.statements) if one.outermost), None
    )  # its value is the program's answer, so nothing comes after
    told = (put for one in source.statements for put in _puts(one, source, data, after=one is not last))
    puts = tuple(sorted(told, key=lambda put: put[0]))
    return WatchedText(b"".join(_with(data, puts)).decode(), puts)


def _puts(statement: Statement, source: SourceText, data: bytes, *, after: bool) -> Iterator[_Put]:
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
    """On a line of its own where what follows begins one."""
    indent = data[source.starts[bisect_right(source.starts, at) - 1] : at]
    end = "; " if indent.strip() else "\n" + indent.decode()
    return at, _call(statement) + end


def _call(statement: Statement) -> str:
    return f"{WATCH}({statement.line}, {{{', '.join(f'{name!r}: {name}' for name in statement.sets)}}})"


def _with(source: bytes, puts: Sequence[_Put]) -> Iterator[bytes]:
    done = 0
    for at, put in puts:
        yield source[done:at]
        yield put.encode()
        done = at
    yield source[done:]


def _without(source: bytes, puts: Sequence[_Put]) -> Iterator[bytes]:
    done = more = 0
    for at, put in puts:
        yield source[done : at + more]
        more += len(put.encode())
        done = at + more
    yield source[done:]
