"""Where the names of a program get their values, and what a value is made of.

:class:`Definitions` are every assignment, loop, parameter and change in place, with which of them reach a use. What is certainly written
over is left out; everything else counts. :class:`Gathering` goes back from an expression, over names, functions, loops and tests, to
calls, constants and inputs.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.programs.analysis.control_flow import ControlFlow, Function
from agent.programs.earlier import EARLIER
from agent.programs.protocol import ASK

_NEW = frozenset(
    {"abs", "all", "any", "bool", "chr", "float", "hash", "int", "isinstance"}
    | {"len", "ord", "range", "repr", "round", "str"}
)
"""Functions whose value holds nothing of what they are given."""
Scope = tuple[int, ...]
"""The numbers of the functions and comprehensions around a place; empty: the module, whose names all cells share."""
Name = tuple[Scope, str]


@dataclass(frozen=True, slots=True)
class Place:
    """A statement. ``order``: statements are counted through all cells. ``blocks``: the lists of statements around it, each with its place in
    them. ``loops`` around it, by order. ``tests`` and ``rounds``: the conditions and loops that decide whether it is done. ``function``: whose
    body it is in.
    """

    cell: int
    order: int
    blocks: tuple[tuple[int, int], ...] = ()
    loops: frozenset[int] = frozenset()
    tests: tuple[ast.expr, ...] = ()
    rounds: tuple[ast.expr, ...] = ()
    function: Scope = ()

    def decides(self, other: "Place") -> bool:
        """Whether whatever reaches the other has been here since it came into this block."""
        depth = len(self.blocks) - 1
        if self.function != other.function or len(other.blocks) <= depth or self.blocks[:depth] != other.blocks[:depth]:
            return False
        (block, at), (beside, later) = self.blocks[depth], other.blocks[depth]
        return block == beside and at < later

    def may_precede(self, other: "Place") -> bool:
        """Whether it can be done before the other."""
        return self.function != other.function or self.order < other.order or bool(self.loops & other.loops)


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """``made_of``: the expressions whose values go in. ``whole``: the name holds nothing else afterwards. ``in_place``: what the name holds
    is changed, whoever else holds it. ``raised``: it is the error of what is called there. ``anywhere``: it reaches every use. ``key``: under
    which it goes in: a value of its own, that is never changed in place.
    """

    made_of: tuple[ast.AST, ...]
    place: Place
    whole: bool = True
    in_place: bool = False
    raised: bool = False
    anywhere: bool = False
    key: ast.expr | None = None

    @property
    def values(self) -> tuple[ast.AST, ...]:
        """All that it is made of, the key too."""
        return self.made_of if self.key is None else (*self.made_of, self.key)

    def is_left(self, use: Place, latest: Mapping[frozenset[int], int]) -> bool:
        """Whether something of this may be left at a use. ``latest``: of what certainly gives the name a value before the use, by the loops around
        it, the order of the last one.
        """
        if self.anywhere or self.place.function != use.function:
            return True
        around = self.place.loops & use.loops
        again = bool(around) and self.place.order >= use.order  # it is done in one round and used in the next
        return not any(around <= loops and (self.place.order < order or again) for loops, order in latest.items())


class Definitions:
    """Of a program's cells, as a reader finds them (:func:`agent.programs.analysis.definition_reader.read_definitions`).

    ``places``: of the names, calls and constants. ``names``: which one each use means. ``functions``: those that the program itself defines, with
    their ``scopes``; ``callers``: where each is called.
    """

    def __init__(self) -> None:
        self.places: dict[ast.AST, Place] = {}
        self.names: dict[ast.Name, Name] = {}
        self.functions: dict[Name, Function] = {}
        self.scopes: dict[Function, Scope] = {}
        self.callers: defaultdict[Scope, list[Place]] = defaultdict(list)
        self._of: defaultdict[Name, list[Definition]] = defaultdict(list)
        self._left: dict[ast.Name, list[Definition]] = {}
        self._holds: dict[Name, set[Name]] = {}

    def add(self, name: Name, definition: Definition) -> None:
        """One more way in which the name gets a value."""
        self._of[name].append(definition)

    def known(self, name: Name) -> bool:
        """Whether the program itself gives the name a value."""
        return name in self._of

    def is_given(self, name: ast.expr) -> bool:
        """Whether an expression is a name that the program itself gives no value."""
        means = self.names.get(name) if isinstance(name, ast.Name) else None
        return means is not None and not self.known(means)

    def function(self, called: ast.expr) -> Function | None:
        """The program's own function that an expression names."""
        name = self.names.get(called) if isinstance(called, ast.Name) else None
        return self.functions.get(name) if name else None

    def place_within(self, whole: ast.AST) -> Place | None:
        """Where a value is used: the place of the first of its parts that has one."""
        return next((self.places[part] for part in ast.walk(whole) if part in self.places), None)

    def reaching(self, use: ast.Name, site: Place) -> list[Definition]:
        """What a name may hold where it is used for a call at ``site``."""
        if use not in self._left:
            self._left[use] = self._left_at(use)
        return [one for one in self._left[use] if not one.in_place or one.anywhere or one.place.may_precede(site)]

    def _left_at(self, use: ast.Name) -> list[Definition]:
        """What may be left at a use; of changes in place also those that only come after it."""
        place, of_name = self.places[use], self._of.get(self.names[use], ())
        latest: dict[frozenset[int], int] = {}
        for one in of_name:
            if one.whole and one.place.decides(place):
                latest[one.place.loops] = max(one.place.order, latest.get(one.place.loops, 0))
        here = (one for one in of_name if one.anywhere or one.in_place or one.place.may_precede(place))
        return [one for one in here if one.is_left(place, latest)]

    def deciding(self, site: Place) -> list[Place]:
        """A place, and those where the functions around it are called."""
        found, left, seen = [site], [site.function], set[Scope]()
        while left:
            function = left.pop()
            if function and function not in seen:
                seen.add(function)
                found += self.callers[function]
                left += [place.function for place in self.callers[function]]
        return found

    def spread(self) -> None:
        """A change in place is seen through every name that may hold the same thing. Called once all is read."""
        changes = {name: [one for one in found if one.in_place] for name, found in self._of.items()}
        holds = {name: self._sharing(found) for name, found in self._of.items()}
        for name, own in changes.items():
            more = self._sharing(own)
            for other in _reached(name, holds) - {name} if own else ():
                self._of[other] += own
                holds.setdefault(other, set()).update(more)
        self._holds = holds

    def sharing(self, expression: ast.expr) -> set[str]:
        """Return the names that may hold what an expression's value holds, or a part of it: a change of the one may be seen in the other."""
        names = {self.names[use] for use in self._shared(expression) if use in self.names}
        return {other for name in names for _, other in _reached(name, self._holds)}

    def _sharing(self, definitions: Sequence[Definition]) -> set[Name]:
        """The names out of which definitions may have got what they hold."""
        parts = [part for one in definitions for part in one.made_of]
        return {self.names[use] for part in parts for use in self._shared(part) if use in self.names}

    def _shared(self, whole: ast.AST) -> Iterator[ast.Name]:
        """The names whose things, or parts of them, may be in a value: not those that are only compared, written or sent."""
        left = [whole]
        while left:
            match left.pop():
                case ast.Name() as name:
                    yield name
                case ast.Compare() | ast.JoinedStr() | ast.Constant():
                    continue
                case ast.Subscript(value=value):
                    left.append(value)
                case ast.Await(value=ast.Call(func=ast.Name() as called)):
                    left += [called] if self.function(called) else []
                case ast.Call(func=ast.Name(id=called) as name) if called in _NEW and self.is_given(name):
                    continue
                case other:
                    left += ast.iter_child_nodes(other)


def _reached(name: Name, holds: Mapping[Name, set[Name]]) -> set[Name]:
    """A name, and those that it may have got what it holds from, whatever lies between."""
    found, left = set[Name](), [name]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += holds.get(one, ())
    return found


def parameters(function: Function) -> Sequence[ast.arg]:
    """All of them."""
    told = function.args
    more = [one for one in (told.vararg, told.kwarg) if one]
    return [*told.posonlyargs, *told.args, *told.kwonlyargs, *more]


PartKind = Literal["call", "error", "asked", "item", "name", "constant"]
"""``call``: of a tool, for what it answers; ``error``: the name of a tool, for what its error says. ``asked``: a question to the user, for its answer.
``item``: of the list of earlier results, the one that stands there. ``name``: one that the program itself gives no value."""


@dataclass(frozen=True, slots=True)
class Part:
    """Something that a value is made of. ``node``: where it stands."""

    kind: PartKind
    node: ast.expr
    name: str
    """The function, the name, the item's expression, or the constant as Python writes it."""
    number: int = 0
    """Of an item: its place in the list, from 0."""


class Gathering:
    """What the values of some expressions are made of, where they are used at one place; each part is looked at once.

    ``conditions``: on which it depends which value it is; ``lines`` of the place's cell that have to do with it. ``rounds``: what loops go over
    counts, too, since it decides how often something is done.
    """

    def __init__(
        self,
        found: Definitions,
        tools: Collection[str],
        site: Place,
        *,
        rounds: bool = True,
        control: ControlFlow | None = None,
    ) -> None:
        """``control``: what decides that a value is this one counts as a part of it, whatever stands in it."""
        self._found = found
        self._tools = tools
        self._site = site
        self._rounds = rounds
        self._control = control
        self._kinds: dict[ast.expr, PartKind] = {}
        self._seen = set[ast.AST]()
        self._contents = set[str]()
        self._defined = set[Definition]()
        self._left: list[ast.AST] = []
        self.conditions: list[ast.expr] = []
        self.lines: set[int] = set()

    @property
    def parts(self) -> list[Part]:
        """All that was found, in the order in which it was."""
        return [_part(kind, node) for node, kind in self._kinds.items()]

    def take(self, whole: ast.AST, site: Place | None = None) -> None:
        """Gather from one expression. ``site``: another place where it is used, before the place of what was taken until now."""
        self._site = site or self._site
        self._left.append(whole)
        while self._left:
            part = self._left.pop()
            if part not in self._seen:
                self._seen.add(part)
                self._part(part)

    def _part(self, part: ast.AST) -> None:
        match part:
            case ast.Name(ctx=ast.Load()):
                self._name(part)
            case ast.Call():
                self._call(part)
            case ast.Constant():
                self._constant(part)
            case ast.Subscript(ast.Name() as held, ast.Constant(int())) if self._is_earlier(held):
                self._kinds[part] = "item"
            case ast.Subscript():
                self._left += [part.value] if _selects(part.slice) else [part.value, part.slice]
            case ast.FormattedValue():
                self._left.append(part.value)
            case ast.IfExp():
                self.conditions.append(part.test)
                self._left += [part.test, part.body, part.orelse]
            case ast.Lambda():
                self._left.append(part.body)
            case ast.comprehension():
                self.conditions += part.ifs
                self._left += [*([part.iter] if self._rounds else []), *part.ifs]
            case _:
                self._left += ast.iter_child_nodes(part)

    def _call(self, call: ast.Call) -> None:
        """A tool's answer is what it is; a function of the program is what it returns; everything else is made of what is given to it."""
        values = [*call.args, *(one.value for one in call.keywords)]
        match call.func:
            case ast.Name() as name if self._is_tool(name):
                self._kinds[call] = "call"
            case ast.Name() as name if self._found.function(name):
                self._name(name)
            case ast.Name(id=name) if name == ASK:
                self._kinds[call] = "asked"
                self._left += values
            case ast.Attribute(value=held, attr="get"):
                self._left += [held, *(value for number, value in enumerate(values) if number or not _selects(value))]
            case ast.Attribute(value=held):
                self._left += [held, *values]
            case other:
                self._left += [other, *values]

    def _is_earlier(self, name: ast.Name) -> bool:
        return name.id == EARLIER and not self._found.known(self._found.names[name])

    def _is_tool(self, name: ast.Name) -> bool:
        means = self._found.names.get(name)
        return name.id in self._tools and (means is None or not self._found.known(means))

    def _name(self, name: ast.Name) -> None:
        if self._control is not None:
            if name not in self._found.names:  # of an annotation, or one that stands for anything
                self._kinds[name] = "name"
                return
            if name.id not in self._contents:
                self._contents.add(name.id)
                self._left += self._control.deciding_contents(name.id)
            if function := self._found.function(name):
                self._left += self._control.within(function)
        if self._found.known(self._found.names[name]):
            for definition in self._found.reaching(name, self._site):
                self._definition(definition)
        else:
            self._kinds[name] = "call" if name.id in self._tools else "name"

    def _definition(self, definition: Definition) -> None:
        place = definition.place
        if self._control is not None and definition not in self._defined:
            self._defined.add(definition)
            for value in definition.values:
                self._left += self._control.deciding_value(value)
                self._left += self._control.within(value) if definition.raised else ()
        if place.cell == self._site.cell:
            self.lines |= {getattr(part, "lineno", 0) for part in definition.values} - {0}
        if definition.raised:
            self._errors(definition)
            return
        self._left += definition.values
        tests = [one for one in place.tests if one not in self._site.tests]
        self.conditions += tests
        rounds = place.rounds if self._rounds else ()
        self._left += [*tests, *(one for one in rounds if one not in self._site.rounds)]

    def _errors(self, definition: Definition) -> None:
        """What an error says was said by one of the tools that are called there."""
        left, seen = list(definition.values), set[ast.AST]()
        while left:
            part = left.pop()
            if part in seen:
                continue
            seen.add(part)
            if isinstance(part, ast.Name) and part in self._found.names:
                if self._is_tool(part):
                    self._kinds[part] = "error"
                elif function := self._found.function(part):
                    left.append(function)
            left += ast.iter_child_nodes(part)

    def _constant(self, constant: ast.Constant) -> None:
        if isinstance(constant.value, (str, int, float)) and any(char.isalnum() for char in str(constant.value)):
            self._kinds[constant] = "constant"


def _part(kind: PartKind, node: ast.expr) -> Part:
    match node:
        case ast.Name(name) | ast.Call(ast.Name(name)):
            return Part(kind, node, name)
        case ast.Constant(value):
            return Part(kind, node, repr(value))
        case ast.Subscript(slice=ast.Constant(int() as number)):
            return Part(kind, node, ast.unparse(node), number)
        case _:
            return Part(kind, node, "")


def _selects(index: ast.expr) -> bool:
    """Whether an index is fixed, so that nothing comes in by it."""
    match index:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Slice():
            return all(one is None or _selects(one) for one in (index.lower, index.upper, index.step))
        case _:
            return False
