# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""An encoder that is being trained: a transformer of Hugging Face's form with pooling, on whatever device there is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.errors import UnavailableError
from retriever.encoder_folder import EncoderForm, write_form
from retriever.pooling import inside
from retriever.training.export import bundled_source
from retriever.training.recipe import Recipe
from retriever.training.requirements import need
from retriever.words import SENTENCES, sentence_spans

_BATCH = 64


class TrainedEncoder:
    """``model`` and ``tokenizer`` as transformers has them; vectors have unit length."""

    def __init__(self, recipe: Recipe, folder: Path | None = None) -> None:
        """From ``folder``, or from the recipe's base. ``UnavailableError`` where the weights are not at hand."""
        import torch
        from safetensors import SafetensorError
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()

        source = str(folder or (bundled_source() if recipe.base == "bundled" else recipe.base))
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(source)
            self.model: Any = AutoModel.from_pretrained(source).float()
        except (OSError, ValueError, SafetensorError) as error:
            reason = " ".join(str(error).split())
            raise UnavailableError(
                f"the weights of {source} are not at hand ({reason}); name a folder that holds them, or 'bundled'"
            ) from error
        self.device = torch.device(_device())
        self.model.to(self.device)
        self._recipe = recipe
        self._halved = settled(recipe).precision == "bfloat16"

    def freeze(self, layers: int) -> None:
        """Leave the word embeddings and the lowest ``layers`` as they are."""
        if layers:
            for part in (self.model.embeddings, *self.model.encoder.layer[:layers]):
                part.requires_grad_(requires_grad=False)

    def vectors(self, texts: Sequence[str], *, requests: bool) -> Any:
        """A tensor that gradients flow through: documents of shape (texts, dimension), requests of shape (texts, parts, dimension).

        The first part of a request is the whole of it, the others are its sentences, out of the same reading; where it has fewer, one is repeated.
        """
        import torch

        recipe = self._recipe
        given = [recipe.query_prefix + text for text in texts] if requests else list(texts)
        length = recipe.query_tokens if requests else recipe.document_tokens
        batch = self.tokenizer(
            given,
            padding=True,
            truncation=True,
            max_length=length,
            return_tensors="pt",
            return_offsets_mapping=True,
        ).to(self.device)
        offsets = batch.pop("offset_mapping")
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._halved):
            hidden = self.model(**batch).last_hidden_state
        hidden = hidden.float()
        if recipe.pooling == "cls":
            pooled = hidden[:, 0]
            pooled = pooled.unsqueeze(1).expand(-1, 1 + SENTENCES, -1) if requests else pooled
        else:
            kept = batch["attention_mask"].to(hidden.dtype).unsqueeze(1)
            if requests:
                kept = torch.cat([kept, _of_sentences(texts, offsets - len(recipe.query_prefix), kept)], 1)
            pooled = kept @ hidden / kept.sum(2, keepdim=True)
            pooled = pooled if requests else pooled[:, 0]
        return torch.nn.functional.normalize(pooled, dim=-1)

    def encode(self, texts: Sequence[str], requests: bool) -> NDArray[np.float32]:
        """:meth:`vectors` without gradients, in order; texts of like length together."""
        import torch

        shape = (1 + SENTENCES, self.dimension) if requests else (self.dimension,)
        found = np.zeros((len(texts), *shape), np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        self.model.eval()
        with torch.inference_mode():
            for start in range(0, len(order), _BATCH):
                rows = order[start : start + _BATCH]
                found[rows] = self.vectors([texts[row] for row in rows], requests=requests).cpu().numpy()
        self.model.train()
        return found

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self.model.config.hidden_size)

    def save(self, folder: Path) -> None:
        """Write it in the form that it was read in, and how its vectors are made."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        recipe = self._recipe
        form = EncoderForm(dimension=self.dimension, pooling=recipe.pooling, query_prefix=recipe.query_prefix)
        lengths = {
            "query_tokens": max(form.query_tokens, recipe.query_tokens),
            "document_tokens": max(form.document_tokens, recipe.document_tokens),
        }
        write_form(form.model_copy(update=lengths), folder)


def settled(recipe: Recipe) -> Recipe:
    """The recipe with the precision that ``auto`` comes to on this machine, so that what is kept of a training says it. ``UnavailableError``: torch is not installed."""
    if recipe.precision != "auto":
        return recipe
    return recipe.model_copy(update={"precision": "bfloat16" if _is_native(_device()) else "float32"})


def _device() -> str:
    need("torch")
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _is_native(device: str) -> bool:
    """Whether it multiplies bfloat16 in hardware, which is several times as fast: a GPU, or a CPU with AVX512_BF16 or AMX."""
    import torch

    if device == "cuda":
        return True
    can = getattr(torch.cpu, "get_capabilities", dict[str, bool])()  # torch 2.9 does not tell
    return any(can.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def _of_sentences(texts: Sequence[str], offsets: Any, whole: Any) -> Any:
    """Which tokens are each sentence's: shape (texts, ``SENTENCES``, tokens), 1 or 0. A missing sentence is the first one again, a first one the whole text.

    ``offsets``: where tokens begin and end in a text, shape (texts, tokens, 2); ``whole``: shape (texts, 1, tokens).
    """
    import torch

    rows: list[Any] = []
    for number, text in enumerate(texts):
        lie = torch.from_numpy(inside(offsets[number].cpu().numpy(), sentence_spans(text))).to(whole)
        masks = [mask for mask in lie if mask.any()] or [whole[number, 0]]
        rows.append(torch.stack([*masks, *[masks[0]] * (SENTENCES - len(masks))]))
    return torch.stack(rows)


def similarities(requests: Any, documents: Any) -> Any:
    """Half the whole request's cosine, half its best sentence's: shape (requests, documents), of tensors or of arrays.

    ``requests``: shape (requests, parts, dimension); ``documents``: shape (documents, dimension).
    """
    scores = requests @ documents.T
    best = scores[:, 1:].max(1)
    return (scores[:, 0] + getattr(best, "values", best)) / 2
