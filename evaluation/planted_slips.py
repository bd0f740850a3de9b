"""Slips as authors of programs make them, planted into programs that are right, to measure how many are mended."""

import ast
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from agent.llm.client.chat import Reply, TokenUsage
from agent.llm.program_reply import program_of
from agent.policy.delegating import Delegating
from agent.policy.protocol import Policy
from agent.programs.protocol import ProgramQuestion, WrittenProgram
from domain.python_source import parse_module

SlipKind = Literal[
    "wrong field", "wrong function", "missing await", "positional argument", "wrong literal", "prose around"
]
KINDS: tuple[SlipKind, ...] = get_args(SlipKind)
_FIELD = re.compile(r"""\[(['"])([^'"\]\n]+)\1\]""")
_NOTHING = TokenUsage(0, 0)


@dataclass(frozen=True, slots=True)
class Slip:
    """``reply``: all that its author says."""

    kind: SlipKind
    reply: str


@dataclass(frozen=True, slots=True)
class _Edit:
    """Bytes of a program's text, and what stands there instead."""

    start: int
    end: int
    instead: str = ""

    def applied(self, text: str) -> str:
        held = text.encode()
        return (held[: self.start] + self.instead.encode() + held[self.end :]).decode()


def slip(text: str, luck: random.Random, kinds: Iterable[SlipKind] = KINDS) -> Slip | None:
    """One slip of these kinds, each as likely as the others, in a program that is right; None where it has a place for none."""
    places: dict[SlipKind, list[_Edit]] = {kind: found for kind, ways in _WAYS.items() if (found := list(ways(text)))}
    able: list[SlipKind] = [kind for kind in kinds if kind in places or kind == "prose around"]
    if not able:
        return None
    kind = luck.choice(able)
    if kind == "prose around":
        return Slip(
            "prose around", f"Of course! This should do:\n\n{_block(text)}\n\nLet me know if `x` is not what you meant."
        )
    return Slip(kind, _block(luck.choice(places[kind]).applied(text)))


def _block(text: str) -> str:
    return f"```python\n{text}\n```"


def _fields(text: str) -> Iterator[_Edit]:
    for found in _FIELD.finditer(text):
        at = len(text[: found.end(2)].encode())
        yield _Edit(at, at, "_value")


def _functions(text: str) -> Iterator[_Edit]:
    for awaited, _ in _awaited(text):
        _, end = _span(awaited.func, text)
        yield _Edit(end, end, "s")


def _awaits(text: str) -> Iterator[_Edit]:
    for awaited, start in _awaited(text):
        yield _Edit(start, _span(awaited, text)[0])


def _positions(text: str) -> Iterator[_Edit]:
    for awaited, _ in _awaited(text):
        if awaited.keywords and not awaited.args and awaited.keywords[0].arg:
            first = awaited.keywords[0]
            yield _Edit(_span(first, text)[0], _span(first.value, text)[0])


def _literals(text: str) -> Iterator[_Edit]:
    for awaited, _ in _awaited(text):
        for word in awaited.keywords:
            match word.value:
                case ast.Constant(value=bool() | None):
                    continue
                case ast.Constant(value=int() | float() as number):
                    yield _Edit(*_span(word.value, text), repr(number + 1))
                case ast.Constant(value=str() as said):
                    yield _Edit(*_span(word.value, text), repr(said[:-1] if len(said) > 1 else f"{said}x"))
                case _:
                    continue


_WAYS: dict[SlipKind, Callable[[str], Iterator[_Edit]]] = {
    "wrong field": _fields,
    "wrong function": _functions,
    "missing await": _awaits,
    "positional argument": _positions,
    "wrong literal": _literals,
}


def _awaited(text: str) -> Iterator[tuple[ast.Call, int]]:
    """Calls of functions that are waited for, each with where its ``await`` begins; places within texts are not told exactly."""
    nodes: list[ast.AST] = [parse_module(text)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Await) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
            yield node.value, _span(node, text)[0]
        nodes += [inner for inner in ast.iter_child_nodes(node) if not isinstance(inner, ast.JoinedStr)]


def _span(node: ast.expr | ast.keyword, text: str) -> tuple[int, int]:
    """Where a node begins and ends, in bytes of the text."""
    lines = [len(line.encode()) for line in text.splitlines(keepends=True)]
    if node.end_lineno is None or node.end_col_offset is None:
        raise ValueError("a node that was parsed has an end")
    return sum(lines[: node.lineno - 1]) + node.col_offset, sum(lines[: node.end_lineno - 1]) + node.end_col_offset


class Slipping(Delegating):
    """Made for one run. Plants a slip into the first program of so many requests, and leaves what is written after it alone.

    ``rate``: of the requests, chosen by ``seed`` and the request's text alone, so that they are the same ones whatever the order.
    ``planted``: what was, in order.
    """

    def __init__(self, policy: Policy, rate: float, seed: int = 0, kinds: Iterable[SlipKind] = KINDS) -> None:
        super().__init__(policy)
        self.planted: list[SlipKind] = []
        self._rate, self._seed, self._kinds = rate, seed, tuple(kinds)

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        """What the other policy writes, with a slip in it where it is this request's turn."""
        written = await self.pass_on(question)
        luck = random.Random(f"{self._seed} {question.request}")
        if question.attempts or self.planted or luck.random() >= self._rate or not _parses(written.text):
            return written
        made = slip(written.text, luck, self._kinds)
        if made is None:
            return written
        self.planted.append(made.kind)
        return program_of(Reply(made.reply, _NOTHING))


def _parses(text: str) -> bool:
    try:
        return bool(parse_module(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
