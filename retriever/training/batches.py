# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
"""Batches of a training: requests with documents that solved them and hard negatives.

Hard negatives come from the same tool set, from similar words, and from the model's own ranking.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.tool import split_tool_id
from retriever.lexical import LexicalIndex
from retriever.training.encoder import TrainedEncoder, compute_similarities
from retriever.training.examples import DocumentCorpus, TrainingExample, open_bm25_index
from retriever.training.recipe import TrainingRecipe

_MAX_SAME_TOOLSET = 8
"""Maximum of documents from the tool sets that solved a request, since a tool set may have hundreds."""
EncodeFunction = Callable[[Sequence[str], bool], NDArray[np.float32]]
"""Encodes texts as :meth:`TrainedEncoder.encode` does; the second argument is whether they are requests."""
_MIN_MINED = 12
"""Minimum of mined documents to keep for each request; the recipe's ``mined_from`` may ask for more."""


async def find_neighbours(corpus: DocumentCorpus, examples: Sequence[TrainingExample], limit: int) -> list[list[int]]:
    """Return for each example the rows that BM25 finds for its request and for the names of its positives.

    Copies of the positives are excluded. ``limit``: number of rows for each of these texts.
    """
    async with open_bm25_index(corpus) as index:
        rows_by_positive: dict[int, list[int]] = {}
        neighbour_rows: list[list[int]] = []
        for example in examples:
            rows = await _search(index, corpus, example.request, limit)
            for row in example.positive_rows:
                if row not in rows_by_positive:
                    rows_by_positive[row] = await _search(index, corpus, split_tool_id(corpus.ids[row])[2], limit)
                rows = [*rows, *rows_by_positive[row]]
            solved = {corpus.names[row] for row in example.positive_rows}
            neighbour_rows.append([row for row in dict.fromkeys(rows) if corpus.names[row] not in solved])
    return neighbour_rows


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
        neighbour_rows: Sequence[list[int]],
        recipe: TrainingRecipe,
    ) -> None:
        self._corpus = corpus
        self._examples = examples
        self._neighbour_rows = [list(rows) for rows in neighbour_rows]
        self._same_toolset = [self._sample_same_toolset(example) for example in examples]
        self._written_rows = [list(example.written_negative_rows) for example in examples]
        self._recipe = recipe

    def _sample_same_toolset(self, example: TrainingExample) -> list[int]:
        solved = {self._corpus.names[row] for row in example.positive_rows}
        toolsets = dict.fromkeys(self._corpus.names[row][0] for row in example.positive_rows)
        rows = [row for toolset in toolsets for row in self._corpus.rows_by_toolset[toolset]]
        others = [row for row in rows if self._corpus.names[row] not in solved]
        return random.Random(example.request).sample(others, min(_MAX_SAME_TOOLSET, len(others)))

    @property
    def state(self) -> dict[str, list[list[int]]]:
        """Return the pools of negatives, for a checkpoint."""
        return {"near": self._neighbour_rows, "siblings": self._same_toolset, "written": self._written_rows}

    def restore(self, state: Mapping[str, list[list[int]]]) -> None:
        """Restore the pools of a checkpoint; an empty state changes nothing."""
        if state:
            self._neighbour_rows, self._same_toolset = state["near"], state["siblings"]
            self._written_rows = state.get("written", self._written_rows)

    def draw(self, place: int, rng: random.Random) -> list[int]:
        """Draw the negatives of one example for one step."""
        same_toolset, written = self._same_toolset[place], self._written_rows[place]
        drawn = rng.sample(same_toolset, min(self._recipe.siblings, self._recipe.hard, len(same_toolset)))
        others = [row for row in self._neighbour_rows[place] if row not in drawn]
        drawn += rng.sample(others, min(self._recipe.hard - len(drawn), len(others)))
        return drawn + rng.sample(written, min(self._recipe.written, len(written)))

    def mine(self, encode: EncodeFunction) -> int:
        """Narrow the pools of each example to the documents that the model ranks highest.

        A document whose similarity exceeds the recipe's ``ceiling`` times that of the best positive is probably a
        positive that was not recorded, and is left out.

        Returns:
            The number of documents left out.
        """
        corpus, left_out_count = self._corpus, 0
        sources = zip(self._neighbour_rows, self._same_toolset, self._written_rows, strict=True)
        pools = [list(dict.fromkeys(row for rows in row_lists for row in rows)) for row_lists in sources]
        rows = sorted(
            {row for pool in pools for row in pool}
            | {row for example in self._examples for row in example.positive_rows}
        )
        index_by_row = {row: number for number, row in enumerate(rows)}
        documents = encode([corpus.texts[row] for row in rows], False)
        requests = encode([example.request for example in self._examples], True)
        for number, (example, pool) in enumerate(zip(self._examples, pools, strict=True)):
            request = requests[number : number + 1]
            best_positive = float(
                compute_similarities(request, documents[[index_by_row[row] for row in example.positive_rows]]).max()
            )
            scores = compute_similarities(request, documents[[index_by_row[row] for row in pool]])[0]
            accepted = [index for index in np.argsort(-scores) if scores[index] <= self._recipe.ceiling * best_positive]
            left_out_count += len(pool) - len(accepted)
            written = set(example.written_negative_rows)
            accepted_rows: list[int] = [pool[index] for index in accepted]
            self._neighbour_rows[number] = [row for row in accepted_rows if row not in written][
                : max(_MIN_MINED, self._recipe.mined_from)
            ]
            mined = set(self._neighbour_rows[number])
            self._same_toolset[number] = [row for row in self._same_toolset[number] if row in mined]
            self._written_rows[number] = [row for row in accepted_rows if row in written]
        return left_out_count


NEGATIVE, POSITIVE, IGNORED = 0, 1, -1
"""Labels of a document for a request. A left-out one solved it, too, but was not drawn as its positive."""


class BatchCollator:
    """Collates examples, which the trainer passes by their places in ``examples``.

    Draws depend only on seed, epoch and the first place of a batch, so that a resumed training draws the same.
    """

    valid_label_columns = ("label",)

    def __init__(
        self,
        encoder: TrainedEncoder,
        corpus: DocumentCorpus,
        examples: Sequence[TrainingExample],
        negatives: NegativeSampler,
        recipe: TrainingRecipe,
    ) -> None:
        self._encoder = encoder
        self._corpus = corpus
        self._examples = examples
        self._negatives = negatives
        self._recipe = recipe
        self.epoch = 0

    def __call__(self, rows: Sequence[Mapping[str, int]]) -> dict[str, Any]:
        """Return the tensors of a batch.

        Keys with the prefixes ``request_`` and ``document_`` hold tokens (:meth:`TrainedEncoder.tokenize`); ``labels``
        is each document's label for each request, shape (requests, documents).
        """
        import torch

        places = [row["place"] for row in rows]
        examples, corpus = [self._examples[place] for place in places], self._corpus
        rng = random.Random(f"{self._recipe.seed} {self.epoch} {places[0]}")
        hard_negatives = [self._negatives.draw(place, rng) for place in places]
        positives_by_example = [
            rng.sample(item.positive_rows, min(self._recipe.positives, len(item.positive_rows))) for item in examples
        ]
        documents = list(dict.fromkeys(row for group in (*positives_by_example, *hard_negatives) for row in group))
        labels = torch.full((len(places), len(documents)), NEGATIVE)
        for number, (example, positives) in enumerate(zip(examples, positives_by_example, strict=True)):
            solved_names = {corpus.names[row] for row in example.positive_rows}
            for column, row in enumerate(documents):
                if row in positives:
                    labels[number, column] = POSITIVE
                elif corpus.names[row] in solved_names:
                    labels[number, column] = IGNORED
        request_tokens = self._encoder.tokenize([item.request for item in examples], requests=True)
        document_tokens = self._encoder.tokenize([corpus.texts[row] for row in documents], requests=False)
        return {
            **{f"request_{name}": item for name, item in request_tokens.items()},
            **{f"document_{name}": item for name, item in document_tokens.items()},
            "label": labels,
        }
