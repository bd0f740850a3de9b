"""Expressions of a program as terms."""

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from evaluation.meaning import terms
from evaluation.meaning.conditions import compared, conditions, joined, negated, presence
from evaluation.meaning.terms import EMPTY, NOTHING, Term, constant, group, listed, opened, term

Function = ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a tool, and the conditions that it is made under."""

    call: Term
    where: tuple[Term, ...]


@dataclass(slots=True)
class Scope:
    """The loops and conditions around a statement."""

    through: tuple[Term, ...] = ()
    where: tuple[Term, ...] = ()


@dataclass(slots=True)
class Expressions:
    """Reads expressions as terms."""

    tools: Mapping[str, str]
    """Tool ids by function name, as in a program."""
    arguments: Mapping[str, Mapping[str, str]]
    """By function name, the tool's parameter for each argument name of the program."""
    held: dict[str, Term] = field(default_factory=dict[str, Term])
    """The terms that names stand for."""
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    calls: dict[Called, None] = field(default_factory=dict[Called, None])
    """Calls of tools so far, in order."""
    scope: Scope = field(default_factory=Scope)
    depth: int = 0
    """Functions of the program being read within one another."""

    def call(self, node: ast.Call) -> Term:
        """Return the term of a call."""
        raise NotImplementedError

    def of(self, node: ast.expr) -> Term:
        """Return the term of an expression, and record its calls of tools."""
        match node:
            case ast.Constant(value=value):
                return constant(value)
            case ast.Name(id=name):
                return self.held.get(name, term("name", name))
            case ast.Await(value=value) | ast.Starred(value=value):
                return self.of(value)
            case ast.Attribute(value=value, attr=name):
                return terms.field(self.of(value), name)
            case ast.Subscript(value=value, slice=key):
                return self.under(self.of(value), key)
            case ast.Call():
                return self.call(node)
            case ast.IfExp(test=test, body=body, orelse=rest):
                return self.chosen(self.of(test), self.of(body), self.of(rest))
            case ast.BoolOp() | ast.Compare() | ast.UnaryOp():
                return self._tested(node)
            case _:
                return self._made(node)

    def _tested(self, node: ast.BoolOp | ast.Compare | ast.UnaryOp) -> Term:
        """Read conditions and signs of numbers."""
        match node:
            case ast.BoolOp(op=ast.Or(), values=[value, *rest]) if all(_empty(one) for one in rest):
                return self.of(value)
            case ast.BoolOp(op=operator, values=values):
                return joined("both" if isinstance(operator, ast.And) else "either", map(self.of, values))
            case ast.UnaryOp(op=ast.Not(), operand=value):
                return negated(self.of(value))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number) | float(number))):
                return constant(-number)
            case ast.UnaryOp(op=operator, operand=value):
                return term(type(operator).__name__, self.of(value))
            case _:
                return self._compare(node)

    def _made(self, node: ast.expr) -> Term:
        """Read expressions that combine values."""
        match node:
            case ast.List(elts=values) | ast.Tuple(elts=values):
                return self.several(values)
            case ast.Set(elts=values):
                return term("unique", self.several(values))
            case ast.Dict(keys=keys, values=values):
                return self._dict(keys, values)
            case ast.ListComp(elt=item, generators=loops) | ast.GeneratorExp(elt=item, generators=loops):
                return self._list(item, loops)
            case ast.SetComp(elt=item, generators=loops):
                return term("unique", self._list(item, loops))
            case ast.DictComp(key=key, value=value, generators=loops):
                pair = ast.copy_location(ast.Tuple([key, value], ast.Load()), node)
                return term("map", self._list(pair, loops))
            case ast.JoinedStr(values=values):
                parts = [one.value for one in values if isinstance(one, ast.FormattedValue)]
                return Term("text", tuple(map(self.of, parts)))
            case ast.BinOp(left=left, op=operator, right=right):
                return self.worked_out(operator, self.of(left), self.of(right))
            case ast.NamedExpr(target=target, value=value):
                found = self.of(value)
                self.bind(target, found)
                return found
            case _:
                inner = (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))
                return Term(type(node).__name__, tuple(map(self.of, inner)))

    def several(self, values: Sequence[ast.expr]) -> Term:
        """Return a list as it is written; for a single starred value, that value."""
        if len(values) == 1 and isinstance(values[0], ast.Starred):
            return self.of(values[0])
        if any(isinstance(one, ast.Starred) for one in values):
            return Term("joined", tuple(self.of(one) for one in values))
        return Term("items", tuple(map(self.of, values)))

    def worked_out(self, operator: ast.operator, left: Term, right: Term) -> Term:
        """Return the result of an operator; an added empty list is dropped, two factors are unordered."""
        kind = type(operator).__name__
        if isinstance(operator, ast.Add) and EMPTY in (left, right):
            return right if left == EMPTY else left
        return (
            group(kind, (left, right)) if isinstance(operator, ast.Mult) and left != right else term(kind, left, right)
        )

    def chosen(self, test: Term, one: Term, other: Term) -> Term:
        """Return one value or the other; a value for the case that nothing was found is dropped."""
        if one == other or (presence(test) and one.data != other.data):
            return one if one.data else other
        if test.kind == "not":
            test, one, other = negated(test), other, one
        return term("if", test, one, other)

    def bind(self, target: ast.expr, value: Term) -> None:
        """Bind a name, or several, to a value."""
        match target:
            case ast.Name(id=name):
                self.held[name] = value
                self.functions.pop(name, None)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for place, part in enumerate(parts):
                    self.bind(part, self._at(value, place))
            case ast.Starred(value=inner):
                self.bind(inner, value)
            case _:
                self.of(target)

    def each(self, values: ast.expr) -> tuple[Term, tuple[Term, ...], tuple[Term, ...]]:
        """Return what a loop goes through: its item, the loops that produce it, and their conditions."""
        match values:
            case ast.Call(func=ast.Name(id="zip"), args=lists):
                found = [opened(self.of(one), self.scope.through) for one in lists]
                if found and all(one[1:] == found[0][1:] for one in found):
                    return Term("items", tuple(one[0] for one in found)), *found[0][1:]
                return opened(Term("zip", tuple(map(self.of, lists))), self.scope.through)
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
                item, through, where = self.each(inner)
                return term("items", term("number", item), item), through, where
            case ast.Call(func=ast.Name(id="range"), args=[ast.Call(func=ast.Name(id="len"), args=[inner])]):
                item, through, where = opened(self.of(inner), self.scope.through)
                return term("number", item), through, where
            case ast.Call(func=ast.Attribute(value=inner, attr="items"), args=[]):
                return opened(self.entries(self.of(inner)), self.scope.through)
            case _:
                return opened(self.of(values), self.scope.through)

    def _list(self, item: ast.expr, loops: Iterable[ast.comprehension]) -> Term:
        before, scope = dict(self.held), self.scope
        for loop in loops:
            self.enter(loop.target, loop.iter)
            for test in loop.ifs:
                self.scope = Scope(self.scope.through, (*self.scope.where, *conditions(self.of(test))))
        inner, start, given = self.scope, len(scope.through), len(scope.where)
        made = listed(self.of(item), inner.through[start:], inner.where[given:])
        self.held, self.scope = before, scope
        return made

    def enter(self, target: ast.expr, values: ast.expr) -> None:
        """Enter a loop over a list."""
        item, through, where = self.each(values)
        self.scope = Scope((*self.scope.through, *through), (*self.scope.where, *where))
        self.bind(target, item)

    def entries(self, value: Term) -> Term:
        return next(value.inner()) if value.kind == "map" else term("entries", value)

    def _compare(self, node: ast.Compare) -> Term:
        sides = [self.of(one) for one in (node.left, *node.comparators)]
        return joined(
            "both",
            (compared(type(op).__name__, *pair) for op, pair in zip(node.ops, pairwise(sides), strict=True)),
        )

    def _dict(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> Term:
        entries = [
            term("entry", self.of(key) if key else NOTHING, self.of(value))
            for key, value in zip(keys, values, strict=True)
        ]
        return Term("dict", tuple(sorted(entries, key=repr)))

    def under(self, value: Term, key: ast.expr) -> Term:
        match key:
            case ast.Constant(value=str(name)):
                return terms.field(value, name)
            case ast.Constant(value=int(place)):
                return self._at(value, place)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(place))):
                return self._at(value, -place)
            case ast.Slice(lower=None, upper=None):
                return value
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = (self.of(one) if one else NOTHING for one in (lower, upper, step))
                return term("slice", value, *bounds)
            case _:
                return self._looked_up(value, self.of(key))

    def _looked_up(self, value: Term, key: Term) -> Term:
        """Return the value under a computed key; in a dict made of pairs, the value of the matching pair."""
        if key.kind == "const":
            return terms.field(value, str(key.parts[0]).strip("'"))
        if value.kind == "map":
            pair, _, _ = opened(next(value.inner()))
            if pair.kind == "items" and pair.parts[0] == key and isinstance(pair.parts[1], Term):
                return pair.parts[1]
        if key.kind == "number":
            item, through, where = opened(value)
            each = next(key.inner())
            if not where and through == (each,):
                return item
        return term("under", value, key)

    def _at(self, value: Term, place: int) -> Term:
        if value.kind == "items" and -len(value.parts) <= place < len(value.parts):
            found = value.parts[place]
            return found if isinstance(found, Term) else NOTHING
        if place in (0, -1):
            return terms.picked("first" if place == 0 else "last", value)
        return term("at", value, str(place))


def _empty(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return not value
        case ast.Dict(keys=[]) | ast.List(elts=[]) | ast.Tuple(elts=[]):
            return True
        case _:
            return False
