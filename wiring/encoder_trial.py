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
_MIN_OWN_REQUESTS = 30
"""With fewer requests of the store's own, questions made from tools' documents are used too."""

Origin = Literal["given", "memory", "solution", "made"]
RequestWithOrigin = tuple[Origin, ResolvedRequest, bool]
"""A request with its origin, and True where its text may be shown."""


@dataclass(frozen=True, slots=True)
class TrialRequests:
    """Requests for a comparison."""

    requests: tuple[ResolvedRequest, ...]
    showable_ids: frozenset[str]
    """Ids of requests whose text may be shown: those that all users share, or that nobody asked."""
    origins: Mapping[str, int]
    """Number of requests of each origin."""


async def collect_trial_requests(
    container: Container, labelled: Sequence[LabelledRequest] | None = None
) -> TrialRequests:
    """Return the requests to compare encoders on, the same ones each time.

    These are the given ones, else requests that memories and solutions served; where they are few, also questions made
    from documents.
    """
    docs = {tool.id: tool async for tool in container.graph.stream_documents()}
    if labelled is not None:
        matches = resolve_requests(labelled, docs).requests
        answerable = tuple(request for request in matches if any(needed.ids for needed in request.needed))
        return _build_trial_requests([("given", request, True) for request in answerable])
    own_requests = _choose_requests(
        [*await _load_memory_requests(container, docs), *await _load_solution_requests(container, docs)], MAX_REQUESTS
    )
    if len(own_requests) < _MIN_OWN_REQUESTS:
        own_requests += await asyncio.to_thread(_generate_requests, list(docs.values()), MAX_REQUESTS // 2)
    return _build_trial_requests(own_requests)


def _build_trial_requests(requests: Sequence[RequestWithOrigin]) -> TrialRequests:
    showable_ids = frozenset(request.id for _, request, may_show in requests if may_show)
    return TrialRequests(
        tuple(request for _, request, _ in requests), showable_ids, Counter(origin for origin, _, _ in requests)
    )


async def _load_memory_requests(container: Container, docs: Collection[ToolId]) -> list[RequestWithOrigin]:
    memories = await container.memories()
    return [
        ("memory", _build_request(memory.id, memory.request, memory.path), not memory.owner)
        async for memory in memories.stream_all()
        if memory.path and all(tool in docs for tool in memory.path)
    ]


async def _load_solution_requests(container: Container, docs: Collection[ToolId]) -> list[RequestWithOrigin]:
    store = await container.solution_store()
    return [
        (
            "solution",
            _build_request(f"{solution.id} {number}", mask_inputs(text, solution.plan.inputs), solution.path),
            not solution.owner,
        )
        async for solution in store.stream_all()
        if solution.path and all(tool in docs for tool in solution.path)
        for number, text in enumerate(solution.patterns)
    ]


def _generate_requests(docs: Sequence[ToolDoc], max_tools: int) -> list[RequestWithOrigin]:
    requests: list[RequestWithOrigin] = []
    for tool in nsmallest(max_tools, docs, key=lambda one: _hash_text(one.id)):
        requests.extend(
            ("made", _build_request(tool.id, text, [tool.id]), True) for text in make_sample_requests(tool, limit=1)
        )
    return requests


def _build_request(name: str, text: str, path: Iterable[ToolId]) -> ResolvedRequest:
    return ResolvedRequest(name, text, "", tuple(NeededTool(tool, frozenset({tool})) for tool in dict.fromkeys(path)))


def _choose_requests(requests: Sequence[RequestWithOrigin], max_requests: int) -> list[RequestWithOrigin]:
    """Choose requests: each wording once, shared ones first; of more than ``max_requests``, always the same."""
    by_wording = {entry[1].query: entry for entry in sorted(requests, key=lambda one: one[2])}
    return nsmallest(max_requests, by_wording.values(), key=lambda one: _hash_text(one[1].query))


def _hash_text(text: str) -> bytes:
    return blake2b(text.encode()).digest()


_BYTES_PER_NUMBER = 4
"""Bytes of one number in a vector."""
_CHARACTERS_PER_TOKEN = 4
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
    state, current_vectors = await encoders.load_state(), await change.find_vectors_in_use()
    if state.beside is None or not state.whole:
        raise ConflictError("no vectors of another encoder are ready: prepare them first, and let that come to its end")
    if current_vectors is None:
        raise ConflictError("no vectors are in use that others could be compared with: switch to the new ones")
    trial_requests = await collect_trial_requests(container, labelled)
    old, new = await encoders.open(current_vectors), await encoders.open(state.beside, staged=True)
    await catch_up(container, new)
    runs, experiences = zip(*[await _prepare_run(container, side) for side in (old, new)], strict=True)
    done = 0

    def begin_request(request: str) -> None:
        nonlocal done
        for experience in experiences:
            experience.begin_request(request)
        progress(done, len(trial_requests.requests))
        done += 1

    await measure_all(
        trial_requests.requests, [(side.make_offer, side.measured) for side in runs], _count_nothing, begin_request
    )
    costs = [
        await _measure_cost(container, vectors, side, trial_requests.requests)
        for vectors, side in ((current_vectors, old), (state.beside, new))
    ]
    comparison = compare_encoders(
        (runs[0], costs[0]), (runs[1], costs[1]), trial_requests.origins, trial_requests.showable_ids
    )
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


async def _prepare_run(container: Container, opened: OpenVectors) -> tuple[EncoderRun, PerRequestExperience]:
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
    size = await opened.index.count() * vectors.dimension * _BYTES_PER_NUMBER
    reranked = await get_reranker(container.settings, opened.embedder) is not None
    price = vectors.encoder.service.price if vectors.encoder.service else None
    mean_length = sum(len(request.query) for request in requests) / max(1, len(requests))
    cost = None if price is None else price * math.ceil(mean_length / _CHARACTERS_PER_TOKEN) / 1_000_000
    return EncoderProfile(vectors.identity, vectors.dimension, size, reranked, cost)
