"""The part of the matrix that is about administration: the audit log, usage, model services, data."""

from collections.abc import Mapping

from server.storage.jobs import NewJob
from tests.server.access import Access, for_admins
from tests.server.world import World


async def a_job(world: World) -> Mapping[str, str]:
    """That nobody has begun: it is of a kind that no server makes."""
    kept = world.services.storage.jobs
    open_now = [one.id for one in await kept.page() if one.state == "queued"]
    if open_now:
        return {"job_id": open_now[0]}
    job = await kept.add(NewJob(kind="unknown", slot="unknown"), world.people["admin"])
    return {"job_id": job.id}


ADMINISTRATION: dict[tuple[str, str], Access] = {
    ("GET", "/api/v1/audit"): for_admins(200),
    ("GET", "/api/v1/usage"): for_admins(200),
    ("GET", "/api/v1/usage/performance"): for_admins(200),
    ("GET", "/api/v1/audit/operations"): for_admins(200),
    ("GET", "/api/v1/jobs"): for_admins(200),
    ("GET", "/api/v1/jobs/{job_id}"): for_admins(200, a_job),
    ("POST", "/api/v1/jobs/{job_id}/cancel"): for_admins(200, a_job),
}
