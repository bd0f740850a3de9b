"""What a kind of job is, and what it is given while it is made."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from domain.model import JsonObject
from server.storage.jobs import Job

STORE = "store"
"""The slot of whatever reads or changes the store as a whole: one of them at a time."""
LINES = 200
"""Of a job's log; those in the middle are left out."""
_LONGEST = 500


class JobInHand:
    """A job while it is made: it tells how far it is, which is stored now and then."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.what, self.done, self.total = job.what, job.done, job.total
        self.lines: list[str] = list(job.lines)
        self.news = False

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """``stage``: the part that is under way, in a word or two. May be called as often as one likes."""
        self.what, self.done, self.total, self.news = stage[:_LONGEST], done, total, True

    def say(self, line: str) -> None:
        """Add a line to its log. Texts of others belong in it only where they hold no secret."""
        self.lines.append(line[:_LONGEST])
        if len(self.lines) > LINES:
            del self.lines[LINES // 2]
        self.news = True


@dataclass(frozen=True, slots=True)
class JobKind:
    """``make`` does it and gives its result; it may be cancelled at any moment, and is begun again from the start where its server was stopped meanwhile, so that
    what it has done already must not be done twice. Its ``FootpathError`` is told as why it failed.

    ``slot``: what no other open job may have at the same time. ``tries``: how often it is begun where the server is killed each time. ``ended``: clears up after one that
    has ended, however that was.
    """

    name: str
    make: Callable[[JobInHand], Awaitable[JsonObject]]
    slot: str
    tries: int = 3
    ended: Callable[[Job], Awaitable[None]] | None = None


def by_name(kinds: Sequence[JobKind]) -> dict[str, JobKind]:
    """For who takes them."""
    return {kind.name: kind for kind in kinds}
