"""Validation of an encoder in training: NDCG@5 of held-out requests among documents that are easily confused."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from retriever.features import best_first
from retriever.metrics import ndcg
from retriever.training.encoder import TrainedEncoder, similarities
from retriever.training.examples import Corpus, Example

_NEAREST = 8
"""Documents nearest to each held-out request by words that belong to the ranked documents."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One evaluation during a training."""

    step: int
    """Steps done before it."""
    ndcg: float
    """NDCG@5 of the held-out requests, in [0, 1]."""
    loss: float
    """Mean loss since the previous one."""


def best_of(judgements: Sequence[Judgement]) -> Judgement:
    """Return the first judgement with the highest NDCG@5."""
    return max(judgements, key=lambda one: one.ndcg)


def stalled(judgements: Sequence[Judgement], patience: int) -> bool:
    """Return whether the best judgement is at least ``patience`` judgements old."""
    return bool(judgements) and len(judgements) - 1 - judgements.index(best_of(judgements)) >= patience


class Judge:
    """Evaluates an encoder on held-out examples."""

    def __init__(self, corpus: Corpus, examples: Sequence[Example], near: Sequence[list[int]]) -> None:
        """Rank the examples over their positives and ``near``, rows of documents similar to each of them."""
        self._corpus = corpus
        self._examples = examples
        rows = {row for group in near for row in group[:_NEAREST]} | {row for one in examples for row in one.solved}
        self._rows = sorted(rows)

    def ndcg(self, encoder: TrainedEncoder) -> float:
        """Return the mean NDCG@5 over the requests; copies of a document count as one."""
        names = self._corpus.names
        documents = encoder.encode([self._corpus.texts[row] for row in self._rows], False)
        requests = encoder.encode([one.request for one in self._examples], True)
        values: list[float] = []
        for scores, example in zip(similarities(requests, documents), self._examples, strict=True):
            best = best_first(scores)[:50]
            ranking = list(dict.fromkeys(names[self._rows[place]] for place in best))
            values.append(ndcg(ranking, {names[row] for row in example.solved}, 5))
        return float(np.mean(values)) if values else 0.0
