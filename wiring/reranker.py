"""Re-ranker of the settings for the encoder in use, and the experience of a store that it takes as evidence."""

import asyncio
from typing import TYPE_CHECKING

from domain.errors import UsageError
from retriever.index import Embedder
from wiring.settings import Settings

if TYPE_CHECKING:
    from retriever.reranker import Reranker


async def get_reranker(settings: Settings, embedder: Embedder) -> "Reranker | None":
    """Return the re-ranker for an encoder; None where none is wanted or the encoder's cosines say too little.

    The bundled one serves other encoders too: it gets their cosines on the scale that it learnt with. Raises as
    :func:`read_chosen_reranker`, and ``UnavailableError`` where the encoder cannot be asked.
    """
    reranker = await read_chosen_reranker(settings, embedder.identity)
    if reranker is None or reranker.encoder == embedder.identity:
        return reranker
    return reranker if (await embedder.scale()).comparable else None


async def read_chosen_reranker(settings: Settings, encoder: str) -> "Reranker | None":
    """Return the re-ranker of the settings, None where none is wanted.

    Raises:
        UsageError: the settings name one that learnt with another encoder. UnavailableError: it cannot be read.
    """
    from retriever.reranker import BUNDLED_RERANKER, read_reranker

    if not settings.rerank:
        return None
    chosen_file = settings.reranker_file
    reranker = await asyncio.to_thread(read_reranker, chosen_file or BUNDLED_RERANKER)
    if chosen_file and reranker.encoder != encoder:
        raise UsageError(
            f"{chosen_file} was learnt with {reranker.encoder}, and the encoder in use is {encoder}: "
            "teach one for it with scripts/train_reranker.py, or leave FOOTPATH_RERANKER_FILE empty"
        )
    return reranker
