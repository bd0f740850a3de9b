# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUntypedBaseClass=false
# pyright: reportUnknownParameterType=false
"""What a training makes small: InfoNCE with several positives. Imports torch."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from retriever.training.batches import LEFT_OUT, POSITIVE
from retriever.training.encoder import similarities, vectors


class SeveralPositives(torch.nn.Module):
    """As sentence-transformers calls a loss: with what :class:`retriever.training.batches.Batches` collates. ``scale``: of similarities."""

    def __init__(self, model: Any, scale: float) -> None:
        super().__init__()
        self.model = model
        self._scale = scale

    def forward(self, told: Sequence[Mapping[str, Any]], label: Any) -> Any:
        requests, documents = (vectors(self.model, one) for one in told)
        return contrast(self._scale * similarities(requests, documents[:, 0]), label)


def contrast(scores: Any, label: Any) -> Any:
    """The mean over requests and their positives of the cross-entropy among all documents of the step; other positives do not count against one.

    Where each request has one document that solves it, that is MultipleNegativesRankingLoss. ``scores``, ``label``: shape (requests, documents).
    """
    right = label == POSITIVE
    against = scores.masked_fill(right | (label == LEFT_OUT), -torch.inf).logsumexp(1, keepdim=True)
    return (torch.logaddexp(scores, against) - scores)[right].mean()
