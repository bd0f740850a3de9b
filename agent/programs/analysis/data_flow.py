"""Data flow: where the names of a program get their values, and what a value is made of.

:class:`ProgramDefinitions` holds every assignment, loop, parameter and change in place, and finds those that reach a
use (reaching definitions). Only a definition that is certainly overwritten is excluded. :class:`ValueTracer` traces an
expression back through names, functions, loops and tests to calls, constants and inputs.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.programs.analysis.control_flow import ControlFlow, Function
from agent.programs.program_request import EARLIER
from agent.programs.program_types import ASK
from domain.python_source import list_argument_values

_NON_SHARING_FUNCTIONS = frozenset(
    {"abs", "all", "any", "bool", "chr", "float", "hash", "int", "isinstance"}
    | {"len", "ord", "range", "repr", "round", "str"}
)
"""Functions whose result shares no mutable part with their arguments."""
Scope = tuple[int, ...]
"""Numbers of the functions and comprehensions around a place; empty for the module, whose names all cells share."""
ScopedName = tuple[Scope, str]
"""A name with the scope that binds it."""


@dataclass(frozen=True, slots=True)
class StatementPosition:
    """Position of a statement in the program."""

    cell: int
    """Number of its cell."""
    order: int
    """Number of the statement, counted through all cells."""
    blocks: tuple[tuple[int, int], ...] = ()
    """Blocks around it, outermost first: number of the block and index of the statement in it."""
    loops: frozenset[int] = frozenset()
    """Loops around it, each by the ``order`` of its statement."""
    tests: tuple[ast.expr, ...] = ()
    """Conditions that decide whether it runs."""
    iterables: tuple[ast.expr, ...] = ()
    """Expressions that the loops around it iterate over."""
    function: Scope = ()
    """Scope of the function whose body it is in."""

    def dominates(self, other: "StatementPosition") -> bool:
        """Return whether this statement precedes the other one on every path into the other's block (dominance)."""
        depth = len(self.blocks) - 1
        if self.function != other.function or len(other.blocks) <= depth or self.blocks[:depth] != other.blocks[:depth]:
            return False
        (block, index), (other_block, other_index) = self.blocks[depth], other.blocks[depth]
        return block == other_block and index < other_index

    def may_precede(self, other: "StatementPosition") -> bool:
        """Return whether this statement can run before the other one."""
        return self.function != other.function or self.order < other.order or bool(self.loops & other.loops)


@dataclass(frozen=True, slots=True, eq=False)
class NameDefinition:
    """One way in which a name gets its value."""

    operands: tuple[ast.AST, ...]
    """Expressions whose values go into the name."""
    position: StatementPosition
    """Position of the statement that defines it."""
    overwrites: bool = True
    """True if earlier values of the name are lost."""
    in_place: bool = False
    """True if it mutates the value, which all names that refer to it then see."""
    from_error: bool = False
    """True if the value is an error raised by a call among ``operands``."""
    reaches_everywhere: bool = False
    """True if it reaches every use, whatever the order of the statements."""
    key: ast.expr | None = None
    """Key under which the value is stored. Unlike the operands, it does not become an alias of the name."""

    @property
    def values(self) -> tuple[ast.AST, ...]:
        """The operands, and the key if there is one."""
        return self.operands if self.key is None else (*self.operands, self.key)

    def may_reach(self, use: StatementPosition, latest: Mapping[frozenset[int], int]) -> bool:
        """Return whether a value of this definition may still be in the name at a use.

        Args:
            use: position of the use.
            latest: order of the last overwriting definition that certainly runs before the use, by the loops around it.
        """
        if self.reaches_everywhere or self.position.function != use.function:
            return True
        shared_loops = self.position.loops & use.loops
        loops_back = (
            bool(shared_loops) and self.position.order >= use.order
        )  # defined in one iteration and used in the next
        return not any(
            shared_loops <= loops and (self.position.order < order or loops_back) for loops, order in latest.items()
        )


class ProgramDefinitions:
    """Definitions and uses of the names in a program's cells.

    :func:`agent.programs.analysis.definition_reader.read_definitions` fills it.
    """

    def __init__(self) -> None:
        self.positions: dict[ast.AST, StatementPosition] = {}
        """Positions of the names, calls and constants that are read."""
        self.names: dict[ast.Name, ScopedName] = {}
        """Scoped name that each use refers to."""
        self.functions: dict[ScopedName, Function] = {}
        """The program's own functions."""
        self.scopes: dict[Function, Scope] = {}
        """Scope of the body of each function."""
        self.callers: defaultdict[Scope, list[StatementPosition]] = defaultdict(list)
        """Positions of the calls of a function, by the scope of its body."""
        self._by_name: defaultdict[ScopedName, list[NameDefinition]] = defaultdict(list)
        self._reaching_by_use: dict[ast.Name, list[NameDefinition]] = {}
        self._aliases: dict[ScopedName, set[ScopedName]] = {}

    def add(self, name: ScopedName, definition: NameDefinition) -> None:
        """Add a definition of a name."""
        self._by_name[name].append(definition)

    def has_definition(self, name: ScopedName) -> bool:
        """Return whether the program itself gives the name a value."""
        return name in self._by_name

    def is_external_name(self, expression: ast.expr) -> bool:
        """Return whether an expression is a name that the program itself gives no value."""
        scoped_name = self.names.get(expression) if isinstance(expression, ast.Name) else None
        return scoped_name is not None and not self.has_definition(scoped_name)

    def find_function(self, expression: ast.expr) -> Function | None:
        """Return the program's own function that an expression names, if any."""
        name = self.names.get(expression) if isinstance(expression, ast.Name) else None
        return self.functions.get(name) if name else None

    def find_position(self, root: ast.AST) -> StatementPosition | None:
        """Return where a value is used: the position of the first of its parts that has one."""
        return next((self.positions[part] for part in ast.walk(root) if part in self.positions), None)

    def find_reaching(self, use: ast.Name, site: StatementPosition) -> list[NameDefinition]:
        """Return the definitions that a name may hold where it is used for a call at ``site``."""
        if use not in self._reaching_by_use:
            self._reaching_by_use[use] = self._compute_reaching(use)
        return [
            definition
            for definition in self._reaching_by_use[use]
            if not definition.in_place or definition.reaches_everywhere or definition.position.may_precede(site)
        ]

    def _compute_reaching(self, use: ast.Name) -> list[NameDefinition]:
        """Return the definitions that may reach a use, including later changes in place."""
        position, own_definitions = self.positions[use], self._by_name.get(self.names[use], ())
        latest: dict[frozenset[int], int] = {}
        for definition in own_definitions:
            if definition.overwrites and definition.position.dominates(position):
                latest[definition.position.loops] = max(
                    definition.position.order, latest.get(definition.position.loops, 0)
                )
        candidates = (
            candidate
            for candidate in own_definitions
            if candidate.reaches_everywhere or candidate.in_place or candidate.position.may_precede(position)
        )
        return [candidate for candidate in candidates if candidate.may_reach(position, latest)]

    def find_call_positions(self, site: StatementPosition) -> list[StatementPosition]:
        """Return a position, and those where the functions around it are called, directly or indirectly."""
        positions, pending, seen = [site], [site.function], set[Scope]()
        while pending:
            function = pending.pop()
            if function and function not in seen:
                seen.add(function)
                positions += self.callers[function]
                pending += [position.function for position in self.callers[function]]
        return positions

    def propagate_changes(self) -> None:
        """Propagate each change in place to every name that may refer to the same value.

        Call this once, after all cells are read.
        """
        changes = {
            name: [definition for definition in definitions if definition.in_place]
            for name, definitions in self._by_name.items()
        }
        aliases = {name: self._find_aliases(definitions) for name, definitions in self._by_name.items()}
        for name, own_changes in changes.items():
            own_aliases = self._find_aliases(own_changes)
            for other in _find_reachable_names(name, aliases) - {name} if own_changes else ():
                self._by_name[other] += own_changes
                aliases.setdefault(other, set()).update(own_aliases)
        self._aliases = aliases

    def find_sharing_names(self, expression: ast.expr) -> set[str]:
        """Return the names that may share mutable parts with the value of an expression."""
        names = {self.names[use] for use in self._find_shared_names(expression) if use in self.names}
        return {other for name in names for _, other in _find_reachable_names(name, self._aliases)}

    def _find_aliases(self, definitions: Sequence[NameDefinition]) -> set[ScopedName]:
        """Return the names whose values, or parts of them, the definitions may hold."""
        parts = [part for definition in definitions for part in definition.operands]
        return {self.names[use] for part in parts for use in self._find_shared_names(part) if use in self.names}

    def _find_shared_names(self, root: ast.AST) -> Iterator[ast.Name]:
        """Yield the names whose values, or parts of them, may be part of the value of an expression.

        Names that are only compared, formatted into a text or passed to a tool are left out.
        """
        pending = [root]
        while pending:
            match pending.pop():
                case ast.Name() as name:
                    yield name
                case ast.Compare() | ast.JoinedStr() | ast.Constant():
                    continue
                case ast.Subscript(value=value):
                    pending.append(value)
                case ast.Await(value=ast.Call(func=ast.Name() as called)):
                    pending += [called] if self.find_function(called) else []
                case ast.Call(func=ast.Name(id=called) as name) if (
                    called in _NON_SHARING_FUNCTIONS and self.is_external_name(name)
                ):
                    continue
                case other:
                    pending += ast.iter_child_nodes(other)


def _find_reachable_names(name: ScopedName, aliases: Mapping[ScopedName, set[ScopedName]]) -> set[ScopedName]:
    """Return a name and, transitively, all names whose values it may hold."""
    reachable, pending = set[ScopedName](), [name]
    while pending:
        current = pending.pop()
        if current not in reachable:
            reachable.add(current)
            pending += aliases.get(current, ())
    return reachable


def list_parameters(function: Function) -> Sequence[ast.arg]:
    """Return all parameters of a function."""
    arguments = function.args
    variadic = [parameter for parameter in (arguments.vararg, arguments.kwarg) if parameter]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *variadic]


PartKind = Literal["call", "error", "asked", "item", "name", "constant"]
"""Kind of a part of a value.

- ``call``: the answer to a call of a tool;
- ``error``: the message of an error that a tool raised;
- ``asked``: the user's answer to a question;
- ``item``: an item of the list of earlier results, at a fixed index;
- ``name``: a name that the program does not define;
- ``constant``: a constant.
"""


@dataclass(frozen=True, slots=True)
class ValuePart:
    """Something that a value is made of."""

    kind: PartKind
    node: ast.expr
    """The node in the syntax tree."""
    name: str
    """Name of the function, the name itself, the code of the item, or the ``repr`` of the constant."""
    number: int = 0
    """For an item: its index in the list, from 0."""


class ValueTracer:
    """Backward slice of expressions: collects the parts that their values are made of.

    Each part is visited once. :meth:`trace` may be called several times; results accumulate.
    """

    def __init__(
        self,
        definitions: ProgramDefinitions,
        tools: Collection[str],
        site: StatementPosition,
        *,
        include_iterables: bool = True,
        control: ControlFlow | None = None,
    ) -> None:
        """Prepare a slice.

        Args:
            definitions: definitions of the program.
            tools: names of the functions that are tools.
            site: position at which the expressions are used.
            include_iterables: whether the iterables of loops count as parts: they decide how often something runs.
            control: if given, the expressions that decide which value it is count as parts too.
        """
        self._definitions = definitions
        self._tools = tools
        self._site = site
        self._include_iterables = include_iterables
        self._control = control
        self._kinds: dict[ast.expr, PartKind] = {}
        self._seen = set[ast.AST]()
        self._traced_contents = set[str]()
        self._traced_definitions = set[NameDefinition]()
        self._pending: list[ast.AST] = []
        self.conditions: list[ast.expr] = []
        """Tests that decide the value."""
        self.lines: set[int] = set()
        """Lines that contribute to the value, in the cell where it is used."""

    @property
    def parts(self) -> list[ValuePart]:
        """All parts found, in the order in which they were found."""
        return [_to_value_part(kind, node) for node, kind in self._kinds.items()]

    def trace(self, root: ast.AST, site: StatementPosition | None = None) -> None:
        """Add the parts of one expression.

        Args:
            root: the expression.
            site: position at which it is used, if not that of the expression traced last. Positions must be given from
                the last to the first, because definitions that were followed are not followed again.
        """
        self._site = site or self._site
        self._pending.append(root)
        while self._pending:
            part = self._pending.pop()
            if part not in self._seen:
                self._seen.add(part)
                self._trace_part(part)

    def _trace_part(self, part: ast.AST) -> None:
        match part:
            case ast.Name(ctx=ast.Load()):
                self._trace_name(part)
            case ast.Call():
                self._trace_call(part)
            case ast.Constant():
                self._record_constant(part)
            case ast.Subscript(ast.Name() as held, ast.Constant(int())) if self._is_earlier_results(held):
                self._kinds[part] = "item"
            case ast.Subscript():
                self._pending += [part.value] if _is_fixed_index(part.slice) else [part.value, part.slice]
            case ast.FormattedValue():
                self._pending.append(part.value)
            case ast.IfExp():
                self.conditions.append(part.test)
                self._pending += [part.test, part.body, part.orelse]
            case ast.Lambda():
                self._pending.append(part.body)
            case ast.comprehension():
                self.conditions += part.ifs
                self._pending += [*([part.iter] if self._include_iterables else []), *part.ifs]
            case _:
                self._pending += ast.iter_child_nodes(part)

    def _trace_call(self, call: ast.Call) -> None:
        """Trace a call: the answer of a tool is a part, a function of the program is traced into.

        The result of any other call is made of its arguments.
        """
        values = list_argument_values(call)
        match call.func:
            case ast.Name() as name if self._is_tool(name):
                self._kinds[call] = "call"
            case ast.Name() as name if self._definitions.find_function(name):
                self._trace_name(name)
            case ast.Name(id=name) if name == ASK:
                self._kinds[call] = "asked"
                self._pending += values
            case ast.Attribute(value=held, attr="get"):
                self._pending += [
                    held,
                    *(value for number, value in enumerate(values) if number or not _is_fixed_index(value)),
                ]
            case ast.Attribute(value=held):
                self._pending += [held, *values]
            case other:
                self._pending += [other, *values]

    def _is_earlier_results(self, name: ast.Name) -> bool:
        """Return whether a name is the list of earlier results and not redefined by the program."""
        return name.id == EARLIER and not self._definitions.has_definition(self._definitions.names[name])

    def _is_tool(self, name: ast.Name) -> bool:
        """Return whether a name is a tool and not redefined by the program."""
        scoped_name = self._definitions.names.get(name)
        return name.id in self._tools and (scoped_name is None or not self._definitions.has_definition(scoped_name))

    def _trace_name(self, name: ast.Name) -> None:
        if self._control is not None:
            if name not in self._definitions.names:  # in an annotation, or ANYTHING, which no cell contains
                self._kinds[name] = "name"
                return
            if name.id not in self._traced_contents:
                self._traced_contents.add(name.id)
                self._pending += self._control.find_content_conditions(name.id)
            if function := self._definitions.find_function(name):
                self._pending += self._control.find_names_and_calls(function)
        if self._definitions.has_definition(self._definitions.names[name]):
            for definition in self._definitions.find_reaching(name, self._site):
                self._trace_definition(definition)
        else:
            self._kinds[name] = "call" if name.id in self._tools else "name"

    def _trace_definition(self, definition: NameDefinition) -> None:
        position = definition.position
        if self._control is not None and definition not in self._traced_definitions:
            self._traced_definitions.add(definition)
            for value in definition.values:
                self._pending += self._control.find_value_conditions(value)
                self._pending += self._control.find_names_and_calls(value) if definition.from_error else ()
        if position.cell == self._site.cell:
            self.lines |= {getattr(part, "lineno", 0) for part in definition.values} - {0}
        if definition.from_error:
            self._trace_errors(definition)
            return
        self._pending += definition.values
        tests = [test for test in position.tests if test not in self._site.tests]
        self.conditions += tests
        iterables = position.iterables if self._include_iterables else ()
        self._pending += [*tests, *(iterable for iterable in iterables if iterable not in self._site.iterables)]

    def _trace_errors(self, definition: NameDefinition) -> None:
        """Record the tools that may have raised an error: those used in the ``try`` block, directly or in functions."""
        pending, seen = list(definition.values), set[ast.AST]()
        while pending:
            part = pending.pop()
            if part in seen:
                continue
            seen.add(part)
            if isinstance(part, ast.Name) and part in self._definitions.names:
                if self._is_tool(part):
                    self._kinds[part] = "error"
                elif function := self._definitions.find_function(part):
                    pending.append(function)
            pending += ast.iter_child_nodes(part)

    def _record_constant(self, constant: ast.Constant) -> None:
        """Record a constant that has at least one letter or digit."""
        if isinstance(constant.value, (str, int, float)) and any(char.isalnum() for char in str(constant.value)):
            self._kinds[constant] = "constant"


def _to_value_part(kind: PartKind, node: ast.expr) -> ValuePart:
    """Describe a node as a part of a value."""
    match node:
        case ast.Name(name) | ast.Call(ast.Name(name)):
            return ValuePart(kind, node, name)
        case ast.Constant(value):
            return ValuePart(kind, node, repr(value))
        case ast.Subscript(slice=ast.Constant(int() as number)):
            return ValuePart(kind, node, ast.unparse(node), number)
        case _:
            return ValuePart(kind, node, "")


def _is_fixed_index(index: ast.expr) -> bool:
    """Return whether an index is constant, so that no other value decides which item is selected."""
    match index:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Slice():
            return all(bound is None or _is_fixed_index(bound) for bound in (index.lower, index.upper, index.step))
        case _:
            return False
