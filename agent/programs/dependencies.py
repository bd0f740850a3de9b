"""Which call of a program feeds which other, and which feed its answer: read off its text, whatever its calls answered."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from domain.program import Program

Site = tuple[int, int]
"""A call of a program: the program's number, and where the call begins in its text, in UTF-8 bytes."""

_SITE = re.compile(r"(\d+):(\d+)(?:~(\d+))?#")
_NESTED = 8
"""Functions of a program that call each other are followed so deep."""


@dataclass(frozen=True, slots=True)
class Feeds:
    """``pairs``: a call, and one whose arguments take values of its result. ``ends``: calls whose results are in the answer, and those
    whose results are used nowhere: they were made for what they do. ``answer``: the former of these alone.
    """

    pairs: frozenset[tuple[Site, Site]] = frozenset()
    ends: frozenset[Site] = frozenset()
    answer: frozenset[Site] = frozenset()


def site_of(told: str) -> Site | None:
    """A call's place out of ``2:57#0``, or ``3:57~1#0`` where a function of the cell before makes it; None where it is of no program."""
    found = _SITE.match(told)
    return (int(found[1]) - int(found[3] or 0), int(found[2])) if found else None


def feeds(cells: Mapping[int, Program]) -> Feeds:
    """What the cells of one program say, by their numbers, in order: names of one are known in the next. A text that cannot be read says nothing."""
    reading = _Reading()
    for number in sorted(cells):
        try:
            reading.read(number, cells[number])
        except (SyntaxError, ValueError, RecursionError):
            return Feeds()
    used = {source for source, _ in reading.pairs} | reading.answer
    return Feeds(frozenset(reading.pairs), frozenset(reading.answer | (reading.sites - used)), reading.answer)


_Names = dict[str, frozenset[Site]]
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_NONE: frozenset[Site] = frozenset()


@dataclass(slots=True)
class _Reading:
    """Follows values from call to call. Both branches of a test count, and what is chosen by a test comes from what it tests, too."""

    pairs: set[tuple[Site, Site]] = field(default_factory=set[tuple[Site, Site]])
    sites: set[Site] = field(default_factory=set[Site])
    answer: frozenset[Site] = _NONE
    _names: _Names = field(default_factory=_Names)
    _functions: dict[str, _Function] = field(default_factory=dict[str, _Function])
    _returned: frozenset[Site] = _NONE
    _tested: frozenset[Site] = _NONE
    _depth: int = 0
    _number: int = 0
    _tools: frozenset[str] = frozenset()
    _lines: Sequence[int] = ()

    def read(self, number: int, program: Program) -> None:
        """One more cell."""
        tree = ast.parse(program.text)
        self._number, self._tools, self._lines = number, frozenset(program.tools), line_starts(program.text)
        for statement in tree.body:
            self.answer = self._statement(statement)

    def _statement(self, node: ast.stmt) -> frozenset[Site]:
        """What an expression that stands alone comes from; nothing for other statements."""
        match node:
            case ast.Expr(value):
                return self._value(value)
            case ast.Assign(targets, value):
                self._assign(targets, value)
            case ast.AnnAssign(target, _, value) if value is not None:
                self._assign([target], value)
            case ast.AugAssign(target, _, value):
                self._bind(target, self._value(value) | self._value(target))
            case ast.Return(value):
                self._returned |= self._value(value) | self._tested
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._functions[node.name] = node
            case _:
                self._compound(node)
        return _NONE

    def _compound(self, node: ast.stmt) -> None:
        match node:
            case ast.For(target, iterated, body, orelse) | ast.AsyncFor(target, iterated, body, orelse):
                self._bind(target, self._value(iterated))
                self._block([*body, *body, *orelse])
            case ast.While(test, body, orelse):
                self._branches(self._value(test), [*body, *body], orelse)
            case ast.If(test, body, orelse):
                self._branches(self._value(test), body, orelse)
            case ast.Try(body, handlers, orelse, final):
                self._branches(_NONE, [*body, *orelse], *(handler.body for handler in handlers), [])
                self._block(final)
            case _:
                for child in ast.iter_child_nodes(node):
                    self._any(child)

    def _block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _branches(self, test: frozenset[Site], *bodies: Sequence[ast.stmt]) -> None:
        """Any of several may have been gone through."""
        outside, before, after = self._tested, dict(self._names), _Names()
        self._tested |= test
        for body in bodies:
            self._names = dict(before)
            self._block(body)
            for name, sites in self._names.items():
                after[name] = after.get(name, _NONE) | sites
        self._names, self._tested = after, outside

    def _assign(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        for target in targets:
            parts = unpacked(value)
            if isinstance(target, ast.Tuple | ast.List) and len(parts) == len(target.elts):
                for one, part in zip(target.elts, [self._value(part) for part in parts], strict=True):
                    self._bind(one, part)
            else:
                self._bind(target, self._value(value))

    def _bind(self, target: ast.expr, sites: frozenset[Site]) -> None:
        match target:
            case ast.Name(name):
                self._names[name] = sites | self._tested
            case ast.Tuple(parts) | ast.List(parts):
                for part in parts:
                    self._bind(part, sites)
            case ast.Starred(value):
                self._bind(value, sites)
            case ast.Subscript() | ast.Attribute():
                self._add(target.value, sites)
            case _:
                self._value(target)

    def _add(self, holder: ast.expr, sites: frozenset[Site]) -> None:
        """Something is put into what a name holds."""
        while isinstance(holder, ast.Subscript | ast.Attribute):
            holder = holder.value
        if isinstance(holder, ast.Name):
            self._names[holder.id] = self._names.get(holder.id, _NONE) | sites | self._tested

    def _any(self, node: ast.AST) -> frozenset[Site]:
        match node:
            case ast.expr():
                return self._value(node)
            case ast.stmt():
                return self._statement(node)
            case _:
                return _NONE.union(*(self._any(child) for child in ast.iter_child_nodes(node)))

    def _value(self, node: ast.expr | None) -> frozenset[Site]:
        """The calls that a value comes from."""
        match node:
            case None:
                return _NONE
            case ast.Name(name):
                return self._names.get(name, _NONE)
            case ast.Call():
                return self._call(node)
            case ast.NamedExpr(target, value):
                sites = self._value(value)
                self._bind(target, sites)
                return sites
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case ast.Lambda(parameters, body):
                return self._within({one.arg: _NONE for one in parameters.args}, body)
            case _:
                return _NONE.union(*(self._any(child) for child in ast.iter_child_nodes(node)))

    def _call(self, node: ast.Call) -> frozenset[Site]:
        given = [self._value(argument) for argument in (*node.args, *(one.value for one in node.keywords))]
        taken = _NONE.union(*given)
        match node.func:
            case ast.Name(name) if name in self._tools:
                site = (self._number, self._lines[node.lineno - 1] + node.col_offset)
                self.sites.add(site)
                self.pairs |= {(source, site) for source in taken if source != site}
                return frozenset({site})
            case ast.Name(name) if name in self._functions and self._depth < _NESTED:
                return self._own(self._functions[name], node)
            case ast.Attribute(holder):
                self._add(holder, taken)
                return self._value(holder) | taken
            case _:
                return self._value(node.func) | taken

    def _own(self, function: _Function, call: ast.Call) -> frozenset[Site]:
        """What a function of the program's own gives back for these arguments."""
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        given = {name: self._value(value) for name, value in zip(names, call.args, strict=False)}
        given |= {one.arg: self._value(one.value) for one in call.keywords if one.arg}
        outside, returned = dict(self._names), self._returned
        self._names |= given
        self._returned, self._depth = _NONE, self._depth + 1
        self._block(function.body)
        found = self._returned
        self._names, self._returned, self._depth = outside, returned, self._depth - 1
        return found

    def _comprehension(self, node: _Comprehension) -> frozenset[Site]:
        outside, found = dict(self._names), _NONE
        for one in node.generators:
            self._bind(one.target, self._value(one.iter))
            found = found.union(*(self._value(test) for test in one.ifs))
        made = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        found = found.union(*(self._value(part) for part in made))
        self._names = outside
        return found

    def _within(self, names: _Names, body: ast.expr) -> frozenset[Site]:
        outside = dict(self._names)
        self._names |= names
        found = self._value(body)
        self._names = outside
        return found


def unpacked(value: ast.expr) -> Sequence[ast.expr]:
    """What is unpacked one by one: a tuple's items, and the calls of a ``gather``."""
    match value:
        case ast.Tuple(parts) | ast.List(parts):
            return parts
        case ast.Await(ast.Call(ast.Attribute(attr="gather") | ast.Name("gather"), parts, [])):
            return () if any(isinstance(part, ast.Starred) for part in parts) else parts
        case _:
            return ()


def line_starts(text: str) -> list[int]:
    """Where each line begins, in UTF-8 bytes; lines as the parser counts them."""
    starts, at = [0], 0
    for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", text):
        at += len(line.encode())
        starts.append(at)
    return starts
