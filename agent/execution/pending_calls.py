"""Calls that programs announce before they are made: the slices of their arguments, and their batches."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from domain.model import JsonObject
from domain.provenance import Slice
from domain.tool import ToolDoc


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that a program waits for."""

    identity: str
    tool: ToolDoc
    arguments: JsonObject
    slices: tuple[Slice, ...] = ()
    """Backward slices of its arguments."""
    tainted: bool = False
    """The program was written after its author was shown foreign data."""
    program_text: str = ""
    """Text of the program."""
    open_arguments: frozenset[str] = frozenset()
    """Arguments that the program leaves open, whose values were found while it ran."""
    in_loop: bool = False
    """The program may reach this place again."""
    earlier_cells: frozenset[str] = frozenset()
    """Ids (:func:`agent.execution.call_identity.get_program_id`) of the earlier programs that it continues, whose names remain defined."""
    control: Slice | None = None
    """Slice that decides whether and how often a tainted program makes the call; None for a program whose author saw nothing foreign."""


class PendingCallRegistry:
    """Announced calls of one run.

    Changes by the same tool that wait at the same time form a batch: one question, one round.
    """

    def __init__(self) -> None:
        self._calls: dict[str, PendingCall] = {}
        self._pending_changes: dict[str, PendingCall] = {}
        self._batches: dict[str, tuple[PendingCall, ...]] = {}
        self._rounds_by_site: Counter[str] = Counter()

    def add(self, calls: Iterable[PendingCall]) -> None:
        """Add calls that wait to be made."""
        for call in calls:
            self._calls[call.identity] = call
            if not call.tool.safe:
                self._pending_changes[call.identity] = call

    def find(self, identity: str) -> PendingCall | None:
        """Return the announced call of this identity; None where it was not announced."""
        return self._calls.get(identity)

    def claim_batch(self, identity: str) -> tuple[PendingCall, ...]:
        """Return the changes that share one question with this change, itself included.

        The first call fixes the batch: later announcements do not join it.
        """
        call = self._pending_changes.get(identity)
        if identity not in self._batches and call is not None:
            members = tuple(one for one in self._pending_changes.values() if one.tool.id == call.tool.id)
            for one in members:
                self._batches[one.identity] = members
                del self._pending_changes[one.identity]
            self._rounds_by_site.update({_get_site(one.identity) for one in members})
        return self._batches.get(identity, ())

    def count_rounds(self, identity: str) -> int:
        """Return how many batches of changes at this place of the program were formed, this one included."""
        return self._rounds_by_site[_get_site(identity)]


def _get_site(identity: str) -> str:
    """Return the place in the program's text, without the count of how often it was reached."""
    return identity.partition("#")[0]
