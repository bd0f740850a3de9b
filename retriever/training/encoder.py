# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""An encoder that is being trained: a transformer of Hugging Face's form with pooling, on whatever device there is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.errors import UnavailableError
from retriever.training.export import bundled_source
from retriever.training.recipe import Recipe

_BATCH = 64


class TrainedEncoder:
    """``model`` and ``tokenizer`` as transformers has them; vectors have unit length."""

    def __init__(self, recipe: Recipe, folder: Path | None = None) -> None:
        """From ``folder``, or from the recipe's base. ``UnavailableError`` where the weights are not at hand."""
        import torch
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()

        source = str(folder or (bundled_source() if recipe.base == "bundled" else recipe.base))
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(source)
            self.model: Any = AutoModel.from_pretrained(source).float()
        except (OSError, ValueError) as error:
            raise UnavailableError(
                f"the weights of {source} are not at hand ({error}); name a folder that holds them, or 'bundled'"
            ) from error
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model.to(self.device)
        self._recipe = recipe

    def freeze(self, layers: int) -> None:
        """Leave the word embeddings and the lowest ``layers`` as they are."""
        if layers:
            for part in (self.model.embeddings, *self.model.encoder.layer[:layers]):
                part.requires_grad_(requires_grad=False)

    def vectors(self, texts: Sequence[str], *, requests: bool) -> Any:
        """A tensor of shape (texts, dimension) that gradients flow through."""
        import torch

        recipe = self._recipe
        given = [recipe.query_prefix + text for text in texts] if requests else list(texts)
        length = recipe.query_tokens if requests else recipe.document_tokens
        batch = self.tokenizer(given, padding=True, truncation=True, max_length=length, return_tensors="pt").to(
            self.device
        )
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            hidden = self.model(**batch).last_hidden_state
        if recipe.pooling == "cls":
            pooled = hidden[:, 0]
        else:
            kept = batch["attention_mask"].unsqueeze(-1).to(hidden.dtype)
            pooled = (hidden * kept).sum(1) / kept.sum(1).clamp(min=1.0)
        return torch.nn.functional.normalize(pooled.float(), dim=1)

    def encode(self, texts: Sequence[str], requests: bool) -> NDArray[np.float32]:
        """Vectors of shape (texts, dimension), in order; texts of like length together."""
        import torch

        found: NDArray[np.float32] | None = None
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        self.model.eval()
        with torch.inference_mode():
            for start in range(0, len(order), _BATCH):
                rows = order[start : start + _BATCH]
                part = self.vectors([texts[row] for row in rows], requests=requests).cpu().numpy()
                if found is None:
                    found = np.zeros((len(texts), part.shape[1]), np.float32)
                found[rows] = part
        self.model.train()
        return found if found is not None else np.zeros((0, self.model.config.hidden_size), np.float32)

    def save(self, folder: Path) -> None:
        """Write it in the form that it was read in."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
