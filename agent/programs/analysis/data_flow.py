"""Data flow: where the names of a program get their values, and what a value is made of.

:class:`Definitions` holds every assignment, loop, parameter and change in place, and which of them reach a use. Only
a definition that is certainly overwritten is left out. :class:`Gathering` goes back from an expression over names,
functions, loops and tests to calls, constants and inputs.
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
"""Numbers of the functions and comprehensions around a place; empty for the module, whose names all cells share."""
Name = tuple[Scope, str]
"""A name with the scope that binds it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Position of a statement in the program."""

    cell: int
    """Number of its cell."""
    order: int
    """Number of the statement, counted through all cells."""
    blocks: tuple[tuple[int, int], ...] = ()
    """Statement lists around it, each with the statement's index in it."""
    loops: frozenset[int] = frozenset()
    """Loops around it, by their order."""
    tests: tuple[ast.expr, ...] = ()
    """Conditions that decide whether it runs."""
    rounds: tuple[ast.expr, ...] = ()
    """Expressions that the loops around it iterate over."""
    function: Scope = ()
    """Scope of the function whose body it is in."""

    def decides(self, other: "Place") -> bool:
        """Return whether this statement precedes the other one on every path into the other's block (dominance)."""
        depth = len(self.blocks) - 1
        if self.function != other.function or len(other.blocks) <= depth or self.blocks[:depth] != other.blocks[:depth]:
            return False
        (block, at), (beside, later) = self.blocks[depth], other.blocks[depth]
        return block == beside and at < later

    def may_precede(self, other: "Place") -> bool:
        """Return whether this statement can run before the other one."""
        return self.function != other.function or self.order < other.order or bool(self.loops & other.loops)


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """One way in which a name gets its value."""

    made_of: tuple[ast.AST, ...]
    """Expressions whose values go into the name."""
    place: Place
    """Position of the statement that defines it."""
    whole: bool = True
    """True if the name holds nothing else afterwards."""
    in_place: bool = False
    """True if the value itself is changed, for every name that refers to it."""
    raised: bool = False
    """True if the value is an error raised by a call among ``made_of``."""
    anywhere: bool = False
    """True if it reaches every use, whatever the order of the statements."""
    key: ast.expr | None = None
    """Key under which the value is stored; the key is a value of its own and is never changed in place."""

    @property
    def values(self) -> tuple[ast.AST, ...]:
        """All expressions that go in, the key included."""
        return self.made_of if self.key is None else (*self.made_of, self.key)

    def is_left(self, use: Place, latest: Mapping[frozenset[int], int]) -> bool:
        """Return whether something of this definition may still be in the name at a use.

        Args:
            use: position of the use.
            latest: definitions that certainly run before the use: by the loops around them, the order of the last one.
        """
        if self.anywhere or self.place.function != use.function:
            return True
        around = self.place.loops & use.loops
        again = bool(around) and self.place.order >= use.order  # it is done in one round and used in the next
        return not any(around <= loops and (self.place.order < order or again) for loops, order in latest.items())


class Definitions:
    """Definitions and uses of the names in a program's cells.

    :mod:`agent.programs.analysis.definition_reader` fills it. ``places``: positions of names, calls and constants.
    ``names``: the scoped name that each use means. ``functions``: the program's own functions, with their ``scopes``.
    ``callers``: where each of them is called, by scope.
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
        """Add one more definition of a name."""
        self._of[name].append(definition)

    def known(self, name: Name) -> bool:
        """Return whether the program itself gives the name a value."""
        return name in self._of

    def is_given(self, name: ast.expr) -> bool:
        """Return whether an expression is a name that the program itself gives no value."""
        means = self.names.get(name) if isinstance(name, ast.Name) else None
        return means is not None and not self.known(means)

    def function(self, called: ast.expr) -> Function | None:
        """Return the program's own function that an expression names, if any."""
        name = self.names.get(called) if isinstance(called, ast.Name) else None
        return self.functions.get(name) if name else None

    def place_within(self, whole: ast.AST) -> Place | None:
        """Return where a value is used: the position of the first of its parts that has one."""
        return next((self.places[part] for part in ast.walk(whole) if part in self.places), None)

    def reaching(self, use: ast.Name, site: Place) -> list[Definition]:
        """Return the definitions that a name may hold where it is used for a call at ``site``."""
        if use not in self._left:
            self._left[use] = self._left_at(use)
        return [one for one in self._left[use] if not one.in_place or one.anywhere or one.place.may_precede(site)]

    def _left_at(self, use: ast.Name) -> list[Definition]:
        """Return the definitions that may reach a use, including changes in place that come after it."""
        place, of_name = self.places[use], self._of.get(self.names[use], ())
        latest: dict[frozenset[int], int] = {}
        for one in of_name:
            if one.whole and one.place.decides(place):
                latest[one.place.loops] = max(one.place.order, latest.get(one.place.loops, 0))
        here = (one for one in of_name if one.anywhere or one.in_place or one.place.may_precede(place))
        return [one for one in here if one.is_left(place, latest)]

    def deciding(self, site: Place) -> list[Place]:
        """Return a place, and the places where the functions around it are called."""
        found, left, seen = [site], [site.function], set[Scope]()
        while left:
            function = left.pop()
            if function and function not in seen:
                seen.add(function)
                found += self.callers[function]
                left += [place.function for place in self.callers[function]]
        return found

    def spread(self) -> None:
        """Propagate each change in place to every name that may refer to the same value.

        Call this once, after all cells are read.
        """
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
        """Return the names from which definitions may have got what they hold."""
        parts = [part for one in definitions for part in one.made_of]
        return {self.names[use] for part in parts for use in self._shared(part) if use in self.names}

    def _shared(self, whole: ast.AST) -> Iterator[ast.Name]:
        """Yield the names whose values, or parts of them, may be in a value.

        Names that are only compared, formatted into a text or sent to a tool are left out.
        """
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
    """Return a name and all names from which its value may come, transitively."""
    found, left = set[Name](), [name]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += holds.get(one, ())
    return found


def parameters(function: Function) -> Sequence[ast.arg]:
    """Return all parameters of a function."""
    told = function.args
    more = [one for one in (told.vararg, told.kwarg) if one]
    return [*told.posonlyargs, *told.args, *told.kwonlyargs, *more]


PartKind = Literal["call", "error", "asked", "item", "name", "constant"]
"""Kind of a part of a value.

- ``call``: a call of a tool, for its answer;
- ``error``: the name of a tool, for the message of its error;
- ``asked``: a question to the user, for the answer;
- ``item``: the item at one place of the list of earlier results;
- ``name``: a name that the program itself gives no value;
- ``constant``: a constant.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """Something that a value is made of."""

    kind: PartKind
    node: ast.expr
    """The node in the syntax tree."""
    name: str
    """The function, the name, the item's expression, or the constant as Python writes it."""
    number: int = 0
    """For an item: its index in the list, from 0."""


class Gathering:
    """Backward slice of some expressions: what they are made of, where they are used at one place.

    Each part is visited once. After :meth:`take`, ``conditions`` holds the tests that decide the value, and ``lines``
    the lines of the place's cell that contribute to it.
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
        """Prepare a slice.

        Args:
            found: definitions of the program.
            tools: names of the functions that are tools.
            site: where the expressions are used.
            rounds: whether the iterables of loops count, since they decide how often something is done.
            control: if given, whatever decides that a value is this one counts as a part of it too.
        """
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
        """All parts found, in the order in which they were found."""
        return [_part(kind, node) for node, kind in self._kinds.items()]

    def take(self, whole: ast.AST, site: Place | None = None) -> None:
        """Add what one expression is made of.

        Args:
            whole: the expression.
            site: another place where it is used, before the place of the expressions taken so far.
        """
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
        """Trace a call: a tool's answer is a part itself, a program's function gives what it returns.

        Anything else is made of its arguments.
        """
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
        """Return whether a name is the list of earlier results and not the program's own."""
        return name.id == EARLIER and not self._found.known(self._found.names[name])

    def _is_tool(self, name: ast.Name) -> bool:
        """Return whether a name means a tool and not a function of the program."""
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
        """Record the tools that may have raised an error: those called under the definition, through functions too."""
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
        """Record a constant that has at least one letter or digit."""
        if isinstance(constant.value, (str, int, float)) and any(char.isalnum() for char in str(constant.value)):
            self._kinds[constant] = "constant"


def _part(kind: PartKind, node: ast.expr) -> Part:
    """Describe a node as a part of a value."""
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
    """Return whether an index is fixed, so that no value comes in through it."""
    match index:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Slice():
            return all(one is None or _selects(one) for one in (index.lower, index.upper, index.step))
        case _:
            return False
