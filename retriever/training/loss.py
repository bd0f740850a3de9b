# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUntypedBaseClass=false
# pyright: reportUnknownParameterType=false
"""Loss of the training: InfoNCE with several positives."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from retriever.training.batches import LEFT_OUT, POSITIVE
from retriever.training.encoder import compute_similarities, embed_tokens


class MultiPositiveLoss(torch.nn.Module):
    """InfoNCE loss with several positives, on batches of :class:`BatchCollator`.

    Similarities are multiplied by ``scale``, an inverse temperature.
    """

    def __init__(self, model: Any, scale: float) -> None:
        super().__init__()
        self.model = model
        self._scale = scale

    def forward(self, token_batches: Sequence[Mapping[str, Any]], label: Any) -> Any:
        requests, documents = (embed_tokens(self.model, one) for one in token_batches)
        return compute_contrastive_loss(self._scale * compute_similarities(requests, documents[:, 0]), label)


def compute_contrastive_loss(scores: Any, label: Any) -> Any:
    """Return the mean cross-entropy of each positive against the negatives of its request.

    Other positives of the request do not count against it. With one positive for each request this equals
    MultipleNegativesRankingLoss of sentence-transformers.

    Args:
        scores: scaled similarities, shape (requests, documents).
        label: labels of the same shape, as :class:`BatchCollator` gives them.
    """
    is_positive = label == POSITIVE
    against = scores.masked_fill(is_positive | (label == LEFT_OUT), -torch.inf).logsumexp(1, keepdim=True)
    # -log(exp(s) / (exp(s) + sum of exp over negatives)) = logaddexp(s, logsumexp(negatives)) - s
    return (torch.logaddexp(scores, against) - scores)[is_positive].mean()
