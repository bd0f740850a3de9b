"""Slips planted into correct programs, of the kinds that authors make, to measure how many are repaired."""

import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from agent.llm.client.chat import ModelReply, ModelTokenUsage
from agent.llm.program_reply import extract_program
from agent.policy.delegating_policy import DelegatingPolicy
from agent.policy.protocol import Policy
from agent.programs.program_types import ProgramQuestion, WrittenProgram
from domain.source_text import SourceCall, parse_source, try_parse_source

SlipKind = Literal[
    "wrong field", "wrong function", "missing await", "positional argument", "wrong literal", "prose around"
]
KINDS: tuple[SlipKind, ...] = get_args(SlipKind)
_FIELD = re.compile(r"""\[(['"])([^'"\]\n]+)\1\]""")
_NOTHING = ModelTokenUsage(0, 0)


@dataclass(frozen=True, slots=True)
class PlantedSlip:
    """A program with a slip planted into it."""

    kind: SlipKind
    reply: str
    """The complete reply of its author."""


@dataclass(frozen=True, slots=True)
class _TextEdit:
    """A replacement of some bytes of a program's text."""

    start: int
    end: int
    replacement: str = ""

    def apply(self, text: str) -> str:
        encoded = text.encode()
        return (encoded[: self.start] + self.replacement.encode() + encoded[self.end :]).decode()


def plant_slip(text: str, luck: random.Random, kinds: Iterable[SlipKind] = KINDS) -> PlantedSlip | None:
    """Plant one slip of these kinds, each equally likely, into a correct program; None if it has a place for none."""
    places: dict[SlipKind, list[_TextEdit]] = {
        kind: found for kind, ways in _EDITS_BY_KIND.items() if (found := list(ways(text)))
    }
    able: list[SlipKind] = [kind for kind in kinds if kind in places or kind == "prose around"]
    if not able:
        return None
    kind = luck.choice(able)
    if kind == "prose around":
        return PlantedSlip(
            "prose around",
            f"Of course! This should do:\n\n{_format_block(text)}\n\nLet me know if `x` is not what you meant.",
        )
    return PlantedSlip(kind, _format_block(luck.choice(places[kind]).apply(text)))


def _format_block(text: str) -> str:
    return f"```python\n{text}\n```"


def _misspell_fields(text: str) -> Iterator[_TextEdit]:
    for field_match in _FIELD.finditer(text):
        at = len(text[: field_match.end(2)].encode())
        yield _TextEdit(at, at, "_value")


def _misspell_functions(text: str) -> Iterator[_TextEdit]:
    for call in _find_awaited_calls(text):
        name = call.node.func  # by position: Python normalizes some letters, so that the text may be longer
        end = call.start + (name.end_col_offset or 0) - name.col_offset
        yield _TextEdit(end, end, "s")


def _remove_awaits(text: str) -> Iterator[_TextEdit]:
    for call in _find_awaited_calls(text):
        yield _TextEdit(call.awaited_from or 0, call.start)


def _remove_argument_names(text: str) -> Iterator[_TextEdit]:
    for call in _find_awaited_calls(text):
        if call.arguments and not call.positional and call.arguments[0].name:
            first = call.arguments[0]
            yield _TextEdit(first.start, first.value.start)


def _change_literals(text: str) -> Iterator[_TextEdit]:
    for call in _find_awaited_calls(text):
        for argument in call.arguments:
            literal = argument.value
            match literal.value:
                case bool():
                    continue
                case int() | float() as number:
                    yield _TextEdit(literal.start, literal.end, repr(number + 1))
                case str() as literal_text:
                    yield _TextEdit(
                        literal.start,
                        literal.end,
                        repr(literal_text[:-1] if len(literal_text) > 1 else f"{literal_text}x"),
                    )
                case _:
                    continue


_EDITS_BY_KIND: dict[SlipKind, Callable[[str], Iterator[_TextEdit]]] = {
    "wrong field": _misspell_fields,
    "wrong function": _misspell_functions,
    "missing await": _remove_awaits,
    "positional argument": _remove_argument_names,
    "wrong literal": _change_literals,
}


def _find_awaited_calls(text: str) -> list[SourceCall]:
    """Return awaited calls of functions, the last one first.

    Calls within strings have no exact position and are left out.
    """
    calls = sorted(parse_source(text).calls, key=lambda call: -call.end)
    return [call for call in calls if call.name and call.awaited_from is not None and not call.in_f_string]


class SlipPlantingPolicy(DelegatingPolicy):
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
        written = await self.delegate(question)
        luck = random.Random(f"{self._seed} {question.request}")
        if question.attempts or self.planted or luck.random() >= self._rate or not _has_statements(written.text):
            return written
        chosen_slip = plant_slip(written.text, luck, self._kinds)
        if chosen_slip is None:
            return written
        self.planted.append(chosen_slip.kind)
        return extract_program(ModelReply(chosen_slip.reply, _NOTHING))


def _has_statements(text: str) -> bool:
    source = try_parse_source(text)
    return source is not None and bool(source.statements)
