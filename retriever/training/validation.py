"""How good an encoder is while it is trained: NDCG@5 of held-out requests among the documents that could be taken for theirs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from retriever.features import best_first
from retriever.metrics import ndcg
from retriever.training.encoder import TrainedEncoder, similarities
from retriever.training.examples import Corpus, Example

_NEAREST = 8
"""Documents that come nearest to each held-out request by words, of which the others are told apart."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """NDCG@5 of the held-out requests after so many steps, in [0, 1], with the mean loss since the last one."""

    step: int
    ndcg: float
    loss: float


def best_of(judgements: Sequence[Judgement]) -> Judgement:
    """The first of those with the highest NDCG@5."""
    return max(judgements, key=lambda one: one.ndcg)


def stalled(judgements: Sequence[Judgement], patience: int) -> bool:
    """Whether the best judgement lies ``patience`` judgements back."""
    return bool(judgements) and len(judgements) - 1 - judgements.index(best_of(judgements)) >= patience


class Judge:
    """``near``: for each held-out example the documents that its own are looked for among, beside those of all others."""

    def __init__(self, corpus: Corpus, examples: Sequence[Example], near: Sequence[list[int]]) -> None:
        self._corpus = corpus
        self._examples = examples
        rows = {row for group in near for row in group[:_NEAREST]} | {row for one in examples for row in one.solved}
        self._rows = sorted(rows)

    def ndcg(self, encoder: TrainedEncoder) -> float:
        """The mean over requests; copies of a document count as one."""
        names = self._corpus.names
        documents = encoder.encode([self._corpus.texts[row] for row in self._rows], False)
        requests = encoder.encode([one.request for one in self._examples], True)
        values: list[float] = []
        for scores, example in zip(similarities(requests, documents), self._examples, strict=True):
            best = best_first(scores)[:50]
            ranking = list(dict.fromkeys(names[self._rows[place]] for place in best))
            values.append(ndcg(ranking, {names[row] for row in example.solved}, 5))
        return float(np.mean(values)) if values else 0.0
