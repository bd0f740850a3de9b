"""State of a compilation: the names in scope, what is known of their values, and the lines written so far."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from agent.programs.grammar.paths import FieldKey, ValuePath
from agent.programs.names import RESERVED_NAMES, to_identifier
from agent.programs.signatures import ToolSignature
from domain.errors import InvalidDecisionError
from graph.shapes import UNKNOWN, JsonShape, Kind

_MAX_FIELDS = 20
NUMBER = JsonShape(frozenset({"number"}))
INTEGER = JsonShape(frozenset({"integer"}))
TEXT = JsonShape(frozenset({"string"}))
_ARRAY: frozenset[Kind] = frozenset({"array"})
_NUMBERS: frozenset[Kind] = frozenset({"number", "integer"})
_IN_WORDS = {"string": "a text", "boolean": "true or false", "object": "an object", "array": "a list"}


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """What is known of the value of an expression."""

    shape: JsonShape = UNKNOWN
    """Shape of the value."""
    pair: "tuple[ValueFacts, ValueFacts] | None" = None
    """For a pair of a ``for_each`` step: facts about the list item and the result of its call."""
    each: "ValueFacts | None" = None
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
        if self.each or self.pair or self.computed:
            return self.each is not None
        kinds = self.shape.kinds - {"null"}
        return None if not kinds or ("array" in kinds and kinds != _ARRAY) else kinds == _ARRAY

    @property
    def is_number(self) -> bool:
        """True if it is a number."""
        return self.computed or (bool(self.shape.kinds) and self.shape.kinds - {"null"} <= _NUMBERS)

    @property
    def item(self) -> "ValueFacts":
        """Facts about the items of the list."""
        return self.each or ValueFacts(self.shape.items or UNKNOWN)

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
        return "a number" if self.is_number else " or ".join(_IN_WORDS.get(kind, "a number") for kind in kinds)


def make_list(item: ValueFacts) -> ValueFacts:
    """Return the facts about a list, given those about its items."""
    if item.pair or item.each:
        return ValueFacts(each=item)
    return ValueFacts(JsonShape(_ARRAY, items=item.shape))


@dataclass(frozen=True, slots=True)
class ProgramExpression:
    """A Python expression with what is known of its value."""

    text: str
    """Code of the expression."""
    known: ValueFacts = field(default_factory=ValueFacts)
    """What is known of its value."""
    needs: tuple[str, ...] = ()
    """Conditions, as code, that must hold before it is evaluated, in the order in which they are tested."""
    soft: "ProgramExpression | None" = None
    """Alternative for use in a text, which is null if the last field is missing; None if no alternative is needed."""

    @property
    def non_null(self) -> "ProgramExpression":
        """The expression under the further condition that it is not null."""
        if not self.known.nullable:
            return self
        return ProgramExpression(self.text, self.known.non_null, (*self.needs, f"{self.text} is not None"))


class PathFollower:
    """Builds the expression at a path, starting from another expression."""

    def __init__(self, fresh: Callable[[], str]) -> None:
        """Create a follower. ``fresh``: returns an unused variable for the items of a list."""
        self._fresh = fresh

    def follow(self, start: ProgramExpression, path: ValuePath) -> ProgramExpression:
        """Return the expression at a path.

        Raises:
            InvalidDecisionError: the known shape has nothing at the path; the message lists what exists.
        """
        at, soft = start, None
        loops: list[tuple[str, str]] = []
        needs = [list(start.needs)]  # conditions before the first loop, then those inside each loop
        for number, part in enumerate(path.parts):
            here = ValuePath(path.root, path.parts[:number])
            if at.known.nullable:
                needs[-1].append(f"{at.text} is not None")
                at = ProgramExpression(at.text, at.known.non_null)
            if part is None:
                _require_list(at.known, here)
                name = self._fresh()
                loops.append((name, at.text))
                needs.append([])
                at = ProgramExpression(name, at.known.item)
            else:
                entered, conditions = _enter(at, part, here), _list_conditions(at, part)
                soft = _build_soft(at, part, entered, needs[-1]) if conditions else None
                needs[-1] += conditions
                at = entered
        if not loops:
            return ProgramExpression(at.text, at.known, tuple(needs[0]), soft)
        last = ProgramExpression(at.text, at.known, tuple(needs[-1])).non_null
        clauses = (
            f" for {name} in {source}{render_conditions(conditions)}"
            for (name, source), conditions in zip(loops, [*needs[1:-1], last.needs], strict=True)
        )
        return ProgramExpression(f"[{last.text}{''.join(clauses)}]", make_list(last.known), tuple(needs[0]))


def render_conditions(conditions: Iterable[str]) -> str:
    """Render conditions as ``if`` clauses of a comprehension."""
    return "".join(f" if {one}" for one in conditions)


def _enter(at: ProgramExpression, part: FieldKey | int, here: ValuePath) -> ProgramExpression:
    """Return the expression for one more part of a path. ``here``: the path before it, for messages."""
    if isinstance(part, int):
        _require_list(at.known, here)
        return ProgramExpression(f"{at.text}[{part}]", at.known.item)
    if at.known.pair:
        places = {"item": 0, "result": 1}
        if part.name not in places:
            _reject(
                f"{here} has no {part.name!r}: it has `item`, what the function was called for, and `result`, what it answered"
            )
        place = places[part.name]
        return ProgramExpression(f"{at.text}[{place}]", at.known.pair[place])
    return ProgramExpression(f"{at.text}[{part.name!r}]", ValueFacts(_find_field_shape(at.known, part.name, here)))


def _list_conditions(at: ProgramExpression, part: FieldKey | int) -> list[str]:
    """Return the conditions under which a part exists; empty if it always does."""
    if isinstance(part, int):
        return [f"len({at.text}) > {part}"]
    shape = at.known.shape
    optional = bool(shape.required) and part.name in shape.fields and part.name not in shape.required
    return [f"{part.name!r} in {at.text}"] if optional else []


def _build_soft(
    at: ProgramExpression, part: FieldKey | int, entered: ProgramExpression, needs: Iterable[str]
) -> ProgramExpression | None:
    """Return an expression for a field that is null where the field is missing; None for a list index."""
    if isinstance(part, int):
        return None
    shape = entered.known.shape
    null: frozenset[Kind] = frozenset({"null"})
    return ProgramExpression(
        f"{at.text}.get({part.name!r})", ValueFacts(replace(shape, kinds=shape.kinds | null)), tuple(needs)
    )


def _find_field_shape(known: ValueFacts, name: str, here: ValuePath) -> JsonShape:
    """Return the shape of a field, and reject the path if there is no such field. ``here``: the path before it."""
    shape = known.shape
    if known.is_list:
        _reject(
            f"{here} is a list: {here}[].{name} is that field of all items, and `first`, `most`, `least` or `pick` make it one item"
        )
    if not shape.is_known:
        return UNKNOWN
    if name in shape.fields:
        return shape.fields[name]
    if shape.values:
        return shape.values
    if shape.fields:
        more = "" if len(shape.fields) <= _MAX_FIELDS else f" and {len(shape.fields) - _MAX_FIELDS} more"
        _reject(f"{here} has no field {name!r}: it has {', '.join(list(shape.fields)[:_MAX_FIELDS])}{more}")
    if "object" not in shape.kinds:
        _reject(f"{here} is {known.description} and has no fields")
    return UNKNOWN


def _require_list(known: ValueFacts, here: ValuePath) -> None:
    """Raise an error if a value is known not to be a list."""
    if known.is_list is False:
        within = [name for name, one in known.shape.fields.items() if "array" in one.kinds]
        hint = f"; its lists are {', '.join(within[:_MAX_FIELDS])}" if within else ""
        _reject(f"{here} is {known.description or 'no list'}, not a list{hint}")


def _reject(message: str) -> NoReturn:
    """Reject the sentence with a message for its author."""
    raise InvalidDecisionError(message)


_LOOP_NAMES = frozenset({"item", "each", "result"})
_MAX_NAMES = 30


class CompileScope:
    """State of a compilation: the variable and the known shape of each step, and the lines of the program."""

    def __init__(self, functions: Mapping[str, ToolSignature], held_names: Collection[str] = ()) -> None:
        """Start a program. ``held_names``: names that hold earlier results."""
        self.functions = functions
        """Functions that the program may call, by name."""
        self.lines: list[str] = []
        """Lines written so far."""
        self.depth = 0
        """Number of open guards; each indents the lines after it by one level."""
        self.at_once = False
        """True if the program makes concurrent calls and must import ``asyncio``."""
        self._held: dict[str, ProgramExpression] = {"today": ProgramExpression("today", ValueFacts(TEXT))}
        self._held |= {name: ProgramExpression(name) for name in held_names}
        self._used = {*RESERVED_NAMES, *_LOOP_NAMES, *functions, *held_names}
        self._certain = set[str]()
        self._follower = PathFollower(self._make_item_variable)

    def write_line(self, text: str) -> None:
        """Append a line at the current depth."""
        self.lines.append("    " * self.depth + text)

    def require(self, conditions: Iterable[str]) -> None:
        """Put everything written from here on under these conditions, except those that hold already."""
        open_ones = [one for one in dict.fromkeys(conditions) if one not in self._certain]
        if open_ones:
            self.write_line(f"if {' and '.join(open_ones)}:")
            self.depth += 1
            self._certain.update(open_ones)

    def hold(self, name: str, expression: str, known: ValueFacts) -> str:
        """Write the assignment of a step's value to a variable, and return the variable.

        Args:
            name: name of the step.
            expression: code of the value.
            known: facts about the value.

        Raises:
            InvalidDecisionError: another step has the name, or it is reserved.
        """
        if name in self._held or name in _LOOP_NAMES:
            raise InvalidDecisionError(
                f"the name {name!r} is taken: each step has a name of its own, and not item or result"
            )
        variable = self.make_variable(name)
        self.write_line(f"{variable} = {expression}")
        self._held[name] = ProgramExpression(variable, known)
        return variable

    def make_variable(self, name: str) -> str:
        """Return an unused variable whose name is as similar to ``name`` as possible, and reserve it."""
        base = to_identifier(name, "step")
        number, free = 2, base
        while free in self._used:
            free, number = f"{base}_{number}", number + 1
        self._used.add(free)
        return free

    def give_up(self, name: str) -> None:
        """Register the name of a step that failed to compile, so that steps that use it are not reported too."""
        self._held.setdefault(name, ProgramExpression(to_identifier(name, "step")))

    def find(self, path: ValuePath, within: ProgramExpression | None = None) -> ProgramExpression:
        """Return the expression at a path.

        ``within``: list item that paths beginning with ``item`` or, for a pair, ``result`` refer to.

        Raises:
            InvalidDecisionError: there is no such step, or nothing at the path.
        """
        if within is not None and path.root in ("item", "result"):
            return self.enter(within, path)
        if path.root not in self._held:
            available = ", ".join([*list(self._held)[-_MAX_NAMES:], *(["item"] if within else [])])
            raise InvalidDecisionError(f"there is no {path.root!r} before this step; what there is: {available}")
        return self._follower.follow(self._held[path.root], path)

    def enter(self, item: ProgramExpression, path: ValuePath) -> ProgramExpression:
        """Return the expression at a path in a list item. The root ``item`` or ``result`` selects a half of a pair."""
        first = path.parts[0].name if path.parts and not isinstance(path.parts[0], int) and path.parts[0] else ""
        if item.known.pair and not (path.root == "item" and first in ("item", "result")):
            place = 1 if path.root == "result" else 0
            return self._follower.follow(ProgramExpression(f"{item.text}[{place}]", item.known.pair[place]), path)
        if path.root == "result":
            raise InvalidDecisionError("`result` is there only in what `for_each` came to")
        return self._follower.follow(item, path)

    def _make_item_variable(self) -> str:
        """Return an unused variable for the items of a list."""
        return self.make_variable("one")
