"""Conditions as terms: comparisons in one direction, without what is asked of every list anyway."""

from collections.abc import Iterable, Iterator

from evaluation.meaning.terms import EMPTY, NOTHING, Term, constant, group, listed, opened, term

WHOLE = frozenset({"call", "each", "picked", "carried", "asked"})
"""Kinds of what was found as a whole."""
_LACKING = frozenset({NOTHING, EMPTY, constant(""), constant(0), term("dict")})


def compared(operator: str, left: Term, right: Term) -> Term:
    """A comparison by what Python's syntax calls its operator (``Lt``, ``In``): ``a > b`` as ``b < a``, ``a <= b`` as not ``b < a``; of ``==`` either side may come first."""
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
    """What holds where a condition does not."""
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
    """``both`` or ``either`` of several; of one, itself."""
    flat = dict.fromkeys(one for test in tests for one in (test.inner() if test.kind == kind else (test,)))
    return next(iter(flat)) if len(flat) == 1 else group(kind, flat)


def exists(values: Term) -> Term:
    """``any`` of a list of conditions. That an item is equal to something is what ``in`` asks."""
    test, through, where = opened(values)
    if not where and len(through) == 1 and test.kind == "equal" and through[0] in test.parts:
        other = next((one for one in test.inner() if one != through[0]), through[0])
        return term("in", other, next(through[0].inner()))
    return term("any", Term("through", through), group("where", (*where, *conditions(test))))


def conditions(test: Term) -> Iterator[Term]:
    """What has to hold, one by one. That there is something at all is not told, of what was found as a whole."""
    for one in test.inner() if test.kind == "both" else (test,):
        if not (presence(one) and subject(one).kind in WHOLE):
            yield one


def presence(test: Term) -> bool:
    """Whether a test asks only whether there is something."""
    return (subject(test).data or subject(test).kind == "carried") and _asks_presence(test)


def subject(test: Term) -> Term:
    """What a test of presence is about."""
    inner = test
    while inner.kind in ("not", "both", "either", "equal", "less", "count") and (
        told := [one for one in inner.inner() if one.data or one.kind == "carried"]
    ):
        if inner.kind == "count":
            return _counted(inner)
        inner = told[0]
    return inner


def _counted(count: Term) -> Term:
    """What was counted as it was found; else the number itself."""
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
    """A number that is compared with zero says more than that there is something, except for how many there are."""
    return value.kind == "count" or kind == "equal"


def _within(item: Term, values: Term) -> Term:
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
