"""Read the calls of a program as terms: calls of tools, of its own functions and of built-in functions."""

import ast
from collections.abc import Mapping, Sequence

from evaluation.meaning import terms
from evaluation.meaning.conditions import build_any, negate, split_conditions
from evaluation.meaning.expressions import ExpressionReader, Function, ToolCallTerm
from evaluation.meaning.terms import EMPTY, NOTHING, Term, build_list, constant, group, open_list, term

_CONVERSIONS = frozenset({"str", "int", "float", "bool", "list", "tuple", "iter", "round"})
"""Functions that convert a value, and leave its term as it is."""
_TRIMMED = frozenset({"casefold", "lower", "upper", "title", "strip", "lstrip", "rstrip", "copy"})
"""Methods that leave the term of a value as it is."""
_MAX_DEPTH = 8
"""The deepest nesting of calls of the program's own functions; deeper ones are recursion."""


class CallExpressionReader(ExpressionReader):
    """Reads expressions with calls."""

    def run(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Term:
        """Return the value that a function of the program returns; its parameters are bound already."""
        raise NotImplementedError

    def call(self, node: ast.Call) -> Term:
        match node.func:
            case ast.Name(id=name) if name in self.tools and name not in self.held:
                return self._read_tool_call(name, node)
            case ast.Name(id=name) if name in self.functions:
                return self.apply(
                    self.functions[name],
                    [*map(self.to_term, node.args)],
                    {one.arg: self.to_term(one.value) for one in node.keywords if one.arg},
                )
            case ast.Name(id=name):
                return self._read_builtin(name, node)
            case ast.Attribute(value=ast.Name(id="asyncio"), attr="gather"):
                return self.read_elements(node.args)
            case ast.Attribute(value=value, attr=name):
                return self._read_method(self.to_term(value), name, node)
            case _:
                return Term("called", (self.to_term(node.func), *map(self.to_term, node.args)))

    def _read_tool_call(self, name: str, node: ast.Call) -> Term:
        """Build the call of a tool and record it with its conditions; arguments are ordered and empty ones left out."""
        names = self.arguments.get(name, {})
        named_values = [(names.get(one.arg or "**", one.arg or "**"), self.to_term(one.value)) for one in node.keywords]
        named_values += [(str(place), self.to_term(one)) for place, one in enumerate(node.args)]
        arguments = [
            term("argument", own, value)
            for own, value in sorted(named_values, key=lambda one: one[0])
            if value not in (NOTHING, constant(""))
        ]
        call = term("call", self.tools[name], *arguments)
        self.calls[ToolCallTerm(call, tuple(group("where", self.scope.where).subterms()))] = None
        return call

    def apply(self, function: Function, values: Sequence[Term], keywords: Mapping[str, Term] | None = None) -> Term:
        """Apply a function of the program to values, with names local to the call."""
        if self.depth >= _MAX_DEPTH:
            return Term("again", tuple(values))
        before, self.depth = dict(self.held), self.depth + 1
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        defaults = dict(zip(reversed(names), map(self.to_term, reversed(function.args.defaults)), strict=False))
        self.held |= defaults | dict(zip(names, values, strict=False)) | dict(keywords or {})
        try:
            return self.to_term(function.body) if isinstance(function, ast.Lambda) else self.run(function)
        finally:
            self.held, self.depth = before, self.depth - 1

    def _read_builtin(self, name: str, node: ast.Call) -> Term:
        """Read a call of a built-in function or of a helper that programs are given."""
        arguments = [self.to_term(one) for one in node.args]
        first = arguments[0] if arguments else NOTHING
        match name:
            case "len":
                return terms.count_items(first)
            case "sum":
                return terms.sum_items(first)
            case "first" | "next":
                return terms.pick_item("first", first)
            case "max" | "min":
                values = first if len(arguments) == 1 else Term("items", tuple(arguments))
                return self._pick_extreme("most" if name == "max" else "least", values, self._find_key(node))
            case "sorted":
                return self.order_list(first, node)
            case "pick":
                return self._pick(first, arguments, node)
            case "ask":
                return Term("asked", tuple(arguments))
            case _ if name in _CONVERSIONS:
                return first if arguments else EMPTY
            case _:
                return self._read_collection(name, arguments, node)

    def _read_collection(self, name: str, arguments: Sequence[Term], node: ast.Call) -> Term:
        """Read a built-in function that builds, filters or tests a collection."""
        first = arguments[0] if arguments else EMPTY
        match name:
            case "set" | "frozenset":
                return term("unique", first)
            case "dict":
                return term("map", first) if first.kind == "list" else first if arguments else term("dict")
            case "any":
                return build_any(first)
            case "all":
                test, through, where = open_list(first)
                return negate(build_any(build_list(negate(test), through, where)))
            case "zip" | "enumerate" if arguments:
                return build_list(*self.open_iterable(node))
            case "map" if len(node.args) == 2:
                item, through, where = open_list(arguments[1])
                return build_list(self._apply_function(node.args[0], item), through, where)
            case "filter" if len(node.args) == 2:
                item, through, where = open_list(arguments[1])
                return build_list(item, through, (*where, *split_conditions(self._apply_function(node.args[0], item))))
            case "isinstance":
                return term("instance", first)
            case _:
                keywords = (term("argument", one.arg or "**", self.to_term(one.value)) for one in node.keywords)
                return Term("called", (name, *arguments, *keywords))

    def _find_key(self, node: ast.Call) -> ast.expr | None:
        return next((one.value for one in node.keywords if one.arg == "key"), None)

    def _apply_function(self, function: ast.expr, item: Term) -> Term:
        match function:
            case ast.Lambda():
                return self.apply(function, [item])
            case ast.Name(id=name) if name in self.functions:
                return self.apply(self.functions[name], [item])
            case ast.Call(
                func=ast.Attribute(attr="itemgetter") | ast.Name(id="itemgetter"), args=[ast.Constant(value=str(name))]
            ):
                return terms.field(item, name)
            case ast.Name(id=name) if name in _CONVERSIONS:
                return item
            case _:
                return Term("called", (self.to_term(function), item))

    def _pick_extreme(self, how: str, values: Term, key: ast.expr | None) -> Term:
        """Build the item with the most or the least of ``key``; a negated key turns the direction."""
        if key is None:
            return terms.pick_item(how, values)
        if values.kind == "items":
            return Term(
                "extreme",
                (
                    how,
                    *sorted(
                        (term("ranked", self._apply_function(key, one), one) for one in values.subterms()), key=repr
                    ),
                ),
            )
        item, _, _ = open_list(values)
        by = self._apply_function(key, item)
        if by.kind == "items" and by.parts and isinstance(by.parts[0], Term):
            by = by.parts[0]
        if by.kind == "USub":
            how, by = ("least" if how == "most" else "most"), next(by.subterms())
        return terms.pick_item(how, values, by)

    def order_list(self, values: Term, node: ast.Call) -> Term:
        """Build a list in the order that ``sorted`` or ``sort`` gives it."""
        key = self._find_key(node)
        item, _, _ = open_list(values)
        by = self._apply_function(key, item) if key is not None else item
        if by.kind == "items" and by.parts and isinstance(by.parts[0], Term):
            by = by.parts[0]
        down = any(
            one.arg == "reverse" and isinstance(one.value, ast.Constant) and bool(one.value.value)
            for one in node.keywords
        )
        if by.kind == "USub":
            down, by = not down, next(by.subterms())
        return term("order", values, by, "down" if down else "up")

    def _pick(self, values: Term, arguments: Sequence[Term], node: ast.Call) -> Term:
        """Read the helper ``pick``: the first item whose field, by default its name, equals a text."""
        item, through, where = open_list(values)
        field_node = next(
            (one.value for one in node.keywords if one.arg == "field"), node.args[2] if len(node.args) > 2 else None
        )
        match field_node:
            case None:
                field_term = terms.field(item, "name")
            case ast.Constant(value=str(name)):
                field_term = terms.field(item, name)
            case _:
                field_term = self._apply_function(field_node, item)
        name = (
            arguments[1]
            if len(arguments) > 1
            else next((self.to_term(one.value) for one in node.keywords if one.arg == "name"), NOTHING)
        )
        return terms.pick_item("first", build_list(item, through, (*where, group("equal", (field_term, name)))))

    def _read_method(self, value: Term, name: str, node: ast.Call) -> Term:
        match name, node.args:
            case "get", [key, *_]:
                return self.read_subscript(value, key)
            case "join", [parts]:
                return self.to_term(parts)
            case "fromkeys", [values]:
                return term("unique", self.to_term(values))
            case "values", []:
                entry, through, where = open_list(self.get_entries(value))
                return (
                    build_list(entry.parts[1], through, where)
                    if value.kind == "map" and entry.kind == "items" and isinstance(entry.parts[1], Term)
                    else term("values", value)
                )
            case "keys", []:
                return value
            case "items", []:
                return self.get_entries(value)
            case "format", _:
                return Term(
                    "text", (*map(self.to_term, node.args), *(self.to_term(one.value) for one in node.keywords))
                )
            case _ if name in _TRIMMED:
                return value
            case _:
                return Term("method", (name, value, *map(self.to_term, node.args)))
