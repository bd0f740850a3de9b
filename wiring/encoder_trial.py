"""Comparison of the encoder in use with the new one on the store's own requests, before a switch."""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from heapq import nsmallest
from typing import Literal

from admission.sample_requests import make_sample_requests
from agent.offer.offer_maker import OfferMaker
from agent.solutions.patterns import mask_inputs
from domain.encoder_comparison import EncoderComparison
from domain.errors import ConflictError
from domain.tool import ToolDoc, ToolId
from evaluation.encoder_comparison import EncoderProfile, EncoderRun, compare_encoders
from evaluation.graph_variants import WithoutCallEvidence
from evaluation.offer_requests import LabelledRequest
from evaluation.offers import NeededTool, OfferedEntry, ResolvedRequest, measure_all, resolve_requests
from retriever.search import ToolSearch
from wiring.container import Container
from wiring.encoder_change import EncoderChange, catch_up
from wiring.encoder_state import COMPARISON, EncoderVectors
from wiring.measured_searches import PerRequestExperience
from wiring.reranker import get_reranker
from wiring.store_encoders import OpenVectors

MAX_REQUESTS = 120
"""Number of requests that both encoders get: a minute or two."""
_ENOUGH = 30
"""With fewer requests of the store's own, questions made from tools' documents are used too."""

Origin = Literal["given", "memory", "solution", "made"]
RequestWithOrigin = tuple[Origin, ResolvedRequest, bool]
"""A request with its origin, and True where its text may be shown."""


@dataclass(frozen=True, slots=True)
class TrialRequests:
    """Requests for a comparison."""

    requests: tuple[ResolvedRequest, ...]
    shown: frozenset[str]
    """Ids of requests whose text may be shown: those that all users share, or that nobody asked."""
    origins: Mapping[str, int]
    """Number of requests of each origin."""


async def collect_requests(container: Container, labelled: Sequence[LabelledRequest] | None = None) -> TrialRequests:
    """Return the requests to compare encoders on, the same ones each time.

    These are the given ones, else requests that memories and solutions served; where they are few, also questions made
    from documents.
    """
    docs = {tool.id: tool async for tool in container.graph.documents()}
    if labelled is not None:
        matches = resolve_requests(labelled, docs).requests
        answerable = tuple(one for one in matches if any(needed.ids for needed in one.needed))
        return _build_trial_requests([("given", one, True) for one in answerable])
    own = _choose_requests(
        [*await _load_memory_requests(container, docs), *await _load_solution_requests(container, docs)], MAX_REQUESTS
    )
    if len(own) < _ENOUGH:
        own += await asyncio.to_thread(_make_requests, list(docs.values()), MAX_REQUESTS // 2)
    return _build_trial_requests(own)


def _build_trial_requests(requests: Sequence[RequestWithOrigin]) -> TrialRequests:
    shown = frozenset(one.id for _, one, told in requests if told)
    return TrialRequests(tuple(one for _, one, _ in requests), shown, Counter(origin for origin, _, _ in requests))


async def _load_memory_requests(container: Container, docs: Collection[ToolId]) -> list[RequestWithOrigin]:
    memories = await container.memories()
    return [
        ("memory", _build_request(one.id, one.request, one.path), not one.owner)
        async for one in memories.all()
        if one.path and all(tool in docs for tool in one.path)
    ]


async def _load_solution_requests(container: Container, docs: Collection[ToolId]) -> list[RequestWithOrigin]:
    store = await container.solution_store()
    return [
        ("solution", _build_request(f"{one.id} {number}", mask_inputs(text, one.plan.inputs), one.path), not one.owner)
        async for one in store.all()
        if one.path and all(tool in docs for tool in one.path)
        for number, text in enumerate(one.patterns)
    ]


def _make_requests(docs: Sequence[ToolDoc], most: int) -> list[RequestWithOrigin]:
    requests: list[RequestWithOrigin] = []
    for tool in nsmallest(most, docs, key=lambda one: _hash_text(one.id)):
        requests.extend(
            ("made", _build_request(tool.id, text, [tool.id]), True) for text in make_sample_requests(tool, most=1)
        )
    return requests


def _build_request(name: str, text: str, path: Iterable[ToolId]) -> ResolvedRequest:
    return ResolvedRequest(name, text, "", tuple(NeededTool(tool, frozenset({tool})) for tool in dict.fromkeys(path)))


def _choose_requests(requests: Sequence[RequestWithOrigin], most: int) -> list[RequestWithOrigin]:
    """Choose requests: each wording once, shared ones first; of more than ``most``, always the same."""
    by_wording = {one[1].query: one for one in sorted(requests, key=lambda one: one[2])}
    return nsmallest(most, by_wording.values(), key=lambda one: _hash_text(one[1].query))


def _hash_text(text: str) -> bytes:
    return blake2b(text.encode()).digest()


_NUMBER = 4
"""Bytes of one number in a vector."""
_CHARACTERS = 4
"""Characters of a token, approximately."""


async def compare_on_store(
    container: Container, progress: Callable[[int, int], None], labelled: Sequence[LabelledRequest] | None = None
) -> EncoderComparison:
    """Compare the offers of both encoders on the store's requests.

    The result is stored with the vectors until they are switched to or discarded. Neither encoder sees a request's own
    memory.

    Raises:
        ConflictError: no other encoder's vectors are ready, or the one in use is not available.
        UnavailableError: something is out of reach.
    """
    encoders, change = container.encoders, EncoderChange(container)
    state, in_force = await encoders.load_state(), await change.find_vectors_in_use()
    if state.beside is None or not state.whole:
        raise ConflictError("no vectors of another encoder are ready: prepare them first, and let that come to its end")
    if in_force is None:
        raise ConflictError("no vectors are in use that others could be compared with: switch to the new ones")
    judged = await collect_requests(container, labelled)
    old, new = await encoders.open(in_force), await encoders.open(state.beside, beside=True)
    await catch_up(container, new)
    ways, asks = zip(*[await _prepare_way(container, one) for one in (old, new)], strict=True)
    done = 0

    def ask(request: str) -> None:
        nonlocal done
        for one in asks:
            one.ask(request)
        progress(done, len(judged.requests))
        done += 1

    await measure_all(judged.requests, [(one.make_offer, one.measured) for one in ways], _count_nothing, ask)
    costs = [
        await _measure_cost(container, kept, one, judged.requests)
        for kept, one in ((in_force, old), (state.beside, new))
    ]
    comparison = compare_encoders((ways[0], costs[0]), (ways[1], costs[1]), judged.origins, judged.shown)
    await encoders.write_note(COMPARISON, comparison.model_dump_json())
    return comparison


async def _count_nothing(tools: Sequence[ToolId]) -> int:
    """Return 0: the length of signatures says nothing about an encoder."""
    del tools
    return 0


async def load_last_comparison(container: Container) -> EncoderComparison | None:
    """Return the comparison for the vectors in preparation, where there is one. Raises ``UnavailableError``."""
    text = await container.encoders.read_note(COMPARISON)
    return EncoderComparison.model_validate_json(text) if text else None


async def _prepare_way(container: Container, opened: OpenVectors) -> tuple[EncoderRun, PerRequestExperience]:
    graph = container.graph
    own_experience = PerRequestExperience(graph, await container.memories_or_unavailable(), opened.embedder)
    reranker = await get_reranker(container.settings, opened.embedder)
    experience = None if reranker is None else own_experience
    search = ToolSearch(opened.embedder, opened.index, container.words, reranker=reranker, experience=experience)
    maker = OfferMaker(search, WithoutCallEvidence(graph), search, container.weights)

    async def make_offer(request: str, limit: int) -> Sequence[OfferedEntry]:
        return (await maker.offer(request, limit)).tools

    return EncoderRun(make_offer), own_experience


async def _measure_cost(
    container: Container, vectors: EncoderVectors, opened: OpenVectors, requests: Sequence[ResolvedRequest]
) -> EncoderProfile:
    size = await opened.index.count() * vectors.dimension * _NUMBER
    reranked = await get_reranker(container.settings, opened.embedder) is not None
    price = vectors.encoder.service.price if vectors.encoder.service else None
    letters = sum(len(request.query) for request in requests) / max(1, len(requests))
    cost = None if price is None else price * math.ceil(letters / _CHARACTERS) / 1_000_000
    return EncoderProfile(vectors.identity, vectors.dimension, size, reranked, cost)
