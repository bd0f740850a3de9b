"""BM25 over a corpus, for as long as it is needed, and which made-up requests find their own tool by it: others would teach something wrong."""

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
    """Its documents indexed in a folder that goes with the index."""
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
    """Those that BM25 finds the own document of, or a copy of it, among the ``first``."""
    found: list[SyntheticRequest] = []
    async with bm25_of(corpus) as index:
        for number, one in enumerate(requests):
            best = (await index.match(one.request)).best(first)
            names = {corpus.names[corpus.row[tool]] for tool in best}
            if corpus.names[corpus.row[ToolId(one.tool)]] in names:
                found.append(one)
            told(number + 1, len(requests))
    return found
