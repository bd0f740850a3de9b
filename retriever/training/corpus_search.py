"""Temporary BM25 index of a corpus, and the synthetic requests that find their own tool by it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from domain.tool import ToolId
from retriever.lexical import LexicalIndex
from retriever.training.examples import DocumentCorpus
from retriever.training.written_requests import SyntheticRequest


@asynccontextmanager
async def open_bm25_index(corpus: DocumentCorpus) -> AsyncGenerator[LexicalIndex]:
    """Open a BM25 index of the corpus in a temporary folder."""
    folder = await asyncio.to_thread(TemporaryDirectory[str])
    try:
        index = LexicalIndex(Path(folder.name))
        await index.put(dict(zip(corpus.ids, corpus.lexical, strict=True)))
        yield index
    finally:
        await asyncio.to_thread(folder.cleanup)


async def select_retrievable(
    corpus: DocumentCorpus, requests: Sequence[SyntheticRequest], limit: int, report: Callable[[int, int], None]
) -> list[SyntheticRequest]:
    """Return the requests whose own document, or a copy of it, is among BM25's ``limit`` best.

    A request that does not find its document may not fit it, and would teach a wrong match. ``report`` is called with
    the number of requests done and the total.
    """
    retrievable: list[SyntheticRequest] = []
    async with open_bm25_index(corpus) as index:
        for number, one in enumerate(requests):
            best = (await index.match(one.request)).select_best(limit)
            names = {corpus.names[corpus.row_by_id[tool]] for tool in best}
            if corpus.names[corpus.row_by_id[ToolId(one.tool)]] in names:
                retrievable.append(one)
            report(number + 1, len(requests))
    return retrievable
