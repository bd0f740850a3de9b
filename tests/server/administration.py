"""The part of the matrix that is about administration: the audit log, usage, model services, data."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

from server.backup import manifest, pending
from server.data.backups import Backups
from server.storage.jobs import NewJob
from tests.server.access import Access, for_admins
from tests.support.server_world import World


async def a_job(world: World) -> Mapping[str, str]:
    """That nobody has begun: it is of a kind that no server makes."""
    kept = world.services.storage.jobs
    open_now = [one.id for one in await kept.list_page() if one.state == "queued"]
    if open_now:
        return {"job_id": open_now[0]}
    job = await kept.add(NewJob(kind="unknown", slot="unknown"), world.people["admin"])
    return {"job_id": job.id}


async def a_backup(world: World) -> Mapping[str, str]:
    return {"name": await asyncio.to_thread(_backup_in, world.services.data.backups)}


def _backup_in(backups: Backups) -> str:
    """One file with a manifest."""
    name = f"a-backup-{len(backups.all())}"
    folder = backups.place(name)
    folder.mkdir(parents=True)
    (folder / "rows.db").write_bytes(b"rows")
    held = {"rows.db": manifest.held(folder / "rows.db")}
    at = datetime.now(UTC)
    manifest.write(folder, manifest.Manifest(at=at, rows="sqlite", tables="1", vault={}, files=held))
    return name


async def a_restore(world: World) -> Mapping[str, str]:
    """That waits for the next start."""
    at = datetime.now(UTC)
    waiting = pending.Pending(
        id="1", backup="a-backup", backup_at=at, by="boss", at=at, store=world.services.settings.store, tools=1, ended=0
    )
    await asyncio.to_thread(pending.put, world.services.settings.server_home, waiting)
    return {}


async def an_import(_: World) -> Mapping[str, str]:
    """That is there no more."""
    return {"import_id": NO_UPLOAD}


NO_UPLOAD = "01980f6e-d6e5-7a08-8c03-4f8a0e1b0c08"
ADMINISTRATION: dict[tuple[str, str], Access] = {
    ("GET", "/api/v1/audit"): for_admins(200),
    ("GET", "/api/v1/usage"): for_admins(200),
    ("GET", "/api/v1/usage/performance"): for_admins(200),
    ("GET", "/api/v1/audit/operations"): for_admins(200),
    ("GET", "/api/v1/jobs"): for_admins(200),
    ("GET", "/api/v1/jobs/{job_id}"): for_admins(200, a_job),
    ("POST", "/api/v1/jobs/{job_id}/cancel"): for_admins(200, a_job),
    ("GET", "/api/v1/data/statistics"): for_admins(200),
    ("POST", "/api/v1/data/verify"): for_admins(202, body={}),
    ("POST", "/api/v1/data/uploads"): for_admins(422),
    ("GET", "/api/v1/data/backups"): for_admins(200),
    ("POST", "/api/v1/data/backups"): for_admins(202),
    ("POST", "/api/v1/data/backups/uploaded"): for_admins(404, body={"upload": NO_UPLOAD}),
    ("POST", "/api/v1/data/backups/{name}/check"): for_admins(202, a_backup),
    ("GET", "/api/v1/data/backups/{name}/download"): for_admins(200, a_backup),
    ("DELETE", "/api/v1/data/backups/{name}"): for_admins(204, a_backup),
    ("POST", "/api/v1/data/imports"): for_admins(404, body={"files": [{"upload": NO_UPLOAD}]}),
    ("POST", "/api/v1/data/imports/{import_id}/merge"): for_admins(404, an_import, body={}),
    ("GET", "/api/v1/data/imports/{import_id}/report"): for_admins(404, an_import),
    ("DELETE", "/api/v1/data/imports/{import_id}"): for_admins(404, an_import),
    ("GET", "/api/v1/data/restore"): for_admins(200),
    ("POST", "/api/v1/data/restore"): for_admins(404, body={"backup": "none", "confirm": "store"}),
    ("DELETE", "/api/v1/data/restore"): for_admins(204, a_restore),
}
