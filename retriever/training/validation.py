"""Validation of an encoder in training: NDCG@5 of held-out requests among easily confused documents."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from retriever.features import argsort_descending
from retriever.metrics import compute_ndcg
from retriever.training.encoder import TrainedEncoder, compute_similarities
from retriever.training.examples import DocumentCorpus, TrainingExample

_MAX_NEAREST = 8
"""Number of neighbours of each held-out request that are among the ranked documents."""


@dataclass(frozen=True, slots=True)
class ValidationScore:
    """One evaluation during a training."""

    step: int
    """Steps done before it."""
    ndcg: float
    """NDCG@5 of the held-out requests, in [0, 1]."""
    loss: float
    """Mean loss since the previous one."""


def select_best(scores: Sequence[ValidationScore]) -> ValidationScore:
    """Return the first evaluation with the highest NDCG@5."""
    return max(scores, key=lambda one: one.ndcg)


def has_stalled(scores: Sequence[ValidationScore], patience: int) -> bool:
    """Return whether the last ``patience`` evaluations, or more, brought no improvement."""
    return bool(scores) and len(scores) - 1 - scores.index(select_best(scores)) >= patience


class HeldOutEvaluator:
    """Evaluates an encoder on held-out examples."""

    def __init__(
        self, corpus: DocumentCorpus, examples: Sequence[TrainingExample], neighbour_rows: Sequence[list[int]]
    ) -> None:
        """Evaluate on ``examples``, over the documents of their positives and neighbours.

        ``neighbour_rows``: for each example, rows of similar documents, nearest first.
        """
        self._corpus = corpus
        self._examples = examples
        rows = {row for group in neighbour_rows for row in group[:_MAX_NEAREST]} | {
            row for example in examples for row in example.positive_rows
        }
        self._rows = sorted(rows)

    def evaluate(self, encoder: TrainedEncoder) -> float:
        """Return the mean NDCG@5 over the requests; copies of a document count as one."""
        names = self._corpus.names
        documents = encoder.encode([self._corpus.texts[row] for row in self._rows], False)
        requests = encoder.encode([example.request for example in self._examples], True)
        values: list[float] = []
        for scores, example in zip(compute_similarities(requests, documents), self._examples, strict=True):
            best = argsort_descending(scores)[:50]
            ranking = list(dict.fromkeys(names[self._rows[place]] for place in best))
            values.append(compute_ndcg(ranking, {names[row] for row in example.positive_rows}, 5))
        return float(np.mean(values)) if values else 0.0
