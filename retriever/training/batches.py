# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
"""Batches of a training: requests with documents that solved them and hard negatives.

Hard negatives come from the same tool set, from similar words, and from the model's own ranking.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from retriever.training.encoder import TrainedEncoder
from retriever.training.examples import DocumentCorpus, TrainingExample
from retriever.training.negatives import NegativeSampler
from retriever.training.recipe import TrainingRecipe

NEGATIVE, POSITIVE, LEFT_OUT = 0, 1, -1
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

        Keys with the prefixes ``request_`` and ``document_`` hold tokens (:meth:`TrainedEncoder.tokenize`); ``label``
        is each document's label for each request, shape (requests, documents).
        """
        import torch

        places = [row["place"] for row in rows]
        examples, corpus = [self._examples[place] for place in places], self._corpus
        rng = random.Random(f"{self._recipe.seed} {self.epoch} {places[0]}")
        hard = [self._negatives.draw(place, rng) for place in places]
        chosen = [rng.sample(one.solved, min(self._recipe.positives, len(one.solved))) for one in examples]
        documents = list(dict.fromkeys(row for group in (*chosen, *hard) for row in group))
        label = torch.full((len(places), len(documents)), NEGATIVE)
        for number, (example, positives) in enumerate(zip(examples, chosen, strict=True)):
            solved = {corpus.names[row] for row in example.solved}
            for column, row in enumerate(documents):
                if row in positives:
                    label[number, column] = POSITIVE
                elif corpus.names[row] in solved:
                    label[number, column] = LEFT_OUT
        request_tokens = self._encoder.tokenize([one.request for one in examples], requests=True)
        document_tokens = self._encoder.tokenize([corpus.texts[row] for row in documents], requests=False)
        return {
            **{f"request_{name}": one for name, one in request_tokens.items()},
            **{f"document_{name}": one for name, one in document_tokens.items()},
            "label": label,
        }
