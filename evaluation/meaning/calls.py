"""Calls of a program as terms: of tools, of the program's functions, and of built-in functions."""

import ast
from collections.abc import Mapping, Sequence

from evaluation.meaning import terms
from evaluation.meaning.conditions import conditions, exists, negated
from evaluation.meaning.expressions import Called, Expressions, Function
from evaluation.meaning.terms import EMPTY, NOTHING, Term, constant, group, listed, opened, term

_SAME = frozenset({"str", "int", "float", "bool", "list", "tuple", "iter", "round"})
"""Conversions, which do not change a term."""
_TRIMMED = frozenset({"casefold", "lower", "upper", "title", "strip", "lstrip", "rstrip", "copy"})
_DEEPEST = 8
"""Maximum depth of nested calls of the program's functions."""


class Calls(Expressions):
    """Reads expressions with calls."""

    def run(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Term:
        """Return what a function of the program returns; its parameters are bound already."""
        raise NotImplementedError

    def call(self, node: ast.Call) -> Term:
        match node.func:
            case ast.Name(id=name) if name in self.tools and name not in self.held:
                return self._tool(name, node)
            case ast.Name(id=name) if name in self.functions:
                return self.apply(
                    self.functions[name],
                    [*map(self.of, node.args)],
                    {one.arg: self.of(one.value) for one in node.keywords if one.arg},
                )
            case ast.Name(id=name):
                return self._builtin(name, node)
            case ast.Attribute(value=ast.Name(id="asyncio"), attr="gather"):
                return self.several(node.args)
            case ast.Attribute(value=value, attr=name):
                return self._method(self.of(value), name, node)
            case _:
                return Term("called", (self.of(node.func), *map(self.of, node.args)))

    def _tool(self, name: str, node: ast.Call) -> Term:
        names = self.arguments.get(name, {})
        given = [(names.get(one.arg or "**", one.arg or "**"), self.of(one.value)) for one in node.keywords]
        given += [(str(place), self.of(one)) for place, one in enumerate(node.args)]
        told = [
            term("argument", own, value)
            for own, value in sorted(given, key=lambda one: one[0])
            if value not in (NOTHING, constant(""))
        ]
        made = term("call", self.tools[name], *told)
        self.calls[Called(made, tuple(group("where", self.scope.where).inner()))] = None
        return made

    def apply(self, function: Function, given: Sequence[Term], named: Mapping[str, Term] | None = None) -> Term:
        """Return the result of a function of the program."""
        if self.depth >= _DEEPEST:
            return Term("again", tuple(given))
        before, self.depth = dict(self.held), self.depth + 1
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        defaults = dict(zip(reversed(names), map(self.of, reversed(function.args.defaults)), strict=False))
        self.held |= defaults | dict(zip(names, given, strict=False)) | dict(named or {})
        try:
            return self.of(function.body) if isinstance(function, ast.Lambda) else self.run(function)
        finally:
            self.held, self.depth = before, self.depth - 1

    def _builtin(self, name: str, node: ast.Call) -> Term:
        found = [self.of(one) for one in node.args]
        first = found[0] if found else NOTHING
        match name:
            case "len":
                return terms.count(first)
            case "sum":
                return terms.total(first)
            case "first" | "next":
                return terms.picked("first", first)
            case "max" | "min":
                values = first if len(found) == 1 else Term("items", tuple(found))
                return self._extreme("most" if name == "max" else "least", values, self._key(node))
            case "sorted":
                return self.ordered(first, node)
            case "pick":
                return self._pick(first, found, node)
            case "ask":
                return Term("asked", tuple(found))
            case _ if name in _SAME:
                return first if found else EMPTY
            case _:
                return self._collected(name, found, node)

    def _collected(self, name: str, found: Sequence[Term], node: ast.Call) -> Term:
        """Read a built-in function that makes a collection or tests one."""
        first = found[0] if found else EMPTY
        match name:
            case "set" | "frozenset":
                return term("unique", first)
            case "dict":
                return term("map", first) if first.kind == "list" else first if found else term("dict")
            case "any":
                return exists(first)
            case "all":
                made, through, where = opened(first)
                return negated(exists(listed(negated(made), through, where)))
            case "zip" | "enumerate" if found:
                return listed(*self.each(node))
            case "map" if len(node.args) == 2:
                item, through, where = opened(found[1])
                return listed(self._applied(node.args[0], item), through, where)
            case "filter" if len(node.args) == 2:
                item, through, where = opened(found[1])
                return listed(item, through, (*where, *conditions(self._applied(node.args[0], item))))
            case "isinstance":
                return term("instance", first)
            case _:
                told = (term("argument", one.arg or "**", self.of(one.value)) for one in node.keywords)
                return Term("called", (name, *found, *told))

    def _key(self, node: ast.Call) -> ast.expr | None:
        return next((one.value for one in node.keywords if one.arg == "key"), None)

    def _applied(self, function: ast.expr, item: Term) -> Term:
        match function:
            case ast.Lambda():
                return self.apply(function, [item])
            case ast.Name(id=name) if name in self.functions:
                return self.apply(self.functions[name], [item])
            case ast.Call(
                func=ast.Attribute(attr="itemgetter") | ast.Name(id="itemgetter"), args=[ast.Constant(value=str(name))]
            ):
                return terms.field(item, name)
            case ast.Name(id=name) if name in _SAME:
                return item
            case _:
                return Term("called", (self.of(function), item))

    def _extreme(self, how: str, values: Term, key: ast.expr | None) -> Term:
        if key is None:
            return terms.picked(how, values)
        if values.kind == "items":
            return Term(
                "extreme",
                (how, *sorted((term("ranked", self._applied(key, one), one) for one in values.inner()), key=repr)),
            )
        item, _, _ = opened(values)
        by = self._applied(key, item)
        if by.kind == "items" and by.parts and isinstance(by.parts[0], Term):
            by = by.parts[0]
        if by.kind == "USub":
            how, by = ("least" if how == "most" else "most"), next(by.inner())
        return terms.picked(how, values, by)

    def ordered(self, values: Term, node: ast.Call) -> Term:
        """Return a list in the order that the call gives it."""
        key = self._key(node)
        item, _, _ = opened(values)
        by = self._applied(key, item) if key is not None else item
        if by.kind == "items" and by.parts and isinstance(by.parts[0], Term):
            by = by.parts[0]
        down = any(
            one.arg == "reverse" and isinstance(one.value, ast.Constant) and bool(one.value.value)
            for one in node.keywords
        )
        if by.kind == "USub":
            down, by = not down, next(by.inner())
        return term("order", values, by, "down" if down else "up")

    def _pick(self, values: Term, found: Sequence[Term], node: ast.Call) -> Term:
        """Return the first item whose field equals the given name."""
        item, through, where = opened(values)
        told = next(
            (one.value for one in node.keywords if one.arg == "field"), node.args[2] if len(node.args) > 2 else None
        )
        match told:
            case None:
                called = terms.field(item, "name")
            case ast.Constant(value=str(name)):
                called = terms.field(item, name)
            case _:
                called = self._applied(told, item)
        name = (
            found[1]
            if len(found) > 1
            else next((self.of(one.value) for one in node.keywords if one.arg == "name"), NOTHING)
        )
        return terms.picked("first", listed(item, through, (*where, group("equal", (called, name)))))

    def _method(self, value: Term, name: str, node: ast.Call) -> Term:
        match name, node.args:
            case "get", [key, *_]:
                return self.under(value, key)
            case "join", [parts]:
                return self.of(parts)
            case "fromkeys", [values]:
                return term("unique", self.of(values))
            case "values", []:
                made, through, where = opened(self.entries(value))
                return (
                    listed(made.parts[1], through, where)
                    if value.kind == "map" and made.kind == "items" and isinstance(made.parts[1], Term)
                    else term("values", value)
                )
            case "keys", []:
                return value
            case "items", []:
                return self.entries(value)
            case "format", _:
                return Term("text", (*map(self.of, node.args), *(self.of(one.value) for one in node.keywords)))
            case _ if name in _TRIMMED:
                return value
            case _:
                return Term("method", (name, value, *map(self.of, node.args)))
