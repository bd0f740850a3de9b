"""Similarity of two calls' arguments, by which the replay executor ranks recorded calls."""

from functools import lru_cache

from pydantic.types import JsonValue

from agent.execution.error_bodies import find_error_message, is_binary_text
from domain.trajectory import RecordedCall
from graph.lenient_json import read_value

_MAX_COMPARED_LENGTH = 200


def normalize_arguments(arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return arguments in a form in which ``"3"`` equals 3, and None equals a missing argument."""
    return {key: _normalize_value(value) for key, value in arguments.items() if value is not None}


def _normalize_value(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            return {key: _normalize_value(item) for key, item in value.items()}
        case list():
            return [_normalize_value(item) for item in value]
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case None:
            return ""
        case _:
            text = str(value).strip()
            return text.lower() if text.lower() in ("true", "false") else text


def has_usable_answer(call: RecordedCall) -> bool:
    """Return whether a recorded call succeeded with a body that is neither an error nor binary data."""
    return not call.outcome.failed and not is_binary_text(call.response) and find_error_message(call.response) is None


@lru_cache(maxsize=20_000)
def parse_recorded_arguments(text: str) -> dict[str, JsonValue]:
    """Return the arguments of a recorded call; empty where the text holds no mapping."""
    value = read_value(text)
    return value if isinstance(value, dict) else {}


def compute_argument_similarity(arguments: dict[str, JsonValue], recorded: dict[str, JsonValue]) -> float:
    """Return the similarity in [0, 1]: the mean over the names of both calls of the similarity of their values.

    Equal values have 1, different ones 0.9 times Dice's coefficient of their pairs of neighbouring characters, and a
    value that only one of the calls has 0.05.
    """
    names = {name for name, value in (*arguments.items(), *recorded.items()) if value is not None}
    if not names:
        return 1.0
    return sum(_compute_value_similarity(arguments.get(name), recorded.get(name)) for name in names) / len(names)


def _compute_value_similarity(value: JsonValue, recorded: JsonValue) -> float:
    if value is None or recorded is None:
        return 0.05
    first, second = _normalize_value(value), _normalize_value(recorded)
    if first == second:
        return 1.0
    return 0.9 * _compute_dice(
        str(first).casefold()[:_MAX_COMPARED_LENGTH], str(second).casefold()[:_MAX_COMPARED_LENGTH]
    )


def _compute_dice(first: str, second: str) -> float:
    """Return Dice's coefficient of the pairs of neighbouring characters, far cheaper than an edit distance."""
    first_pairs, second_pairs = _list_character_pairs(first), _list_character_pairs(second)
    return (
        2 * len(first_pairs & second_pairs) / (len(first_pairs) + len(second_pairs))
        if first_pairs or second_pairs
        else 0.0
    )


@lru_cache(maxsize=4096)
def _list_character_pairs(text: str) -> frozenset[str]:
    return frozenset(text[start : start + 2] for start in range(max(1, len(text) - 1)))


def find_differing_values(arguments: dict[str, JsonValue], recorded: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the recorded values that differ from the arguments, by name; None where the recording has none."""
    names = sorted({*arguments, *recorded})
    return {
        name: recorded.get(name)
        for name in names
        if _normalize_value(arguments.get(name)) != _normalize_value(recorded.get(name))
    }


def describe_differences(arguments: dict[str, JsonValue], recorded: dict[str, JsonValue]) -> str:
    """Describe the differences for a reader: ``city: 'Rome' instead of 'Paris'; without days``."""
    parts: list[str] = []
    for name in sorted({*arguments, *recorded}):
        wanted, recorded_value = arguments.get(name), recorded.get(name)
        if wanted is not None and recorded_value is None:
            parts.append(f"without {name}")
        elif wanted is None and recorded_value is not None:
            parts.append(f"with {name} {_format_value(recorded_value)}")
        elif _normalize_value(wanted) != _normalize_value(recorded_value):
            parts.append(f"{name}: {_format_value(recorded_value)} instead of {_format_value(wanted)}")
    return "; ".join(parts)


def _format_value(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
