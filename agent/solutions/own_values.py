"""Values that a program holds and nobody said: worked out from a value of its request, from the day of its run or from what its author knew or saw.

With other inputs they would be wrong, and nothing would tell. So a text that has one is kept for no other request.
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping

from pydantic.types import JsonValue

from agent.plans.said_words import words_of
from agent.programs.reading import called
from domain.program import Program
from domain.tool import ToolDoc, ToolId

_MANY = 100
"""Whole numbers up to here are how many, or how often."""
_SHORTEST = 2
_OF_ITS_OWN = re.compile(r"(?<=[^.!?:\s] )(?:[A-ZÀ-ÖØ-Þ]\w+|\w*\d\w*)|(?<=^ )[A-ZÀ-ÖØ-Þ]\w+")
"""A word with a capital within a sentence, or with a digit."""


def own_values(
    program: Program, request: str, docs: Mapping[ToolId, ToolDoc], seen: Collection[str] = ()
) -> list[JsonValue]:
    """The constants of a text, among those that its calls take and that it compares with, that must come from somewhere else than the request or a
    tool's document. ``seen``: texts of responses that its author was shown: what stands there may be from there.
    """
    tree = ast.parse(program.text)
    return [
        value
        for value, known in _constants(tree, program, docs)
        if value not in known and not words_of(value, request) and (_tells_much(value) or _stands_in(value, seen))
    ]


def words_of_answers(program: Program, request: str, answers: Collection[str]) -> list[str]:
    """Names, codes and figures that a text says to people by itself, and that the answers of its calls hold: those are of this one run, a country or a
    currency say. The first word of a sentence owes its capital to that.
    """
    texts = [
        node.value
        for node in ast.walk(ast.parse(program.text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    ]
    said = dict.fromkeys(hit[0] for text in texts for hit in _OF_ITS_OWN.finditer(text))
    return [
        word
        for word in said
        if not words_of(word, request) and any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", one) for one in answers)
    ]


def _constants(
    tree: ast.Module, program: Program, docs: Mapping[ToolId, ToolDoc]
) -> Iterator[tuple[JsonValue, tuple[JsonValue, ...]]]:
    """Each constant with the values that a document has for its place."""
    for node in ast.walk(tree):
        match node:
            case ast.Call() if (function := called(node)) in program.tools:
                names = program.arguments.get(function, {})
                doc = docs.get(program.tools[function])
                for one in node.keywords:
                    known = _known(doc, names.get(one.arg or "", one.arg or ""))
                    yield from ((value, known) for value in _within(one.value))
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                yield from ((one, ()) for one in _within(value))
            case ast.Compare(left=left, comparators=others):
                yield from ((one, ()) for side in (left, *others) for one in _within(side))
            case ast.comprehension(iter=value) | ast.For(iter=value):
                yield from ((one, ()) for one in _within(value))
            case _:
                continue


def _within(node: ast.expr) -> Iterator[JsonValue]:
    """The constants that a value is, or that a list of it holds."""
    match node:
        case ast.Constant(str() | int() | float() as value):
            yield value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
            yield -value
        case ast.List(items) | ast.Tuple(items) | ast.Set(items):
            for item in items:
                yield from _within(item)
        case _:
            return


def _known(doc: ToolDoc | None, parameter: str) -> tuple[JsonValue, ...]:
    own = next((one for one in doc.parameters if one.name == parameter), None) if doc else None
    return (*own.enum, own.default) if own else ()


def _tells_much(value: JsonValue) -> bool:
    """Whether it is more than a word of a program's own: a figure, a code, a name."""
    match value:
        case bool():
            return False
        case int():
            return abs(value) > _MANY
        case float():
            return not value.is_integer() or abs(value) > _MANY
        case str():
            return bool(re.search(r"\d", value)) or (len(value) >= _SHORTEST and value[:1].isupper())
        case _:
            return False


def _stands_in(value: JsonValue, seen: Collection[str]) -> bool:
    text = str(value)
    long = isinstance(value, str) and len(text) >= _SHORTEST
    return long and any(text in one for one in seen)
