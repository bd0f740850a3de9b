"""BM25 over a corpus, for as long as it is needed."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from retriever.lexical import LexicalIndex
from retriever.training.examples import Corpus


@asynccontextmanager
async def by_words(corpus: Corpus) -> AsyncGenerator[LexicalIndex]:
    """Its documents indexed in a folder that goes with the index."""
    folder = await asyncio.to_thread(TemporaryDirectory[str])
    try:
        index = LexicalIndex(Path(folder.name))
        await index.put(dict(zip(corpus.ids, corpus.lexical, strict=True)))
        yield index
    finally:
        await asyncio.to_thread(folder.cleanup)
