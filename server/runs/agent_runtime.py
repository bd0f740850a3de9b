"""Runtime of the agent on a server: one container for each process, and an executor for each user.

The container is opened when first needed.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from agent.execution.executor import Executor
from agent.execution.secret_store import SecretStore
from agent.files.given_files import GivenFiles
from agent.learning.user_verdict import collect_answers, is_same_request
from agent.offer.tool_evidence import ToolEvidence
from agent.policy.protocol import Policy
from agent.request_reader import PlainReader
from agent.run_context import RunUser
from agent.scheduler import closing
from domain.errors import FootpathError, StoreUnreachableError, StoreVersionError, TransientError, UnavailableError
from domain.event import EventRecord
from domain.tool import ToolId
from server.encoders.services import StoredServices
from server.models.following import ModelFollower
from server.oauth.client import OAuth
from server.quotas import Quotas
from server.runs.approvals import READS_ONLY, UserApprover
from server.runs.call_layers import SourceKeysExecutor, VisibleExecutor
from server.runs.conversation_context import EarlierRuns, collect_statements, load_earlier_runs, load_run_files
from server.runs.event_journal import parse_events
from server.runs.given_plans import load_given_plan
from server.runs.questions import DurableQuestions, QuestionChannel, UserAsker
from server.runs.round_robin import RoundRobin
from server.runs.run_control import RunControl, build_call_layers
from server.runs.token_usage import RunTokenUsage, count_on_exit, restore_cost, start_token_usage, to_stored_usage
from server.runs.user_pool import UserPool
from server.sources.following import GraphFollower
from server.sources.visibility import Visibility, viewer
from server.storage.database import run_to_completion
from server.storage.runs import Run
from server.storage.source_records import Source
from server.storage.storage import Storage
from server.user_secrets import SourceSecrets, UserSecrets
from wiring.container import Container, open_container
from wiring.executors import create_live_executor
from wiring.forgetting import forget_owner, withdraw_shared
from wiring.lazy import Lazy
from wiring.links import link_after_run
from wiring.runs import build_budget, build_run_deps, run_and_learn
from wiring.served_models import ServedModels
from wiring.settings import Settings
from wiring.store_backends import StoreServers
from wiring.visible_container import hide_tools

_log = logging.getLogger(__name__)
REMEMBER_REQUEST = "worded"
"""Key in a run's settings: whether somebody may ask its request again, so that it is remembered."""
_ANSWERS = ("program.ended", "run.finished")
"""Kinds of events that hold a run's answer."""


@dataclass(frozen=True, slots=True)
class UserExecutor:
    """Executor and secrets for the calls of one user's runs."""

    executor: Executor
    secrets: UserSecrets

    async def close(self) -> None:
        """Close its connections."""
        await self.executor.close()


class AgentRuntime:
    """Container, executors and run factory of one process. Created by :func:`open_agent_runtime` only."""

    def __init__(
        self, settings: Settings, storage: Storage, quotas: Quotas, oauth: OAuth, stack: AsyncExitStack
    ) -> None:
        self._settings = settings
        self._storage = storage
        self._quotas = quotas
        self._oauth = oauth
        self._stack = stack
        self._container = Lazy(self._open_container)
        self._opened: Container | None = None
        self._version_mismatch = False
        self.mcp_changed = set[str]()
        self._executors = UserPool(self._create_user_executor)
        self._round_robin = RoundRobin()
        self.servers = StoreServers(settings, stack)
        self.visibility = Visibility(storage)
        self.follower = GraphFollower(storage, self.get_full_container)
        self._models: ModelFollower | None = None
        self._replay_executor = Lazy(self._open_replay_executor)
        stack.push_async_callback(self._executors.close)

    async def _open_container(self) -> Container:
        """Open the container, with the encoders and models that administrators configured."""
        container = await self._stack.enter_async_context(open_container(self._settings))
        container.mcp_changed = self.mcp_changed
        container.encoders.services = StoredServices(self._settings, self._storage.model_services)
        served = ServedModels(self._settings, container.shared_model)
        self._stack.push_async_callback(served.close)
        container.served_models, self._models = served, ModelFollower(self._storage, served)
        self._opened = container
        return container

    @property
    def runs_in_planning(self) -> int:
        """Return how many runs are being planned by rules, or wait for their turn to be planned."""
        return 0 if self._opened is None else self._opened.planning.runs

    async def get_container(self) -> Container:
        """Return the container with the tools that the user of the current request may see.

        It is opened once. Raises ``UnavailableError`` if there is no store; the next call tries again.
        """
        full, viewer_id = await self.get_full_container(), viewer()
        if viewer_id is None:
            return full
        return hide_tools(full, await self.visibility.hidden_tools(viewer_id, full.graph.get_tools))

    async def find_hidden_tools(self) -> frozenset[ToolId]:
        """Return the tools of sources that the user of the current request may not see.

        Without a store, the database decides alone.

        Raises:
            StoreUnreachableError: the store is on a server that does not answer.
        """
        user = viewer()
        if user is None:
            return frozenset()
        try:
            return await self.visibility.hidden_tools(user, (await self.get_full_container()).graph.get_tools)
        except StoreUnreachableError:
            raise
        except UnavailableError:
            return await self.visibility.hidden_tools(user, None)

    async def find_tools_hidden_from_author(self, user_id: str | None) -> frozenset[ToolId]:
        """Return the tools to hide in findings about the sources of this author.

        Without an author, only administrators read them, so nothing is hidden. Raises as :meth:`get_container`.
        """
        if user_id is None:
            return frozenset()
        return await self.visibility.hidden_from(user_id, (await self.get_full_container()).graph.get_tools)

    async def get_full_container(self) -> Container:
        """Return the container with every tool, whoever may see it. Raises as :meth:`get_container`."""
        return await self._container.get()

    async def get_full_container_with_models(self) -> Container:
        """Return the full container, with the language models that are online now.

        Raises as :meth:`get_container`, and as the database does.
        """
        container = await self.get_full_container()
        if self._models is not None:
            await self._models.follow()
        return container

    async def get_container_for_user(self, user_id: str) -> Container:
        """Return the container as this user's runs see it. Raises as :meth:`get_container`."""
        return hide_tools(await self.get_full_container(), await self._find_uncallable_tools(user_id))

    async def check_forgetting(self) -> None:
        """Raise ``UnavailableError`` where memories and solutions of an account could not be removed now.

        Where there is no store, nothing is kept, and nothing has to be removed.
        """
        try:
            container = await self.get_full_container()
            await (await container.memories()).count()
            await (await container.solution_store()).count()
        except UnavailableError as error:
            self._raise_unavailable(
                "nothing was removed: memories and solutions are out of reach, try again later", error
            )

    async def forget(self, user_id: str) -> None:
        """Remove a removed user's data outside the database.

        Raises ``UnavailableError`` where a store is out of reach by now.
        """
        try:
            await forget_owner(await self.get_full_container(), user_id)
        except UnavailableError as error:
            detail = f"memories or solutions of it are kept still, under the owner {user_id}"
            self._raise_unavailable(f"the account was removed; {detail}", error)

    async def withdraw_shared(self, user_id: str) -> None:
        """Stop sharing a disabled user's solutions that no administrator has approved. Raises ``UnavailableError``."""
        try:
            await withdraw_shared(await self.get_full_container(), user_id)
        except UnavailableError as error:
            detail = "what others share of its solutions could not be withdrawn, disable it once more"
            self._raise_unavailable(f"the account is disabled; {detail}", error)

    def _raise_unavailable(self, message: str, error: UnavailableError) -> None:
        """Raise ``UnavailableError`` with a message, unless no store that holds user data can exist."""
        if self._may_hold_user_data:
            _log.warning("%s: %s", message, error)  # only for the log: it names the store's address
            raise UnavailableError(f"{message}: {error.public_message}") from error

    @property
    def _may_hold_user_data(self) -> bool:
        """Return whether a store that holds user data may exist."""
        settings = self._settings
        return bool(settings.graph_url or settings.vector_url) or settings.store.exists()

    async def start_run(
        self, run: Run, past: Sequence[EventRecord], control: RunControl
    ) -> AsyncGenerator[EventRecord]:
        """Start or resume a run with its user's keys and memories, and return its events.

        Each change is approved and entered in the ledger before it is made.

        Raises:
            StoreVersionError: the store has another version than this server, and no other server shares it.
            TransientError: the same where another server may execute the run.
        """
        try:
            await self._open_search()
        except StoreVersionError as error:
            if self._storage.database.dialect == "sqlite":
                raise  # no other server shares this SQLite file, so nobody could execute the run
            raise TransientError(str(error)).set_part(error.part or "store") from error
        await asyncio.gather(self.get_full_container_with_models(), self.follower.follow())
        return self._stream_events(run, past, control)

    async def _open_search(self) -> None:
        """Open what only one process may own, and record whether the store has another version than this server."""
        try:
            await (await self.get_full_container()).open_search()
        except StoreVersionError:
            self._version_mismatch = True
            raise
        self._version_mismatch = False

    async def check_version(self) -> None:
        """Raise ``StoreVersionError`` while the store has another version than this server, as a run has found."""
        if self._version_mismatch:
            await asyncio.shield(self._open_search())  # opening may take longer than the caller waits

    async def _stream_events(
        self, run: Run, past: Sequence[EventRecord], control: RunControl
    ) -> AsyncGenerator[EventRecord]:
        """Execute a run: load its context, build its dependencies, and yield its events while counting its tokens."""
        container = await self.get_container_for_user(run.user_id)
        async with self._executors.borrow(run.user_id) as user_executor:
            questions = DurableQuestions(self._storage, run, QuestionChannel(control.flush, control.wait_for_user))
            deps = await build_run_deps(
                container, run.policy, user_executor.executor, run.planner, owner=run.user_id, model=run.model
            )
            earlier_runs = EarlierRuns(run, self._storage)
            # Independent queries: with a distant database, all of them take as long as one.
            files, usage, statements, wrong_answers, earlier = await asyncio.gather(
                load_run_files(run, self._storage, earlier_runs),
                self._start_token_usage(run, deps.planning.policy),
                collect_statements(run, self._storage, earlier_runs),
                self._find_wrong_answers(run),
                load_earlier_runs(run, self._storage, earlier_runs),
            )
            plan = load_given_plan(run)
            by_another = bool(statements.author_messages)
            approver = UserApprover(
                questions,
                ask_transfers=self._settings.flows == "ask",
                by_another=by_another,
                unchosen=run.planner == "retrieve",
                reads_only=bool(run.settings.get(READS_ONLY)),
            )
            layers = build_call_layers(
                self._storage, run, control, questions, partial(self._find_uncallable_tools, run.user_id)
            )
            remember = bool(run.settings.get(REMEMBER_REQUEST, True))
            deps = replace(
                deps,
                knowledge=deps.knowledge if remember else replace(deps.knowledge, memory=None),
                planning=replace(deps.planning, plan=plan),
                calls=replace(
                    deps.calls, layers=layers, approver=approver, has_ledger=True, secrets=user_executor.secrets
                ),
                user=RunUser(
                    UserAsker(questions, by_another=by_another),
                    plan_approver=questions.ask_about_plan if run.settings.get("stop_at_plan") else None,
                    statements=statements,
                    files=files,
                    wrong_answers=wrong_answers,
                ),
                host=replace(
                    deps.host,
                    find_exhausted_quota=usage.get_refusal,
                    is_resumable=True,
                    run_in_turns=self._round_robin.run,
                ),
            )
            budget = build_budget(container)
            events = run_and_learn(
                run.request,
                deps,
                budget.model_copy(update={"tokens": usage.compute_token_limit(budget.tokens)}),
                learn=container.settings.learn,
                is_over=control.is_owned,
                name=run.id,
                past=past,
                earlier=earlier,
                keeps_lessons=True,
            )
            async with (
                self._store_usage_on_exit(run, deps.planning.policy),
                count_on_exit(usage),
                closing(events) as records,
            ):
                async for record in records:
                    await usage.count()
                    yield record
            if container.settings.learn:
                await link_after_run(await self.get_full_container())

    async def _find_uncallable_tools(self, user_id: str) -> frozenset[ToolId]:
        """Return the tools that this user's runs may not call: hidden and banned ones."""
        container = await self.get_full_container()
        hidden, banned = await asyncio.gather(
            self.visibility.hidden_from(user_id, container.graph.get_tools),
            run_to_completion(self._storage.tool_marks.list_banned()),
        )
        return hidden | banned

    async def load_files(self, run: Run) -> GivenFiles:
        """Load the files that a run works on. Raises as ``load_run_files``."""
        return await load_run_files(run, self._storage)

    async def _find_wrong_answers(self, run: Run) -> frozenset[str]:
        """Return the answers to the same request that the user has marked as wrong."""
        judged_wrong = await self._storage.runs.list_judged_wrong(run.user_id)
        answers = {run_id: answer for run_id, request, answer in judged_wrong if is_same_request(request, run.request)}
        wrong_answers = set[str]()
        for run_id, answer in answers.items():  # the events of old runs may be removed; their answer is kept
            records = await parse_events(await self._storage.events.list_kinds(run_id, _ANSWERS))
            wrong_answers.update(collect_answers(records) or (answer,))
        return frozenset(wrong_answers)

    async def _start_token_usage(self, run: Run, policy: Policy) -> RunTokenUsage:
        uses_model = run.policy == "llm"
        restore_cost(policy.cost, run.usage)
        days = self._storage.daily_usage
        used, own_limits = await days.get_today_with_limits(run.user_id)
        quotas = self._quotas.of(own_limits)
        return await start_token_usage(days, run.user_id, quotas, policy.cost, uses_model=uses_model, used=used)

    @asynccontextmanager
    async def _store_usage_on_exit(self, run: Run, policy: Policy) -> AsyncGenerator[None]:
        """Store what a run has used when the block is left.

        A run may wait for its user and be resumed any number of times.
        """
        try:
            yield
        finally:
            if policy.cost.model_calls:
                await run_to_completion(self._store_usage(run, policy))

    async def _store_usage(self, run: Run, policy: Policy) -> None:
        try:
            await self._storage.run_leases.store_usage(run.id, run.worker or "", to_stored_usage(policy.cost))
        except FootpathError as error:
            _log.warning("what the run has taken could not be kept: %s", error)

    @asynccontextmanager
    async def borrow_executor(self, user_id: str) -> AsyncGenerator[Executor]:
        """Borrow the executor of a user's runs, for calls outside a run. Raises as :meth:`get_container`."""
        async with self._executors.borrow(user_id) as own:
            yield VisibleExecutor(own.executor, partial(self._find_uncallable_tools, user_id))

    async def get_replay_executor(self) -> Executor:
        """Return an executor that answers from recorded calls only. Raises as :meth:`get_container`."""
        return await self._replay_executor.get()

    async def _open_replay_executor(self) -> Executor:
        return await (await self.get_full_container()).open_executor("replay")

    async def collect_evidence(self, request: str, user_id: str) -> ToolEvidence:
        """Collect the evidence about tools for a request of this user. Raises as :meth:`get_container`."""
        container = await self.get_container_for_user(user_id)
        reader, search, flows = PlainReader(), await container.open_search(), await container.flows()
        parts, secrets = reader.split_request(request), await self.get_user_secrets(user_id)
        return ToolEvidence(parts, container.graph, search, container.weights, secrets, flows, reader)

    async def get_user_secrets(self, user_id: str) -> UserSecrets:
        """Return a user's own secrets, with those that are shared with everyone. Raises as :meth:`get_container`."""
        shared = await (await self.get_full_container()).secrets()
        return UserSecrets(self._storage.tool_keys, self._oauth.of_users, user_id, shared)

    async def get_call_secrets(self, source: Source, user_id: str | None) -> SecretStore:
        """Return the keys that calls of a source send for this user; None stands for the source's author.

        Raises as :meth:`get_container`.
        """
        if source.keys_of == "source":
            return await self._get_source_secrets(source.id)
        return await self.get_user_secrets(user_id or source.author_id or "")

    async def _get_source_secrets(self, source_id: str) -> SourceSecrets:
        shared = await (await self.get_full_container()).secrets()
        return SourceSecrets(self._storage.source_keys, self._oauth.of_sources, source_id, shared)

    async def _create_user_executor(self, user_id: str) -> UserExecutor:
        """Create a user's executor. Connections are kept between the user's runs, and shared with no other user."""
        secrets = await self.get_user_secrets(user_id)
        own_executor = create_live_executor(await self.get_full_container(), secrets, user_id)
        create_source_executor = partial(self._create_source_executor, user_id)
        return UserExecutor(
            SourceKeysExecutor(own_executor, self._storage.source_offers.get_keys_of, create_source_executor), secrets
        )

    async def _create_source_executor(self, user_id: str, source_id: str) -> Executor:
        secrets = await self._get_source_secrets(source_id)
        return create_live_executor(await self.get_full_container(), secrets, f"{user_id} {source_id}")


@asynccontextmanager
async def open_agent_runtime(
    settings: Settings, storage: Storage, quotas: Quotas, oauth: OAuth
) -> AsyncGenerator[AgentRuntime]:
    """Open the runtime for the time of the block.

    Nothing is opened before the first run needs it, and all is closed at the end.
    """
    async with AsyncExitStack() as stack:
        yield AgentRuntime(settings, storage, quotas, oauth, stack)
