"""A server's data as the page needs it, for administrators: figures, imports, verifying, backups."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, Field

from ui.client import Client, read, read_all
from ui.jobs import Job

_UPLOAD_SECONDS = 600


class Count(BaseModel):
    """``name`` empty: all others together."""

    name: str
    count: int


class Tools(BaseModel):
    total: int = 0
    categories: list[Count] = Field(default_factory=list[Count])
    sources: list[Count] = Field(default_factory=list[Count])
    effects: dict[str, int] = Field(default_factory=dict)
    callable: int = 0


class Edges(BaseModel):
    total: int = 0
    imported: int = 0
    live: int = 0
    both: int = 0
    finish: int = 0
    marks: dict[str, int] = Field(default_factory=dict)
    feeds: int = 0
    substitutes: int = 0
    pending: int = 0


class Availabilities(BaseModel):
    tenths: list[int]
    untested: int = 0


class Place(BaseModel):
    """Where a part of the server lies; ``bytes`` None: on a server of its own."""

    kind: str
    bytes: int | None = None
    note: str = ""
    count: int | None = None


class Statistics(BaseModel):
    at: datetime
    tools: Tools | None = None
    edges: Edges | None = None
    availability: Availabilities | None = None
    kept: dict[str, int] = Field(default_factory=dict)
    database: Place
    graph: Place
    vectors: Place
    missing: dict[str, str] = Field(default_factory=dict)


class Checked(BaseModel):
    at: datetime
    trouble: str = ""


class Backup(BaseModel):
    """``checked`` None: its files were never held against its digests."""

    name: str
    at: datetime
    rows: str = ""
    tables: str = ""
    bytes: int = 0
    checked: Checked | None = None


class Waiting(BaseModel):
    """A restore that takes place at the next start; ``step`` other than ``ready``: it was begun."""

    backup: str
    backup_at: datetime
    by: str = ""
    tools: int = 0
    step: str = "ready"


class RestoreState(BaseModel):
    """``refused``: why it cannot be restored from here; ``confirm``: what has to be typed; ``set_aside``: folders that hold what was there before."""

    refused: str = ""
    confirm: str
    pending: Waiting | None = None
    set_aside: list[str] = Field(default_factory=list[str])


class ApiTools(BaseModel):
    """Tools of one API that an import brings; ``names``: of the first."""

    api: str
    new: int = 0
    changed: int = 0
    names: list[str] = Field(default_factory=list[str])


class ImportedTools(BaseModel):
    """What an import brings to the tools that there are. ``apis``: how many APIs they are of; ``first``: of the first of these."""

    new: int = 0
    changed: int = 0
    apis: int = 0
    first: list[ApiTools] = Field(default_factory=list[ApiTools])


class Upload(BaseModel):
    id: str
    name: str


def statistics(client: Client, *, anew: bool = False) -> Statistics:
    """``anew``: counted again, rather than told as of the last minute."""
    return read(Statistics, client.send("GET", "/data/statistics", params={"anew": anew}, timeout=120))


def upload(client: Client, name: str, content: bytes) -> Upload:
    """Send a file."""
    sent = client.send("POST", "/data/uploads", params={"name": name}, content=content, timeout=_UPLOAD_SECONDS)
    return read(Upload, sent)


def begin_import(client: Client, files: Sequence[tuple[str, str]], server: str) -> Job:
    """Have uploads read: each with what it holds, empty where the server is to tell."""
    body = {"files": [{"upload": one, "holds": holds} for one, holds in files], "server": server}
    return read(Job, client.send("POST", "/data/imports", json=body))


def merge(client: Client, name: str, *, replace: bool, unchecked: bool, reason: str, backup: bool = True) -> Job:
    """Take into the store what was read. ``backup``: after a backup of all that the server has."""
    body = {"replace": replace, "unchecked": unchecked, "reason": reason, "backup": backup}
    return read(Job, client.send("POST", f"/data/imports/{name}/merge", json=body))


def report(client: Client, name: str) -> bytes:
    """All that was left out of an import, as JSON."""
    return client.send("GET", f"/data/imports/{name}/report").content


def verify(client: Client, *, mend: bool = False) -> Job:
    """Have the store verified."""
    return read(Job, client.send("POST", "/data/verify", json={"mend": mend}))


def backups(client: Client) -> list[Backup]:
    """The newest first."""
    return read_all(Backup, client.send("GET", "/data/backups"))


def back_up(client: Client) -> Job:
    """Have a backup made."""
    return read(Job, client.send("POST", "/data/backups"))


def check_backup(client: Client, name: str) -> Job:
    """Have its files held against its digests."""
    return read(Job, client.send("POST", f"/data/backups/{name}/check"))


def remove_backup(client: Client, name: str) -> None:
    """It is gone."""
    client.send("DELETE", f"/data/backups/{name}")


def download_backup(client: Client, name: str) -> bytes:
    """As one file."""
    return client.send("GET", f"/data/backups/{name}/download", timeout=_UPLOAD_SECONDS).content


def take_in(client: Client, upload_id: str) -> Job:
    """Make a backup of an upload."""
    return read(Job, client.send("POST", "/data/backups/uploaded", json={"upload": upload_id}))


def restore_state(client: Client) -> RestoreState:
    """Whether it can be restored, and what waits."""
    return read(RestoreState, client.send("GET", "/data/restore"))


def restore(client: Client, name: str, confirm: str) -> Job:
    """Have it restored beside the server; it takes its place at the next start."""
    return read(Job, client.send("POST", "/data/restore", json={"backup": name, "confirm": confirm}))


def call_off_restore(client: Client) -> None:
    """Nothing takes place at the next start."""
    client.send("DELETE", "/data/restore")
