"""All kinds of jobs that this server makes."""

from collections.abc import Sequence

from server.data.room import ServerData
from server.jobs.kinds import STORE, JobKind

__all__ = ["STORE", "job_kinds"]


def job_kinds(data: ServerData) -> Sequence[JobKind]:
    """A new kind has a line here."""
    return (*data.kinds(),)
