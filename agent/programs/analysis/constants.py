"""Constants in a program's text: their values, their positions, and which of them the request may state."""

import ast
import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic.types import JsonValue

from agent.programs.program_types import ASK
from domain.python_source import get_called_name, map_parents
from domain.source_text import SourceExpression, SourceText

ANSWER_KEY = "answer"
"""Key of a program's answer in the dict that it ends in."""
Span = tuple[int, int]
"""Start and end in a program's text, in UTF-8 bytes."""
_MAX_PARTS = 20_000
"""Limit of literals and names evaluated for one value."""
_NON_FINITE_NUMBERS = ("nan", "inf", "-inf")
_COMPARING_METHODS = frozenset({"startswith", "endswith", "find", "index", "count"})


class NotConstantError(ValueError):
    """An expression whose value may differ between runs, or that has no JSON form."""


def evaluate_constant(expression: ast.expr, find_name: Callable[[str], ast.expr | None] = lambda _: None) -> JsonValue:
    """Return the value of a constant expression.

    Args:
        expression: a literal, or literals and names combined in lists, tuples and dicts.
        find_name: returns the expression that a name stands for, if any.

    Raises:
        NotConstantError: the expression is not constant.
    """
    return _ConstantEvaluator(find_name).evaluate(expression)


class _ConstantEvaluator:
    """Evaluator of one expression with a limited number of parts."""

    def __init__(self, find_name: Callable[[str], ast.expr | None]) -> None:
        self._find_name = find_name
        self._open_names: list[str] = []
        self._remaining_parts = _MAX_PARTS

    def evaluate(self, expression: ast.expr) -> JsonValue:
        # Names may refer to lists of names that refer to lists of names: without a limit, a short text could take
        # exponential time.
        self._remaining_parts -= 1
        if self._remaining_parts < 0:
            raise NotConstantError
        match expression:
            case ast.Constant(None | bool() | int() | float() | str() as value):
                return value
            case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)):
                return -number
            case ast.List(parts) | ast.Tuple(parts):
                return [self.evaluate(part) for part in parts]
            case ast.Dict(keys, values):
                return {_read_key(key): self.evaluate(value) for key, value in zip(keys, values, strict=True)}
            case ast.Name(name):
                return self._evaluate_name(name)
            case ast.Call(ast.Name("float"), [ast.Constant(str() as text)], []) if text in _NON_FINITE_NUMBERS:
                return float(text)
            case ast.Call(ast.Attribute(ast.Name("json"), "loads"), [ast.Constant(str() as text)], []):
                return _parse_json(text)
            case _:
                raise NotConstantError

    def _evaluate_name(self, name: str) -> JsonValue:
        expression = self._find_name(name)
        if expression is None or name in self._open_names:
            raise NotConstantError
        self._open_names.append(name)
        value = self.evaluate(expression)
        self._open_names.pop()
        return value


def _read_key(key: ast.expr | None) -> str:
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return key.value
    raise NotConstantError


def _parse_json(text: str) -> JsonValue:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NotConstantError from None


def find_value_parts(value: SourceExpression, source: SourceText) -> Iterator[SourceExpression]:
    """Yield the names and constants that a value is made of, following names to the values assigned to them.

    Keys and indexes into an answer are left out, and so are the arguments of awaited calls.
    """
    assignments = {
        target.id: node.value
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    pending, seen = list[ast.AST]([value.node]), set[str]()
    while pending:
        match pending.pop():
            case ast.Subscript(of):
                pending.append(of)
            case ast.Call(ast.Attribute(of, "get"), [_, *others]):
                pending += [of, *others]
            case ast.Call(func, arguments, keywords):
                pending += [func, *arguments, *(keyword.value for keyword in keywords)]
            case ast.Await(ast.Call()):
                continue  # the value comes from the tool's answer, not from the call's arguments
            case ast.Name(name) as part:
                yield source.to_expression(part)
                if name in assignments and name not in seen:
                    seen.add(name)
                    pending.append(assignments[name])
            case ast.Constant() as part:
                yield source.to_expression(part)
            case other:
                pending += ast.iter_child_nodes(other)


def find_possible_answers(source: SourceText) -> tuple[ast.expr, ...]:
    """Return the expressions that may be the program's answer: the values in which its last statement may end.

    For a dict literal with the key ``answer``, the value under that key is returned.
    """
    return tuple(_find_last_values(source.tree.body[-1:]))


def _find_last_values(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Dict(keys, values)) if answer := _find_answer(keys, values):
                yield answer
            case ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
                yield value
            case ast.If() | ast.For() | ast.While() | ast.With() | ast.AsyncWith() | ast.AsyncFor() | ast.Try():
                for name in ("body", "orelse", "finalbody"):
                    yield from _find_last_values(getattr(statement, name, ())[-1:])
                for handler in getattr(statement, "handlers", ()):
                    yield from _find_last_values(handler.body[-1:])
            case _:
                return


def _find_answer(keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> ast.expr | None:
    pairs = zip(keys, values, strict=True)
    return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == ANSWER_KEY), None)


@dataclass(frozen=True, slots=True)
class FixedValue:
    """A constant in a place where a program could use a value of the request."""

    value: JsonValue
    role: Literal["argument", "held", "compared", "gone over", "picked by"]
    """How the text uses the constant."""
    function: str = ""
    """For an argument: the tool's function, by the name that the text calls it."""
    parameter: str = ""
    composed: bool = False
    """True if the constant is a literal part of a concatenated text or an f-string."""


def find_fixed_values(source: SourceText, tools: Collection[str]) -> Iterator[FixedValue]:
    """Yield the constants in tool calls, assignments, comparisons, loops and subscripts.

    For texts that are composed for a tool call, the literal words between the values are yielded too. ``tools``: names
    of the functions that are tools.
    """
    argument_values = [
        argument_value.value for call in source.calls if call.name in tools for argument_value in call.arguments
    ]
    sent_names = {name for keyword in argument_values for name in keyword.names}
    for node in ast.walk(source.tree):
        match node:
            case ast.Call() if (function := get_called_name(node)) in tools:
                for argument in node.keywords:
                    for value, composed in _find_constants(argument.value, include_text=True):
                        yield FixedValue(value, "argument", function, argument.arg or "", composed)
            case ast.Assign(targets, value):
                yield from _find_assigned_constants(targets, value, sent_names)
            case ast.AnnAssign(target, _, ast.expr() as value) | ast.NamedExpr(target, value):
                yield from _find_assigned_constants([target], value, sent_names)
            case ast.Compare(left, _, others):
                yield from (
                    FixedValue(constant, "compared")
                    for side in (left, *others)
                    for constant, _ in _find_constants(side)
                )
            case ast.Call(ast.Attribute(attr=method), arguments) if method in _COMPARING_METHODS:
                yield from (
                    FixedValue(constant, "compared") for side in arguments for constant, _ in _find_constants(side)
                )
            case ast.comprehension(iter=value) | ast.For(iter=value):
                yield from (FixedValue(constant, "gone over") for constant, _ in _find_constants(value))
            case ast.Subscript(slice=value):
                yield from (FixedValue(constant, "picked by") for constant, _ in _find_constants(value))
            case _:
                continue


def _find_assigned_constants(
    targets: Sequence[ast.expr], value: ast.expr, sent_names: Collection[str]
) -> Iterator[FixedValue]:
    """Yield the constants assigned to names; words of composed texts only if a tool call takes one of the names."""
    include_text = any(isinstance(target, ast.Name) and target.id in sent_names for target in targets)
    yield from (
        FixedValue(constant, "held", composed=composed)
        for constant, composed in _find_constants(value, include_text=include_text)
    )


def _find_constants(node: ast.expr, *, include_text: bool = False) -> Iterator[tuple[JsonValue, bool]]:
    """Yield the constants that an expression is, may be or contains, each with whether it is part of a composed text.

    Args:
        node: the expression.
        include_text: whether the literal words of f-strings and of concatenated texts count too.
    """
    match node:
        case ast.Constant(str() | int() | float() as value):
            yield value, False
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
            yield -value, False
        case ast.List(items) | ast.Tuple(items) | ast.Set(items) | ast.BoolOp(values=items) | ast.Dict(values=items):
            for item in items:
                yield from _find_constants(item, include_text=include_text)
        case ast.IfExp(body=body, orelse=orelse):
            yield from (
                *_find_constants(body, include_text=include_text),
                *_find_constants(orelse, include_text=include_text),
            )
        case ast.BinOp(left, ast.Add(), right) if include_text:
            parts = (part for side in (left, right) for part, _ in _find_constants(side, include_text=True))
            yield from ((text, True) for text in parts if isinstance(text, str))
        case ast.JoinedStr(parts) if include_text:
            literal_texts = [
                constant.value
                for constant in parts
                if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
            ]
            yield from ((word, True) for text in literal_texts for word in re.findall(r"\w[\w.:-]*\w|\w", text))
        case _:
            return


@dataclass(frozen=True, slots=True)
class LiftableValue:
    """A constant in a program's text, or a list of constants, that may come from the request."""

    value: JsonValue
    span: Span
    name: str = ""
    """Name that the text uses for the value, such as a keyword or a variable."""
    function: str = ""
    """Function that takes the value as the keyword ``name``; ``.`` for a method."""
    small_numbers_count: bool = True
    """True if small numbers such as 0, 1 and 2 may be values here: a call takes them, or a slice is limited by them."""
    own_lines: Span | None = None
    """Span of the lines of a statement that only assigns the value to ``name``; None if they hold anything else."""


class LiftableValueFinder:
    """Finder of the constants in one text that may come from the request."""

    def __init__(self, source: SourceText, tools: Collection[str]) -> None:
        """Index a text. ``tools``: names of the functions that are tools."""
        self._source = source
        self._tools = tools
        self._parents = map_parents(source.tree)

    def find_values(self, accept: Callable[[LiftableValue], bool]) -> list[LiftableValue]:
        """Return the accepted values in the order of the text.

        If a list is not accepted, its items are examined instead.
        """
        pending: list[ast.AST] = [self._source.tree]
        accepted: list[LiftableValue] = []
        while pending:
            node = pending.pop()
            if isinstance(node, ast.JoinedStr) or self._is_selector(node):
                continue
            if (
                isinstance(node, ast.Constant | ast.List | ast.UnaryOp)
                and (liftable := self._to_liftable(node))
                and accept(liftable)
            ):
                accepted.append(liftable)
            else:
                pending += ast.iter_child_nodes(node)
        return sorted(accepted, key=lambda one: one.span)

    def find_texts(self) -> list[Span]:
        """Return the spans of texts written for a reader: no arguments of tools, compared texts or field names."""
        return [
            self._source.get_span(node)
            for node in ast.walk(self._source.tree)
            if (isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)))
            and self._is_for_people(node)
        ]

    def _is_for_people(self, node: ast.AST) -> bool:
        while (parent := self._parents.get(node)) is not None:
            is_tool_argument = (
                isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in self._tools
            )
            if is_tool_argument or self._is_selector(node) or isinstance(parent, ast.Compare | ast.JoinedStr):
                return False
            node = parent
        return True

    def _is_selector(self, node: ast.AST) -> bool:
        """Return whether a node only selects a value or is fixed by the program, so that no request states it.

        These are subscripts (but no slices), keys of ``get`` and the like, match patterns, keys of dicts, the status
        under the key ``answered``, and questions to the user.
        """
        parent = self._parents.get(node)
        match parent:
            case ast.Subscript() if node is parent.slice:
                return not isinstance(node, ast.Slice)
            case ast.Call(ast.Attribute(_, "get" | "pop" | "setdefault"), [first, *_]) if node is first:
                return True
            case ast.Call(ast.Name("getattr" | "hasattr"), [_, second, *_]) if node is second:
                return True
            case ast.Call(ast.Name("pick"), [_, _, third]) if node is third:
                return True
            case ast.keyword("field") | ast.MatchValue() | ast.MatchMapping():
                return True
            case ast.Call(ast.Name(name)) if name == ASK and node is not parent.func:
                return True
            case ast.keyword() if isinstance(call := self._parents.get(parent), ast.Call):
                return get_called_name(call) == ASK
            case ast.Dict():
                status_values = [
                    value for key, value in zip(parent.keys, parent.values, strict=True) if _is_status_key(key)
                ]
                return node in parent.keys or node in status_values
            case _:
                return False

    def _to_liftable(self, node: ast.expr) -> LiftableValue | None:
        """Return a constant with the name that its context suggests; None if the node is not constant."""
        try:
            value = evaluate_constant(node)
        except NotConstantError:
            return None
        parent = self._parents.get(node)
        liftable = LiftableValue(
            value, self._source.get_span(node), small_numbers_count=isinstance(parent, ast.keyword | ast.Slice)
        )
        if isinstance(parent, ast.Tuple | ast.List | ast.Set):
            parent = self._parents.get(parent)
        match parent:
            case ast.keyword(arg=str() as name) if isinstance(call := self._parents.get(parent), ast.Call):
                return replace(liftable, name=name, function=call.func.id if isinstance(call.func, ast.Name) else ".")
            case ast.Assign([ast.Name(name)]) if self._source.assignment_counts[name] == 1:
                is_alone = parent in self._source.tree.body and parent.value is node
                return replace(liftable, name=name, own_lines=self._find_own_lines(parent) if is_alone else None)
            case ast.comprehension(target=ast.Name(name)) | ast.For(target=ast.Name(name)):
                return replace(liftable, name=f"{name}_list")
            case ast.Compare(left=compared):
                return replace(liftable, name=_find_field_name(compared))
            case ast.arguments() if node in parent.defaults:
                parameters = [*parent.posonlyargs, *parent.args][-len(parent.defaults) :]
                return replace(liftable, name=parameters[parent.defaults.index(node)].arg)
            case ast.Slice():
                return replace(liftable, name="number")
            case _:
                return liftable

    def _find_own_lines(self, statement: ast.stmt) -> Span | None:
        """Return the span of the lines of a statement; None if another statement is on them."""
        starts, span = self._source.line_starts, self._source.get_span(statement)
        end_line = statement.end_lineno or statement.lineno
        start, end = starts[statement.lineno - 1], starts[min(end_line, len(starts) - 1)]
        line_bytes = self._source.text.encode()[start:end]
        rest = line_bytes[: span[0] - start] + line_bytes[span[1] - start :]
        return (start, end) if not rest.strip() else None


def _find_field_name(compared: ast.expr) -> str:
    """Return the field that a compared expression is read from; empty if there is none."""
    match compared:
        case ast.Subscript(slice=ast.Constant(str() as key)):
            return key
        case ast.Call(ast.Attribute(_, "get"), [ast.Constant(str() as key), *_]):
            return key
        case ast.Call(ast.Attribute(held)):
            return _find_field_name(held)
        case ast.Call(ast.Name(), [inner]):
            return _find_field_name(inner)
        case _:
            return ""


def _is_status_key(key: ast.expr | None) -> bool:
    """Return whether a dict key is ``answered``, which states how far the request was served."""
    return isinstance(key, ast.Constant) and key.value == "answered"
