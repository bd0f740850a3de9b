"""Changes that a run made, compared with those that it was to make."""

import re
from collections.abc import Sequence

from pydantic.types import JsonValue

from evaluation.expected import Change


def misfits(wanted: Sequence[Change], made: Sequence[Change]) -> tuple[list[str], list[str]]:
    """Return the missing and the unwanted changes in words; each change matches at most one other.

    Those with most arguments choose first: a change of which little matters must not take what another needs.
    """
    left = list(made)
    lacking: list[str] = []
    for change in sorted(wanted, key=lambda one: -len(one.arguments)):
        found = next((one for one in left if _fits(change, one)), None)
        if found is None:
            lacking.append(_told(change))
        else:
            left.remove(found)
    return lacking, [_told(one) for one in left]


def _fits(wanted: Change, made: Change) -> bool:
    """Return whether it is the same operation with all arguments that matter; other arguments are free."""
    return wanted.operation == made.operation and all(
        _alike(value, made.arguments.get(name)) for name, value in wanted.arguments.items()
    )


def _alike(one: JsonValue, other: JsonValue) -> bool:
    """Return whether two values are equivalent.

    Texts may differ in case, blanks and the last mark, times in zero seconds, lists in order; further fields of an object are free.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return all(_alike(value, other.get(name)) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        rest = list(other)
        for value in one:
            found = next((at for at, item in enumerate(rest) if _alike(value, item)), None)
            if found is None:
                return False
            rest.pop(found)
        return not rest
    if isinstance(one, str) and isinstance(other, str):
        return _plain(one) == _plain(other)
    return one == other


def _plain(text: str) -> str:
    return re.sub(r"(T\d\d:\d\d):00$", r"\1", " ".join(text.split())).rstrip(".!").casefold()


def _told(change: Change) -> str:
    values = ", ".join(f"{name}={value}" for name, value in change.arguments.items())
    return f"{change.operation}({values})"
