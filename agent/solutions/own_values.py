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
from domain.python_source import parse_module
from domain.tool import ToolDoc, ToolId

_MANY = 100
"""Whole numbers up to here are how many, or how often."""
_SHORTEST = 2
_CHOICES = 20
"""Values that a document may name for a parameter so that one of them is a way of calling, as an order or a unit is."""
_CODE = re.compile(r"[a-z]{2,3}")
_COMPARES = frozenset({"startswith", "endswith", "find", "index", "count"})
_BESIDE = " ,.;:!?-/()"
_OF_ITS_OWN = re.compile(r"(?<=[^.!?:\s] )(?:[A-ZÀ-ÖØ-Þ]\w+|\w*\d\w*)|(?<=^ )[A-ZÀ-ÖØ-Þ]\w+")
"""A word with a capital within a sentence, or with a digit."""


def own_values(
    program: Program,
    request: str,
    docs: Mapping[ToolId, ToolDoc],
    seen: Collection[str] = (),
    answers: Collection[str] = (),
) -> list[JsonValue]:
    """The constants of a text, among those that its calls take, that it compares with and that it picks by, that must come from somewhere else than the
    request or a tool's document. ``seen``: what its author was shown of responses: what stands there may be from there; ``answers``: responses
    of which it may have been shown anything: a text that stands there may be.
    """
    tree = parse_module(program.text)
    found = [
        value
        for value, known in _constants(tree, program, docs)
        if value not in known
        and not words_of(value, request)
        and (_tells_much(value) or _stands_in(value, seen, answers))
    ]
    codes = [one for one, told in _codes(tree, program, docs) if one not in told and not words_of(one, request)]
    return [*found, *codes, *(_picked(tree) if seen else ())]


def words_of_answers(program: Program, request: str, answers: Collection[str]) -> list[str]:
    """Names, codes and figures that a text says to people by itself, and that the answers of its calls hold: those are of this one run, a country or a
    currency say. The first word of a sentence owes its capital to that.
    """
    texts = [
        node.value
        for node in ast.walk(parse_module(program.text))
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
    sent = _sent(tree, program)
    for node in ast.walk(tree):
        match node:
            case ast.Call() if (function := called(node)) in program.tools:
                for one, doc, parameter in _given(node, function, program, docs):
                    yield from ((value, _known(doc, parameter)) for value in _within(one, texts=True))
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
                texts = any(isinstance(one, ast.Name) and one.id in sent for one in _targets(node))
                yield from ((one, ()) for one in _within(value, texts=texts))
            case ast.Compare(left=left, comparators=others):
                yield from ((one, ()) for side in (left, *others) for one in _within(side))
            case ast.Call(ast.Attribute(attr=method), arguments) if method in _COMPARES:
                yield from ((one, ()) for argument in arguments for one in _within(argument))
            case ast.comprehension(iter=value) | ast.For(iter=value):
                yield from ((one, ()) for one in _within(value))
            case _:
                continue


def _codes(
    tree: ast.Module, program: Program, docs: Mapping[ToolId, ToolDoc]
) -> Iterator[tuple[str, frozenset[JsonValue]]]:
    """What looks like the code of a country, a currency or a language, where a call takes it, with the words of its document."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (function := called(node)) in program.tools:
            for one, doc, parameter in _given(node, function, program, docs):
                own = next((each for each in doc.parameters if each.name == parameter), None) if doc else None
                told = re.findall(r"\w+", f"{own.description} {own.enum} {own.default}") if own else []
                codes = [value for value in _within(one) if isinstance(value, str) and _CODE.fullmatch(value)]
                yield from ((value, frozenset(told)) for value in codes)


def _given(
    call: ast.Call, function: str, program: Program, docs: Mapping[ToolId, ToolDoc]
) -> Iterator[tuple[ast.expr, ToolDoc | None, str]]:
    """What a call of a tool is given, with the document of the tool and the parameter's own name there."""
    names, doc = program.arguments.get(function, {}), docs.get(program.tools[function])
    yield from ((one.value, doc, names.get(one.arg or "", one.arg or "")) for one in call.keywords)


def _sent(tree: ast.Module, program: Program) -> frozenset[str]:
    """The names that go into what calls of tools take."""
    given = [
        one.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called(node) in program.tools
        for one in node.keywords
    ]
    return frozenset(node.id for one in given for node in ast.walk(one) if isinstance(node, ast.Name))


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Assign(targets=targets):
            yield from targets
        case ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            yield target
        case _:
            return


def _within(node: ast.expr, *, texts: bool = False) -> Iterator[JsonValue]:
    """The constants that a value is, may be, or is put together of. ``texts``: what its f-strings say between their values, too."""
    match node:
        case ast.Constant(str() | int() | float() as value):
            yield value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
            yield -value
        case ast.List(items) | ast.Tuple(items) | ast.Set(items) | ast.BoolOp(values=items) | ast.Dict(values=items):
            for item in items:
                yield from _within(item, texts=texts)
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_within(body, texts=texts), *_within(orelse, texts=texts))
        case ast.BinOp(left, ast.Add(), right) if texts:
            yield from (one for side in (left, right) for one in _within(side, texts=True) if isinstance(one, str))
        case ast.JoinedStr(parts) if texts:
            said = [one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            yield from (word for text in said for word in re.findall(r"\w[\w.:-]*\w|\w", text))
        case _:
            return


def _picked(tree: ast.Module) -> list[JsonValue]:
    """The places of lists by which a text picks, but for the first and the last: whoever saw the list may have looked for the right one there."""
    places = [
        constant for node in ast.walk(tree) if isinstance(node, ast.Subscript) for constant in _within(node.slice)
    ]
    return [one for one in places if isinstance(one, int) and one not in (0, -1)]


def _known(doc: ToolDoc | None, parameter: str) -> tuple[JsonValue, ...]:
    """What a document has of values. Of a long list each is one of many things, and none that a program chooses by itself."""
    own = next((one for one in doc.parameters if one.name == parameter), None) if doc else None
    return (*(own.enum if len(own.enum) <= _CHOICES else ()), own.default) if own else ()


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
            text = value.strip(_BESIDE)
            return bool(re.search(r"\d", text)) or (len(text) >= _SHORTEST and text[:1].isupper())
        case _:
            return False


def _stands_in(value: JsonValue, seen: Collection[str], answers: Collection[str]) -> bool:
    """Whether a text is in one of these, or a number, as such, in what was seen."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        return len(value) >= _SHORTEST and any(value in one for one in (*seen, *answers))
    number = re.compile(rf"(?<![\w.]){re.escape(str(value))}(?![\w.]|\.\d)")
    return any(number.search(one) for one in seen)
