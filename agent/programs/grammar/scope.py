"""State of a compilation: the names in scope, what is known of their values, and the lines written so far."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from agent.programs.function_names import RESERVED_NAMES, to_identifier
from agent.programs.grammar.sentence import FieldKey, ValuePath
from agent.programs.signatures import ToolSignature
from domain.errors import InvalidDecisionError
from graph.shapes import UNKNOWN, JsonShape, Kind

_MAX_FIELDS = 20
NUMBER = JsonShape(frozenset({"number"}))
INTEGER = JsonShape(frozenset({"integer"}))
TEXT = JsonShape(frozenset({"string"}))
_ARRAY: frozenset[Kind] = frozenset({"array"})
_NUMBERS: frozenset[Kind] = frozenset({"number", "integer"})
_KIND_WORDS = {"string": "a text", "boolean": "true or false", "object": "an object", "array": "a list"}


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """What is known of the value of an expression."""

    shape: JsonShape = UNKNOWN
    """Shape of the value."""
    pair: "tuple[ValueFacts, ValueFacts] | None" = None
    """For a pair of a ``for_each`` step: facts about the list item and the result of its call."""
    pair_item: "ValueFacts | None" = None
    """For a list of such pairs: facts about one pair."""
    computed: bool = False
    """True for a number that the program computed, which is rounded where a text shows it."""

    @property
    def nullable(self) -> bool:
        """True if it may be null."""
        return self.shape.nullable

    @property
    def is_list(self) -> bool | None:
        """True if it is a list; None if unknown."""
        if self.pair_item or self.pair or self.computed:
            return self.pair_item is not None
        kinds = self.shape.kinds - {"null"}
        return None if not kinds or ("array" in kinds and kinds != _ARRAY) else kinds == _ARRAY

    @property
    def is_number(self) -> bool:
        """True if it is a number."""
        return self.computed or (bool(self.shape.kinds) and self.shape.kinds - {"null"} <= _NUMBERS)

    @property
    def item(self) -> "ValueFacts":
        """Facts about the items of the list."""
        return self.pair_item or ValueFacts(self.shape.items or UNKNOWN)

    @property
    def non_null(self) -> "ValueFacts":
        """The facts for a value that is known not to be null."""
        return replace(self, shape=replace(self.shape, kinds=self.shape.kinds - {"null"})) if self.nullable else self

    @property
    def description(self) -> str:
        """Words for the kind of value in a message; empty if unknown."""
        kinds = sorted(self.shape.kinds - {"null"})
        if self.is_list:
            return "a list"
        return "a number" if self.is_number else " or ".join(_KIND_WORDS.get(kind, "a number") for kind in kinds)


def make_list(item: ValueFacts) -> ValueFacts:
    """Return the facts about a list, given those about its items."""
    if item.pair or item.pair_item:
        return ValueFacts(pair_item=item)
    return ValueFacts(JsonShape(_ARRAY, items=item.shape))


@dataclass(frozen=True, slots=True)
class ProgramExpression:
    """A Python expression with what is known of its value."""

    code: str
    """Code of the expression."""
    facts: ValueFacts = field(default_factory=ValueFacts)
    """What is known of its value."""
    conditions: tuple[str, ...] = ()
    """Conditions, as code, that must hold before it is evaluated, in the order in which they are tested."""
    null_tolerant: "ProgramExpression | None" = None
    """Alternative for use in a text, which is null if the last field is missing; None if no alternative is needed."""

    @property
    def non_null(self) -> "ProgramExpression":
        """The expression under the further condition that it is not null."""
        if not self.facts.nullable:
            return self
        return ProgramExpression(self.code, self.facts.non_null, (*self.conditions, f"{self.code} is not None"))


class PathFollower:
    """Builds the expression at a path, starting from another expression."""

    def __init__(self, make_variable: Callable[[], str]) -> None:
        """Create a follower. ``make_variable``: returns an unused variable for the items of a list."""
        self._make_variable = make_variable

    def follow(self, start: ProgramExpression, path: ValuePath) -> ProgramExpression:
        """Return the expression at a path.

        Raises:
            InvalidDecisionError: the known shape has nothing at the path; the message lists what exists.
        """
        current, null_tolerant = start, None
        loops: list[tuple[str, str]] = []
        conditions_by_loop = [list(start.conditions)]  # conditions before the first loop, then those inside each loop
        for number, part in enumerate(path.parts):
            prefix = ValuePath(path.root, path.parts[:number])
            if current.facts.nullable:
                conditions_by_loop[-1].append(f"{current.code} is not None")
                current = ProgramExpression(current.code, current.facts.non_null)
            if part is None:
                _require_list(current.facts, prefix)
                name = self._make_variable()
                loops.append((name, current.code))
                conditions_by_loop.append([])
                current = ProgramExpression(name, current.facts.item)
            else:
                next_expression, conditions = (
                    _follow_part(current, part, prefix),
                    _list_existence_conditions(current, part),
                )
                null_tolerant = (
                    _build_null_tolerant(current, part, next_expression, conditions_by_loop[-1]) if conditions else None
                )
                conditions_by_loop[-1] += conditions
                current = next_expression
        if not loops:
            return ProgramExpression(current.code, current.facts, tuple(conditions_by_loop[0]), null_tolerant)
        item = ProgramExpression(current.code, current.facts, tuple(conditions_by_loop[-1])).non_null
        clauses = (
            f" for {name} in {source}{render_conditions(conditions)}"
            for (name, source), conditions in zip(loops, [*conditions_by_loop[1:-1], item.conditions], strict=True)
        )
        return ProgramExpression(
            f"[{item.code}{''.join(clauses)}]", make_list(item.facts), tuple(conditions_by_loop[0])
        )


def render_conditions(conditions: Iterable[str]) -> str:
    """Render conditions as ``if`` clauses of a comprehension."""
    return "".join(f" if {condition}" for condition in conditions)


def _follow_part(current: ProgramExpression, part: FieldKey | int, prefix: ValuePath) -> ProgramExpression:
    """Return the expression for one more part of a path. ``prefix``: the path before it, for messages."""
    if isinstance(part, int):
        _require_list(current.facts, prefix)
        return ProgramExpression(f"{current.code}[{part}]", current.facts.item)
    if current.facts.pair:
        indexes = {"item": 0, "result": 1}
        if part.name not in indexes:
            _reject(
                f"{prefix} has no {part.name!r}: it has `item`, what the function was called for, and `result`, what it answered"
            )
        index = indexes[part.name]
        return ProgramExpression(f"{current.code}[{index}]", current.facts.pair[index])
    return ProgramExpression(
        f"{current.code}[{part.name!r}]", ValueFacts(_find_field_shape(current.facts, part.name, prefix))
    )


def _list_existence_conditions(current: ProgramExpression, part: FieldKey | int) -> list[str]:
    """Return the conditions under which a part exists; empty if it always does."""
    if isinstance(part, int):
        return [f"len({current.code}) > {part}"]
    shape = current.facts.shape
    is_optional = bool(shape.required) and part.name in shape.fields and part.name not in shape.required
    return [f"{part.name!r} in {current.code}"] if is_optional else []


def _build_null_tolerant(
    current: ProgramExpression, part: FieldKey | int, next_expression: ProgramExpression, conditions: Iterable[str]
) -> ProgramExpression | None:
    """Return an expression for a field that is null where the field is missing; None for a list index."""
    if isinstance(part, int):
        return None
    shape = next_expression.facts.shape
    null: frozenset[Kind] = frozenset({"null"})
    return ProgramExpression(
        f"{current.code}.get({part.name!r})", ValueFacts(replace(shape, kinds=shape.kinds | null)), tuple(conditions)
    )


def _find_field_shape(facts: ValueFacts, name: str, prefix: ValuePath) -> JsonShape:
    """Return the shape of a field, and reject the path if there is no such field. ``prefix``: the path before it."""
    shape = facts.shape
    if facts.is_list:
        _reject(
            f"{prefix} is a list: {prefix}[].{name} is that field of all items, and `first`, `most`, `least` or `pick` make it one item"
        )
    if not shape.is_known:
        return UNKNOWN
    if name in shape.fields:
        return shape.fields[name]
    if shape.values:
        return shape.values
    if shape.fields:
        more = "" if len(shape.fields) <= _MAX_FIELDS else f" and {len(shape.fields) - _MAX_FIELDS} more"
        _reject(f"{prefix} has no field {name!r}: it has {', '.join(list(shape.fields)[:_MAX_FIELDS])}{more}")
    if "object" not in shape.kinds:
        _reject(f"{prefix} is {facts.description} and has no fields")
    return UNKNOWN


def _require_list(facts: ValueFacts, prefix: ValuePath) -> None:
    """Raise an error if a value is known not to be a list."""
    if facts.is_list is False:
        list_fields = [name for name, field_shape in facts.shape.fields.items() if "array" in field_shape.kinds]
        hint = f"; its lists are {', '.join(list_fields[:_MAX_FIELDS])}" if list_fields else ""
        _reject(f"{prefix} is {facts.description or 'no list'}, not a list{hint}")


def _reject(message: str) -> NoReturn:
    """Reject the sentence with a message for its author."""
    raise InvalidDecisionError(message)


_LOOP_NAMES = frozenset({"item", "each", "result"})
_MAX_NAMES = 30


class CompileScope:
    """State of a compilation: the variable and the known shape of each step, and the lines of the program."""

    def __init__(self, functions: Mapping[str, ToolSignature], earlier_names: Collection[str] = ()) -> None:
        """Start a program. ``earlier_names``: names that hold earlier results."""
        self.functions = functions
        """Functions that the program may call, by name."""
        self.lines: list[str] = []
        """Lines written so far."""
        self.depth = 0
        """Number of open guards; each indents the lines after it by one level."""
        self.uses_gather = False
        """True if the program makes concurrent calls and must import ``asyncio``."""
        self._expressions: dict[str, ProgramExpression] = {"today": ProgramExpression("today", ValueFacts(TEXT))}
        self._expressions |= {name: ProgramExpression(name) for name in earlier_names}
        self._used_variables = {*RESERVED_NAMES, *_LOOP_NAMES, *functions, *earlier_names}
        self._tested = set[str]()
        self._follower = PathFollower(self._make_item_variable)

    def write_line(self, text: str) -> None:
        """Append a line at the current depth."""
        self.lines.append("    " * self.depth + text)

    def add_guard(self, conditions: Iterable[str]) -> None:
        """Put everything written from here on under these conditions, except those that hold already."""
        untested = [condition for condition in dict.fromkeys(conditions) if condition not in self._tested]
        if untested:
            self.write_line(f"if {' and '.join(untested)}:")
            self.depth += 1
            self._tested.update(untested)

    def assign(self, name: str, expression: str, facts: ValueFacts) -> str:
        """Write the assignment of a step's value to a variable, and return the variable.

        Args:
            name: name of the step.
            expression: code of the value.
            facts: facts about the value.

        Raises:
            InvalidDecisionError: another step has the name, or it is reserved.
        """
        if name in self._expressions or name in _LOOP_NAMES:
            raise InvalidDecisionError(
                f"the name {name!r} is taken: each step has a name of its own, and not item or result"
            )
        variable = self.make_variable(name)
        self.write_line(f"{variable} = {expression}")
        self._expressions[name] = ProgramExpression(variable, facts)
        return variable

    def make_variable(self, name: str) -> str:
        """Return an unused variable whose name is as similar to ``name`` as possible, and reserve it."""
        base = to_identifier(name, "step")
        number, variable = 2, base
        while variable in self._used_variables:
            variable, number = f"{base}_{number}", number + 1
        self._used_variables.add(variable)
        return variable

    def register_failed_step(self, name: str) -> None:
        """Register the name of a step that failed to compile, so that steps that use it are not reported too."""
        self._expressions.setdefault(name, ProgramExpression(to_identifier(name, "step")))

    def find_expression(self, path: ValuePath, item: ProgramExpression | None = None) -> ProgramExpression:
        """Return the expression at a path.

        ``item``: list item that paths beginning with ``item`` or, for a pair, ``result`` refer to.

        Raises:
            InvalidDecisionError: there is no such step, or nothing at the path.
        """
        if item is not None and path.root in ("item", "result"):
            return self.find_in_item(item, path)
        if path.root not in self._expressions:
            available = ", ".join([*list(self._expressions)[-_MAX_NAMES:], *(["item"] if item else [])])
            raise InvalidDecisionError(f"there is no {path.root!r} before this step; what there is: {available}")
        return self._follower.follow(self._expressions[path.root], path)

    def find_in_item(self, item: ProgramExpression, path: ValuePath) -> ProgramExpression:
        """Return the expression at a path in a list item. The root ``item`` or ``result`` selects a half of a pair."""
        first = path.parts[0].name if path.parts and not isinstance(path.parts[0], int) and path.parts[0] else ""
        if item.facts.pair and not (path.root == "item" and first in ("item", "result")):
            index = 1 if path.root == "result" else 0
            return self._follower.follow(ProgramExpression(f"{item.code}[{index}]", item.facts.pair[index]), path)
        if path.root == "result":
            raise InvalidDecisionError("`result` is there only in what `for_each` came to")
        return self._follower.follow(item, path)

    def _make_item_variable(self) -> str:
        """Return an unused variable for the items of a list."""
        return self.make_variable("one")
