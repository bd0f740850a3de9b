"""All repositories of the server's database, and how it is opened."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import func, select, text
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.orm import Session

from domain.errors import UnavailableError
from server.storage.accounts import Invitations, PasswordResets, Users
from server.storage.audit import AuditLog
from server.storage.conversations import ConversationFiles, Conversations, SharedAnswers
from server.storage.database import Database, build_sqlite_url, find_sqlite_file
from server.storage.encryption import Keyring, open_key_file, parse_keys
from server.storage.jobs import JobLeases, Jobs
from server.storage.key_grants import KeyConsents, KeyGrants
from server.storage.login_attempts import LoginAttempts, LoginPlaces
from server.storage.migration import get_newest_version, migrate
from server.storage.model_services import ModelServices
from server.storage.permissions import AllowedTools, HostTransfers
from server.storage.repository import Clock, Repository, get_utc_now
from server.storage.rows.accounts import UserRow
from server.storage.rows.runs import ConversationRow, LessonRow, RunRow, TemplateRow
from server.storage.rows.tools import SourceRow
from server.storage.run_history import RunHistory, RunPerformance
from server.storage.run_leases import RunLeases
from server.storage.run_records import EffectLedger, EventRetention, RunEvents, RunQuestions, WaitingLessons
from server.storage.runs import Runs
from server.storage.sources import SourceChecks, SourceOffers, Sources, SourceWatches
from server.storage.templates import TemplatePins, Templates
from server.storage.tokens import SessionTokens
from server.storage.tool_library import ToolMarks, ToolTries
from server.storage.usage import DailyUsage, UsageReport, UserLimits
from server.storage.vault import MODEL_SHELF, SOURCE_SHELF, ToolKeys, VaultFingerprints
from wiring.private_files import PRIVATE_FOLDER_MODE, keep_private, make_database_private
from wiring.settings import Settings

_COUNTED_TABLES = {
    "users": UserRow,
    "conversations": ConversationRow,
    "runs": RunRow,
    "templates": TemplateRow,
    "waiting_lessons": LessonRow,
}


class RowCounts(Repository):
    """Counts rows for the server's metrics."""

    async def count_all(self) -> dict[str, int]:
        """Return the number of rows by subject."""

        def count(session: Session) -> dict[str, int]:
            counts = {
                name: session.scalar(select(func.count()).select_from(table)) or 0
                for name, table in _COUNTED_TABLES.items()
            }
            existing = select(func.count()).select_from(SourceRow).where(SourceRow.removed_at.is_(None))
            return counts | {"sources": session.scalar(existing) or 0}

        return await self._database.read(count)

    async def list_source_names(self) -> dict[str, str]:
        """Return the names of sources by id, including removed ones."""
        statement = select(SourceRow.id, SourceRow.name)
        return await self._database.read(lambda session: {row.id: row.name for row in session.execute(statement)})


@dataclass(frozen=True, slots=True)
class SessionLifetimes:
    """How long access tokens are valid, and sessions at most."""

    access: timedelta = timedelta(minutes=15)
    """Lifetime of an access token."""
    session: timedelta = timedelta(days=30)
    """Longest time for which a user stays logged in."""


class Storage:
    """All repositories of a database. Opens nothing until used.

    The tables must be up to date (see :func:`migrate`). Call :meth:`close` at the end.
    """

    def __init__(
        self, url: str, keys: Keyring, lifetimes: SessionLifetimes | None = None, clock: Clock = get_utc_now
    ) -> None:
        lifetimes = lifetimes or SessionLifetimes()
        self.database = database = Database(url)
        self._file = find_sqlite_file(url)
        self.users = Users(database, clock)
        self.invitations = Invitations(database, clock)
        self.password_resets = PasswordResets(database, clock)
        self.tokens = SessionTokens(database, clock, lifetimes.access, lifetimes.session)
        self.audit_log = AuditLog(database, clock)
        self.login_attempts = LoginAttempts(database, clock)
        self.login_places = LoginPlaces(database, clock)
        self.tool_keys = ToolKeys(database, clock, keys)
        self.source_keys = ToolKeys(database, clock, keys, SOURCE_SHELF)
        self.model_keys = ToolKeys(database, clock, keys, MODEL_SHELF)
        self.model_services = ModelServices(database, clock, self.model_keys)
        self.key_grants = KeyGrants(database, clock, keys)
        self.source_key_grants = KeyGrants(database, clock, keys, SOURCE_SHELF)
        self.key_consents = KeyConsents(database, clock, keys)
        self.vault_fingerprints = VaultFingerprints(database, clock, keys)
        self.allowed_tools = AllowedTools(database, clock)
        self.host_transfers = HostTransfers(database, clock)
        self.conversations = Conversations(database, clock)
        self.files = ConversationFiles(database, clock)
        self.runs = Runs(database, clock)
        self.run_history = RunHistory(database, clock)
        self.shared_answers = SharedAnswers(database, clock)
        self.daily_usage = DailyUsage(database, clock)
        self.user_limits = UserLimits(database, clock)
        self.usage_report = UsageReport(database, clock)
        self.performance = RunPerformance(database, clock)
        self.run_leases = RunLeases(database, clock)
        self.events = RunEvents(database, clock)
        self.lessons = WaitingLessons(database, clock)
        self.retention = EventRetention(database, clock)
        self.run_questions = RunQuestions(database, clock)
        self.effects = EffectLedger(database, clock)
        self.templates = Templates(database, clock)
        self.template_pins = TemplatePins(database, clock)
        self.tool_tries = ToolTries(database, clock)
        self.tool_marks = ToolMarks(database, clock)
        self.sources = Sources(database, clock)
        self.source_offers = SourceOffers(database, clock)
        self.source_checks = SourceChecks(database, clock)
        self.source_watches = SourceWatches(database, clock)
        self.row_counts = RowCounts(database, clock)
        self.jobs = Jobs(database, clock)
        self.job_leases = JobLeases(database, clock)

    async def check(self) -> None:
        """Check that the database can be used now.

        Raises:
            UnavailableError: it is not reachable, its tables have another version, or it cannot be written.
        """
        expected = await asyncio.to_thread(get_newest_version)
        try:
            current, takes_writes = await self._read_state()
        except ProgrammingError as error:
            raise UnavailableError("the database has no tables of ours: run scripts/migrate.py") from error
        if current != expected:
            raise UnavailableError(f"the database has version {current} of the tables, this program {expected}")
        if not takes_writes:
            raise UnavailableError(
                "the database can be read and not written: name a server in FOOTPATH_DATABASE_URL that takes writes (no standby, not read-only), or "
                "give this account the right to write the file and its folder"
            )

    async def _read_state(self) -> tuple[str | None, bool]:
        """Return the version of the tables and whether the database accepts writes, without writing.

        A database that is busy with another's write accepts writes, too.
        """
        version = "(SELECT version_num FROM alembic_version)"
        async with self.database.read_session() as session:
            if self._file is not None:
                current = await session.scalar(text(f"SELECT {version}"))
                return current, await asyncio.to_thread(_is_writable, self._file)
            refusal = "pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'"
            current, refuses = (await session.execute(text(f"SELECT {version}, {refusal}"))).one()
            return current, not refuses

    async def close(self) -> None:
        """Close its connections; idempotent."""
        await self.database.close()


def _is_writable(file: Path) -> bool:
    """Return whether an SQLite file and its folder can be written: SQLite creates further files beside it."""
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)


@asynccontextmanager
async def open_storage(settings: Settings, *, any_keys: bool = False) -> AsyncGenerator[Storage]:
    """Open the database of the settings, with its tables up to date.

    ``any_keys`` also accepts vault keys that are not those of the rows.

    Raises:
        UnavailableError: the database or the server's home is missing or cannot be used.
        UsageError: a setting is wrong.
    """
    url = await asyncio.to_thread(resolve_database_url, settings)
    keys = await asyncio.to_thread(load_vault_keyring, settings)
    await migrate(url)
    lifetimes = SessionLifetimes(timedelta(minutes=settings.access_minutes), timedelta(days=settings.session_days))
    storage = Storage(url, keys, lifetimes)
    try:
        if not any_keys:
            await storage.vault_fingerprints.check_and_note()
        yield storage
    finally:
        await storage.close()


def resolve_database_url(settings: Settings) -> str:
    """Return the URL of the database; creates the server's home where the file lies in it.

    Home and file are made accessible to their owner only.
    """
    url = settings.database_url.get_secret_value()
    if not url:
        try:
            settings.server_home.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER_MODE)
        except OSError as error:
            raise UnavailableError(
                f"cannot make the folder {settings.server_home}: {error.strerror}; set FOOTPATH_SERVER_HOME"
            ) from error
        url = build_sqlite_url(settings.server_home / "rows.db")
    keep_private(settings.server_home)
    if file := find_sqlite_file(url):
        make_database_private(file)
    return url


def get_key_file(settings: Settings) -> Path:
    """Return the file of the vault's keys, used where no setting holds them."""
    return settings.server_home / "vault.keys"


def load_vault_keyring(settings: Settings) -> Keyring:
    """Return the keyring of the settings, or of the file in the home, which is created where it is missing."""
    if text := settings.vault_keys.get_secret_value():
        keys = parse_keys(text)
        return Keyring(lambda: keys)
    return open_key_file(get_key_file(settings))
