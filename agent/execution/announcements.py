"""Calls that programs announce before they are made: the slices of their arguments, and their batches."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from domain.model import JsonObject
from domain.slice import Slice
from domain.tool import ToolDoc


@dataclass(frozen=True, slots=True)
class Announced:
    """A call that a program waits for."""

    identity: str
    tool: ToolDoc
    arguments: JsonObject
    slices: tuple[Slice, ...] = ()
    """Backward slices of its arguments."""
    tainted: bool = False
    """The program was written after its author was shown foreign data."""
    text: str = ""
    """Text of the program."""
    open: frozenset[str] = frozenset()
    """Arguments that the program leaves open, whose values were found while it ran."""
    in_loop: bool = False
    """The program may reach this place again."""
    cells: frozenset[str] = frozenset()
    """Ids (``program_of``) of the earlier programs that it continues, whose names remain defined."""
    control: Slice | None = None
    """Slice that decides whether and how often a tainted program makes the call; None for a program whose author saw nothing foreign."""


class Announcements:
    """Announced calls of one run.

    Changes by the same tool that wait at the same time form a batch: one question, one round.
    """

    def __init__(self) -> None:
        self._told: dict[str, Announced] = {}
        self._waiting: dict[str, Announced] = {}
        self._batches: dict[str, tuple[Announced, ...]] = {}
        self._rounds: Counter[str] = Counter()

    def tell(self, calls: Iterable[Announced]) -> None:
        """Add calls that wait to be made."""
        for call in calls:
            self._told[call.identity] = call
            if not call.tool.safe:
                self._waiting[call.identity] = call

    def of(self, identity: str) -> Announced | None:
        """Return the announced call of this identity; None where it was not announced."""
        return self._told.get(identity)

    def batch(self, identity: str) -> tuple[Announced, ...]:
        """Return the changes that share one question with this change, itself included.

        The first call fixes the batch: later announcements do not join it.
        """
        call = self._waiting.get(identity)
        if identity not in self._batches and call is not None:
            together = tuple(one for one in self._waiting.values() if one.tool.id == call.tool.id)
            for one in together:
                self._batches[one.identity] = together
                del self._waiting[one.identity]
            self._rounds.update({_place(one.identity) for one in together})
        return self._batches.get(identity, ())

    def round(self, identity: str) -> int:
        """Return how many batches of changes at this place of the program were formed, this one included."""
        return self._rounds[_place(identity)]


def _place(identity: str) -> str:
    """Return the place in the program's text, without the count of how often it was reached."""
    return identity.partition("#")[0]
