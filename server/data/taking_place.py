"""The start of a server at which a restore takes its place."""

import asyncio
import logging

from domain.errors import UnavailableError
from domain.model import JsonObject
from server.backup import pending
from server.backup.pending import Pending
from server.runs.worker_locks import has_live_worker
from server.storage.audit import AuditedAction
from server.storage.backups import carry_over_audit_log
from server.storage.storage import Storage
from wiring.settings import Settings

_log = logging.getLogger(__name__)


async def restored_at_start(settings: Settings) -> Pending | None:
    """Carry out what waits, before anything is opened; None: nothing does. Raises ``UnavailableError``."""
    home = settings.server_home
    if await asyncio.to_thread(pending.read, home) is None:
        return None
    if await asyncio.to_thread(has_live_worker, home):
        raise UnavailableError(
            f"a restore waits to be carried out at a start, and another server of {home} is running: stop it, then start again"
        )
    return await asyncio.to_thread(pending.take_place, home)


async def tell_of_restore(settings: Settings, storage: Storage, done: Pending | None) -> None:
    """In the log, and in the restored audit log, after the entries that the server had and the backup has not."""
    if done is None:
        return
    _log.warning(
        "restored from %s, as of %s: %d tools, %d runs that were under way ended; what was there before lies in folders called %s%s",
        done.backup, done.backup_at, done.tools, done.ended, pending.BEFORE, done.id,
    )  # fmt: skip
    carried = await carry_over_audit_log(storage.database, pending.rows_before(settings.server_home, done.id))
    said: JsonObject = {"backup": done.backup, "backup_at": done.backup_at.isoformat(), "entries_kept": carried}
    deed = AuditedAction(name=done.by, via="command", operation="restore", about="Restore a backup, at the next start", said=said)  # fmt: skip
    await storage.audit_log.begin(deed, status=200)
    await asyncio.to_thread(pending.end, settings.server_home)
