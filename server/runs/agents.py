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
from agent.execution.secrets import Secrets
from agent.files.given import GivenFiles
from agent.learning.verdict import answers_of, same_words
from agent.offer.tool_facts import Evidence
from agent.policy.protocol import Policy
from agent.request_reader import PlainReader
from agent.run_context import RunUser
from agent.scheduler import closing
from domain.errors import FootpathError, PassingError, StoreUnreachableError, StoreVersionError, UnavailableError
from domain.event import EventRecord
from domain.tool import ToolId
from server.encoders.services import StoredServices
from server.models.following import ModelFollower
from server.oauth.client import OAuth
from server.quotas import Quotas
from server.runs.approvals import READS_ONLY, UserApprover
from server.runs.asking import UserAsker
from server.runs.control import RunControl, call_layers
from server.runs.conversation_context import EarlierRuns, runs_before, voices_of
from server.runs.given_files import files_of
from server.runs.given_plans import given_plan
from server.runs.journal import records_of
from server.runs.questions import Asks, Questions
from server.runs.round_robin import RoundRobin
from server.runs.source_keys import SourceKeysExecutor
from server.runs.token_usage import TokenUsage, counting, go_on_from, taken_so_far, token_usage
from server.runs.user_pool import UserPool
from server.runs.visible_calls import VisibleExecutor
from server.sources.following import GraphFollower
from server.sources.visibility import Visibility, viewer
from server.storage.database import run_to_completion
from server.storage.runs import Run
from server.storage.source_records import Source
from server.storage.storage import Storage
from server.user_secrets import SourceSecrets, UserSecrets
from wiring.container import Container, open_container
from wiring.executors import live_executor
from wiring.forgetting import forget_owner, withdraw_shared
from wiring.lazy import Lazy
from wiring.links import link_news
from wiring.runs import budget_of, run_and_learn, run_deps
from wiring.served_models import ServedModels
from wiring.settings import Settings
from wiring.store_servers import StoreServers
from wiring.visible import visible

_log = logging.getLogger(__name__)
WORDED = "worded"
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


class Agents:
    """Container, executors and run factory of one process. Created by :func:`open_agents` only."""

    def __init__(
        self, settings: Settings, storage: Storage, quotas: Quotas, oauth: OAuth, stack: AsyncExitStack
    ) -> None:
        self._settings = settings
        self._storage = storage
        self._quotas = quotas
        self._oauth = oauth
        self._stack = stack
        self._container = Lazy(self._open)
        self._opened: Container | None = None
        self._unfit = False
        self.mcp_changed = set[str]()
        self._executors = UserPool(self._user_executor)
        self._round_robin = RoundRobin()
        self.servers = StoreServers(settings, stack)
        self.visibility = Visibility(storage)
        self.follower = GraphFollower(storage, self.whole)
        self._models: ModelFollower | None = None
        self._recorded = Lazy(self._open_recorded)
        stack.push_async_callback(self._executors.close)

    async def _open(self) -> Container:
        container = await self._stack.enter_async_context(open_container(self._settings))
        container.mcp_changed = self.mcp_changed
        container.encoders.services = StoredServices(self._settings, self._storage.model_services)
        served = ServedModels(self._settings, container.shared_model)
        self._stack.push_async_callback(served.close)
        container.served_models, self._models = served, ModelFollower(self._storage, served)
        self._opened = container
        return container

    @property
    def planned(self) -> int:
        """Return how many runs are being planned by rules, or wait for their turn to be planned."""
        return 0 if self._opened is None else self._opened.planning.runs

    async def container(self) -> Container:
        """Return the container as the user of this request may see it.

        It is opened once. Raises ``UnavailableError`` where there is no store; the next call tries again.
        """
        whole, user = await self.whole(), viewer()
        if user is None:
            return whole
        return visible(whole, await self.visibility.hidden_tools(user, whole.graph.get_tools))

    async def hidden(self) -> frozenset[ToolId]:
        """Return the tools of sources that the user of this request may not see.

        Without a store, the database rows decide alone. Raises ``StoreUnreachableError``.
        """
        user = viewer()
        if user is None:
            return frozenset()
        try:
            return await self.visibility.hidden_tools(user, (await self.whole()).graph.get_tools)
        except StoreUnreachableError:
            raise
        except UnavailableError:
            return await self.visibility.hidden_tools(user, None)

    async def hidden_from_author(self, user_id: str | None) -> frozenset[ToolId]:
        """Return the tools that a reader of findings about this author's sources may not see.

        Without an author only administrators read them, and nothing is hidden. Raises as :meth:`container`.
        """
        if user_id is None:
            return frozenset()
        return await self.visibility.hidden_from(user_id, (await self.whole()).graph.get_tools)

    async def whole(self) -> Container:
        """Return the container with every tool, whoever may see it. Raises as :meth:`container`."""
        return await self._container.get()

    async def whole_with_models(self) -> Container:
        """Return the full container, with the language models that are online now.

        Raises as :meth:`container`, and as the database does.
        """
        container = await self.whole()
        if self._models is not None:
            await self._models.follow()
        return container

    async def seen_by(self, user_id: str) -> Container:
        """Return the container as this user's runs see it. Raises as :meth:`container`."""
        return visible(await self.whole(), await self._hidden_from(user_id))

    async def check_forgetting(self) -> None:
        """Raise ``UnavailableError`` where memories and solutions of an account could not be removed now.

        Where there is no store, nothing is kept, and nothing has to be removed.
        """
        try:
            container = await self.whole()
            await (await container.memories()).count()
            await (await container.solution_store()).count()
        except UnavailableError as error:
            self._refuse("nothing was removed: memories and solutions are out of reach, try again later", error)

    async def forget(self, user_id: str) -> None:
        """Remove a removed user's data outside the database.

        Raises ``UnavailableError`` where a store is out of reach by now.
        """
        try:
            await forget_owner(await self.whole(), user_id)
        except UnavailableError as error:
            kept = f"memories or solutions of it are kept still, under the owner {user_id}"
            self._refuse(f"the account was removed; {kept}", error)

    async def withdraw_shared(self, user_id: str) -> None:
        """Stop sharing what came from a disabled user without an administrator's approval. Raises ``UnavailableError``."""
        try:
            await withdraw_shared(await self.whole(), user_id)
        except UnavailableError as error:
            again = "what others share of its solutions could not be withdrawn, disable it once more"
            self._refuse(f"the account is disabled; {again}", error)

    def _refuse(self, said: str, error: UnavailableError) -> None:
        """Raise ``UnavailableError`` with a message, unless no store that holds user data can exist."""
        if self._may_keep:
            _log.warning("%s: %s", said, error)  # only for the log: it names the store's address
            raise UnavailableError(f"{said}: {error.public_message}") from error

    @property
    def _may_keep(self) -> bool:
        """Return whether a store that holds user data may exist."""
        settings = self._settings
        return bool(settings.graph_url or settings.vector_url) or settings.store.exists()

    async def begin(self, run: Run, past: Sequence[EventRecord], control: RunControl) -> AsyncGenerator[EventRecord]:
        """Return the events of a run that uses its user's keys and memories.

        Each change is approved and entered in the ledger before it is made.
        """
        try:
            await self._open_search()
        except StoreVersionError as error:
            if self._storage.database.dialect == "sqlite":
                raise  # no other server shares this SQLite file, so nobody could execute the run
            raise PassingError(str(error)).of(error.part or "store") from error
        await asyncio.gather(self.whole_with_models(), self.follower.follow())
        return self._events(run, past, control)

    async def _open_search(self) -> None:
        """Open what only one process may own.

        Where another process owns it, ``StoreVersionError`` leaves the run to that process.
        """
        try:
            await (await self.whole()).search()
        except StoreVersionError:
            self._unfit = True
            raise
        self._unfit = False

    async def check_version(self) -> None:
        """Raise ``StoreVersionError`` while the store has another version than this server, as a run has found."""
        if self._unfit:
            await asyncio.shield(self._open_search())  # it may outlast the caller, who is cancelled after a while

    async def _events(self, run: Run, past: Sequence[EventRecord], control: RunControl) -> AsyncGenerator[EventRecord]:
        container = await self.seen_by(run.user_id)
        async with self._executors.borrowed(run.user_id) as own:
            questions = Questions(self._storage, run, Asks(control.told, control.waits), container.graph.get_tools)
            deps = await run_deps(container, run.policy, own.executor, run.planner, owner=run.user_id, model=run.model)
            before = EarlierRuns(run, self._storage)
            # Independent queries: with a distant database, all of them take as long as one.
            files, spent, voices, plan, wrong, earlier = await asyncio.gather(
                files_of(run, self._storage, before),
                self._spending(run, deps.planning.policy),
                voices_of(run, self._storage, before),
                given_plan(run, container.graph.get_tools),
                self._wrong_answers(run),
                runs_before(run, self._storage, before),
            )
            by_another = bool(voices.others_said)
            approver = UserApprover(
                questions,
                ask_transfers=self._settings.flows == "ask",
                by_another=by_another,
                unchosen=run.planner == "retrieve",
                reads_only=bool(run.settings.get(READS_ONLY)),
            )
            layers = call_layers(self._storage, run, control, questions, partial(self._hidden_from, run.user_id))
            worded = bool(run.settings.get(WORDED, True))
            deps = replace(
                deps,
                knowledge=deps.knowledge if worded else replace(deps.knowledge, memory=None),
                planning=replace(deps.planning, plan=plan),
                calls=replace(deps.calls, layers=layers, approver=approver, ledger=True, secrets=own.secrets),
                user=RunUser(
                    UserAsker(questions, by_another=by_another),
                    approves=questions.about_plan if run.settings.get("stop_at_plan") else None,
                    voices=voices,
                    files=files,
                    wrong_answers=wrong,
                ),
                host=replace(deps.host, used_up=spent.used_up, taken_up=True, in_turn=self._round_robin.do),
            )
            budget = budget_of(container)
            made = run_and_learn(
                run.request,
                deps,
                budget.model_copy(update={"tokens": spent.most_tokens(budget.tokens)}),
                learn=container.settings.learn,
                ended=control.held,
                name=run.id,
                past=past,
                earlier=earlier,
                keeps=True,
            )
            async with self._kept(run, deps.planning.policy), counting(spent), closing(made) as records:
                async for record in records:
                    await spent.count()
                    yield record
            if container.settings.learn:
                await link_news(await self.whole())

    async def _hidden_from(self, user_id: str) -> frozenset[ToolId]:
        """Return the tools that this user's runs may not call: hidden ones, and those that an administrator has banned."""
        whole = await self.whole()
        hidden, banned = await asyncio.gather(
            self.visibility.hidden_from(user_id, whole.graph.get_tools),
            run_to_completion(self._storage.tool_marks.list_banned()),
        )
        return hidden | banned

    async def files_of(self, run: Run) -> GivenFiles:
        """Load the files that a run works on. Raises as :func:`files_of`."""
        return await files_of(run, self._storage)

    async def _wrong_answers(self, run: Run) -> frozenset[str]:
        """Return the answers to the same request that the user has marked as wrong."""
        said = await self._storage.runs.list_judged_wrong(run.user_id)
        answers = {one: answer for one, request, answer in said if same_words(request, run.request)}
        found = set[str]()
        for one, answer in answers.items():  # the events of old runs may be removed; their answer is kept
            records = await records_of(await self._storage.events.list_kinds(one, _ANSWERS))
            found.update(answers_of(records) or (answer,))
        return frozenset(found)

    async def _spending(self, run: Run, policy: Policy) -> TokenUsage:
        takes_tokens = run.policy == "llm"
        go_on_from(policy.cost, run.usage)
        days = self._storage.daily_usage
        used, own = await days.get_today_with_limits(run.user_id)
        quotas = self._quotas.of(own)
        return await token_usage(days, run.user_id, quotas, policy.cost, model=takes_tokens, used=used)

    @asynccontextmanager
    async def _kept(self, run: Run, policy: Policy) -> AsyncGenerator[None]:
        """Store what a run has used when the block is left.

        A run may wait for its user and be resumed any number of times.
        """
        try:
            yield
        finally:
            if policy.cost.model_calls:
                await run_to_completion(self._keep_usage(run, policy))

    async def _keep_usage(self, run: Run, policy: Policy) -> None:
        try:
            await self._storage.run_leases.store_usage(run.id, run.worker or "", taken_so_far(policy.cost))
        except FootpathError as error:
            _log.warning("what the run has taken could not be kept: %s", error)

    @asynccontextmanager
    async def executor_of(self, user_id: str) -> AsyncGenerator[Executor]:
        """Borrow the executor of a user's runs, for calls outside a run. Raises as :meth:`container`."""
        async with self._executors.borrowed(user_id) as own:
            yield VisibleExecutor(own.executor, partial(self._hidden_from, user_id))

    async def recorded(self) -> Executor:
        """Return an executor that answers from recorded calls and reaches nothing else. Raises as :meth:`container`."""
        return await self._recorded.get()

    async def _open_recorded(self) -> Executor:
        return await (await self.whole()).executor("replay")

    async def evidence(self, request: str, user_id: str) -> Evidence:
        """Collect the evidence about tools for a request, as a run of this user sees them. Raises as :meth:`container`."""
        container = await self.seen_by(user_id)
        reader, search, flows = PlainReader(), await container.search(), await container.flows()
        parts, secrets = reader.parts(request), await self.secrets_of(user_id)
        return Evidence(parts, container.graph, search, container.weights, secrets, flows, reader)

    async def secrets_of(self, user_id: str) -> UserSecrets:
        """Return a user's own secrets, with those that are shared with everyone. Raises as :meth:`container`."""
        shared = await (await self.whole()).secrets()
        return UserSecrets(self._storage.tool_keys, self._oauth.of_users, user_id, shared)

    async def secrets_for(self, source: Source, user_id: str | None) -> Secrets:
        """Return the keys that calls of a source send for this user; None stands for the source's author.

        Raises as :meth:`container`.
        """
        if source.keys_of == "source":
            return await self._secrets_of_source(source.id)
        return await self.secrets_of(user_id or source.author_id or "")

    async def _secrets_of_source(self, source_id: str) -> SourceSecrets:
        shared = await (await self.whole()).secrets()
        return SourceSecrets(self._storage.source_keys, self._oauth.of_sources, source_id, shared)

    async def _user_executor(self, user_id: str) -> UserExecutor:
        """Create a user's executor. Connections are kept between the user's runs, and shared with no other user."""
        secrets = await self.secrets_of(user_id)
        own = live_executor(await self.whole(), secrets, user_id)
        of_source = partial(self._source_executor, user_id)
        return UserExecutor(SourceKeysExecutor(own, self._storage.source_offers.get_keys_of, of_source), secrets)

    async def _source_executor(self, user_id: str, source_id: str) -> Executor:
        secrets = await self._secrets_of_source(source_id)
        return live_executor(await self.whole(), secrets, f"{user_id} {source_id}")


@asynccontextmanager
async def open_agents(settings: Settings, storage: Storage, quotas: Quotas, oauth: OAuth) -> AsyncGenerator[Agents]:
    """Open the runtime for the time of the block.

    Nothing is opened before the first run needs it, and all is closed at the end.
    """
    async with AsyncExitStack() as stack:
        yield Agents(settings, storage, quotas, oauth, stack)
