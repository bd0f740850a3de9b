"""Jobs of administrators as the page needs them: how far they are, and what came of them."""

from datetime import datetime

from pydantic import BaseModel, Field

from domain.model import JsonObject
from ui.client import Client, read


class Job(BaseModel):
    """Long work on the server. ``total`` None: nobody knows how much. ``lines``: its log; ``trouble``: why it failed or was cancelled."""

    id: str
    kind: str = ""
    state: str
    wanted: JsonObject = Field(default_factory=JsonObject)
    what: str = ""
    done: int = 0
    total: int | None = None
    lines: list[str] = Field(default_factory=list[str])
    result: JsonObject | None = None
    trouble: str = ""
    by: str = ""
    created_at: datetime
    finished_at: datetime | None = None
    tries: int = 0

    @property
    def open(self) -> bool:
        """Whether it goes on, or will."""
        return self.state in ("queued", "running")


class _Jobs(BaseModel):
    jobs: list[Job]


def jobs(client: Client, *kinds: str, limit: int = 10) -> list[Job]:
    """Of these kinds, the newest first."""
    found = read(_Jobs, client.send("GET", "/jobs", params={"kind": kinds, "limit": limit})).jobs
    return [one for one in found if one.kind in kinds]


def job(client: Client, job_id: str) -> Job:
    """How one stands."""
    return read(Job, client.send("GET", f"/jobs/{job_id}"))


def cancel(client: Client, job_id: str) -> None:
    """End it; what it has done until then stays."""
    client.send("POST", f"/jobs/{job_id}/cancel")
