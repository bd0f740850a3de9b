"""Conditions of a program as terms, in one direction of comparison and without mere tests of presence."""

from collections.abc import Iterable, Iterator

from evaluation.meaning.terms import EMPTY, NOTHING, Term, build_list, constant, group, open_list, term

WHOLE_KINDS = frozenset({"call", "each", "picked", "carried", "asked"})
"""Kinds of terms for data that a call returned as a whole, so that a test of its presence says nothing more."""
_EMPTY_TERMS = frozenset({NOTHING, EMPTY, constant(""), constant(0), term("dict")})


def compare(operator: str, left: Term, right: Term) -> Term:
    """Build a comparison from the name of its operator in ``ast`` (``Lt``, ``In``).

    ``a > b`` becomes ``b < a``, and ``a <= b`` becomes not ``b < a``. The sides of ``==`` have no order.
    """
    match operator:
        case "Eq" | "Is":
            return group("equal", (left, right))
        case "NotEq" | "IsNot":
            return negate(group("equal", (left, right)))
        case "Lt":
            return term("less", left, right)
        case "Gt":
            return term("less", right, left)
        case "LtE":
            return negate(term("less", right, left))
        case "GtE":
            return negate(term("less", left, right))
        case "In":
            return _build_membership(left, right)
        case _:
            return negate(_build_membership(left, right))


def negate(test: Term) -> Term:
    """Build the negation of a condition; *and* and *or* are negated part by part (De Morgan)."""
    match test.kind:
        case "not":
            return next(test.subterms())
        case "both":
            return group("either", map(negate, test.subterms()))
        case "either":
            return group("both", map(negate, test.subterms()))
        case _:
            return term("not", test)


def combine(kind: str, tests: Iterable[Term]) -> Term:
    """Build ``both`` or ``either`` of several conditions; a single condition stays as it is."""
    flat = dict.fromkeys(one for test in tests for one in (test.subterms() if test.kind == kind else (test,)))
    return next(iter(flat)) if len(flat) == 1 else group(kind, flat)


def build_any(values: Term) -> Term:
    """Build ``any`` of a list of conditions; a test whether some item equals a value becomes ``in``."""
    test, through, where = open_list(values)
    if not where and len(through) == 1 and test.kind == "equal" and through[0] in test.parts:
        other = next((one for one in test.subterms() if one != through[0]), through[0])
        return term("in", other, next(through[0].subterms()))
    return term("any", Term("through", through), group("where", (*where, *split_conditions(test))))


def split_conditions(test: Term) -> Iterator[Term]:
    """Yield the conditions that must all hold, without tests that data exists which was found as a whole."""
    for one in test.subterms() if test.kind == "both" else (test,):
        if not (is_presence_test(one) and find_subject(one).kind in WHOLE_KINDS):
            yield one


def is_presence_test(test: Term) -> bool:
    """Return whether a test asks only whether something was found."""
    return (find_subject(test).data or find_subject(test).kind == "carried") and _asks_presence(test)


def find_subject(test: Term) -> Term:
    """Return the data that a test is about."""
    inner = test
    while inner.kind in ("not", "both", "either", "equal", "less", "count") and (
        operands := [one for one in inner.subterms() if one.data or one.kind == "carried"]
    ):
        if inner.kind == "count":
            return _find_counted(inner)
        inner = operands[0]
    return inner


def _find_counted(count: Term) -> Term:
    """Return the list that a count counts if it counts every item of it; else the count itself."""
    through, where = count.parts if len(count.parts) == 2 else (count, count)
    if isinstance(through, Term) and isinstance(where, Term) and len(through.parts) == 1 and not where.parts:
        return next(next(through.subterms()).subterms(), count)
    return count


def _asks_presence(test: Term) -> bool:
    """Return whether a condition consists of tests of presence alone, whatever they are about."""
    match test.kind:
        case "not":
            return _asks_presence(next(test.subterms()))
        case "both" | "either":
            return all(map(_asks_presence, test.subterms()))
        case "equal" | "less":
            operands = [one for one in test.subterms() if one.data or one.kind == "carried"]
            return (
                len(operands) == 1
                and any(one in _EMPTY_TERMS for one in test.subterms())
                and _is_presence_comparison(operands[0], test.kind)
            )
        case "in" | "any" | "instance":
            return False
        case _:
            return True


def _is_presence_comparison(value: Term, kind: str) -> bool:
    """Return whether a comparison with an empty value tests presence only.

    That a number is less or greater than zero says more than that it exists, unless it is a count.
    """
    return value.kind == "count" or kind == "equal"


def _build_membership(item: Term, values: Term) -> Term:
    """Build a membership test; in a list that the program made, it tests whether some item is equal."""
    if values.kind == "list":
        candidate, through, where = open_list(values)
        return build_any(build_list(group("equal", (candidate, item)), through, where))
    if values.kind in ("items", "unique"):
        inner = tuple(values.subterms())
        return (
            _build_membership(item, inner[0])
            if values.kind == "unique"
            else combine("either", (group("equal", (item, one)) for one in inner))
        )
    return term("in", item, values)
