"""Counts how often a line occurred before, at eight bytes a line, so that files of millions fit in memory."""

from array import array

_SMALLEST = 1 << 12


class RepeatCounter:
    """Counts digests in an open-addressing table of 64-bit values; only repeated digests get a dictionary entry.

    Two of a billion different lines share 64 bits with a probability of 3 %; two of a million with one of 10⁻⁸.
    """

    def __init__(self) -> None:
        self._slots = _table(_SMALLEST)
        self._used = 0
        self._repeated: dict[int, int] = {}

    def before(self, digest: bytes) -> int:
        """Add a digest (eight bytes or more) and return how often it was added before."""
        value = int.from_bytes(digest[:8]) or 1  # 0 marks a free slot
        place = _find(self._slots, value)
        if self._slots[place]:
            self._repeated[value] = seen = self._repeated.get(value, 0) + 1
            return seen
        self._slots[place] = value
        self._used += 1
        if self._used * 2 > len(self._slots):
            self._grow()
        return 0

    def _grow(self) -> None:
        """Double the table and insert all values again."""
        larger = _table(len(self._slots) * 2)
        for value in self._slots:
            if value:
                larger[_find(larger, value)] = value
        self._slots = larger


def _table(size: int) -> "array[int]":
    return array("Q", bytes(8 * size))


def _find(slots: "array[int]", value: int) -> int:
    """Return the slot of ``value``, or the free slot where it belongs.

    The length of ``slots`` is a power of two, and at least half of it is free, so the probe always ends.
    """
    mask = len(slots) - 1
    place = value & mask
    while slots[place] not in (0, value):
        place = (place + 1) & mask
    return place
