"""Choices that look random and are the same everywhere: each is a hash of the words that name it."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

Item = TypeVar("Item")


def number(*keys: object) -> int:
    """A whole number in [0, 2^64) that depends on ``keys`` alone."""
    text = "|".join(str(key) for key in keys)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def between(low: int, high: int, *keys: object) -> int:
    """A whole number in [low, high]."""
    return low + number(*keys) % (high - low + 1)


def unit(*keys: object) -> float:
    """A number in [0, 1)."""
    return number(*keys) / 2**64


def pick(options: Sequence[Item], *keys: object) -> Item:
    """One of the options."""
    return options[number(*keys) % len(options)]


def several(options: Sequence[Item], count: int, *keys: object) -> list[Item]:
    """``count`` different options (all of them where there are fewer), in an order of their own."""
    order = sorted(range(len(options)), key=lambda position: number(*keys, position))
    return [options[position] for position in order[:count]]


def identifier(length: int, *keys: object) -> str:
    """``length`` hexadecimal digits, 64 at most."""
    text = "|".join(str(key) for key in keys)
    return blake2b(text.encode(), digest_size=32).hexdigest()[:length]


def words(text: str) -> tuple[str, ...]:
    """The words of a text: how the worlds write lists of names."""
    return tuple(text.split())
