"""A text that tells where it is while it runs: after each line the values of the names that it has set, at each round of a loop its round.

What is told is put between the statements as they stand, so that every place of the text that runs is a place of the text as it was written.
"""

import ast
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.programs.dependencies import line_starts
from agent.programs.stops import WATCH
from domain.python_source import parse_module

_SIMPLE = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Assert | ast.Delete | ast.Pass
_BLOCKS = ("body", "orelse", "finalbody")
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
    tree, starts, source = parse_module(text), line_starts(text), text.encode()
    told = _Telling(source, starts, tree.body[-1] if tree.body else None)
    puts = tuple(sorted(told.block(tree.body), key=lambda put: put[0]))
    return WatchedText(b"".join(_with(source, puts)).decode(), puts)


@dataclass(frozen=True, slots=True)
class _Telling:
    """``last``: the statement whose value is the program's answer, which nothing may come after."""

    source: bytes
    starts: Sequence[int]
    last: ast.stmt | None

    def block(self, body: Sequence[ast.stmt]) -> Iterator[_Put]:
        for statement in body:
            yield from self._statement(statement)

    def _statement(self, node: ast.stmt) -> Iterator[_Put]:
        match node:
            case ast.For() | ast.AsyncFor():
                yield self._before(node.body[0], node.lineno, _names(node.target))
            case ast.While():
                yield self._before(node.body[0], node.lineno, [])
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():  # nothing comes after it
                yield self._before(node, node.lineno, [])
            case _ if isinstance(node, _SIMPLE) and node is not self.last:
                yield self._after(node)
            case _:
                pass
        for name in _BLOCKS:
            yield from self.block(getattr(node, name, []))
        for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            yield from self.block(part.body)

    def _before(self, node: ast.stmt, line: int, names: Sequence[str]) -> _Put:
        """On a line of its own where the statement begins one."""
        at = self.starts[node.lineno - 1] + node.col_offset
        indent = self.source[self.starts[node.lineno - 1] : at]
        end = "; " if indent.strip() else "\n" + indent.decode()
        return at, _call(line, names) + end

    def _after(self, node: ast.stmt) -> _Put:
        at = self.starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        return at, "; " + _call(node.lineno, _set(node))


def _call(line: int, names: Sequence[str]) -> str:
    return f"{WATCH}({line}, {{{', '.join(f'{name!r}: {name}' for name in names)}}})"


def _set(node: ast.stmt) -> list[str]:
    """The names that a statement gives a value to, or puts something into."""
    match node:
        case ast.Assign(targets):
            return [name for target in targets for name in _names(target)]
        case ast.AugAssign(target):
            return _names(target)
        case ast.AnnAssign(target, _, value):
            return _names(target) if value is not None else []
        case ast.Expr(ast.Call(func=ast.Attribute(value=held))):
            return _names(held)
        case _:
            return []


def _names(target: ast.expr) -> list[str]:
    match target:
        case ast.Name(name):
            return [name]
        case ast.Tuple(parts) | ast.List(parts):
            return list(dict.fromkeys(name for part in parts for name in _names(part)))
        case ast.Starred(value) | ast.Subscript(value) | ast.Attribute(value):
            return _names(value)
        case _:
            return []


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
