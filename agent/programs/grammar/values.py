"""Known shapes of the values of steps, and paths into them as Python expressions."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NoReturn

from agent.programs.grammar.paths import Key, Path
from domain.errors import InvalidDecisionError
from graph.shapes import UNKNOWN, Kind, Shape

_NAMED = 20
NUMBER = Shape(frozenset({"number"}))
INTEGER = Shape(frozenset({"integer"}))
TEXT = Shape(frozenset({"string"}))
_ARRAY: frozenset[Kind] = frozenset({"array"})
_NUMBERS: frozenset[Kind] = frozenset({"number", "integer"})
_IN_WORDS = {"string": "a text", "boolean": "true or false", "object": "an object", "array": "a list"}


@dataclass(frozen=True, slots=True)
class Known:
    """Facts about a value."""

    shape: Shape = UNKNOWN
    """Shape of a value that a tool answered."""
    pair: "tuple[Known, Known] | None" = None
    """It is a pair: an item of a list and the result of its call."""
    each: "Known | None" = None
    """It is a list of such pairs; this is what is known of one."""
    computed: bool = False
    """It is a number that the program computed, with all its digits."""

    @property
    def nullable(self) -> bool:
        """True if it may be null."""
        return self.shape.nullable

    @property
    def a_list(self) -> bool | None:
        """True if it is a list, None if that is not known."""
        if self.each or self.pair or self.computed:
            return self.each is not None
        kinds = self.shape.kinds - {"null"}
        return None if not kinds or ("array" in kinds and kinds != _ARRAY) else kinds == _ARRAY

    @property
    def a_number(self) -> bool:
        """True if it is a number."""
        return self.computed or (bool(self.shape.kinds) and self.shape.kinds - {"null"} <= _NUMBERS)

    @property
    def item(self) -> "Known":
        """Facts about the items of a list."""
        return self.each or Known(self.shape.items or UNKNOWN)

    @property
    def there(self) -> "Known":
        """Facts about the value, once it is known not to be null."""
        return replace(self, shape=replace(self.shape, kinds=self.shape.kinds - {"null"})) if self.nullable else self

    @property
    def in_words(self) -> str:
        """Words for its kind in a message; empty if unknown."""
        kinds = sorted(self.shape.kinds - {"null"})
        if self.a_list:
            return "a list"
        return "a number" if self.a_number else " or ".join(_IN_WORDS.get(kind, "a number") for kind in kinds)


def list_of(item: Known) -> Known:
    """Return the facts about a list of such items."""
    if item.pair or item.each:
        return Known(each=item)
    return Known(Shape(_ARRAY, items=item.shape))


@dataclass(frozen=True, slots=True)
class Found:
    """An expression and what is known of its value."""

    text: str
    known: Known = field(default_factory=Known)
    needs: tuple[str, ...] = ()
    """Conditions without which it cannot be computed, in order."""
    soft: "Found | None" = None
    """Alternative for use in a text, where a missing field counts as null."""

    @property
    def there(self) -> "Found":
        """Expression with the further condition that it is not null."""
        if not self.known.nullable:
            return self
        return Found(self.text, self.known.there, (*self.needs, f"{self.text} is not None"))


class Follower:
    """Follows paths from a named expression."""

    def __init__(self, fresh: Callable[[], str]) -> None:
        """Start without state.

        ``fresh``: returns an unused variable for the items of a list.
        """
        self._fresh = fresh

    def follow(self, start: Found, path: Path) -> Found:
        """Return the expression at a path.

        Raises:
            InvalidDecisionError: as far as is known, the path leads nowhere; the message says what exists.
        """
        at, soft = start, None
        loops: list[tuple[str, str]] = []
        needs = [list(start.needs)]  # before the first loop, then within each
        for number, part in enumerate(path.parts):
            here = Path(path.root, path.parts[:number])
            if at.known.nullable:
                needs[-1].append(f"{at.text} is not None")
                at = Found(at.text, at.known.there)
            if part is None:
                _must_be_a_list(at.known, here)
                name = self._fresh()
                loops.append((name, at.text))
                needs.append([])
                at = Found(name, at.known.item)
            else:
                entered, conditions = _entered(at, part, here), _conditions(at, part)
                soft = _soft(at, part, entered, needs[-1]) if conditions else None
                needs[-1] += conditions
                at = entered
        if not loops:
            return Found(at.text, at.known, tuple(needs[0]), soft)
        last = Found(at.text, at.known, tuple(needs[-1])).there
        clauses = (
            f" for {name} in {source}{where(conditions)}"
            for (name, source), conditions in zip(loops, [*needs[1:-1], last.needs], strict=True)
        )
        return Found(f"[{last.text}{''.join(clauses)}]", list_of(last.known), tuple(needs[0]))


def where(conditions: Iterable[str]) -> str:
    """Return conditions as ``if`` clauses of a comprehension."""
    return "".join(f" if {one}" for one in conditions)


def _entered(at: Found, part: Key | int, here: Path) -> Found:
    """Return the expression of one part of a path."""
    if isinstance(part, int):
        _must_be_a_list(at.known, here)
        return Found(f"{at.text}[{part}]", at.known.item)
    if at.known.pair:
        places = {"item": 0, "result": 1}
        if part.name not in places:
            _wrong(
                f"{here} has no {part.name!r}: it has `item`, what the function was called for, and `result`, what it answered"
            )
        place = places[part.name]
        return Found(f"{at.text}[{place}]", at.known.pair[place])
    return Found(f"{at.text}[{part.name!r}]", Known(_field(at.known, part.name, here)))


def _conditions(at: Found, part: Key | int) -> list[str]:
    """Return the conditions for a part to exist, if it may be missing."""
    if isinstance(part, int):
        return [f"len({at.text}) > {part}"]
    shape = at.known.shape
    optional = bool(shape.required) and part.name in shape.fields and part.name not in shape.required
    return [f"{part.name!r} in {at.text}"] if optional else []


def _soft(at: Found, part: Key | int, entered: Found, needs: Iterable[str]) -> Found | None:
    """Return the expression of a field that is null if the field is missing; None for a list index."""
    if isinstance(part, int):
        return None
    shape = entered.known.shape
    null: frozenset[Kind] = frozenset({"null"})
    return Found(f"{at.text}.get({part.name!r})", Known(replace(shape, kinds=shape.kinds | null)), tuple(needs))


def _field(known: Known, name: str, here: Path) -> Shape:
    """Return the shape of a field."""
    shape = known.shape
    if known.a_list:
        _wrong(
            f"{here} is a list: {here}[].{name} is that field of all items, and `first`, `most`, `least` or `pick` make it one item"
        )
    if not shape.known:
        return UNKNOWN
    if name in shape.fields:
        return shape.fields[name]
    if shape.values:
        return shape.values
    if shape.fields:
        more = "" if len(shape.fields) <= _NAMED else f" and {len(shape.fields) - _NAMED} more"
        _wrong(f"{here} has no field {name!r}: it has {', '.join(list(shape.fields)[:_NAMED])}{more}")
    if "object" not in shape.kinds:
        _wrong(f"{here} is {known.in_words} and has no fields")
    return UNKNOWN


def _must_be_a_list(known: Known, here: Path) -> None:
    """Raise an error if a value is known not to be a list."""
    if known.a_list is False:
        within = [name for name, one in known.shape.fields.items() if "array" in one.kinds]
        hint = f"; its lists are {', '.join(within[:_NAMED])}" if within else ""
        _wrong(f"{here} is {known.in_words or 'no list'}, not a list{hint}")


def _wrong(said: str) -> NoReturn:
    """Raise an error about the sentence."""
    raise InvalidDecisionError(said)
