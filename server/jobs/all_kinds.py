"""All kinds of jobs that this server makes."""

from collections.abc import Sequence

from server.jobs.kinds import JobKind
from server.runs.agents import Agents
from server.storage.storage import Storage
from wiring.settings import Settings

STORE = "store"
"""The slot of whatever reads or changes the store as a whole: one of them at a time."""


def job_kinds(settings: Settings, storage: Storage, agents: Agents) -> Sequence[JobKind]:  # noqa: ARG001  # what kinds are made with
    """A new kind has a line here."""
    return ()
