"""Hard negatives of requests: from the same tool set, by similar words, and by the model's own ranking."""

import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from domain.tool import tool_id_parts
from retriever.lexical import LexicalIndex
from retriever.training.corpus_search import bm25_of
from retriever.training.encoder import similarities
from retriever.training.examples import Corpus, Example
from retriever.training.recipe import Recipe

_SIBLINGS = 8
"""Maximum of documents from the tool sets that solved a request, of which a step draws; a set may have hundreds."""
Encode = Callable[[Sequence[str], bool], NDArray[np.float32]]
"""Encodes texts, given whether they are requests, as :meth:`retriever.training.encoder.TrainedEncoder.encode`."""
_HARDEST = 12
"""Mined documents that are kept for a request to draw from; more if the recipe's ``mined_from`` is more."""


async def neighbours(corpus: Corpus, examples: Sequence[Example], most: int) -> list[list[int]]:
    """Return for each example the rows that BM25 finds for its request and its positives' names, positives excluded."""
    async with bm25_of(corpus) as index:
        named: dict[int, list[int]] = {}
        found: list[list[int]] = []
        for example in examples:
            rows = await _best(index, corpus, example.request, most)
            for row in example.solved:
                if row not in named:
                    named[row] = await _best(index, corpus, tool_id_parts(corpus.ids[row])[2], most)
                rows = [*rows, *named[row]]
            solved = {corpus.names[row] for row in example.solved}
            found.append([row for row in dict.fromkeys(rows) if corpus.names[row] not in solved])
    return found


async def _best(index: LexicalIndex, corpus: Corpus, text: str, most: int) -> list[int]:
    return [corpus.row[tool] for tool in (await index.match(text)).best(most)]


class Negatives:
    """Draws the negatives of examples: by words before the first :meth:`mine`, by the model's ranking after it."""

    def __init__(self, corpus: Corpus, examples: Sequence[Example], near: Sequence[list[int]], recipe: Recipe) -> None:
        self._corpus = corpus
        self._examples = examples
        self._near = [list(rows) for rows in near]
        self._siblings = [self._of_same_set(example) for example in examples]
        self._written = [list(example.against) for example in examples]
        self._recipe = recipe

    def _of_same_set(self, example: Example) -> list[int]:
        solved = {self._corpus.names[row] for row in example.solved}
        sets = dict.fromkeys(self._corpus.names[row][0] for row in example.solved)
        rows = [row for toolset in sets for row in self._corpus.sets[toolset]]
        others = [row for row in rows if self._corpus.names[row] not in solved]
        return random.Random(example.request).sample(others, min(_SIBLINGS, len(others)))

    @property
    def state(self) -> dict[str, list[list[int]]]:
        """Return the pools of negatives, for a checkpoint."""
        return {"near": self._near, "siblings": self._siblings, "written": self._written}

    def put_back(self, state: Mapping[str, list[list[int]]]) -> None:
        """Restore the pools of a checkpoint; an empty state changes nothing."""
        if state:
            self._near, self._siblings = state["near"], state["siblings"]
            self._written = state.get("written", self._written)

    def draw(self, place: int, chance: random.Random) -> list[int]:
        """Draw the negatives of one example for one step."""
        siblings, written = self._siblings[place], self._written[place]
        drawn = chance.sample(siblings, min(self._recipe.siblings, self._recipe.hard, len(siblings)))
        others = [row for row in self._near[place] if row not in drawn]
        drawn += chance.sample(others, min(self._recipe.hard - len(drawn), len(others)))
        return drawn + chance.sample(written, min(self._recipe.written, len(written)))

    def mine(self, encode: Encode) -> int:
        """Keep for each example the documents that the model ranks highest, without likely positives.

        Returns the number of likely positives. A document counts as a likely positive if its similarity exceeds the recipe's
        ``ceiling`` times the best positive's.
        """
        corpus, out = self._corpus, 0
        drawn_from = zip(self._near, self._siblings, self._written, strict=True)
        pools = [list(dict.fromkeys(row for rows in three for row in rows)) for three in drawn_from]
        rows = sorted({row for pool in pools for row in pool} | {row for one in self._examples for row in one.solved})
        place = {row: number for number, row in enumerate(rows)}
        documents = encode([corpus.texts[row] for row in rows], False)
        requests = encode([example.request for example in self._examples], True)
        for number, (example, pool) in enumerate(zip(self._examples, pools, strict=True)):
            asked = requests[number : number + 1]
            best = float(similarities(asked, documents[[place[row] for row in example.solved]]).max())
            scores = similarities(asked, documents[[place[row] for row in pool]])[0]
            fit = [at for at in np.argsort(-scores) if scores[at] <= self._recipe.ceiling * best]
            out += len(pool) - len(fit)
            written = set(example.against)
            fits: list[int] = [pool[at] for at in fit]
            self._near[number] = [row for row in fits if row not in written][: max(_HARDEST, self._recipe.mined_from)]
            kept = set(self._near[number])
            self._siblings[number] = [row for row in self._siblings[number] if row in kept]
            self._written[number] = [row for row in fits if row in written]
        return out
