"""All kinds of jobs that this server makes."""

from collections.abc import Sequence

from server.data.room import ServerData
from server.encoders.job import encoder_jobs
from server.jobs.kinds import STORE, JobKind
from server.runs.agent_runtime import AgentRuntime
from server.storage.storage import Storage
from wiring.settings import Settings

__all__ = ["STORE", "job_kinds"]


def job_kinds(data: ServerData, settings: Settings, storage: Storage, agents: AgentRuntime) -> Sequence[JobKind]:
    """A new kind has a line here."""
    return (*data.kinds(), *encoder_jobs(settings, storage.model_services, agents.get_full_container, STORE))
