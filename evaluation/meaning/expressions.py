"""Read expressions of a program as terms."""

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from evaluation.meaning import terms
from evaluation.meaning.conditions import combine, compare, is_presence_test, negate, split_conditions
from evaluation.meaning.terms import EMPTY, NOTHING, Term, build_list, constant, group, open_list, term

Function = ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef
"""A function that the program defines."""


@dataclass(frozen=True, slots=True)
class ToolCallTerm:
    """A call of a tool, and the conditions that it is made under."""

    call: Term
    where: tuple[Term, ...]
    """The conditions that the call is made under."""


@dataclass(slots=True)
class LoopScope:
    """The loops and conditions around a statement."""

    through: tuple[Term, ...] = ()
    """Items of the loops that have been entered, the outermost first."""
    where: tuple[Term, ...] = ()
    """Conditions on these items, and those of branches."""


@dataclass(slots=True)
class ExpressionReader:
    """Reads expressions as terms, and records the calls of tools in them."""

    tools: Mapping[str, str]
    """Tool ids, by the function names that the program calls."""
    arguments: Mapping[str, Mapping[str, str]]
    """By function name: the tool's parameter for each argument name of the program."""
    held: dict[str, Term] = field(default_factory=dict[str, Term])
    """The terms that the program's names stand for now."""
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    """Functions that the program has defined so far."""
    calls: dict[ToolCallTerm, None] = field(default_factory=dict[ToolCallTerm, None])
    """Calls of tools so far, in order; a dict serves as an ordered set."""
    scope: LoopScope = field(default_factory=LoopScope)
    """The loops and conditions around the expression."""
    depth: int = 0
    """How many of the program's functions are being read within one another."""

    def call(self, node: ast.Call) -> Term:
        """Return the term of a call."""
        raise NotImplementedError

    def to_term(self, node: ast.expr) -> Term:
        """Return the term of an expression, and record its calls of tools."""
        match node:
            case ast.Constant(value=value):
                return constant(value)
            case ast.Name(id=name):
                return self.held.get(name, term("name", name))
            case ast.Await(value=value) | ast.Starred(value=value):
                return self.to_term(value)
            case ast.Attribute(value=value, attr=name):
                return terms.field(self.to_term(value), name)
            case ast.Subscript(value=value, slice=key):
                return self.read_subscript(self.to_term(value), key)
            case ast.Call():
                return self.call(node)
            case ast.IfExp(test=test, body=body, orelse=rest):
                return self.choose(self.to_term(test), self.to_term(body), self.to_term(rest))
            case ast.BoolOp() | ast.Compare() | ast.UnaryOp():
                return self._read_test(node)
            case _:
                return self._read_composite(node)

    def _read_test(self, node: ast.BoolOp | ast.Compare | ast.UnaryOp) -> Term:
        """Read conditions and signs of numbers."""
        match node:
            case ast.BoolOp(op=ast.Or(), values=[value, *rest]) if all(_is_empty(one) for one in rest):
                return self.to_term(value)
            case ast.BoolOp(op=operator, values=values):
                return combine("both" if isinstance(operator, ast.And) else "either", map(self.to_term, values))
            case ast.UnaryOp(op=ast.Not(), operand=value):
                return negate(self.to_term(value))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number) | float(number))):
                return constant(-number)
            case ast.UnaryOp(op=operator, operand=value):
                return term(type(operator).__name__, self.to_term(value))
            case _:
                return self._compare(node)

    def _read_composite(self, node: ast.expr) -> Term:
        """Read expressions that combine values."""
        match node:
            case ast.List(elts=values) | ast.Tuple(elts=values):
                return self.read_elements(values)
            case ast.Set(elts=values):
                return term("unique", self.read_elements(values))
            case ast.Dict(keys=keys, values=values):
                return self._read_dict(keys, values)
            case ast.ListComp(elt=item, generators=loops) | ast.GeneratorExp(elt=item, generators=loops):
                return self._read_comprehension(item, loops)
            case ast.SetComp(elt=item, generators=loops):
                return term("unique", self._read_comprehension(item, loops))
            case ast.DictComp(key=key, value=value, generators=loops):
                pair = ast.copy_location(ast.Tuple([key, value], ast.Load()), node)
                return term("map", self._read_comprehension(pair, loops))
            case ast.JoinedStr(values=values):
                parts = [one.value for one in values if isinstance(one, ast.FormattedValue)]
                return Term("text", tuple(map(self.to_term, parts)))
            case ast.BinOp(left=left, op=operator, right=right):
                return self.apply_operator(operator, self.to_term(left), self.to_term(right))
            case ast.NamedExpr(target=target, value=value):
                bound = self.to_term(value)
                self.bind(target, bound)
                return bound
            case _:
                inner = (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))
                return Term(type(node).__name__, tuple(map(self.to_term, inner)))

    def read_elements(self, values: Sequence[ast.expr]) -> Term:
        """Build a list as it is written; for a single starred value, the value itself."""
        if len(values) == 1 and isinstance(values[0], ast.Starred):
            return self.to_term(values[0])
        if any(isinstance(one, ast.Starred) for one in values):
            return Term("joined", tuple(self.to_term(one) for one in values))
        return Term("items", tuple(map(self.to_term, values)))

    def apply_operator(self, operator: ast.operator, left: Term, right: Term) -> Term:
        """Build the result of a binary operator; an empty list that is added is dropped, and factors have no order."""
        kind = type(operator).__name__
        if isinstance(operator, ast.Add) and EMPTY in (left, right):
            return right if left == EMPTY else left
        return (
            group(kind, (left, right)) if isinstance(operator, ast.Mult) and left != right else term(kind, left, right)
        )

    def choose(self, test: Term, if_true: Term, if_false: Term) -> Term:
        """Build the choice between two values.

        If the test only asks whether something was found, the value for the other case is dropped.
        """
        if if_true == if_false or (is_presence_test(test) and if_true.data != if_false.data):
            return if_true if if_true.data else if_false
        if test.kind == "not":
            test, if_true, if_false = negate(test), if_false, if_true
        return term("if", test, if_true, if_false)

    def bind(self, target: ast.expr, value: Term) -> None:
        """Bind the names of an assignment's target to a value."""
        match target:
            case ast.Name(id=name):
                self.held[name] = value
                self.functions.pop(name, None)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for place, part in enumerate(parts):
                    self.bind(part, self._get_item(value, place))
            case ast.Starred(value=inner):
                self.bind(inner, value)
            case _:
                self.to_term(target)

    def open_iterable(self, values: ast.expr) -> tuple[Term, tuple[Term, ...], tuple[Term, ...]]:
        """Return what a loop goes through: its item, the loops that produce the item, and their conditions.

        ``zip`` over lists with the same loops goes through the pairs of their items.
        """
        match values:
            case ast.Call(func=ast.Name(id="zip"), args=lists):
                opened_lists = [open_list(self.to_term(one), self.scope.through) for one in lists]
                if opened_lists and all(one[1:] == opened_lists[0][1:] for one in opened_lists):
                    return Term("items", tuple(one[0] for one in opened_lists)), *opened_lists[0][1:]
                return open_list(Term("zip", tuple(map(self.to_term, lists))), self.scope.through)
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
                item, through, where = self.open_iterable(inner)
                return term("items", term("number", item), item), through, where
            case ast.Call(func=ast.Name(id="range"), args=[ast.Call(func=ast.Name(id="len"), args=[inner])]):
                item, through, where = open_list(self.to_term(inner), self.scope.through)
                return term("number", item), through, where
            case ast.Call(func=ast.Attribute(value=inner, attr="items"), args=[]):
                return open_list(self.get_entries(self.to_term(inner)), self.scope.through)
            case _:
                return open_list(self.to_term(values), self.scope.through)

    def _read_comprehension(self, item: ast.expr, loops: Iterable[ast.comprehension]) -> Term:
        before, scope = dict(self.held), self.scope
        for loop in loops:
            self.enter(loop.target, loop.iter)
            for test in loop.ifs:
                self.scope = LoopScope(self.scope.through, (*self.scope.where, *split_conditions(self.to_term(test))))
        inner, start, where_start = self.scope, len(scope.through), len(scope.where)
        result = build_list(self.to_term(item), inner.through[start:], inner.where[where_start:])
        self.held, self.scope = before, scope
        return result

    def enter(self, target: ast.expr, values: ast.expr) -> None:
        """Enter a loop: extend the scope, and bind the loop's target."""
        item, through, where = self.open_iterable(values)
        self.scope = LoopScope((*self.scope.through, *through), (*self.scope.where, *where))
        self.bind(target, item)

    def get_entries(self, value: Term) -> Term:
        """Return the pairs of key and value in a dict."""
        return next(value.subterms()) if value.kind == "map" else term("entries", value)

    def _compare(self, node: ast.Compare) -> Term:
        sides = [self.to_term(one) for one in (node.left, *node.comparators)]
        return combine(
            "both",
            (compare(type(op).__name__, *pair) for op, pair in zip(node.ops, pairwise(sides), strict=True)),
        )

    def _read_dict(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> Term:
        entries = [
            term("entry", self.to_term(key) if key else NOTHING, self.to_term(value))
            for key, value in zip(keys, values, strict=True)
        ]
        return Term("dict", tuple(sorted(entries, key=repr)))

    def read_subscript(self, value: Term, key: ast.expr) -> Term:
        """Build the value under a key, at an index or in a slice."""
        match key:
            case ast.Constant(value=str(name)):
                return terms.field(value, name)
            case ast.Constant(value=int(place)):
                return self._get_item(value, place)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(place))):
                return self._get_item(value, -place)
            case ast.Slice(lower=None, upper=None):
                return value
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = (self.to_term(one) if one else NOTHING for one in (lower, upper, step))
                return term("slice", value, *bounds)
            case _:
                return self._look_up(value, self.to_term(key))

    def _look_up(self, value: Term, key: Term) -> Term:
        """Build the value under a computed key; in a dict made of pairs, it is the value of the matching pair."""
        if key.kind == "const":
            return terms.field(value, str(key.parts[0]).strip("'"))
        if value.kind == "map":
            pair, _, _ = open_list(next(value.subterms()))
            if pair.kind == "items" and pair.parts[0] == key and isinstance(pair.parts[1], Term):
                return pair.parts[1]
        if key.kind == "number":
            item, through, where = open_list(value)
            each = next(key.subterms())
            if not where and through == (each,):
                return item
        return term("under", value, key)

    def _get_item(self, value: Term, place: int) -> Term:
        if value.kind == "items" and -len(value.parts) <= place < len(value.parts):
            item = value.parts[place]
            return item if isinstance(item, Term) else NOTHING
        if place in (0, -1):
            return terms.pick_item("first" if place == 0 else "last", value)
        return term("at", value, str(place))


def _is_empty(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return not value
        case ast.Dict(keys=[]) | ast.List(elts=[]) | ast.Tuple(elts=[]):
            return True
        case _:
            return False
