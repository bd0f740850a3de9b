"""What is known of a program's calls before they are made: what their values are made of, and which of them wait together."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from domain.model import JsonObject
from domain.slice import Slice
from domain.tool import ToolDoc


@dataclass(frozen=True, slots=True)
class Announced:
    """A call that a program waits for. ``slices``: of its arguments. ``tainted``: its program was written after its author was shown foreign data.

    ``text``: the program's; ``open``: arguments that it leaves open, whose values were found on the way. ``in_loop``: the program may come by there again. ``cells``: the programs that it goes on from (``program_of``): their names hold.
    """

    identity: str
    tool: ToolDoc
    arguments: JsonObject
    slices: tuple[Slice, ...] = ()
    tainted: bool = False
    text: str = ""
    open: frozenset[str] = frozenset()
    in_loop: bool = False
    cells: frozenset[str] = frozenset()
    control: Slice | None = None
    """What decides whether and how often a tainted program makes it; None: it was written before its author saw anything foreign."""


class Announcements:
    """One run's. Changes by the same tool that wait together are a batch: they are asked about at once, and counted as one round."""

    def __init__(self) -> None:
        self._told: dict[str, Announced] = {}
        self._waiting: dict[str, Announced] = {}
        self._batches: dict[str, tuple[Announced, ...]] = {}
        self._rounds: Counter[str] = Counter()

    def tell(self, calls: Iterable[Announced]) -> None:
        """These calls wait to be made."""
        for call in calls:
            self._told[call.identity] = call
            if not call.tool.safe:
                self._waiting[call.identity] = call

    def of(self, identity: str) -> Announced | None:
        """What is known of a call; None of one that was not announced."""
        return self._told.get(identity)

    def batch(self, identity: str) -> tuple[Announced, ...]:
        """The changes that a change is asked about together with, itself among them. It stays the same once it was asked for."""
        call = self._waiting.get(identity)
        if identity not in self._batches and call is not None:
            together = tuple(one for one in self._waiting.values() if one.tool.id == call.tool.id)
            for one in together:
                self._batches[one.identity] = together
                del self._waiting[one.identity]
            self._rounds.update({_place(one.identity) for one in together})
        return self._batches.get(identity, ())

    def round(self, identity: str) -> int:
        """How often changes at this place of a program were asked about, this time included."""
        return self._rounds[_place(identity)]


def _place(identity: str) -> str:
    """The place in the text, however often it is come by."""
    return identity.partition("#")[0]
