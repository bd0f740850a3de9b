"""All that is kept in rows, by what it is about."""

import asyncio
import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from domain.errors import UnavailableError
from server.storage.allowed_tools import AllowedTools
from server.storage.attempts import Attempts
from server.storage.audit import Audit
from server.storage.clock import Clock, now
from server.storage.conversations import Conversations
from server.storage.daily_usage import DailyUsage
from server.storage.database import Database, file_of
from server.storage.effects import Effects
from server.storage.encryption import Keys
from server.storage.events import RunEvents
from server.storage.files import Files
from server.storage.host_transfers import HostTransfers
from server.storage.inputs import Inputs
from server.storage.invitations import Invitations
from server.storage.job_leases import HeldJobs
from server.storage.jobs import Jobs
from server.storage.key_consents import KeyConsents
from server.storage.key_grants import KeyGrants
from server.storage.key_shelves import OF_MODELS, OF_SOURCES
from server.storage.lessons import WaitingLessons
from server.storage.login_places import LoginPlaces
from server.storage.migrate import newest
from server.storage.model_services import ModelServices
from server.storage.password_resets import PasswordResets
from server.storage.performance import Performance
from server.storage.retention import Retention
from server.storage.row_counts import RowCounts
from server.storage.run_history import RunHistory
from server.storage.run_leases import HeldRuns
from server.storage.runs import Runs
from server.storage.shared_answers import SharedAnswers
from server.storage.sources.checks import SourceChecks
from server.storage.sources.offered import OfferedTools
from server.storage.sources.sources import Sources
from server.storage.sources.watches import SourceWatches
from server.storage.template_takes import TemplateTakes
from server.storage.templates import Templates
from server.storage.tokens import Tokens
from server.storage.tool_keys import ToolKeys
from server.storage.tool_marks import ToolMarks
from server.storage.tool_tries import ToolTries
from server.storage.usage_report import UsageReport
from server.storage.user_limits import UserLimits
from server.storage.users import Users
from server.storage.vault_keys import VaultKeys


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long an access token counts, and a session at most."""

    access: timedelta = timedelta(minutes=15)
    session: timedelta = timedelta(days=30)


class Storage:
    """Opens nothing until used; the tables must be up to date (``migrate``). ``close`` it."""

    def __init__(self, url: str, keys: Keys, lifetimes: Lifetimes | None = None, clock: Clock = now) -> None:
        lifetimes = lifetimes or Lifetimes()
        self.database = database = Database(url)
        self._file = file_of(url)
        self.users = Users(database, clock)
        self.invitations = Invitations(database, clock)
        self.password_resets = PasswordResets(database, clock)
        self.tokens = Tokens(database, clock, lifetimes.access, lifetimes.session)
        self.audit = Audit(database, clock)
        self.attempts = Attempts(database, clock)
        self.places = LoginPlaces(database, clock)
        self.tool_keys = ToolKeys(database, clock, keys)
        self.source_keys = ToolKeys(database, clock, keys, OF_SOURCES)
        self.model_keys = ToolKeys(database, clock, keys, OF_MODELS)
        self.model_services = ModelServices(database, clock, self.model_keys)
        self.key_grants = KeyGrants(database, clock, keys)
        self.source_key_grants = KeyGrants(database, clock, keys, OF_SOURCES)
        self.key_consents = KeyConsents(database, clock, keys)
        self.vault_keys = VaultKeys(database, clock, keys)
        self.allowed_tools = AllowedTools(database, clock)
        self.host_transfers = HostTransfers(database, clock)
        self.conversations = Conversations(database, clock)
        self.files = Files(database, clock)
        self.runs = Runs(database, clock)
        self.run_history = RunHistory(database)
        self.shared_answers = SharedAnswers(database, clock)
        self.days = DailyUsage(database, clock)
        self.user_limits = UserLimits(database)
        self.usage_report = UsageReport(database, clock)
        self.performance = Performance(database, clock)
        self.held = HeldRuns(database, clock)
        self.events = RunEvents(database)
        self.lessons = WaitingLessons(database, clock)
        self.retention = Retention(database, clock)
        self.inputs = Inputs(database, clock)
        self.effects = Effects(database, clock)
        self.templates = Templates(database, clock)
        self.takes = TemplateTakes(database, clock)
        self.tool_tries = ToolTries(database, clock)
        self.tool_marks = ToolMarks(database, clock)
        self.sources = Sources(database, clock)
        self.offered_tools = OfferedTools(database)
        self.source_checks = SourceChecks(database, clock)
        self.source_watches = SourceWatches(database, clock)
        self.row_counts = RowCounts(database)
        self.jobs = Jobs(database, clock)
        self.held_jobs = HeldJobs(database, clock)

    async def check(self) -> None:
        """Whether it can be used now. ``UnavailableError`` where it is not reached, its tables are of another version, or nothing can be written."""
        known = await asyncio.to_thread(newest)
        try:
            found, takes_writes = await self._read_state()
        except ProgrammingError as error:
            raise UnavailableError("the database has no tables of ours: run scripts/migrate.py") from error
        if found != known:
            raise UnavailableError(f"the database has version {found} of the tables, this program {known}")
        if not takes_writes:
            raise UnavailableError(
                "the database can be read and not written: name a server in FOOTPATH_DATABASE_URL that takes writes (no standby, not read-only), or "
                "give this account the right to write the file and its folder"
            )

    async def _read_state(self) -> tuple[str | None, bool]:
        """Return the version of the tables, and whether a write would be let in, without one: what is busy with another's write takes writes, too."""
        version = "(SELECT version_num FROM alembic_version)"
        async with self.database.reading() as session:
            if self._file is not None:
                found = await session.scalar(text(f"SELECT {version}"))
                return found, await asyncio.to_thread(_may_be_written, self._file)
            refused = "pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'"
            found, refuses = (await session.execute(text(f"SELECT {version}, {refused}"))).one()
            return found, not refuses

    async def close(self) -> None:
        """Close its connections; idempotent."""
        await self.database.close()


def _may_be_written(file: Path) -> bool:
    """SQLite makes further files beside its own."""
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)
