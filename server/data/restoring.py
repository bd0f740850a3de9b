"""A backup restored beside the server while it serves, as a job; it takes the server's place at the next start."""

import asyncio
from pathlib import Path

from domain.errors import ConflictError, UnavailableError, UsageError
from domain.model import JsonObject, Model
from server.backup import interrupted, pending
from server.backup.pending import Pending
from server.backup.restoring import restore
from server.data.backups import Backups
from server.jobs.kinds import JobInHand
from server.storage.jobs import Job
from server.storage.repository import get_utc_now
from server.storage.storage import get_key_file
from wiring.settings import Settings

RESTORE = "restore"


class RestoreState(Model):
    """``refused``: why this server cannot be restored from here, and what to do; empty: it can. ``confirm``: what has to be typed. ``pending``: what takes place at the next
    start. ``set_aside``: folders that hold what was there before restores.
    """

    refused: str
    confirm: str
    pending: Pending | None
    set_aside: list[str]


def state(settings: Settings) -> RestoreState:
    """Of a home."""
    store = settings.store.absolute()
    return RestoreState(
        refused=refused(settings),
        confirm=store.name,
        pending=pending.read(settings.server_home),
        set_aside=[str(one) for one in pending.set_aside(settings.server_home.absolute(), store)],
    )


def refused(settings: Settings) -> str:
    """Why not; empty: nothing speaks against it."""
    servers = {
        "FOOTPATH_DATABASE_URL": settings.database_url.get_secret_value(),
        "FOOTPATH_GRAPH_URL": settings.graph_url,
        "FOOTPATH_VECTOR_URL": settings.vector_url,
    }
    named = [name for name, value in servers.items() if value]
    if not named:
        return ""
    return (
        f"a part of this server lies on servers ({', '.join(named)}), which nobody can set aside by renaming files: stop it, name empty ones in its settings, "
        "and run scripts/restore.py FOLDER on the machine"
    )


async def prepare(settings: Settings, backups: Backups, hand: JobInHand) -> JsonObject:
    """Check the backup, and make the server of it in folders beside those of this one. Killed, it goes on.

    Raises:
        BrokenInputError: it is not whole. UsageError: the keys are others, or this server cannot be restored from here. ConflictError: another restore waits.
    """
    if why := refused(settings):
        raise UsageError(why)
    home, store, job = settings.server_home, settings.store, hand.job
    waits = await asyncio.to_thread(pending.read, home)
    if waits is not None and waits.id != job.id:
        raise ConflictError("another restore waits for the next start: call it off first")
    name = str(job.wanted["backup"])
    hand.progress("check", 0, None)
    found = await asyncio.to_thread(backups.check, name)
    if found.checked is not None and found.checked.trouble:
        raise UsageError(f"the backup is not whole: {found.checked.trouble}")
    places = {"server_home": pending.restored_home(home, job.id), "store": pending.restored_store(store, job.id)}
    await asyncio.to_thread(_begin_anew_if_done, home, store, job.id)
    folder, keys = backups.place(name), _keys(settings)
    done = await restore(settings.model_copy(update=places), folder, hand.progress, keys, by_command=False)
    ready = Pending(
        id=job.id, backup=name, backup_at=done.at, by=job.by, at=get_utc_now(), store=store.absolute(), tools=done.tools, ended=done.ended
    )  # fmt: skip
    try:
        await asyncio.to_thread(pending.put, home, ready)
    except OSError as error:
        raise UnavailableError(f"cannot write in {home}: {error.strerror}") from error
    hand.say("It is restored beside the server, and takes its place at the next start.")
    return {"backup": name, "tools": done.tools, "ended": done.ended}


def _begin_anew_if_done(home: Path, store: Path, name: str) -> None:
    """Killed right after its last step, it would find its own rows, and no sign that it is not done."""
    made = pending.restored_home(home, name)
    if (made / "rows.db").exists() and not interrupted.is_marked(made):
        pending.clear(home, store, name)


async def clear_up(settings: Settings, job: Job) -> None:
    """What was restored and is not to take anyone's place goes."""
    if job.state != "done":
        await asyncio.to_thread(pending.clear, settings.server_home, settings.store, job.id)


def _keys(settings: Settings) -> Path | None:
    own = get_key_file(settings)
    return own if own.exists() else None
