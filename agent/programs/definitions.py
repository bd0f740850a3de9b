"""Where the names of a program get their values: every assignment, loop, parameter and change in place, and which of them reach a use.

What is certainly written over is left out; everything else counts.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Scope = tuple[int, ...]
"""The numbers of the functions and comprehensions around a place; empty: the module, whose names all cells share."""
Name = tuple[Scope, str]
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


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
    """Of a program's cells, as a reader finds them (:func:`agent.programs.definition_reader.read_definitions`).

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

    def add(self, name: Name, definition: Definition) -> None:
        """One more way in which the name gets a value."""
        self._of[name].append(definition)

    def known(self, name: Name) -> bool:
        """Whether the program itself gives the name a value."""
        return name in self._of

    def function(self, called: ast.expr) -> Function | None:
        """The program's own function that an expression names."""
        name = self.names.get(called) if isinstance(called, ast.Name) else None
        return self.functions.get(name) if name else None

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
