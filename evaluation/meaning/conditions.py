"""Conditions as terms in one direction of comparison, without tests that only ask whether something was found."""

from collections.abc import Iterable, Iterator

from evaluation.meaning.terms import EMPTY, NOTHING, Term, constant, group, listed, opened, term

WHOLE = frozenset({"call", "each", "picked", "carried", "asked"})
"""Kinds of terms for data that was found as a whole."""
_LACKING = frozenset({NOTHING, EMPTY, constant(""), constant(0), term("dict")})


def compared(operator: str, left: Term, right: Term) -> Term:
    """Return a comparison by the name of its operator in ``ast`` (``Lt``, ``In``).

    ``a > b`` becomes ``b < a``, ``a <= b`` becomes not ``b < a``; the sides of ``==`` are unordered.
    """
    match operator:
        case "Eq" | "Is":
            return group("equal", (left, right))
        case "NotEq" | "IsNot":
            return negated(group("equal", (left, right)))
        case "Lt":
            return term("less", left, right)
        case "Gt":
            return term("less", right, left)
        case "LtE":
            return negated(term("less", right, left))
        case "GtE":
            return negated(term("less", left, right))
        case "In":
            return _within(left, right)
        case _:
            return negated(_within(left, right))


def negated(test: Term) -> Term:
    """Return the negation of a condition."""
    match test.kind:
        case "not":
            return next(test.inner())
        case "both":
            return group("either", map(negated, test.inner()))
        case "either":
            return group("both", map(negated, test.inner()))
        case _:
            return term("not", test)


def joined(kind: str, tests: Iterable[Term]) -> Term:
    """Return ``both`` or ``either`` of several conditions; a single one as it is."""
    flat = dict.fromkeys(one for test in tests for one in (test.inner() if test.kind == kind else (test,)))
    return next(iter(flat)) if len(flat) == 1 else group(kind, flat)


def exists(values: Term) -> Term:
    """Return ``any`` of a list of conditions; a test whether an item equals something becomes ``in``."""
    test, through, where = opened(values)
    if not where and len(through) == 1 and test.kind == "equal" and through[0] in test.parts:
        other = next((one for one in test.inner() if one != through[0]), through[0])
        return term("in", other, next(through[0].inner()))
    return term("any", Term("through", through), group("where", (*where, *conditions(test))))


def conditions(test: Term) -> Iterator[Term]:
    """Yield the parts of a condition that must hold, without tests that something found as a whole exists."""
    for one in test.inner() if test.kind == "both" else (test,):
        if not (presence(one) and subject(one).kind in WHOLE):
            yield one


def presence(test: Term) -> bool:
    """Return whether a test asks only whether something was found."""
    return (subject(test).data or subject(test).kind == "carried") and _asks_presence(test)


def subject(test: Term) -> Term:
    """Return the term that a test of presence is about."""
    inner = test
    while inner.kind in ("not", "both", "either", "equal", "less", "count") and (
        told := [one for one in inner.inner() if one.data or one.kind == "carried"]
    ):
        if inner.kind == "count":
            return _counted(inner)
        inner = told[0]
    return inner


def _counted(count: Term) -> Term:
    """Return the list that was counted, if it was counted as found; else the number itself."""
    through, where = count.parts if len(count.parts) == 2 else (count, count)
    if isinstance(through, Term) and isinstance(where, Term) and len(through.parts) == 1 and not where.parts:
        return next(next(through.inner()).inner(), count)
    return count


def _asks_presence(test: Term) -> bool:
    match test.kind:
        case "not":
            return _asks_presence(next(test.inner()))
        case "both" | "either":
            return all(map(_asks_presence, test.inner()))
        case "equal" | "less":
            told = [one for one in test.inner() if one.data or one.kind == "carried"]
            return len(told) == 1 and any(one in _LACKING for one in test.inner()) and _whole(told[0], test.kind)
        case "in" | "any" | "instance":
            return False
        case _:
            return True


def _whole(value: Term, kind: str) -> bool:
    """Return whether a comparison with an empty value only tests presence.

    A number that is less or greater than zero says more than that it exists, unless it is a count.
    """
    return value.kind == "count" or kind == "equal"


def _within(item: Term, values: Term) -> Term:
    """Return a membership test; in a list, it is a test that some item is equal."""
    if values.kind == "list":
        made, through, where = opened(values)
        return exists(listed(group("equal", (made, item)), through, where))
    if values.kind in ("items", "unique"):
        inner = tuple(values.inner())
        return (
            _within(item, inner[0])
            if values.kind == "unique"
            else joined("either", (group("equal", (item, one)) for one in inner))
        )
    return term("in", item, values)
