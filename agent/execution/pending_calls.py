"""Calls that programs announce before they are made: the slices of their arguments, and their batches."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from domain.model import JsonObject
from domain.provenance import Slice
from domain.tool import ToolDoc


@dataclass(frozen=True, slots=True)
class PendingCall:
    """Call that a program announced and waits for."""

    identity: str
    tool: ToolDoc
    arguments: JsonObject
    slices: tuple[Slice, ...] = ()
    """Backward slices of its arguments."""
    tainted: bool = False
    """True if the author of the program had seen foreign data when writing it."""
    program_text: str = ""
    """Text of the program."""
    open_arguments: frozenset[str] = frozenset()
    """Names of arguments that the program left open and whose values were found at run time."""
    in_loop: bool = False
    """True if the program may reach this place again."""
    earlier_cells: frozenset[str] = frozenset()
    """Ids of the earlier programs that it continues, whose names remain defined.

    They have the form of :func:`agent.execution.call_identity.get_program_id`.
    """
    control: Slice | None = None
    """Slice of the conditions that decide whether and how often the call is made.

    None for a program that is not tainted.
    """


class PendingCallRegistry:
    """Announced calls of one run.

    Changes by the same tool that wait at the same time form a batch, which is approved in one question.
    """

    def __init__(self) -> None:
        self._calls: dict[str, PendingCall] = {}
        self._pending_changes: dict[str, PendingCall] = {}
        self._batches: dict[str, tuple[PendingCall, ...]] = {}
        self._rounds_by_site: Counter[str] = Counter()

    def add(self, calls: Iterable[PendingCall]) -> None:
        """Add calls that a program is about to make."""
        for call in calls:
            self._calls[call.identity] = call
            if not call.tool.safe:
                self._pending_changes[call.identity] = call

    def find(self, identity: str) -> PendingCall | None:
        """Return the announced call of this identity; None where it was not announced."""
        return self._calls.get(identity)

    def claim_batch(self, identity: str) -> tuple[PendingCall, ...]:
        """Return the batch of this change, itself included; empty if it was not announced.

        The first request fixes the batch; changes announced later do not join it.
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
        """Return the number of batches formed at this place of the program, this one included."""
        return self._rounds_by_site[_get_site(identity)]


def _get_site(identity: str) -> str:
    """Return the call's place in the program's text: the identity without its occurrence count and digest."""
    return identity.partition("#")[0]
