"""Values of a program as terms, in one form: what is written in two ways that mean the same is the same term.

An item of a list that is gone through is ``each`` of the list; so a list that is made of another is its item with what is gone through and under
which conditions, whether a loop, a comprehension or a ``gather`` makes it, and a list that is made of that one is made of the first.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from domain.errors import UsageError

LARGEST = 50_000
"""Parts of a term, all told. A text can double one with each of its lines."""
UNORDERED = frozenset({"where", "both", "either", "equal"})
DATA = frozenset({"call", "each", "picked", "asked"})
"""Kinds of terms that hold what was found."""


@dataclass(frozen=True, slots=True)
class Term:
    """A kind with its parts: terms, and names."""

    kind: str
    parts: "tuple[Term | str, ...]" = ()
    size: int = dataclass_field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        size = 1 + sum(part.size for part in self.inner())
        if size > LARGEST:
            raise UsageError("this program is too large to be compared with another; write it in fewer steps")
        object.__setattr__(self, "size", size)

    def inner(self) -> "Iterator[Term]":
        """Its parts that are terms."""
        return (part for part in self.parts if isinstance(part, Term))

    def walk(self) -> "Iterator[Term]":
        """Itself and all that is in it."""
        yield self
        for part in self.inner():
            yield from part.walk()

    @property
    def data(self) -> bool:
        """Whether something that was found is in it."""
        return any(one.kind in DATA for one in self.walk())


def term(kind: str, *parts: Term | str) -> Term:
    """A term of these parts."""
    return Term(kind, parts)


def group(kind: str, parts: Iterable[Term]) -> Term:
    """Parts in whose order nothing lies, each once."""
    return Term(kind, tuple(sorted(dict.fromkeys(parts), key=repr)))


NOTHING = term("const", "None")
EMPTY = term("items")


def constant(value: object) -> Term:
    """Texts by their words whatever their case; a whole number is one however it is written."""
    match value:
        case bool() | None:
            return term("const", repr(value))
        case int() | float():
            return term("const", f"{value:.15g}")
        case str():
            words = " ".join(value.casefold().split())
            return term("const", f"{words}" if _is_number(words) else f"'{words}'")
        case list() | tuple():
            return Term("items", tuple(constant(one) for one in value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case dict():
            return Term("dict", tuple(term("entry", constant(key), constant(one)) for key, one in value.items()))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case _:
            return term("const", repr(value))


def field(value: Term, key: str) -> Term:
    """What lies under a name; of a dict that the program wrote, what it put there."""
    if value.kind == "dict":
        for entry in value.inner():
            if entry.parts[0] == constant(key) and isinstance(entry.parts[1], Term):
                return entry.parts[1]
    return term("field", value, key)


def listed(item: Term, through: Iterable[Term], where: Iterable[Term]) -> Term:
    """A list of ``item``, for all that is gone ``through``, ``where`` the conditions hold."""
    gone, conditions = tuple(through), group("where", where)
    if not conditions.parts and len(gone) == 1 and item == gone[0] and isinstance(item.parts[0], Term):
        return item.parts[0]
    return term("list", item, Term("through", gone), conditions)


def opened(values: Term, active: Iterable[Term] = ()) -> tuple[Term, tuple[Term, ...], tuple[Term, ...]]:
    """A list as its item, what is gone through for it, and its conditions. ``active``: what is being gone through already."""
    taken = list(active)
    if values.kind == "items" and len(values.parts) == 1:
        return next(values.inner()), (), ()
    if values.kind != "list":
        each = _each(values, taken)
        return each, (each,), ()
    item, through, where = values.inner()
    gone: list[Term] = []
    for one in through.inner():
        new = _each(_source(one), [*taken, *gone]) if one in taken else one
        if new != one:
            item, where = replaced(item, one, new), replaced(where, one, new)
        gone.append(new)
    return item, tuple(gone), tuple(where.inner())


def picked(how: str, values: Term, by: Term | None = None) -> Term:
    """One item of a list: the ``first``, the ``last``, the one with the ``most`` or the ``least`` of ``by``, which is told of the list's item."""
    if how == "first" and values.kind == "order":
        inner, key, way = values.parts
        if isinstance(inner, Term) and isinstance(key, Term):
            return picked("most" if way == "down" else "least", inner, key)
    if values.kind == "items" and values.parts and how in ("first", "last"):
        end = values.parts[0 if how == "first" else -1]
        return end if isinstance(end, Term) else NOTHING
    if values.kind == "unique" and how in ("most", "least", "first"):
        values = next(values.inner())
    item, through, where = opened(values)
    key = by or (item if how in ("most", "least") else NOTHING)
    if how in ("most", "least") and by is None and item.kind == "items":
        key = next(item.inner(), item)
    choice = (how, key, Term("through", through), group("where", where))
    for number, one in enumerate(through):
        item = replaced(item, one, term("picked", *choice, str(number)))
    return item


def count(values: Term) -> Term:
    """How many items a list has; which item it is made of says nothing, except where each counts once."""
    if values.kind == "unique":
        return term("count", values)
    if values.kind in ("order", "items") and values.parts and isinstance(values.parts[0], Term):
        return term("count", values) if values.kind == "items" else count(values.parts[0])
    _, through, where = opened(values)
    return term("count", Term("through", through), group("where", where))


def total(values: Term) -> Term:
    """The sum of a list; of ones, how many there are."""
    item, through, where = opened(values)
    if item == constant(1):
        return count(values)
    return term("sum", item, Term("through", through), group("where", where))


def replaced(value: Term, old: Term, new: Term) -> Term:
    """The term with another in place of one."""
    if value == old:
        return new
    parts = tuple(replaced(part, old, new) if isinstance(part, Term) else part for part in value.parts)
    return value if parts == value.parts else _again(value.kind, parts)


def rewritten(value: Term, change: Callable[[Term], Term]) -> Term:
    """The term with ``change`` made of each part, the innermost first."""
    parts = tuple(rewritten(part, change) if isinstance(part, Term) else part for part in value.parts)
    return change(value if parts == value.parts else _again(value.kind, parts))


def _again(kind: str, parts: "tuple[Term | str, ...]") -> Term:
    made = Term(kind, parts)
    return group(kind, made.inner()) if kind in UNORDERED else made


def _each(values: Term, taken: list[Term]) -> Term:
    """An item of a list; of a list that is gone through within itself, another one."""
    number = 0
    while (found := term("each", values, str(number))) in taken:
        number += 1
    return found


def _source(each: Term) -> Term:
    return next(each.inner())


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and str(int(text)) == text
