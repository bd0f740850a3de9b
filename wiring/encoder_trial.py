"""Comparison of the encoder in use with the new one on the store's own requests, before a switch."""

import math
from collections.abc import Callable, Sequence

from agent.offer.maker import OfferMaker
from domain.encoder_comparison import EncoderComparison
from domain.errors import ConflictError
from domain.tool import ToolId
from evaluation.encoder_comparison import Taken, Way, compared
from evaluation.graph_variants import WithoutCallEvidence
from evaluation.offer_requests import Labelled
from evaluation.offers import Offered, Request, measure_all
from retriever.search import ToolSearch
from wiring.container import Container
from wiring.encoder_change import EncoderChange, catch_up
from wiring.encoder_requests import judged_requests
from wiring.encoder_state import COMPARISON, EncoderVectors
from wiring.measured_offers import AskedAnew
from wiring.reranker import reranker_for
from wiring.store_encoders import OpenVectors

_NUMBER = 4
"""Bytes of one number in a vector."""
_CHARACTERS = 4
"""Characters of a token, approximately."""


async def compare_encoders(
    container: Container, progress: Callable[[int, int], None], given: Sequence[Labelled] | None = None
) -> EncoderComparison:
    """Compare the offers of both encoders on the store's requests.

    The result is stored with the vectors until they are switched to or discarded. Neither encoder sees a request's own
    memory.

    Raises:
        ConflictError: no other encoder's vectors are ready, or the one in use is not available.
        UnavailableError: something is out of reach.
    """
    encoders, change = container.encoders, EncoderChange(container)
    state, in_force = await encoders.state(), await change.in_force()
    if state.beside is None or not state.whole:
        raise ConflictError("no vectors of another encoder are ready: prepare them first, and let that come to its end")
    if in_force is None:
        raise ConflictError("no vectors are in use that others could be compared with: switch to the new ones")
    judged = await judged_requests(container, given)
    old, new = await encoders.open(in_force), await encoders.open(state.beside, beside=True)
    await catch_up(container, new)
    ways, asks = zip(*[await _way(container, one) for one in (old, new)], strict=True)
    done = 0

    def ask(request: str) -> None:
        nonlocal done
        for one in asks:
            one.ask(request)
        progress(done, len(judged.requests))
        done += 1

    await measure_all(judged.requests, [(one.told, one.measured) for one in ways], _uncounted, ask)
    taken = [
        await _taken(container, kept, one, judged.requests) for kept, one in ((in_force, old), (state.beside, new))
    ]
    found = compared((ways[0], taken[0]), (ways[1], taken[1]), judged.origins, judged.shown)
    await encoders.note(COMPARISON, found.model_dump_json())
    return found


async def _uncounted(tools: Sequence[ToolId]) -> int:
    """Return 0: the length of signatures says nothing about an encoder."""
    del tools
    return 0


async def last_comparison(container: Container) -> EncoderComparison | None:
    """Return the comparison for the vectors in preparation, where there is one. Raises ``UnavailableError``."""
    text = await container.encoders.noted(COMPARISON)
    return EncoderComparison.model_validate_json(text) if text else None


async def _way(container: Container, one: OpenVectors) -> tuple[Way, AskedAnew]:
    graph = container.graph
    asked = AskedAnew(graph, await container.memories_in_reach(), one.embedder)
    reranker = await reranker_for(container.settings, one.embedder)
    experience = None if reranker is None else asked
    search = ToolSearch(one.embedder, one.index, container.words, reranker=reranker, experience=experience)
    maker = OfferMaker(search, WithoutCallEvidence(graph), search, container.weights)

    async def offers(request: str, limit: int) -> Sequence[Offered]:
        return (await maker.offer(request, limit)).tools

    return Way(offers), asked


async def _taken(container: Container, kept: EncoderVectors, one: OpenVectors, requests: Sequence[Request]) -> Taken:
    size = await one.index.count() * kept.dimension * _NUMBER
    reranked = await reranker_for(container.settings, one.embedder) is not None
    price = kept.encoder.service.price if kept.encoder.service else None
    letters = sum(len(request.query) for request in requests) / max(1, len(requests))
    cost = None if price is None else price * math.ceil(letters / _CHARACTERS) / 1_000_000
    return Taken(kept.identity, kept.dimension, size, reranked, cost)
