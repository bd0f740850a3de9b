"""Change of encoder in the background: new vectors are made beside those in use, and switched to at once.

The former vectors are kept until they are dropped.
"""

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

from agent.memory.long_term import LongTermMemory
from domain.errors import ConflictError, FootpathError, UsageError
from domain.tool import ToolDoc, ToolId
from retriever.backends.edge_folder import EdgeFolder
from retriever.backends.qdrant import QdrantIndex
from retriever.calibration import REFERENCE_ENCODER, describe_indistinctness, get_calibration
from retriever.index import Embedder, VectorIndex
from retriever.indexing import select_unindexed, store_batch
from wiring.container import Container
from wiring.encoder_state import COMPARISON, EncoderState, EncoderVectors
from wiring.encoders import SETTINGS, EncoderChoice, list_choices, open_encoder
from wiring.indexing import publish_words
from wiring.links import ignore_progress
from wiring.reranker import read_chosen_reranker
from wiring.store_encoders import DEFAULT_VECTORS_FOLDER, OpenVectors

_log = logging.getLogger(__name__)
_PROBE_TEXT = "ready"

VectorProgress = Callable[[int, int], None]
"""Callback with the number of tools that have vectors of the new encoder, and of all tools."""


@dataclass(frozen=True, slots=True)
class VectorUpdate:
    """Counts of an update of vectors."""

    tools: int
    """All tools of the store."""
    embedded: int
    """Tools that had no vector yet."""
    removed: int
    """Vectors of tools that are gone."""


class EncoderChange:
    """Steps of a change of encoder in one store; each may be the first that a process takes.

    What was begun is stored with the vectors: a process that is killed leaves what was embedded, and :meth:`prepare`
    goes on. All steps raise ``UnavailableError`` where something is out of reach.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self._encoders = container.encoders

    async def prepare(
        self, choice: EncoderChoice, progress: VectorProgress, *, threads: int | None = 1, again: bool = False
    ) -> VectorUpdate:
        """Make this encoder's vectors of all tools, memories and solutions, beside those in use.

        Called again, it goes on.

        ``threads``: for an encoder that runs here; searches need the other ones. ``again``: the encoder may be the one
        in use, or replace another one's vectors that are being prepared.

        Raises:
            ConflictError: the encoder is in use, or is the former one, or vectors of another encoder are already being
                prepared. With ``again``: the former vectors of a third encoder are still kept, so that the new ones
                could not be switched to.
            UsageError: there is no such encoder, it gives all texts the same vector, or the re-ranker of the settings
                does not go with it.
        """
        async with AsyncExitStack() as stack:
            embedder, close = await open_encoder(choice, self._container.settings, self._encoders.services, threads)
            stack.push_async_callback(close)
            state = await self._encoders.load_state()
            current_vectors = await self.find_vectors_in_use()
            if again and state.beside is not None and state.beside.identity != embedder.identity:
                await self.discard()
                state = await self._encoders.load_state()
            _check_preparable(state, current_vectors, embedder, again=again)
            await read_chosen_reranker(self._container.settings, embedder.identity)
            if current_vectors is not None:
                await self._encoders.open_index(current_vectors)  # fails where another process owns the index
            await embedder.embed([_PROBE_TEXT], "document")
            await self._calibrate(embedder, anew=state.beside is None)
            new_vectors = state.beside or await self._begin_vectors(state, current_vectors, EncoderVectors(
                encoder=choice, identity=embedder.identity, dimension=embedder.dimension, at=datetime.now(UTC)
            ))  # fmt: skip
            index = await self._encoders.open_index(new_vectors, staged=True)
            update = await update_vectors(self._container, embedder, index, progress)
            await embed_memories_and_solutions(self._container, embedder)
            await self._encoders.change_state(state.model_copy(update={"beside": new_vectors, "whole": True}))
            return update

    async def find_vectors_in_use(self, preferred: str = "") -> EncoderVectors | None:
        """Return the vectors in use, whoever made them; None where there are none.

        Settings may name another encoder by now. ``preferred``: of several encoders' vectors, prefer those of this one.
        """
        stored, current = (await self._encoders.load_state()).in_use, await self._encoders.get_current_vectors()
        folder_name = stored.place if stored else current.place
        encoders = await self._list_vector_encoders(folder_name)
        if not encoders:
            return None
        switched = stored is not None and (stored.identity, stored.dimension) in encoders
        if stored is not None and switched and stored.identity != current.identity:
            # Only another process's settings name this encoder; this process goes on with the former vectors.
            return stored.model_copy(
                update={"encoder": (await self._find_available_encoders()).get(stored.identity, SETTINGS)}
            )
        if (current.identity, current.dimension) in encoders:
            return current
        available = await self._find_available_encoders()
        identity, dimension = min(encoders, key=lambda one: (one[0] != preferred, one[0] not in available, one))
        choice = available.get(identity, SETTINGS)
        return EncoderVectors(encoder=choice, identity=identity, dimension=dimension, place=folder_name)

    async def _find_available_encoders(self) -> dict[str, EncoderChoice]:
        """Return the usable encoders here, by identity, without those whose files are broken."""
        choices: dict[str, EncoderChoice] = {}
        for choice in await asyncio.to_thread(list_choices, self._container.settings):
            try:
                choices.setdefault((await self._encoders.get_embedder(choice)).identity, choice)
            except FootpathError as error:
                _log.warning("an encoder cannot be used: %s", error)
        return choices

    async def _list_vector_encoders(self, folder_name: str) -> list[tuple[str, int]]:
        container = self._container
        if container.vectors_on_server:
            index = container.create_server_index()
            try:
                return await index.list_active_encoders()
            finally:
                await index.close()
        encoder = await asyncio.to_thread(EdgeFolder(container.folder.root / folder_name).find_identity)
        if encoder is None:
            return []
        vectors = EncoderVectors(encoder=SETTINGS, identity=encoder[0], dimension=encoder[1], place=folder_name)
        return [encoder] if await (await self._encoders.open_index(vectors)).count() else []

    async def get_state(self) -> EncoderState:
        """Return the state of the change."""
        return await self._encoders.load_state()

    async def switch(self) -> EncoderVectors:
        """Search by the new vectors from now on, in every process; searches that began with the others finish with them.

        Vectors made anew by the encoder in use replace those in use, and the former ones stay as they are.

        Raises:
            ConflictError: no new vectors are ready, or the vectors before the last switch are still kept.
        """
        state = await self._encoders.load_state()
        if state.beside is None or not state.whole:
            raise ConflictError(
                "no vectors of another encoder are ready: prepare them first, and let that come to its end"
            )
        _check_former_slot(state, await self.find_vectors_in_use(), state.beside.identity)
        return await self._switch(state.beside, state, staged=True)

    async def switch_back(self) -> EncoderVectors:
        """Search by the former vectors again, updated first; those in use become the former ones.

        Raises:
            ConflictError: none are kept.
        """
        state = await self._encoders.load_state()
        if state.former is None:
            raise ConflictError("no former vectors are kept: there was no switch, or they were dropped")
        return await self._switch(state.former, state, staged=False)

    async def discard(self) -> list[str]:
        """Delete the new vectors, finished or not; return the names of what was deleted."""
        state = await self._encoders.load_state()
        if state.beside is None:
            return []
        deleted_names = await self._delete(state.beside, staged=True)
        await self._encoders.change_state(state.model_copy(update={"beside": None, "whole": False}))
        await self._encoders.write_note(COMPARISON, "")
        return deleted_names

    async def drop_former(self) -> list[str]:
        """Delete the vectors in use before the last switch, so that nobody can switch back; return the names."""
        state = await self._encoders.load_state()
        if state.former is None:
            return []
        deleted_names = await self._delete(state.former, staged=False)
        await self._encoders.change_state(state.model_copy(update={"former": None}))
        return deleted_names

    async def drop_older(self, older: EncoderVectors) -> list[str]:
        """Delete replaced vectors of the encoder in use, after it made them anew; return the names of what was deleted."""
        in_use = (await self.get_state()).in_use
        if in_use is None or in_use.identity != older.identity:
            return []
        if not self._container.vectors_on_server:
            return [] if in_use.place == older.place else await self._delete(older, staged=False)
        index = await self._encoders.open_index(in_use)
        assert isinstance(index, QdrantIndex)  # noqa: S101
        return await index.drop_older()

    async def _calibrate(self, embedder: Embedder, *, anew: bool) -> None:
        """Store the scale of a new encoder with the vectors, before any vector is made.

        ``anew``: measure it again, since the model behind a service's name may have changed.
        """
        if embedder.identity == REFERENCE_ENCODER:
            return
        scales = self._encoders.scales
        calibration = None if anew else await scales.read(embedder.identity)
        calibration = calibration or await get_calibration(embedder)
        if calibration.is_flat:
            raise UsageError(describe_indistinctness(calibration))
        await scales.keep(calibration)

    async def _begin_vectors(
        self, state: EncoderState, current_vectors: EncoderVectors | None, new: EncoderVectors
    ) -> EncoderVectors:
        folder_name = choose_vectors_folder(
            new.identity, {vectors.place for vectors in (current_vectors, state.former) if vectors}
        )
        new_vectors = new.model_copy(update={"place": folder_name})
        await self._encoders.write_note(COMPARISON, "")
        await self._encoders.change_state(state.model_copy(update={"beside": new_vectors, "whole": False}))
        return new_vectors

    async def _switch(self, target: EncoderVectors, state: EncoderState, *, staged: bool) -> EncoderVectors:
        container, opened = self._container, await self._encoders.open(target, staged=staged)
        # Most of the work is done before the lock is taken; the second call has only the rest to do.
        await catch_up(container, opened)
        async with container.change_lock:
            await catch_up(container, opened)
            before, now = await self.find_vectors_in_use(), target.model_copy(update={"at": datetime.now(UTC)})
            await _activate(container, opened)
            anew = before is not None and before.identity == now.identity
            cleared = {"beside": None, "whole": False} if staged else {}
            former = state.former if anew else before
            await self._encoders.change_state(state.model_copy(update={"in_use": now, "former": former, **cleared}))
            await catch_up(container, opened)  # tools that another process admitted before it knew of the switch
        return now

    async def _delete(self, vectors: EncoderVectors, *, staged: bool) -> list[str]:
        container = self._container
        if container.vectors_on_server:
            async with AsyncExitStack() as stack:
                index = container.create_server_index()
                stack.push_async_callback(index.close)
                await self._encoders.close(vectors)
                return await index.delete(vectors.identity, vectors.dimension, staged=staged)
        await self._encoders.close(vectors)
        vectors_folder = container.folder.root / (vectors.place or DEFAULT_VECTORS_FOLDER)
        return [vectors_folder.name] if await asyncio.to_thread(EdgeFolder(vectors_folder).delete) else []


def _check_preparable(
    state: EncoderState, current_vectors: EncoderVectors | None, embedder: Embedder, *, again: bool
) -> None:
    if again:
        _check_former_slot(state, current_vectors, embedder.identity)
    if not again and current_vectors is not None and current_vectors.identity == embedder.identity:
        raise ConflictError(f"{embedder.identity} is the encoder in use: there is nothing to change")
    if not again and state.former is not None and state.former.identity == embedder.identity:
        raise ConflictError(f"the vectors of {embedder.identity} are kept still: switch back to them")
    if state.beside is not None and state.beside.identity != embedder.identity:
        raise ConflictError(
            f"vectors of {state.beside.identity} are beside those in use: switch to them or discard them first"
        )


def _check_former_slot(state: EncoderState, current_vectors: EncoderVectors | None, identity: str) -> None:
    """Raise ``ConflictError`` while former vectors of another encoder are kept.

    There is room for one encoder's former vectors, and only somebody who knows that no server searches by them may drop
    them.
    """
    if state.former is not None and (current_vectors is None or current_vectors.identity != identity):
        raise ConflictError(
            f"the vectors of {state.former.identity} are kept from the switch before: drop them first, once no server searches by "
            "them, or switch back (scripts/reindex.py --step drop, --step back)"
        )


def choose_vectors_folder(identity: str, used_names: set[str]) -> str:
    """Return the name of a new folder for an encoder's vectors."""
    name = f"{DEFAULT_VECTORS_FOLDER}-{hashlib.blake2b(identity.encode(), digest_size=6).hexdigest()}"
    return name if name not in used_names else f"{name}-2"


async def catch_up(container: Container, opened: OpenVectors) -> None:
    """Make vectors of all that came since they were made, and remove those of what is gone."""
    await update_vectors(container, opened.embedder, opened.index, ignore_progress)
    await embed_memories_and_solutions(container, opened.embedder)


async def update_vectors(
    container: Container, embedder: Embedder, index: VectorIndex, progress: VectorProgress
) -> VectorUpdate:
    """Make the vectors of an index match the documents of the store. Unchanged documents are not embedded again."""
    ids, embedded = set[ToolId](), 0
    total, digests = (await container.graph.compute_statistics()).documents, await index.fetch_digests()

    async def iterate_documents() -> AsyncIterator[ToolDoc]:
        async for tool in container.graph.stream_documents():
            ids.add(tool.id)
            yield tool

    async for portion in select_unindexed(iterate_documents(), digests):
        await store_batch(portion, await embedder.embed([text for _, text, _ in portion], "document"), index)
        embedded += len(portion)
        progress(min(len(ids), total), total)
    if removed := digests.keys() - ids:
        await index.remove(removed)
    progress(len(ids), len(ids))
    return VectorUpdate(len(ids), embedded, len(removed))


async def embed_memories_and_solutions(container: Container, embedder: Embedder) -> None:
    """Make memories and solutions, of all owners, findable by this encoder too."""
    await LongTermMemory(await container.memories(), embedder).embed()
    await (await container.solutions("", embedder)).embed()


async def _activate(container: Container, opened: OpenVectors) -> None:
    """On a server, activate the vectors for all who use this encoder, with the words that go with them."""
    if isinstance(opened.index, QdrantIndex):
        await opened.index.activate()
        await publish_words(container.graph, opened.index, container.words)
