"""Values of a program as terms in a canonical form: two notations with the same meaning give the same term.

An item of a list that is looped over is the term ``each`` of that list. A list made from another list is a term of
three parts: its item, the loops it goes through, and the conditions on them. It is the same term whether a loop, a
comprehension or ``gather`` makes it; and a list made from such a list is expressed by the first one.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from domain.errors import UsageError

MAX_SIZE = 50_000
"""The most terms in a term; a program can double a term with each of its lines."""
UNORDERED = frozenset({"where", "both", "either", "equal"})
"""Kinds of terms whose parts have no order."""
DATA = frozenset({"call", "each", "picked", "asked"})
"""Kinds of terms for data that the program received from calls."""


@dataclass(frozen=True, slots=True)
class Term:
    """A node of a term: its kind, with parts that are terms or plain names."""

    kind: str
    parts: "tuple[Term | str, ...]" = ()
    size: int = dataclass_field(init=False, compare=False, repr=False)
    """Number of terms in it, itself included."""

    def __post_init__(self) -> None:
        size = 1 + sum(part.size for part in self.subterms())
        if size > MAX_SIZE:
            raise UsageError("this program is too large to be compared with another; write it in fewer steps")
        object.__setattr__(self, "size", size)

    def subterms(self) -> "Iterator[Term]":
        """Return the parts that are terms."""
        return (part for part in self.parts if isinstance(part, Term))

    def walk(self) -> "Iterator[Term]":
        """Yield the term and all terms in it."""
        yield self
        for part in self.subterms():
            yield from part.walk()

    @property
    def data(self) -> bool:
        """True if it has data from a call in it."""
        return any(one.kind in DATA for one in self.walk())


def term(kind: str, *parts: Term | str) -> Term:
    """Build a term of these parts."""
    return Term(kind, parts)


def group(kind: str, parts: Iterable[Term]) -> Term:
    """Build a term whose parts have no order and occur once each."""
    return Term(kind, tuple(sorted(dict.fromkeys(parts), key=repr)))


NOTHING = term("const", "None")
"""The term of ``None``."""
EMPTY = term("items")
"""The term of an empty list."""


def constant(value: object) -> Term:
    """Build the term of a constant.

    Texts are compared by their words without regard to case. A whole number is the same as its text.
    """
    match value:
        case bool() | None:  # before int: bool is a subclass of it
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
    """Return the term of a field; for a dict that the program wrote, the value it put there."""
    if value.kind == "dict":
        for entry in value.subterms():
            if entry.parts[0] == constant(key) and isinstance(entry.parts[1], Term):
                return entry.parts[1]
    return term("field", value, key)


def build_list(item: Term, through: Iterable[Term], where: Iterable[Term]) -> Term:
    """Build a list: ``item`` for everything that the loops go ``through`` and the conditions (``where``) admit.

    A list that only repeats the items of another is that other list.
    """
    gone, conditions = tuple(through), group("where", where)
    if not conditions.parts and len(gone) == 1 and item == gone[0] and isinstance(item.parts[0], Term):
        return item.parts[0]
    return term("list", item, Term("through", gone), conditions)


def open_list(values: Term, active: Iterable[Term] = ()) -> tuple[Term, tuple[Term, ...], tuple[Term, ...]]:
    """Return the item of a list, the loops that produce it, and their conditions.

    ``active``: loops that are entered already. A loop over the same list inside them gets an item of its own.
    """
    active_terms = list(active)
    if values.kind == "items" and len(values.parts) == 1:
        return next(values.subterms()), (), ()
    if values.kind != "list":
        each = _make_each(values, active_terms)
        return each, (each,), ()
    item, through, where = values.subterms()
    gone: list[Term] = []
    for through_term in through.subterms():
        renamed = (
            _make_each(_get_source(through_term), [*active_terms, *gone])
            if through_term in active_terms
            else through_term
        )
        if renamed != through_term:
            item, where = substitute(item, through_term, renamed), substitute(where, through_term, renamed)
        gone.append(renamed)
    return item, tuple(gone), tuple(where.subterms())


def pick_item(how: str, values: Term, by: Term | None = None) -> Term:
    """Build the term of one item of a list.

    It is the ``first``, the ``last``, or the item with the ``most`` or ``least`` of ``by``, a term over the list's
    item. The first item of a sorted list is the one with the most or the least.
    """
    if how == "first" and values.kind == "order":
        inner, key, way = values.parts
        if isinstance(inner, Term) and isinstance(key, Term):
            return pick_item("most" if way == "down" else "least", inner, key)
    if values.kind == "items" and values.parts and how in ("first", "last"):
        end = values.parts[0 if how == "first" else -1]
        return end if isinstance(end, Term) else NOTHING
    if values.kind == "unique" and how in ("most", "least", "first"):
        values = next(values.subterms())
    item, through, where = open_list(values)
    key = by or (item if how in ("most", "least") else NOTHING)
    if how in ("most", "least") and by is None and item.kind == "items":
        key = next(item.subterms(), item)
    choice = (how, key, Term("through", through), group("where", where))
    for number, one in enumerate(through):
        item = substitute(item, one, term("picked", *choice, str(number)))
    return item


def count_items(values: Term) -> Term:
    """Build the number of items of a list. What the items are does not matter, unless only distinct ones count."""
    if values.kind == "unique":
        return term("count", values)
    if values.kind in ("order", "items") and values.parts and isinstance(values.parts[0], Term):
        return term("count", values) if values.kind == "items" else count_items(values.parts[0])
    _, through, where = open_list(values)
    return term("count", Term("through", through), group("where", where))


def sum_items(values: Term) -> Term:
    """Build the sum of a list; the sum of ones is the count."""
    item, through, where = open_list(values)
    if item == constant(1):
        return count_items(values)
    return term("sum", item, Term("through", through), group("where", where))


def substitute(value: Term, old: Term, new: Term) -> Term:
    """Return the term with ``new`` in place of ``old``."""
    if value == old:
        return new
    parts = tuple(substitute(part, old, new) if isinstance(part, Term) else part for part in value.parts)
    return value if parts == value.parts else _rebuild(value.kind, parts)


def rewrite(value: Term, change: Callable[[Term], Term]) -> Term:
    """Apply ``change`` to the term and everything in it, innermost first."""
    parts = tuple(rewrite(part, change) if isinstance(part, Term) else part for part in value.parts)
    return change(value if parts == value.parts else _rebuild(value.kind, parts))


def _rebuild(kind: str, parts: "tuple[Term | str, ...]") -> Term:
    rebuilt = Term(kind, parts)
    return group(kind, rebuilt.subterms()) if kind in UNORDERED else rebuilt


def _make_each(values: Term, active: list[Term]) -> Term:
    """Build the item of a list, numbered so that it differs from those of active loops over the same list."""
    number = 0
    while (candidate := term("each", values, str(number))) in active:
        number += 1
    return candidate


def _get_source(each: Term) -> Term:
    """Return the list that an ``each`` goes through."""
    return next(each.subterms())


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and str(int(text)) == text
