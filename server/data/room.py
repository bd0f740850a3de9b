"""What operations on a server's data work with, and the kinds of jobs that they ask for."""

import asyncio
from collections.abc import Sequence
from functools import partial

from server.data.backing_up import BACKUP, CHECK, TAKE_IN, check_backup, make_backup, take_in
from server.data.backups import Backups
from server.data.importing import IMPORT, READING, merge, read_files
from server.data.imports import Imports
from server.data.restoring import RESTORE, clear_up, prepare
from server.data.statistics import Counting
from server.data.uploads import Uploads
from server.data.verifying import VERIFY, verify_store
from server.jobs.kinds import STORE, JobKind
from server.runs.agent_runtime import AgentRuntime
from server.storage.jobs import Job
from server.storage.storage import Storage
from wiring.settings import Settings

_BACKUPS = "backups"


class ServerData:
    """One process's."""

    def __init__(self, settings: Settings, storage: Storage, agents: AgentRuntime) -> None:
        self.settings = settings
        self.backups = Backups(settings.server_home)
        self.uploads = Uploads(settings)
        self.imports = Imports(settings.server_home, self.uploads)
        self.counting = Counting(settings, storage, agents)
        self._agents = agents

    def kinds(self) -> Sequence[JobKind]:
        """Of the jobs that are about data."""
        settings, backups, uploads = self.settings, self.backups, self.uploads
        back_up = partial(make_backup, settings, backups)
        return (
            JobKind(READING, partial(read_files, self._agents, self.imports), "imports"),
            JobKind(IMPORT, partial(merge, self._agents, self.imports, back_up), STORE, ended=self._merged),
            JobKind(VERIFY, partial(verify_store, self._agents), STORE),
            JobKind(BACKUP, back_up, STORE),
            JobKind(CHECK, partial(check_backup, backups), _BACKUPS),
            JobKind(TAKE_IN, partial(take_in, backups, uploads), _BACKUPS, ended=self._used),
            JobKind(RESTORE, partial(prepare, settings, backups), STORE, ended=partial(clear_up, settings)),
        )

    async def _used(self, job: Job) -> None:
        await asyncio.to_thread(self.uploads.remove, str(job.wanted.get("upload")))

    async def _merged(self, job: Job) -> None:
        if job.state == "done":
            await asyncio.to_thread(self.imports.clear, str(job.wanted.get("import")))
