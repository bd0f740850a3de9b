"""Temporary BM25 index of a corpus, and the synthetic requests that find their own tool by it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from domain.tool import ToolId
from retriever.lexical import LexicalIndex
from retriever.training.examples import Corpus
from retriever.training.written_requests import SyntheticRequest


@asynccontextmanager
async def bm25_of(corpus: Corpus) -> AsyncGenerator[LexicalIndex]:
    """Open a BM25 index of the corpus in a temporary folder."""
    folder = await asyncio.to_thread(TemporaryDirectory[str])
    try:
        index = LexicalIndex(Path(folder.name))
        await index.put(dict(zip(corpus.ids, corpus.lexical, strict=True)))
        yield index
    finally:
        await asyncio.to_thread(folder.cleanup)


async def leading_back(
    corpus: Corpus, requests: Sequence[SyntheticRequest], first: int, told: Callable[[int, int], None]
) -> list[SyntheticRequest]:
    """Return the requests whose own document, or a copy of it, is among BM25's ``first`` best.

    Other synthetic requests would teach a wrong match. ``told`` gets the number done and the total.
    """
    found: list[SyntheticRequest] = []
    async with bm25_of(corpus) as index:
        for number, one in enumerate(requests):
            best = (await index.match(one.request)).best(first)
            names = {corpus.names[corpus.row[tool]] for tool in best}
            if corpus.names[corpus.row[ToolId(one.tool)]] in names:
                found.append(one)
            told(number + 1, len(requests))
    return found
