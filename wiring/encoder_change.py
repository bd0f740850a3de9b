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
from retriever.calibration import REFERENCE_ENCODER, calibrate, describe_indistinctness
from retriever.index import Embedder, VectorIndex
from retriever.indexing import put_portion, unindexed
from wiring.container import Container
from wiring.encoder_choices import SETTINGS, EncoderChoice, choices_here, open_encoder
from wiring.encoder_state import COMPARISON, EncoderState, EncoderVectors
from wiring.indexing import publish_words
from wiring.links import link, unseen
from wiring.reranker import read_chosen_reranker
from wiring.store_encoders import PLACE, OpenVectors

_log = logging.getLogger(__name__)
_PROBE = "ready"

Progress = Callable[[int, int], None]
"""Callback with the number of tools that have vectors of the new encoder, and of all tools."""


@dataclass(frozen=True, slots=True)
class Brought:
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
        self, choice: EncoderChoice, progress: Progress, *, threads: int | None = 1, again: bool = False
    ) -> Brought:
        """Make this encoder's vectors of all tools, memories and solutions, beside those in use.

        Called again, it goes on.

        ``threads``: for an encoder that runs here; searches need the other ones. ``again``: the encoder may be the one
        in use, or replace another one's vectors that are being prepared.

        Raises:
            ConflictError: the encoder is in use, or the former one, or another one's vectors are being prepared
                already; with ``again``, the
                former vectors of a third one are still kept, so that it could not be switched to.
            UsageError: there is no such encoder, it gives all texts the same vector, or the re-ranker of the settings
                does not go with it.
        """
        async with AsyncExitStack() as stack:
            embedder, close = await open_encoder(choice, self._container.settings, self._encoders.services, threads)
            stack.push_async_callback(close)
            state = await self._encoders.state()
            in_force = await self.in_force()
            if again and state.beside is not None and state.beside.identity != embedder.identity:
                await self.discard()
                state = await self._encoders.state()
            _check(state, in_force, embedder, again=again)
            await read_chosen_reranker(self._container.settings, embedder.identity)
            if in_force is not None:
                await self._encoders.index_of(in_force)  # fails where another process owns the index
            await embedder.embed([_PROBE], "document")
            await self._calibrate(embedder, anew=state.beside is None)
            beside = state.beside or await self._begin(state, in_force, EncoderVectors(
                encoder=choice, identity=embedder.identity, dimension=embedder.dimension, at=datetime.now(UTC)
            ))  # fmt: skip
            index = await self._encoders.index_of(beside, beside=True)
            brought = await bring_up_to_date(self._container, embedder, index, progress)
            await embed_beside(self._container, embedder)
            await self._encoders.change(state.model_copy(update={"beside": beside, "whole": True}))
            return brought

    async def in_force(self, known: str = "") -> EncoderVectors | None:
        """Return the vectors in use, whoever made them; None where there are none.

        Settings may name another encoder by now. ``known``: of several encoders' vectors, prefer those of this one.
        """
        kept, current = (await self._encoders.state()).in_use, await self._encoders.current()
        place = kept.place if kept else current.place
        makers = await self._makers(place)
        if not makers:
            return None
        switched = kept is not None and (kept.identity, kept.dimension) in makers
        if kept is not None and switched and kept.identity != current.identity:
            # Only another process's settings name this encoder; this process goes on with the former vectors.
            return kept.model_copy(update={"encoder": (await self._at_hand()).get(kept.identity, SETTINGS)})
        if (current.identity, current.dimension) in makers:
            return current
        at_hand = await self._at_hand()
        identity, dimension = min(makers, key=lambda one: (one[0] != known, one[0] not in at_hand, one))
        choice = at_hand.get(identity, SETTINGS)
        return EncoderVectors(encoder=choice, identity=identity, dimension=dimension, place=place)

    async def _at_hand(self) -> dict[str, EncoderChoice]:
        """Return the usable encoders here, by identity, without those whose files are broken."""
        found: dict[str, EncoderChoice] = {}
        for choice in await asyncio.to_thread(choices_here, self._container.settings):
            try:
                found.setdefault((await self._encoders.embedder_of(choice)).identity, choice)
            except FootpathError as error:
                _log.warning("an encoder cannot be used: %s", error)
        return found

    async def _makers(self, place: str) -> list[tuple[str, int]]:
        container = self._container
        if container.vectors_on_server:
            index = container.server_index()
            try:
                return await index.in_force()
            finally:
                await index.close()
        maker = await asyncio.to_thread(EdgeFolder(container.folder.root / place).made_by)
        if maker is None:
            return []
        vectors = EncoderVectors(encoder=SETTINGS, identity=maker[0], dimension=maker[1], place=place)
        return [maker] if await (await self._encoders.index_of(vectors)).count() else []

    async def state(self) -> EncoderState:
        """Return the state of the change."""
        return await self._encoders.state()

    async def switch(self) -> EncoderVectors:
        """Search by the new vectors from now on, in every process; searches that began with the others finish with them.

        Vectors made anew by the encoder in use replace those in use, and the former ones stay as they are.

        Raises:
            ConflictError: no new vectors are ready, or the vectors before the last switch are still kept.
        """
        state = await self._encoders.state()
        if state.beside is None or not state.whole:
            raise ConflictError(
                "no vectors of another encoder are ready: prepare them first, and let that come to its end"
            )
        _check_room(state, await self.in_force(), state.beside.identity)
        return await self._switch(state.beside, state, beside=True)

    async def switch_back(self) -> EncoderVectors:
        """Search by the former vectors again, updated first; those in use become the former ones.

        Raises:
            ConflictError: none are kept.
        """
        state = await self._encoders.state()
        if state.former is None:
            raise ConflictError("no former vectors are kept: there was no switch, or they were dropped")
        return await self._switch(state.former, state, beside=False)

    async def discard(self) -> list[str]:
        """Delete the new vectors, finished or not; return the names of what was deleted."""
        state = await self._encoders.state()
        if state.beside is None:
            return []
        gone = await self._delete(state.beside, beside=True)
        await self._encoders.change(state.model_copy(update={"beside": None, "whole": False}))
        await self._encoders.note(COMPARISON, "")
        return gone

    async def drop_former(self) -> list[str]:
        """Delete the vectors in use before the last switch, so that nobody can switch back; return the names."""
        state = await self._encoders.state()
        if state.former is None:
            return []
        gone = await self._delete(state.former, beside=False)
        await self._encoders.change(state.model_copy(update={"former": None}))
        return gone

    async def drop_older(self, older: EncoderVectors) -> list[str]:
        """Delete replaced vectors of the encoder in use, after it made them anew; return the names of what was deleted."""
        in_use = (await self.state()).in_use
        if in_use is None or in_use.identity != older.identity:
            return []
        if not self._container.vectors_on_server:
            return [] if in_use.place == older.place else await self._delete(older, beside=False)
        index = await self._encoders.index_of(in_use)
        assert isinstance(index, QdrantIndex)  # noqa: S101
        return await index.drop_older()

    async def _calibrate(self, embedder: Embedder, *, anew: bool) -> None:
        """Store the scale of a new encoder with the vectors, before any vector is made.

        ``anew``: measure it again, since the model behind a service's name may have changed.
        """
        if embedder.identity == REFERENCE_ENCODER:
            return
        scales = self._encoders.scales
        found = None if anew else await scales.read(embedder.identity)
        found = found or await calibrate(embedder)
        if found.flat:
            raise UsageError(describe_indistinctness(found))
        await scales.keep(found)

    async def _begin(self, state: EncoderState, in_force: EncoderVectors | None, new: EncoderVectors) -> EncoderVectors:
        place = place_for(new.identity, {one.place for one in (in_force, state.former) if one})
        beside = new.model_copy(update={"place": place})
        await self._encoders.note(COMPARISON, "")
        await self._encoders.change(state.model_copy(update={"beside": beside, "whole": False}))
        return beside

    async def _switch(self, to: EncoderVectors, state: EncoderState, *, beside: bool) -> EncoderVectors:
        container, opened = self._container, await self._encoders.open(to, beside=beside)
        # Most of the work is done before the lock is taken; the second call has only the rest to do.
        await catch_up(container, opened)
        async with container.changing:
            await catch_up(container, opened)
            before, now = await self.in_force(), to.model_copy(update={"at": datetime.now(UTC)})
            await _put_in_force(container, opened)
            anew = before is not None and before.identity == now.identity
            left = {"beside": None, "whole": False} if beside else {}
            former = state.former if anew else before
            await self._encoders.change(state.model_copy(update={"in_use": now, "former": former, **left}))
            await catch_up(container, opened)  # tools that another process admitted before it knew of the switch
        return now

    async def _delete(self, vectors: EncoderVectors, *, beside: bool) -> list[str]:
        container = self._container
        if container.vectors_on_server:
            async with AsyncExitStack() as stack:
                index = container.server_index()
                stack.push_async_callback(index.close)
                await self._encoders.close(vectors)
                return await index.delete(vectors.identity, vectors.dimension, beside=beside)
        await self._encoders.close(vectors)
        place = container.folder.root / (vectors.place or PLACE)
        return [place.name] if await asyncio.to_thread(EdgeFolder(place).delete) else []


def _check(state: EncoderState, in_force: EncoderVectors | None, embedder: Embedder, *, again: bool) -> None:
    if again:
        _check_room(state, in_force, embedder.identity)
    if not again and in_force is not None and in_force.identity == embedder.identity:
        raise ConflictError(f"{embedder.identity} is the encoder in use: there is nothing to change")
    if not again and state.former is not None and state.former.identity == embedder.identity:
        raise ConflictError(f"the vectors of {embedder.identity} are kept still: switch back to them")
    if state.beside is not None and state.beside.identity != embedder.identity:
        raise ConflictError(
            f"vectors of {state.beside.identity} are beside those in use: switch to them or discard them first"
        )


def _check_room(state: EncoderState, in_force: EncoderVectors | None, identity: str) -> None:
    """Raise ``ConflictError`` while former vectors of another encoder are kept.

    There is room for one encoder's former vectors, and only somebody who knows that no server searches by them may drop
    them.
    """
    if state.former is not None and (in_force is None or in_force.identity != identity):
        raise ConflictError(
            f"the vectors of {state.former.identity} are kept from the switch before: drop them first, once no server searches by "
            "them, or switch back (scripts/reindex.py --step drop, --step back)"
        )


def place_for(identity: str, taken: set[str]) -> str:
    """Return the name of a new folder for an encoder's vectors."""
    name = f"{PLACE}-{hashlib.blake2b(identity.encode(), digest_size=6).hexdigest()}"
    return name if name not in taken else f"{name}-2"


async def catch_up(container: Container, opened: OpenVectors) -> None:
    """Make vectors of all that came since they were made, and remove those of what is gone."""
    await bring_up_to_date(container, opened.embedder, opened.index, unseen)
    await embed_beside(container, opened.embedder)


async def bring_up_to_date(container: Container, embedder: Embedder, index: VectorIndex, progress: Progress) -> Brought:
    """Make the vectors of an index match the documents of the store. Unchanged documents are not embedded again."""
    ids, embedded = set[ToolId](), 0
    total, known = (await container.graph.statistics()).documents, await index.digests()

    async def told() -> AsyncIterator[ToolDoc]:
        async for tool in container.graph.documents():
            ids.add(tool.id)
            yield tool

    async for portion in unindexed(told(), known):
        await put_portion(portion, await embedder.embed([text for _, text, _ in portion], "document"), index)
        embedded += len(portion)
        progress(min(len(ids), total), total)
    if gone := known.keys() - ids:
        await index.remove(gone)
    progress(len(ids), len(ids))
    return Brought(len(ids), embedded, len(gone))


async def embed_beside(container: Container, embedder: Embedder) -> None:
    """Make memories and solutions, of all owners, findable by this encoder too."""
    await LongTermMemory(await container.memories(), embedder).embed()
    await (await container.solutions("", embedder)).embed()


async def link_anew(container: Container) -> None:
    """Compute substitutes with the vectors in use.

    This takes a minute at 45,000 tools, so that it is no part of the switch, which need not wait for it.
    """
    async with container.changing:
        await link(container, unseen, embedded=True)


async def _put_in_force(container: Container, opened: OpenVectors) -> None:
    """On a server, activate the vectors for all who use this encoder, with the words that go with them."""
    if isinstance(opened.index, QdrantIndex):
        await opened.index.switch()
        await publish_words(container.graph, opened.index, container.words)
