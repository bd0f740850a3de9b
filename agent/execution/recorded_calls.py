"""Similarity of two calls' arguments, by which the replay executor ranks recorded calls."""

from functools import lru_cache

from pydantic.types import JsonValue

from agent.execution.error_bodies import looks_binary, refusal
from domain.trajectory import RecordedCall
from graph.lenient_json import read_value

_LONG = 200


def canonical(arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return one form for equal arguments, whatever type they were written in (``"3"`` and 3; None and absent)."""
    return {key: _plain(value) for key, value in arguments.items() if value is not None}


def _plain(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case None:
            return ""
        case _:
            text = str(value).strip()
            return text.lower() if text.lower() in ("true", "false") else text


def answers(call: RecordedCall) -> bool:
    """Return whether a recording holds an answer: no failure, no error in the body of a success, no binary data."""
    return not call.outcome.failed and not looks_binary(call.response) and refusal(call.response) is None


@lru_cache(maxsize=20_000)
def recorded_arguments(text: str) -> dict[str, JsonValue]:
    """Return the arguments of a recorded call; empty where the text holds no mapping."""
    value = read_value(text)
    return value if isinstance(value, dict) else {}


def similarity(wanted: dict[str, JsonValue], recorded: dict[str, JsonValue]) -> float:
    """Return the similarity in [0, 1]: the mean over the names of both calls of the similarity of their values.

    It is 1 for equal values; for others the share of common pairs of neighbouring characters (Dice) times 0.9; 0.05 where only one
    call has the name.
    """
    names = {name for name, value in (*wanted.items(), *recorded.items()) if value is not None}
    if not names:
        return 1.0
    return sum(_alike(wanted.get(name), recorded.get(name)) for name in names) / len(names)


def _alike(wanted: JsonValue, recorded: JsonValue) -> float:
    if wanted is None or recorded is None:
        return 0.05
    first, second = _plain(wanted), _plain(recorded)
    if first == second:
        return 1.0
    return 0.9 * _ratio(str(first).casefold()[:_LONG], str(second).casefold()[:_LONG])


def _ratio(first: str, second: str) -> float:
    """Return Dice's coefficient of the pairs of neighbouring characters.

    It is an order of magnitude cheaper than an edit distance.
    """
    one, other = _pairs(first), _pairs(second)
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0


@lru_cache(maxsize=4096)
def _pairs(text: str) -> frozenset[str]:
    return frozenset(text[at : at + 2] for at in range(max(1, len(text) - 1)))


def instead_of(wanted: dict[str, JsonValue], recorded: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the recorded values that differ from the wanted ones, by name; None for one that the recording lacks."""
    names = sorted({*wanted, *recorded})
    return {name: recorded.get(name) for name in names if _plain(wanted.get(name)) != _plain(recorded.get(name))}


def differences(wanted: dict[str, JsonValue], recorded: dict[str, JsonValue]) -> str:
    """Describe the differences for a reader: ``city: 'Rome' instead of 'Paris'; without days``."""
    told: list[str] = []
    for name in sorted({*wanted, *recorded}):
        mine, other = wanted.get(name), recorded.get(name)
        if mine is not None and other is None:
            told.append(f"without {name}")
        elif mine is None and other is not None:
            told.append(f"with {name} {_shown(other)}")
        elif _plain(mine) != _plain(other):
            told.append(f"{name}: {_shown(other)} instead of {_shown(mine)}")
    return "; ".join(told)


def _shown(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
