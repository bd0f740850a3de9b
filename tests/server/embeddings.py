"""The part of the matrix that is about the encoder of searches."""

import asyncio
from collections.abc import Mapping

from server.encoders.job import LINKS, PREPARE
from tests.server.access import Access, for_admins
from tests.support.server_world import World, with_store


async def a_quiet_store(world: World) -> Mapping[str, str]:
    """Without tools, and without a job that works on it."""
    await with_store(world)
    while True:
        jobs = await world.services.storage.jobs.list_page((PREPARE, LINKS))
        left = [job.id for job in jobs if job.finished_at is None]
        if not left:
            return {}
        for job in left:
            await world.services.jobs.cancel(job)
        await asyncio.sleep(0.05)


EMBEDDINGS: dict[tuple[str, str], Access] = {
    ("GET", "/api/v1/embeddings"): for_admins(200, a_quiet_store),
    ("POST", "/api/v1/embeddings/prepare"): for_admins(404, a_quiet_store, {"encoder": "none"}),
    ("POST", "/api/v1/embeddings/compare"): for_admins(202, a_quiet_store),
    ("POST", "/api/v1/embeddings/switch"): for_admins(409, a_quiet_store),
    ("POST", "/api/v1/embeddings/switch-back"): for_admins(409, a_quiet_store),
    ("DELETE", "/api/v1/embeddings/prepared"): for_admins(200, a_quiet_store),
    ("DELETE", "/api/v1/embeddings/former"): for_admins(200, a_quiet_store),
}
