# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Encoder in training: a SentenceTransformer that encodes a request and its sentences in one pass."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.errors import UnavailableError
from retriever.encoder_folder import EncoderConfig, write_encoder_config
from retriever.pooling import find_tokens_inside
from retriever.training.export import find_bundled_source
from retriever.training.recipe import TrainingRecipe
from retriever.training.requirements import require_modules
from retriever.words import MAX_SENTENCES, find_sentence_spans

_BATCH_SIZE = 64


class TrainedEncoder:
    """Encoder in training, whose vectors have unit length; ``model`` is a SentenceTransformer."""

    def __init__(self, recipe: TrainingRecipe, folder: Path | None = None) -> None:
        """Load the weights in ``folder``, or those of the recipe's base. Raises ``UnavailableError``."""
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
        from transformers.utils import logging

        logging.disable_progress_bar()

        source = str(folder or (find_bundled_source() if recipe.base == "bundled" else recipe.base))
        self._config = _build_encoder_config(recipe)
        longest = max(self._config.query_tokens, self._config.document_tokens)
        try:
            transformer: Any = Transformer(source, max_seq_length=longest, model_kwargs={"dtype": "float32"})
        except (OSError, ValueError, SafetensorError) as error:
            reason = " ".join(str(error).split())
            raise UnavailableError(
                f"the weights of {source} are not at hand ({reason}); name a folder that holds them, or 'bundled'"
            ) from error
        self.dimension = int(transformer.get_embedding_dimension())
        self.model: Any = SentenceTransformer(
            modules=[transformer, Pooling(self.dimension, recipe.pooling), Normalize()],
            prompts={"query": recipe.query_prefix} if recipe.query_prefix else None,
            device=_select_device(),
            local_files_only=True,  # else its model card asks the hub for the names of folders
        )
        self._recipe = recipe

    @property
    def tokenizer(self) -> Any:
        """Return the tokenizer of transformers."""
        return self.model.tokenizer

    def freeze(self, layers: int) -> None:
        """Freeze the word embeddings and the lowest ``layers``; 0 freezes nothing."""
        if layers:
            transformer = self.model.transformers_model
            for module in (transformer.embeddings, *transformer.encoder.layer[:layers]):
                module.requires_grad_(requires_grad=False)

    def tokenize(self, texts: Sequence[str], *, requests: bool) -> dict[str, Any]:
        """Return tokens as the model takes them, and under ``parts`` the mask of each vector's tokens.

        The masks have the shape (texts, vectors, tokens). A document has one vector. A request has 1 +
        ``MAX_SENTENCES``: that of the whole text and those of its sentences, where missing ones repeat another.
        """
        recipe = self._recipe
        inputs = [recipe.query_prefix + text for text in texts] if requests else list(texts)
        batch = self.tokenizer(
            inputs,
            padding=True,
            truncation=True,
            max_length=recipe.query_tokens if requests else recipe.document_tokens,
            return_tensors="pt",
            return_offsets_mapping=True,
        )
        offsets = batch.pop("offset_mapping") - len(recipe.query_prefix)
        masks = batch["attention_mask"].float().unsqueeze(1)
        if recipe.pooling == "cls":
            masks[:, :, 1:] = 0.0
            masks = masks.expand(-1, 1 + MAX_SENTENCES if requests else 1, -1)
        elif requests:
            masks = _add_sentence_masks(texts, offsets, masks)
        return {**batch, "parts": masks}

    def encode(self, texts: Sequence[str], requests: bool) -> NDArray[np.float32]:
        """Return vectors without gradients, in order.

        The shape is (texts, dimension) for documents and (texts, 1 + ``MAX_SENTENCES``, dimension) for requests.
        """
        import torch

        shape = (1 + MAX_SENTENCES, self.dimension) if requests else (self.dimension,)
        encoded = np.zeros((len(texts), *shape), np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))  # texts of like length together
        was_training = self.model.training
        self.model.eval()
        with torch.inference_mode():
            for start in range(0, len(order), _BATCH_SIZE):
                rows = order[start : start + _BATCH_SIZE]
                tokens = self.tokenize([texts[row] for row in rows], requests=requests)
                batch_vectors = embed_tokens(
                    self.model, {name: tensor.to(self.model.device) for name, tensor in tokens.items()}
                ).cpu()
                encoded[rows] = (batch_vectors if requests else batch_vectors[:, 0]).numpy()
        self.model.train(was_training)
        return encoded

    def save(self, folder: Path) -> None:
        """Save the model for sentence-transformers and transformers, with the configuration of its vectors."""
        self.model.save_pretrained(str(folder), create_model_card=False)
        write_encoder_config(self._config.model_copy(update={"dimension": self.dimension}), folder)


def _build_encoder_config(recipe: TrainingRecipe) -> EncoderConfig:
    """Return the encoder's configuration, which reads at least as many tokens as the training."""
    config = EncoderConfig(pooling=recipe.pooling, query_prefix=recipe.query_prefix)
    lengths = {
        "query_tokens": max(config.query_tokens, recipe.query_tokens),
        "document_tokens": max(config.document_tokens, recipe.document_tokens),
    }
    return config.model_copy(update=lengths)


def embed_tokens(model: Any, tokens: Mapping[str, Any]) -> Any:
    """Return vectors with gradients, shape (texts, vectors, dimension).

    ``tokens``: tokens from :meth:`TrainedEncoder.tokenize`.
    """
    import torch

    states = model({name: tensor for name, tensor in tokens.items() if name != "parts"})["token_embeddings"].float()
    return torch.nn.functional.normalize(tokens["parts"] @ states, dim=-1)


def resolve_precision(recipe: TrainingRecipe) -> TrainingRecipe:
    """Return the recipe with ``auto`` replaced by this machine's precision, so that checkpoints record it.

    Raises:
        UnavailableError: torch is not installed.
    """
    if recipe.precision != "auto":
        return recipe
    return recipe.model_copy(update={"precision": "bfloat16" if _has_native_bfloat16(_select_device()) else "float32"})


def _select_device() -> str:
    require_modules("torch")
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _has_native_bfloat16(device: str) -> bool:
    """Return whether the device multiplies bfloat16 in hardware, which is several times as fast.

    A GPU does, and a CPU with AVX512_BF16 or AMX.
    """
    import torch

    if device == "cuda":
        return True
    capabilities = getattr(torch.cpu, "get_capabilities", dict[str, bool])()  # missing in torch 2.9
    return any(capabilities.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def _add_sentence_masks(texts: Sequence[str], offsets: Any, token_mask: Any) -> Any:
    """Return the masks of whole texts and of their sentences, shape (texts, 1 + ``MAX_SENTENCES``, tokens).

    A missing sentence repeats the first one; without any sentence it is the whole text.

    Args:
        texts: the texts without prefix.
        offsets: start and end of each token in its text, shape (texts, tokens, 2).
        token_mask: mask of all tokens, shape (texts, 1, tokens).
    """
    import torch

    rows: list[Any] = []
    for number, text in enumerate(texts):
        is_inside = torch.from_numpy(find_tokens_inside(offsets[number].numpy(), find_sentence_spans(text))).to(
            token_mask
        )
        masks = [mask for mask in is_inside if mask.any()] or [token_mask[number, 0]]
        rows.append(torch.stack([token_mask[number, 0], *masks, *[masks[0]] * (MAX_SENTENCES - len(masks))]))
    return torch.stack(rows)


def compute_similarities(requests: Any, documents: Any) -> Any:
    """Return the mean of the whole request's cosine and that of its best sentence, shape (requests, documents).

    Takes either tensors or arrays.

    Args:
        requests: vectors of shape (requests, 1 + sentences, dimension).
        documents: vectors of shape (documents, dimension).
    """
    scores = requests @ documents.T
    # max() of a tensor returns values and indexes, that of an array only values.
    best = scores[:, 1:].max(1)
    return (scores[:, 0] + getattr(best, "values", best)) / 2
