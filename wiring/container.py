"""Container: creates objects from settings when they are first needed, and closes all of them.

Adapters are imported when first needed.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from agent.compression.field_selection import FieldChoices
from agent.execution.executor import Executor
from agent.execution.host_memory import HostMemory
from agent.execution.secret_store import SecretStore
from agent.llm.client.chat import ChatModel
from agent.memory.long_term import LongTermMemory
from agent.offer.offer_maker import OfferMaker
from agent.offer.tool_evidence import CachedGraphReads
from agent.policy.protocol import Policy
from agent.programs.program_types import ProgramForm, Sandbox
from agent.solutions.library import SolutionLibrary
from domain.errors import FootpathError, UsageError
from domain.memory import MemoryStore
from domain.solution import PatternIndex, SolutionStore
from domain.tool import ToolId
from graph.dataflow import FlowStore
from graph.links import LinkedGraph
from graph.recordings import RecordingStore
from graph.weights import WeightParameters
from offline.planning_time import PlanningTurns
from retriever.experience import ToolExperience
from retriever.index import Embedder, VectorIndex
from retriever.lexical import LexicalIndex, LexicalReader
from retriever.search import ToolSearch
from wiring.encoder_state import FolderNotes, NoteStore
from wiring.encoders import read_encoder_identity
from wiring.lazy import Lazy, set_up
from wiring.named_secrets import read_secrets
from wiring.optional_stores import open_or_unavailable
from wiring.program_forms import get_form, read_forms
from wiring.reranker import get_reranker
from wiring.secret_files import read_secret_files
from wiring.settings import Settings, list_variables, read_settings, warn_of_unknown_settings
from wiring.store_backends import (
    adopt_programs,
    copy_flows_to_server,
    create_field_choice_store,
    create_flow_store,
    create_memory_store,
    create_pattern_index,
    create_solution_store,
    get_vector_address,
)
from wiring.store_encoders import StoreEncoders
from wiring.store_folder import StoreFolder

_log = logging.getLogger(__name__)


@lru_cache
def limit_blas_threads() -> None:
    """Multiply matrices with one thread, for the rest of the process.

    A search multiplies small matrices, and after each of them further threads of OpenBLAS would spin for a while on the
    cores that the encoder needs (docs/benchmarks.md).
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, user_api="blas")


if TYPE_CHECKING:
    from agent.execution.mcp import McpSessions
    from retriever.backends.qdrant import QdrantIndex
    from wiring.models import SharedModel
    from wiring.served_models import ServedModels


class Container:
    """Objects of one process. Created by :func:`open_container` only."""

    def __init__(
        self,
        settings: Settings,
        folder: StoreFolder,
        graph: LinkedGraph,
        stack: AsyncExitStack,
        *,
        embedded: bool,
        forms: Mapping[str, ProgramForm] | None = None,
    ) -> None:
        self.settings = settings
        self.vectors_on_server = bool(settings.vector_url) and not embedded
        self.graph_on_server = bool(settings.graph_url) and not embedded
        self.folder = folder
        on_servers = bool(settings.graph_url or settings.vector_url) and not embedded  # --store names an embedded one
        self.reindex_command = "python scripts/reindex.py" + (
            "" if on_servers else f" --store {quote(str(folder.root))}"
        )
        self.graph = graph
        self.hidden: frozenset[ToolId] = (
            frozenset()
        )  # tools that this container does not show (wiring.visible_container)
        self._stack = stack
        self._notes = Lazy(self._open_notes)
        self.encoders = StoreEncoders(settings, self._notes.get, self._create_index, stack)
        self.words = LexicalIndex(folder.lexical)
        self._recordings = Lazy(self._open_recordings)
        self._memories = Lazy(self._open_memories)
        self._solutions = Lazy(self._open_solutions)
        self._patterns = Lazy(self._open_patterns)
        self._adopted = Lazy(self._adopt_programs)
        self._flows = Lazy(self._open_flows)
        self._secrets: Lazy[SecretStore] = Lazy(lambda: asyncio.to_thread(read_secrets))
        self.words_lock = asyncio.Lock()  # held while the words are rebuilt
        self.change_lock = asyncio.Lock()  # held while tools are admitted or withdrawn, or links computed
        self._field_choices: FieldChoices | None = None
        self.planning = PlanningTurns(settings.planning_seconds)
        self._sandbox: Sandbox | None = None
        self._mcp_sessions: McpSessions | None = None
        self.host_memory = HostMemory()
        self.mcp_changed = set[str]()  # addresses of MCP servers whose list of tools has changed
        self._models: dict[str, SharedModel] = {}
        self.served_models: ServedModels | None = (
            None  # asked in addition to the models of the settings, or in their place
        )
        self._forms = forms or {}
        self._warmed_up: Embedder | None = None

    @property
    def weights(self) -> WeightParameters:
        """Return the parameters of the weight formulas."""
        settings = self.settings
        return WeightParameters(settings.weights, settings.alpha, settings.half_life, settings.beta, settings.gamma)

    async def get_retrieval(self) -> tuple[Embedder, VectorIndex, LexicalIndex]:
        """Return encoder, vectors in use and lexical index, each opened once.

        Only one process may own an embedded index.
        """
        vectors = await self.encoders.open_current()
        return vectors.embedder, vectors.index, self.words

    async def get_vectors_folder(self) -> Path:
        """Return the folder of the vectors in use, for a store in a folder."""
        return self.folder.root / (await self.encoders.get_current_vectors()).place

    def _create_index(self, folder_name: str) -> VectorIndex:
        if self.vectors_on_server:
            return self.create_server_index()
        from retriever.backends.edge import EdgeIndex

        return EdgeIndex(self.folder.root / folder_name, self.reindex_command)

    async def _open_notes(self) -> NoteStore:
        notes: NoteStore
        if self.vectors_on_server:
            from retriever.backends.qdrant_side_collections import QdrantNotes

            notes = QdrantNotes(get_vector_address(self.settings), name=self.settings.vector_collection)
        else:
            notes = FolderNotes(self.folder.root)
        self._stack.push_async_callback(notes.close)
        return notes

    async def open_search(self, experience: ToolExperience | None = None) -> ToolSearch:
        """Return a search over the indexed tools, with encoder and words loaded now rather than by the first question.

        The words follow what other machines have indexed. ``experience``: evidence of walks for the re-ranker, in place
        of this store's.
        """
        await self.make_ready()
        embedder, index, lexical = await self.get_search_indexes()
        reranker = await get_reranker(self.settings, embedder)
        if reranker is None:
            return ToolSearch(embedder, index, lexical)
        experience = experience or await self.create_experience(embedder)
        return ToolSearch(embedder, index, lexical, reranker=reranker, experience=experience)

    async def make_ready(self) -> None:
        """Load encoder and words, and follow what other processes have switched to and indexed."""
        from wiring.indexing import follow_others

        await follow_others(self)
        embedder, _, lexical = await self.get_retrieval()
        if self._warmed_up is not embedder:
            await asyncio.gather(
                embedder.embed(["ready"], "query"), embedder.get_cosine_scale(), lexical.match("ready")
            )
            await asyncio.to_thread(limit_blas_threads)
            self._warmed_up = embedder

    async def get_search_indexes(self) -> tuple[Embedder, VectorIndex, LexicalReader]:
        """Return the encoder, the vectors and the words that a search reads."""
        return await self.get_retrieval()

    async def create_experience(self, embedder: Embedder | None = None) -> ToolExperience:
        """Create the evidence of walks and served requests for a re-ranker.

        Requests are compared by vectors of this encoder, by default of the one in use.
        """
        from wiring.reranker import StoreExperience

        return StoreExperience(self.graph, await self.memories_or_unavailable(), embedder or await self.embedder())

    async def list_searched_tools(self) -> Sequence[ToolId]:
        """Return all tools that the search covers, ordered by id. The words follow what other machines have indexed."""
        from wiring.indexing import follow_words

        _, index, lexical = await self.get_retrieval()
        async with self.words_lock:
            await follow_words(self.graph, index, lexical)
        return await lexical.list_ids()

    async def create_offer_maker(self, search: ToolSearch | None = None) -> OfferMaker:
        """Create the offer maker of one run. ``search``: the run's own search, by default a new one."""
        search = search or await self.open_search()
        return OfferMaker(search, CachedGraphReads.wrap(self.graph), search, self.weights)

    def create_server_index(self) -> "QdrantIndex":
        """Create an index on the server of the settings, not set up; the caller closes it."""
        from retriever.backends.qdrant import QdrantIndex

        settings = self.settings
        return QdrantIndex(
            get_vector_address(settings), name=settings.vector_collection, quantization=settings.vector_quantization
        )

    async def recordings(self) -> RecordingStore:
        """Return the recorded calls of this store, opened once."""
        return await self._recordings.get()

    async def _open_recordings(self) -> RecordingStore:
        from graph.backends.sqlite_recordings import SqliteRecordings

        return await set_up(SqliteRecordings(self.folder.recordings), self._stack)

    async def memory(self) -> LongTermMemory:
        """Return this store's memory of served requests, for the owner of the settings."""
        return LongTermMemory(await self.memories(), await self.embedder(), self.settings.owner)

    async def memories(self) -> MemoryStore:
        """Return the memories of all owners, opened once."""
        return await self._memories.get()

    async def memories_or_unavailable(self) -> MemoryStore:
        """Return the memories; where they cannot be opened, a store that refuses every call.

        Runs go on without memories.
        """
        return await open_or_unavailable(self.memories, "memories", on_server=self.vectors_on_server)

    async def _open_memories(self) -> MemoryStore:
        memories = create_memory_store(self.settings, self.folder.memories, on_server=self.vectors_on_server)
        return await set_up(memories, self._stack)

    async def solutions(self, owner: str | None = None, embedder: Embedder | None = None) -> SolutionLibrary:
        """Return the library of solutions; a store that is out of reach refuses every call.

        ``owner``: by default the one of the settings. ``embedder``: finds the solutions, by default the encoder in use.
        """
        store = await open_or_unavailable(self._solutions.get, "solutions", on_server=self.graph_on_server)
        index = await open_or_unavailable(self._patterns.get, "patterns of solutions", on_server=self.vectors_on_server)
        await self._adopted.get()
        library_owner = self.settings.owner if owner is None else owner
        shares_by_agreement = (
            self.settings.registration != "open"
        )  # with open registration, several accounts may be one person
        encoder = embedder or await self.embedder()
        return SolutionLibrary(
            store, index, encoder, library_owner, self.graph, self.hidden, shares_by_agreement=shares_by_agreement
        )

    async def solution_store(self) -> SolutionStore:
        """Return the solutions of all owners, opened once."""
        store = await self._solutions.get()
        await self._adopted.get()
        return store

    async def _adopt_programs(self) -> bool:
        """Turn the programs that earlier versions kept with memories into solutions; return whether that succeeded.

        Where it did not, another process may still do it.
        """
        if not self.vectors_on_server and not await asyncio.to_thread(self.folder.memories.exists):
            return True
        try:
            store, index = await self._solutions.get(), await self._patterns.get()
            library = SolutionLibrary(store, index, await self.embedder(), "", self.graph)
            await adopt_programs(await self.memories_or_unavailable(), library)
        except FootpathError as error:
            _log.warning("programs of memories are not solutions yet: %s", error)
            return False
        return True

    async def _open_solutions(self) -> SolutionStore:
        return await set_up(
            create_solution_store(self.settings, self.folder, on_server=self.graph_on_server), self._stack
        )

    async def _open_patterns(self) -> PatternIndex:
        return await set_up(
            create_pattern_index(self.settings, self.folder, on_server=self.vectors_on_server), self._stack
        )

    async def flows(self) -> FlowStore:
        """Return the recorded flows of values between calls, opened once."""
        return await self._flows.get()

    async def _open_flows(self) -> FlowStore:
        flows = await set_up(create_flow_store(self.settings, self.folder, on_server=self.graph_on_server), self._stack)
        if self.graph_on_server:
            await copy_flows_to_server(flows, self.folder)
        return flows

    async def embedder(self) -> Embedder:
        """Return the encoder in use; it loads its weights, or connects, when first used."""
        return await self.encoders.get_current_embedder()

    def field_choices(self) -> FieldChoices:
        """Return the choices of fields to keep of long responses.

        They are shared by all runs of this process, and stored with the graph.
        """
        if self._field_choices is None:
            store = create_field_choice_store(self.settings, self.folder, on_server=self.graph_on_server)
            self._stack.push_async_callback(store.close)
            self._field_choices = FieldChoices(store)
        return self._field_choices

    def create_policy(self, name: str, model: str = "", owner: str = "") -> Policy:
        """Create a policy for one run.

        ``model``: another model than the default of the settings. ``owner``: the user whose planning time is used.
        """
        planning = self.planning.create_planning(owner)
        if name == "offline":
            from offline.policy import OfflinePolicy

            return OfflinePolicy(planning=planning)
        if name == "llm":
            if (served := self.served_models) is not None:
                return served.create_policy(model, planning)
            return self.shared_model(model).create_policy(planning=planning)
        raise UsageError(f"no policy is called {name!r}; there are: offline, llm")

    def chat_model(self) -> ChatModel:
        """Return the language model of the settings, for work outside of runs."""
        return self.shared_model("").model

    def judging_model(self) -> tuple[ChatModel, float] | None:
        """Return the language model that judges tools for the gate, with the time limit of its answers in seconds.

        None where there is none.
        """
        if self.served_models is not None:
            return self.served_models.get_chat_model("gate")
        return (self.chat_model(), self.settings.model_timeout) if self.settings.model_url else None

    def shared_model(self, name: str) -> "SharedModel":
        """Return a language model of the settings with its circuit breaker; closed with the container."""
        if name not in self._models:
            from wiring.models import SharedModel

            self._models[name] = SharedModel(self.settings, name, get_form(self.settings, self._forms, name))
            self._stack.push_async_callback(self._models[name].model.close)
        return self._models[name]

    def sandbox(self) -> Sandbox:
        """Return the sandbox for programs; its workers start with the first program, and end with the container."""
        if self._sandbox is None:
            from agent.programs.program_types import SandboxLimits
            from agent.programs.sandbox import MontySandbox

            settings = self.settings
            limits = SandboxLimits(
                settings.program_seconds, settings.program_memory, settings.program_workers, settings.program_calls
            )
            self._sandbox = MontySandbox(limits)
            self._stack.push_async_callback(self._sandbox.close)
        return self._sandbox

    async def secrets(self) -> SecretStore:
        """Return the named secrets of this process, read once."""
        return await self._secrets.get()

    def mcp_sessions(self) -> "McpSessions":
        """Return this process's sessions with MCP servers; they end with the container."""
        if self._mcp_sessions is None:
            from agent.execution.mcp import McpSessions
            from wiring.executors import build_mcp_parameters

            self._mcp_sessions = McpSessions(build_mcp_parameters(self.settings), on_list_changed=self.mcp_changed.add)
            self._stack.push_async_callback(self._mcp_sessions.close)
        return self._mcp_sessions

    async def open_executor(self, name: str) -> Executor:
        """Create an executor by its name; closed with the container."""
        executor: Executor
        if name == "http":
            from wiring.executors import create_live_executor

            executor = create_live_executor(self, await self.secrets())
        elif name == "replay":
            from agent.execution.replay import ReplayExecutor

            executor = ReplayExecutor(await self.recordings(), floor=self.settings.replay_floor)
        else:
            raise UsageError(f"no executor is called {name!r}; there are: http, replay")
        self._stack.push_async_callback(executor.close)
        return executor


def load_settings() -> Settings:
    """Load the settings of the process, and warn on stderr of variables that are ignored."""
    warn_of_unknown_settings([*os.environ, *list_variables(Path(".env")), *read_secret_files()])
    return read_settings()


@asynccontextmanager
async def open_container(
    settings: Settings | None = None, store: Path | None = None, *, create: bool = False
) -> AsyncGenerator[Container]:
    """Open the store that ``store`` or the settings name. ``create``: create it where there is none.

    ``store`` is the folder of an embedded store, which holds all of it. Without it, graph and vectors are where the
    settings' URLs say.

    Raises:
        UnavailableError: no store is there, or it cannot be used; the message says what to do.
    """
    settings = settings or load_settings()
    if settings.encoder_folder:
        await asyncio.to_thread(read_encoder_identity, settings.encoder_folder)
    folder = StoreFolder(store or settings.store)
    # With the graph on a server, the folder holds only what a machine can rebuild: its copy of the words.
    await asyncio.to_thread(folder.open, create=create or (store is None and bool(settings.graph_url)))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(asyncio.to_thread, folder.keep_private)  # files that were created meanwhile
        graph = _create_graph(settings, folder, embedded=store is not None)
        stack.push_async_callback(graph.close)
        await graph.setup()
        forms = await asyncio.to_thread(read_forms, settings)
        yield Container(settings, folder, graph, stack, embedded=store is not None, forms=forms)


def _create_graph(settings: Settings, folder: StoreFolder, *, embedded: bool) -> LinkedGraph:
    if settings.graph_url and not embedded:
        from graph.backends.neo4j_graph import Neo4jGraph

        password = settings.graph_password.get_secret_value()
        return Neo4jGraph(settings.graph_url, settings.graph_user, password, settings.graph_database)
    from graph.backends.sqlite_graph import SqliteGraph

    return SqliteGraph(folder.graph)
