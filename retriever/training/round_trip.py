"""Whether a made-up request leads back to its own tool: one that does not even find it by words would teach something wrong."""

from collections.abc import Callable, Sequence

from domain.tool import ToolId
from retriever.training.by_words import by_words
from retriever.training.examples import Corpus
from retriever.training.requested import SyntheticRequest


async def leading_back(
    corpus: Corpus, requests: Sequence[SyntheticRequest], first: int, told: Callable[[int, int], None]
) -> list[SyntheticRequest]:
    """Those that BM25 finds the own document of, or a copy of it, among the ``first``."""
    found: list[SyntheticRequest] = []
    async with by_words(corpus) as index:
        for number, one in enumerate(requests):
            best = (await index.match(one.request)).best(first)
            names = {corpus.names[corpus.row[tool]] for tool in best}
            if corpus.names[corpus.row[ToolId(one.tool)]] in names:
                found.append(one)
            told(number + 1, len(requests))
    return found
