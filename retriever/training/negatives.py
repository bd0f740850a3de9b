"""Hard negatives of requests."""

import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from domain.tool import split_tool_id
from retriever.lexical import LexicalIndex
from retriever.training.corpus_search import open_bm25_index
from retriever.training.encoder import compute_similarities
from retriever.training.examples import DocumentCorpus, TrainingExample
from retriever.training.recipe import TrainingRecipe

_MAX_SAME_TOOLSET = 8
"""Maximum of documents from the tool sets that solved a request, since a tool set may have hundreds."""
Encode = Callable[[Sequence[str], bool], NDArray[np.float32]]
"""Encodes texts as :meth:`TrainedEncoder.encode` does; the second argument is whether they are requests."""
_MIN_MINED = 12
"""Minimum of mined documents to keep for each request; the recipe's ``mined_from`` may ask for more."""


async def find_neighbours(corpus: DocumentCorpus, examples: Sequence[TrainingExample], limit: int) -> list[list[int]]:
    """Return for each example the rows that BM25 finds for its request and for the names of its positives.

    Copies of the positives are excluded. ``limit``: number of rows for each of these texts.
    """
    async with open_bm25_index(corpus) as index:
        rows_by_positive: dict[int, list[int]] = {}
        all_rows: list[list[int]] = []
        for example in examples:
            rows = await _search(index, corpus, example.request, limit)
            for row in example.solved:
                if row not in rows_by_positive:
                    rows_by_positive[row] = await _search(index, corpus, split_tool_id(corpus.ids[row])[2], limit)
                rows = [*rows, *rows_by_positive[row]]
            solved = {corpus.names[row] for row in example.solved}
            all_rows.append([row for row in dict.fromkeys(rows) if corpus.names[row] not in solved])
    return all_rows


async def _search(index: LexicalIndex, corpus: DocumentCorpus, text: str, limit: int) -> list[int]:
    return [corpus.row_by_id[tool] for tool in (await index.match(text)).select_best(limit)]


class NegativeSampler:
    """Draws the negatives of examples from three pools: neighbours, the same tool set, and written documents.

    Neighbours are found by words until the first :meth:`mine`, and by the model's ranking after it.
    """

    def __init__(
        self,
        corpus: DocumentCorpus,
        examples: Sequence[TrainingExample],
        near: Sequence[list[int]],
        recipe: TrainingRecipe,
    ) -> None:
        self._corpus = corpus
        self._examples = examples
        self._near = [list(rows) for rows in near]
        self._same_toolset = [self._sample_same_toolset(example) for example in examples]
        self._written = [list(example.against) for example in examples]
        self._recipe = recipe

    def _sample_same_toolset(self, example: TrainingExample) -> list[int]:
        solved = {self._corpus.names[row] for row in example.solved}
        sets = dict.fromkeys(self._corpus.names[row][0] for row in example.solved)
        rows = [row for toolset in sets for row in self._corpus.rows_by_toolset[toolset]]
        others = [row for row in rows if self._corpus.names[row] not in solved]
        return random.Random(example.request).sample(others, min(_MAX_SAME_TOOLSET, len(others)))

    @property
    def state(self) -> dict[str, list[list[int]]]:
        """Return the pools of negatives, for a checkpoint."""
        return {"near": self._near, "siblings": self._same_toolset, "written": self._written}

    def restore(self, state: Mapping[str, list[list[int]]]) -> None:
        """Restore the pools of a checkpoint; an empty state changes nothing."""
        if state:
            self._near, self._same_toolset = state["near"], state["siblings"]
            self._written = state.get("written", self._written)

    def draw(self, place: int, rng: random.Random) -> list[int]:
        """Draw the negatives of one example for one step."""
        same_toolset, written = self._same_toolset[place], self._written[place]
        drawn = rng.sample(same_toolset, min(self._recipe.siblings, self._recipe.hard, len(same_toolset)))
        others = [row for row in self._near[place] if row not in drawn]
        drawn += rng.sample(others, min(self._recipe.hard - len(drawn), len(others)))
        return drawn + rng.sample(written, min(self._recipe.written, len(written)))

    def mine(self, encode: Encode) -> int:
        """Narrow the pools of each example to the documents that the model ranks highest.

        A document whose similarity exceeds the recipe's ``ceiling`` times that of the best positive is probably a
        positive that was not recorded, and is left out.

        Returns:
            The number of documents left out.
        """
        corpus, left_out = self._corpus, 0
        drawn_from = zip(self._near, self._same_toolset, self._written, strict=True)
        pools = [list(dict.fromkeys(row for rows in three for row in rows)) for three in drawn_from]
        rows = sorted({row for pool in pools for row in pool} | {row for one in self._examples for row in one.solved})
        place = {row: number for number, row in enumerate(rows)}
        documents = encode([corpus.texts[row] for row in rows], False)
        requests = encode([example.request for example in self._examples], True)
        for number, (example, pool) in enumerate(zip(self._examples, pools, strict=True)):
            request = requests[number : number + 1]
            best = float(compute_similarities(request, documents[[place[row] for row in example.solved]]).max())
            scores = compute_similarities(request, documents[[place[row] for row in pool]])[0]
            accepted = [at for at in np.argsort(-scores) if scores[at] <= self._recipe.ceiling * best]
            left_out += len(pool) - len(accepted)
            written = set(example.against)
            accepted_rows: list[int] = [pool[at] for at in accepted]
            self._near[number] = [row for row in accepted_rows if row not in written][
                : max(_MIN_MINED, self._recipe.mined_from)
            ]
            mined = set(self._near[number])
            self._same_toolset[number] = [row for row in self._same_toolset[number] if row in mined]
            self._written[number] = [row for row in accepted_rows if row in written]
        return left_out
