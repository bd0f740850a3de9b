"""How often a line stood in its file before: eight bytes a line, so that a file of millions is read in flat memory."""

from array import array

_SMALLEST = 1 << 12


class RepeatCounter:
    """Counts digests. Open addressing over 64-bit digests; only those that repeat get an entry of their own.

    Two of a billion different lines share 64 bits with a probability of 3 %; of a million with one of 10⁻⁸.
    """

    def __init__(self) -> None:
        self._slots = _table(_SMALLEST)
        self._used = 0
        self._repeated: dict[int, int] = {}

    def before(self, digest: bytes) -> int:
        """How often this digest (eight bytes or more) was asked for before."""
        value = int.from_bytes(digest[:8]) or 1
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
        larger = _table(len(self._slots) * 2)
        for value in self._slots:
            if value:
                larger[_find(larger, value)] = value
        self._slots = larger


def _table(size: int) -> "array[int]":
    return array("Q", bytes(8 * size))


def _find(slots: "array[int]", value: int) -> int:
    """The place of ``value``, or the free one where it belongs. The length is a power of two, half of it free."""
    mask = len(slots) - 1
    place = value & mask
    while slots[place] not in (0, value):
        place = (place + 1) & mask
    return place
