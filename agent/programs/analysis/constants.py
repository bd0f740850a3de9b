"""Constants of a program's text: their values, where they stand, and which may be values of the request."""

import ast
import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic.types import JsonValue

from agent.programs.protocol import ASK
from domain.python_source import called, parents
from domain.source_text import Expression, SourceText

ANSWER = "answer"
"""Key of a program's answer in the dict that it ends in."""
Span = tuple[int, int]
"""Start and end in a program's text, in UTF-8 bytes."""
_MOST_READ = 20_000
"""Parts of one value that are evaluated at most."""
_NUMBERS = ("nan", "inf", "-inf")
_COMPARES = frozenset({"startswith", "endswith", "find", "index", "count"})


class NotConstantError(ValueError):
    """An expression whose value may differ between runs, or that has no JSON form."""


def constant(expression: ast.expr, named: Callable[[str], ast.expr | None] = lambda _: None) -> JsonValue:
    """Return the value of a constant expression.

    Args:
        expression: a literal, or one built of literals and names of such.
        named: returns the expression that a name of the text stands for, if any.

    Raises:
        NotConstantError: the expression is not constant.
    """
    return _Constants(named).value(expression)


class _Constants:
    """Evaluator of one expression, limited in parts because names may refer to names."""

    def __init__(self, named: Callable[[str], ast.expr | None]) -> None:
        self._named = named
        self._within: list[str] = []
        self._left = _MOST_READ

    def value(self, expression: ast.expr) -> JsonValue:
        # Names may refer to names, so the work is bounded here and not by the size of the expression alone.
        self._left -= 1
        if self._left < 0:
            raise NotConstantError
        match expression:
            case ast.Constant(None | bool() | int() | float() | str() as value):
                return value
            case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)):
                return -number
            case ast.List(parts) | ast.Tuple(parts):
                return [self.value(part) for part in parts]
            case ast.Dict(keys, values):
                return {_text(key): self.value(one) for key, one in zip(keys, values, strict=True)}
            case ast.Name(name):
                return self._of_name(name)
            case ast.Call(ast.Name("float"), [ast.Constant(str() as text)], []) if text in _NUMBERS:
                return float(text)
            case ast.Call(ast.Attribute(ast.Name("json"), "loads"), [ast.Constant(str() as text)], []):
                return _read(text)
            case _:
                raise NotConstantError

    def _of_name(self, name: str) -> JsonValue:
        held = self._named(name)
        if held is None or name in self._within:
            raise NotConstantError
        self._within.append(name)
        value = self.value(held)
        self._within.pop()
        return value


def _text(key: ast.expr | None) -> str:
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return key.value
    raise NotConstantError


def _read(text: str) -> JsonValue:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NotConstantError from None


def made_of(value: Expression, source: SourceText) -> Iterator[Expression]:
    """Yield the names and constants that a value is made of, followed through assigned names.

    Keys and indices that only say where a value lies in an answer are left out.
    """
    held = {
        target.id: one.value
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    left, seen = list[ast.AST]([value.node]), set[str]()
    while left:
        match left.pop():
            case ast.Subscript(of):
                left.append(of)
            case ast.Call(ast.Attribute(of, "get"), [_, *others]):
                left += [of, *others]
            case ast.Call(func, arguments, keywords):
                left += [func, *arguments, *(one.value for one in keywords)]
            case ast.Await(ast.Call()):
                continue  # what a tool answers
            case ast.Name(name) as part:
                yield source.expression(part)
                if name in held and name not in seen:
                    seen.add(name)
                    left.append(held[name])
            case ast.Constant() as part:
                yield source.expression(part)
            case other:
                left += ast.iter_child_nodes(other)


def possible_answers(source: SourceText) -> tuple[ast.expr, ...]:
    """Return the expressions that may be the text's answer: the values of its last statement, branch by branch.

    For a dict that is written out, only the value under its answer key counts.
    """
    return tuple(_last_values(source.tree.body[-1:]))


def _last_values(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Dict(keys, values)) if answer := _answer_in(keys, values):
                yield answer
            case ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
                yield value
            case ast.If() | ast.For() | ast.While() | ast.With() | ast.AsyncWith() | ast.AsyncFor() | ast.Try():
                for name in ("body", "orelse", "finalbody"):
                    yield from _last_values(getattr(statement, name, ())[-1:])
                for handler in getattr(statement, "handlers", ()):
                    yield from _last_values(handler.body[-1:])
            case _:
                return


def _answer_in(keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> ast.expr | None:
    pairs = zip(keys, values, strict=True)
    return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == ANSWER), None)


@dataclass(frozen=True, slots=True)
class FixedValue:
    """A constant that a text writes where a value of its request could stand."""

    value: JsonValue
    role: Literal["argument", "held", "compared", "gone over", "picked by"]
    """How the text uses the constant."""
    function: str = ""
    """For an argument: the tool's function, by the name that the text calls it."""
    parameter: str = ""
    composed: bool = False
    """True if the constant is part of a text that is composed of several parts."""


def fixed_values(source: SourceText, tools: Collection[str]) -> Iterator[FixedValue]:
    """Yield the constants of calls of ``tools``, assignments, comparisons, loops and subscripts, outer ones first.

    For composed texts that go into a call, the literal words between the values count too.
    """
    given = [one.value for call in source.calls if call.name in tools for one in call.arguments]
    sent = {name for one in given for name in one.names}
    for node in ast.walk(source.tree):
        match node:
            case ast.Call() if (function := called(node)) in tools:
                for one in node.keywords:
                    for value, composed in _fixed_in(one.value, texts=True):
                        yield FixedValue(value, "argument", function, one.arg or "", composed)
            case ast.Assign(targets, value):
                yield from _held(targets, value, sent)
            case ast.AnnAssign(target, _, ast.expr() as value) | ast.NamedExpr(target, value):
                yield from _held([target], value, sent)
            case ast.Compare(left, _, others):
                yield from (FixedValue(one, "compared") for side in (left, *others) for one, _ in _fixed_in(side))
            case ast.Call(ast.Attribute(attr=method), arguments) if method in _COMPARES:
                yield from (FixedValue(one, "compared") for side in arguments for one, _ in _fixed_in(side))
            case ast.comprehension(iter=value) | ast.For(iter=value):
                yield from (FixedValue(one, "gone over") for one, _ in _fixed_in(value))
            case ast.Subscript(slice=value):
                yield from (FixedValue(one, "picked by") for one, _ in _fixed_in(value))
            case _:
                continue


def _held(targets: Sequence[ast.expr], value: ast.expr, sent: Collection[str]) -> Iterator[FixedValue]:
    """Yield the constants that are assigned to names; the words of composed texts only if a call takes the name."""
    texts = any(isinstance(one, ast.Name) and one.id in sent for one in targets)
    yield from (FixedValue(one, "held", composed=composed) for one, composed in _fixed_in(value, texts=texts))


def _fixed_in(node: ast.expr, *, texts: bool = False) -> Iterator[tuple[JsonValue, bool]]:
    """Yield the constants that an expression is, may be or is composed of, each with whether it is part of a text.

    Args:
        node: the expression.
        texts: whether the literal words of f-strings and of concatenated texts count too.
    """
    match node:
        case ast.Constant(str() | int() | float() as value):
            yield value, False
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
            yield -value, False
        case ast.List(items) | ast.Tuple(items) | ast.Set(items) | ast.BoolOp(values=items) | ast.Dict(values=items):
            for item in items:
                yield from _fixed_in(item, texts=texts)
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_fixed_in(body, texts=texts), *_fixed_in(orelse, texts=texts))
        case ast.BinOp(left, ast.Add(), right) if texts:
            parts = (one for side in (left, right) for one, _ in _fixed_in(side, texts=True))
            yield from ((one, True) for one in parts if isinstance(one, str))
        case ast.JoinedStr(parts) if texts:
            said = [one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            yield from ((word, True) for text in said for word in re.findall(r"\w[\w.:-]*\w|\w", text))
        case _:
            return


@dataclass(frozen=True, slots=True)
class LiftableValue:
    """A constant of a text, or a list of constants, that may stand for a value of the request."""

    value: JsonValue
    span: Span
    name: str = ""
    """Name that the text itself uses for the value."""
    function: str = ""
    """Function that takes the value under this name."""
    counts: bool = True
    """True if small numbers such as 0, 1 and 2 carry meaning here: a call takes them, or a list is cut to them."""
    line: Span | None = None
    """Lines of a statement that only gives the value its name; None if there is none or it shares its lines."""


class LiftableValues:
    """Finder of the values of one text that a request may state. ``tools``: the functions that the text may call."""

    def __init__(self, source: SourceText, tools: Collection[str]) -> None:
        self._source = source
        self._tools = tools
        self._above = parents(source.tree)

    def find(self, accept: Callable[[LiftableValue], bool]) -> list[LiftableValue]:
        """Return the accepted values in the order of the text.

        If a list is not accepted, its items are examined instead.
        """
        left: list[ast.AST] = [self._source.tree]
        found: list[LiftableValue] = []
        while left:
            node = left.pop()
            if isinstance(node, ast.JoinedStr) or self._is_place(node):
                continue
            if isinstance(node, ast.Constant | ast.List | ast.UnaryOp) and (one := self._value(node)) and accept(one):
                found.append(one)
            else:
                left += ast.iter_child_nodes(node)
        return sorted(found, key=lambda one: one.span)

    def texts(self) -> list[Span]:
        """Return the places of texts for people: not arguments of tools, not compared texts, not field names."""
        return [
            self._source.span(node)
            for node in ast.walk(self._source.tree)
            if (isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)))
            and self._is_for_people(node)
        ]

    def _is_for_people(self, node: ast.AST) -> bool:
        while (above := self._above.get(node)) is not None:
            given = isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id in self._tools
            if given or self._is_place(node) or isinstance(above, ast.Compare | ast.JoinedStr):
                return False
            node = above
        return True

    def _is_place(self, node: ast.AST) -> bool:
        """Return whether a node only selects a value or reports progress, so that it is no value of the request.

        Selectors are subscripts, ``get`` keys and match patterns; the status under the key ``answered`` and questions
        to the user are not values either.
        """
        above = self._above.get(node)
        match above:
            case ast.Subscript() if node is above.slice:
                return not isinstance(node, ast.Slice)
            case ast.Call(ast.Attribute(_, "get" | "pop" | "setdefault"), [first, *_]) if node is first:
                return True
            case ast.Call(ast.Name("getattr" | "hasattr"), [_, second, *_]) if node is second:
                return True
            case ast.Call(ast.Name("pick"), [_, _, third]) if node is third:
                return True
            case ast.keyword("field") | ast.MatchValue() | ast.MatchMapping():
                return True
            case ast.Call(ast.Name(name)) if name == ASK and node is not above.func:
                return True
            case ast.keyword() if isinstance(call := self._above.get(above), ast.Call):
                return called(call) == ASK
            case ast.Dict():
                answered = [value for key, value in zip(above.keys, above.values, strict=True) if _is_answered(key)]
                return node in above.keys or node in answered
            case _:
                return False

    def _value(self, node: ast.expr) -> LiftableValue | None:
        """Return a constant with the name that its context gives it; None if the node is not constant."""
        try:
            value = constant(node)
        except NotConstantError:
            return None
        above = self._above.get(node)
        one = LiftableValue(value, self._source.span(node), counts=isinstance(above, ast.keyword | ast.Slice))
        if isinstance(above, ast.Tuple | ast.List | ast.Set):
            above = self._above.get(above)
        match above:
            case ast.keyword(arg=str() as name) if isinstance(call := self._above.get(above), ast.Call):
                return replace(one, name=name, function=call.func.id if isinstance(call.func, ast.Name) else ".")
            case ast.Assign([ast.Name(name)]) if self._source.names_set[name] == 1:
                alone = above in self._source.tree.body and above.value is node
                return replace(one, name=name, line=self._line_of(above) if alone else None)
            case ast.comprehension(target=ast.Name(name)) | ast.For(target=ast.Name(name)):
                return replace(one, name=f"{name}_list")
            case ast.Compare(left=compared):
                return replace(one, name=_field(compared))
            case ast.arguments() if node in above.defaults:
                own = [*above.posonlyargs, *above.args][-len(above.defaults) :]
                return replace(one, name=own[above.defaults.index(node)].arg)
            case ast.Slice():
                return replace(one, name="number")
            case _:
                return one

    def _line_of(self, statement: ast.stmt) -> Span | None:
        """Return the lines of a statement that has them to itself; None if it shares them."""
        starts, span = self._source.starts, self._source.span(statement)
        end_line = statement.end_lineno or statement.lineno
        start, end = starts[statement.lineno - 1], starts[min(end_line, len(starts) - 1)]
        whole = self._source.text.encode()[start:end]
        rest = whole[: span[0] - start] + whole[span[1] - start :]
        return (start, end) if not rest.strip() else None


def _field(compared: ast.expr) -> str:
    """Return the field name that a compared expression is read from; empty if there is none."""
    match compared:
        case ast.Subscript(slice=ast.Constant(str() as key)):
            return key
        case ast.Call(ast.Attribute(_, "get"), [ast.Constant(str() as key), *_]):
            return key
        case ast.Call(ast.Attribute(held)):
            return _field(held)
        case ast.Call(ast.Name(), [inner]):
            return _field(inner)
        case _:
            return ""


def _is_answered(key: ast.expr | None) -> bool:
    """Return whether a dict key is the one that states how far the request is served."""
    return isinstance(key, ast.Constant) and key.value == "answered"
