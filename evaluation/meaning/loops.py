"""Values that a loop leaves in names it rebinds: the first match, the last, or that with the most or the least."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluation.meaning.conditions import conditions, presence
from evaluation.meaning.terms import Term, listed, picked, replaced, term


@dataclass(frozen=True, slots=True)
class Carried:
    """The names that a loop rebinds."""

    new: Mapping[str, Term]
    """Value of each name after one iteration, in which ``carried`` stands for its value before."""
    before: Mapping[str, Term]
    """Values before the loop."""
    through: tuple[Term, ...]
    """Items that the loop goes through."""
    where: tuple[Term, ...]
    """The conditions on its items."""


def settled(loop: Carried) -> dict[str, Term]:
    """Return the values of the names after the loop."""
    return {name: _settled(name, value, loop) for name, value in loop.new.items()}


def _settled(name: str, value: Term, loop: Carried) -> Term:
    if value == term("carried", name):
        return loop.before[name]
    test, made = _choice(name, value)
    if made is None:
        values = listed(value, loop.through, loop.where)
        return picked("last", values)
    own = [one for one in _parts(test) if not _carried(one)]
    ranks = [found for one in _parts(test) for found in [_rank(one, made, name, loop)] if found]
    where = (*loop.where, *(one for part in own for one in conditions(part)))
    if ranks:
        how, key = ranks[0]
        return picked(how, listed(made, loop.through, where), key)
    first = made.kind == "found" or any(_carried(one) and presence(one) for one in _parts(test))
    item = next(made.inner()) if made.kind == "found" else made
    return picked("first" if first else "last", listed(item, loop.through, where))


def _choice(name: str, value: Term) -> tuple[Term, Term | None]:
    """Return the condition under which a name is rebound, and its new value; None: not in this form."""
    if value.kind == "if" and value.parts[2] == term("carried", name):
        test, made = value.parts[0], value.parts[1]
        if isinstance(test, Term) and isinstance(made, Term):
            return test, made
    return value, None


def _rank(test: Term, made: Term, name: str, loop: Carried) -> tuple[str, Term] | None:
    """Return how a condition compares the current item with the kept one: ``most`` or ``least``, and of what."""
    for one in test.inner() if test.kind == "either" else (test,):
        less, turned = (next(one.inner()), True) if one.kind == "not" else (one, False)
        if less.kind != "less":
            continue
        left, right = less.inner()
        held, key = (left, right) if _carried(left) else (right, left)
        if _carried(held) and not _carried(key) and _same_rank(held, key, made, name, loop):
            most = (held is left) is not turned
            return ("most" if most else "least"), key
    return None


def _same_rank(held: Term, key: Term, made: Term, name: str, loop: Carried) -> bool:
    """Return whether the kept value is the same function of the kept item as the key is of the current one."""
    if held.kind == "carried":
        value = loop.new.get(str(held.parts[0]))
        return value is not None and _choice(str(held.parts[0]), value)[1] == key
    return replaced(key, made, term("carried", name)) == held


def _parts(test: Term) -> Iterator[Term]:
    return test.inner() if test.kind == "both" else iter((test,))


def _carried(value: Term) -> bool:
    return any(one.kind == "carried" for one in value.walk())
