"""What the operations work with: made when the server starts, closed when it ends."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path

from domain.client_addresses import TrustedProxies
from domain.event import EventRecord
from server.auth.accounts import Accounts
from server.auth.passwords import Passwords
from server.backup import interrupted
from server.cleanup import tidying
from server.data.room import ServerData
from server.data.taking_place import restored_at_start, tell_of_restore
from server.jobs.all_kinds import job_kinds
from server.jobs.homes import home_id
from server.jobs.runner import JobRunner, making_jobs
from server.library.catalogue import Catalogue
from server.limits import Limits, limits_of
from server.local_checks import local_checks
from server.models.testing import ServiceTests
from server.oauth.client import OAuth, open_oauth
from server.readiness import Readiness
from server.runs.agent_runtime import AgentRuntime, open_agent_runtime
from server.runs.event_stream import EventBroker, StreamSessions, watch_sessions
from server.runs.late_lessons import run_late_learner
from server.runs.store_outage import RetryWait
from server.runs.worker import RunWorker, WorkerParameters, run_worker
from server.runs.worker_locks import find_dead_workers, forget_workers, hold_worker_lock
from server.sources.at_work import sources_at_work
from server.sources.checking import SourceChecker
from server.sources.registry import SourceRegistry
from server.sources.store_access import StoreAccess
from server.sources.watching import SourceWatch
from server.storage.runs import Run
from server.storage.storage import Storage, open_storage
from server.watching.metrics import Metrics
from server.watching.tracing import Tracing, tracing
from wiring.settings import Settings


@dataclass(frozen=True, slots=True)
class Services:
    """One process's."""

    settings: Settings
    storage: Storage
    accounts: Accounts
    worker: RunWorker
    broker: EventBroker
    followed: StreamSessions
    agents: AgentRuntime
    oauth: OAuth
    sources: SourceRegistry
    checker: SourceChecker
    watch: SourceWatch
    jobs: JobRunner
    data: ServerData
    limits: Limits
    readiness: Readiness
    metrics: Metrics
    traces: Tracing
    proxies: TrustedProxies
    model_tests: ServiceTests
    catalogue: Catalogue = field(default_factory=Catalogue)


@asynccontextmanager
async def open_services(
    settings: Settings, passwords: Passwords | None = None, metrics: Metrics | None = None
) -> AsyncGenerator[Services]:
    """Bring the tables up to date and open what operations need.

    Raises:
        UnavailableError: the database or the home is not there or cannot be used. UsageError: a setting is wrong.
    """
    broker, metrics = EventBroker(), metrics or Metrics()
    retry_wait, limits = RetryWait(timedelta(seconds=settings.outage_seconds)), limits_of(settings)
    parameters = WorkerParameters(settings.runs_at_once, settings.lease_seconds, retry_wait=retry_wait)
    restored = await restored_at_start(settings)
    async with (
        _traced(settings) as traces,
        open_storage(settings) as storage,
        open_oauth(settings, storage) as oauth,
        open_agent_runtime(settings, storage, limits.quotas, oauth) as agents,
        AsyncExitStack() as stopping,
    ):

        def stored(run: Run, record: EventRecord) -> None:
            metrics.stored(run, record)
            traces.stored(run, record)

        storage.database.on_error = metrics.database_failed
        accounts = Accounts(
            storage, passwords or Passwords(), settings.registration, settings.login_attempts, settings.registrations
        )
        await asyncio.to_thread(interrupted.check, settings.server_home)
        await tell_of_restore(settings, storage, restored)
        for shelf in (storage.tool_keys, storage.source_keys, storage.model_keys):
            await shelf.bind_hosts()
        await _take_up(storage, settings.server_home)
        stopping.push_async_callback(agents.follower.links.close)
        await agents.follower.at_start()
        data = ServerData(settings, storage, agents)
        checks = {
            "database": storage.check,
            "graph": agents.servers.check_graph,
            "vectors": agents.servers.check_vectors,
        }
        readiness = Readiness({**checks, **local_checks(settings, agents.check_version)})
        # Rows in a file are this machine's alone: nobody else could make a run that finds no store here, and its failure tells what to do.
        ignored = ("store",) if storage.database.dialect == "sqlite" else ()
        async with (
            run_worker(
                storage,
                agents.start_run,
                broker,
                parameters,
                stored,
                partial(readiness.check, ignored),
                lambda: agents.runs_in_planning,
            ) as worker,
            tidying(storage, settings.event_days),
            run_late_learner(storage, agents, worker.name, readiness.check),
            watch_sessions(storage) as followed,
            sources_at_work(
                storage,
                StoreAccess(
                    settings,
                    agents.get_full_container_with_models,
                    agents.get_call_secrets,
                    agents.find_tools_hidden_from_author,
                    agents.mcp_changed,
                ),
                agents.follower.after,
                worker.name,
            ) as sources,
            making_jobs(
                storage,
                job_kinds(data, settings, storage, agents),
                worker.name,
                await asyncio.to_thread(home_id, settings.server_home),
                settings.lease_seconds,
            ) as jobs,
        ):
            metrics.watch(lambda: worker.in_hand, lambda: broker.followers)
            try:
                async with hold_worker_lock(settings.server_home, worker.name):
                    yield Services(
                        settings=settings,
                        storage=storage,
                        accounts=accounts,
                        worker=worker,
                        broker=broker,
                        followed=followed,
                        agents=agents,
                        oauth=oauth,
                        sources=sources.registry,
                        checker=sources.checker,
                        watch=sources.watch,
                        jobs=jobs,
                        data=data,
                        limits=limits,
                        readiness=readiness,
                        metrics=metrics,
                        traces=traces,
                        proxies=TrustedProxies(settings.trusted_proxies),
                        model_tests=ServiceTests(settings),
                    )
            finally:
                broker.close()


async def _take_up(storage: Storage, home: Path) -> None:
    """Queue what workers of this home had in hand when they were killed."""
    killed = await asyncio.to_thread(find_dead_workers, home)
    if killed:
        await storage.run_leases.release_workers(killed)
        await storage.job_leases.release_workers(killed)
        await storage.lessons.release_workers(killed)
        await storage.source_checks.abort_lost(killed)
        await asyncio.to_thread(forget_workers, home, killed)


@asynccontextmanager
async def _traced(settings: Settings) -> AsyncGenerator[Tracing]:
    traces = await asyncio.to_thread(tracing, settings)
    try:
        yield traces
    finally:
        await asyncio.to_thread(traces.close)
