"""Slips planted into correct programs, of the kinds that authors make, to measure how many are repaired."""

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
from domain.source_text import Call, parse_source, try_parse_source

SlipKind = Literal[
    "wrong field", "wrong function", "missing await", "positional argument", "wrong literal", "prose around"
]
KINDS: tuple[SlipKind, ...] = get_args(SlipKind)
_FIELD = re.compile(r"""\[(['"])([^'"\]\n]+)\1\]""")
_NOTHING = TokenUsage(0, 0)


@dataclass(frozen=True, slots=True)
class Slip:
    """A program with a slip planted into it."""

    kind: SlipKind
    reply: str
    """The complete reply of its author."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """A replacement of some bytes of a program's text."""

    start: int
    end: int
    instead: str = ""

    def applied(self, text: str) -> str:
        held = text.encode()
        return (held[: self.start] + self.instead.encode() + held[self.end :]).decode()


def slip(text: str, luck: random.Random, kinds: Iterable[SlipKind] = KINDS) -> Slip | None:
    """Plant one slip of these kinds, each equally likely, into a correct program; None if it has a place for none."""
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
    for call in _awaited(text):
        name = call.node.func  # by position: Python normalizes some letters, so that the text may be longer
        end = call.start + (name.end_col_offset or 0) - name.col_offset
        yield _Edit(end, end, "s")


def _awaits(text: str) -> Iterator[_Edit]:
    for call in _awaited(text):
        yield _Edit(call.awaited_from or 0, call.start)


def _positions(text: str) -> Iterator[_Edit]:
    for call in _awaited(text):
        if call.arguments and not call.positional and call.arguments[0].name:
            first = call.arguments[0]
            yield _Edit(first.start, first.value.start)


def _literals(text: str) -> Iterator[_Edit]:
    for call in _awaited(text):
        for argument in call.arguments:
            given = argument.value
            match given.value:
                case bool():
                    continue
                case int() | float() as number:
                    yield _Edit(given.start, given.end, repr(number + 1))
                case str() as said:
                    yield _Edit(given.start, given.end, repr(said[:-1] if len(said) > 1 else f"{said}x"))
                case _:
                    continue


_WAYS: dict[SlipKind, Callable[[str], Iterator[_Edit]]] = {
    "wrong field": _fields,
    "wrong function": _functions,
    "missing await": _awaits,
    "positional argument": _positions,
    "wrong literal": _literals,
}


def _awaited(text: str) -> list[Call]:
    """Return awaited calls of functions, the last one first.

    Calls within strings have no exact position and are left out.
    """
    calls = sorted(parse_source(text).calls, key=lambda call: -call.end)
    return [call for call in calls if call.name and call.awaited_from is not None and not call.quoted]


class Slipping(Delegating):
    """Plants a slip into the first program of some requests, and leaves all later programs alone. Made for one run.

    ``rate`` is the share of requests. They are chosen by ``seed`` and the request's text alone, so that they are the same in any order.
    ``planted`` holds the planted kinds, in order.
    """

    def __init__(self, policy: Policy, rate: float, seed: int = 0, kinds: Iterable[SlipKind] = KINDS) -> None:
        super().__init__(policy)
        self.planted: list[SlipKind] = []
        self._rate, self._seed, self._kinds = rate, seed, tuple(kinds)

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        """Return the program of the other policy, with a slip if this request is chosen."""
        written = await self.pass_on(question)
        luck = random.Random(f"{self._seed} {question.request}")
        if question.attempts or self.planted or luck.random() >= self._rate or not _has_statements(written.text):
            return written
        made = slip(written.text, luck, self._kinds)
        if made is None:
            return written
        self.planted.append(made.kind)
        return program_of(Reply(made.reply, _NOTHING))


def _has_statements(text: str) -> bool:
    source = try_parse_source(text)
    return source is not None and bool(source.statements)
