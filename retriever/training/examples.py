"""Training data of an encoder: requests with the documents that solved them, and the corpus of documents.

Recorded requests can be augmented with negatives that a language model wrote and with synthetic requests.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from domain.errors import UsageError
from domain.tool import ToolDoc, ToolId
from retriever.documents import build_dense_text, build_lexical_text
from retriever.words import normalize_tool_name

ToolName = tuple[str, str]
"""Normalised names of tool set and API, by which copies are recognised."""

_SPLIT_SEED = 7
"""Seed of the choice of held-out requests; it is fixed so that all recipes are validated on the same ones."""


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A request with the documents that solved it."""

    request: str
    solved: tuple[int, ...]
    """Rows of the corpus that solved it, at least one."""
    foreign: bool = False
    """True if it is unlike the requests to be served; such a request is trained on and never held out."""
    against: tuple[int, ...] = ()
    """Rows of documents that were written as negatives of this request."""
    made_up: bool = False
    """True if it was generated from a document; such requests are foreign, too."""


@dataclass(frozen=True)
class DocumentCorpus:
    """Documents by row; rows with equal ``names`` are one API in another spelling or category."""

    ids: tuple[ToolId, ...]
    texts: tuple[str, ...]
    """Texts for the encoder."""
    lexical: tuple[str, ...]
    """Texts for BM25; empty for a document that is not to be found by words."""
    names: tuple[ToolName, ...]

    @cached_property
    def row_by_id(self) -> dict[ToolId, int]:
        """Return the row of each id."""
        return {tool: row for row, tool in enumerate(self.ids)}

    @cached_property
    def rows_by_toolset(self) -> dict[str, list[int]]:
        """Return the rows of each tool set."""
        rows_of: dict[str, list[int]] = {}
        for row, (toolset, _) in enumerate(self.names):
            rows_of.setdefault(toolset, []).append(row)
        return rows_of

    @cached_property
    def rows_by_name(self) -> dict[ToolName, list[int]]:
        """Return the rows of each name: the copies of one API."""
        rows_of: dict[ToolName, list[int]] = {}
        for row, name in enumerate(self.names):
            rows_of.setdefault(name, []).append(row)
        return rows_of


def build_corpus(documents: Iterable[ToolDoc]) -> DocumentCorpus:
    """Build a corpus of the documents, in the order of their ids."""
    ordered = sorted(documents, key=lambda document: document.id)
    return DocumentCorpus(
        ids=tuple(document.id for document in ordered),
        texts=tuple(build_dense_text(document) for document in ordered),
        lexical=tuple(build_lexical_text(document) for document in ordered),
        names=tuple(normalize_tool_name(document.id) for document in ordered),
    )


def split_examples(
    examples: Sequence[TrainingExample], held_out: float, fold: int = 0
) -> tuple[list[TrainingExample], list[TrainingExample]]:
    """Split examples into those to train on and those that are held out, which are never foreign.

    Args:
        examples: all examples.
        held_out: share of the examples that are not foreign to hold out.
        fold: number of the part to hold out, from 0; each part has that share, and the last one has the rest.

    Raises:
        UsageError: there is no such part.
    """
    own = [example for example in examples if not example.foreign]
    size = round(held_out * len(own))
    if fold * size >= max(1, len(own)):
        raise UsageError(f"there is no fold {fold} where {held_out:g} of {len(own)} requests are held out")
    rng = random.Random(_SPLIT_SEED)
    first = rng.sample(range(len(own)), size)
    rest = sorted(set(range(len(own))) - set(first))
    rng.shuffle(rest)
    held_out_places = [*first, *rest][fold * size : (fold + 1) * size]
    held_out_ids = {id(own[place]) for place in held_out_places}
    return [one for one in examples if id(one) not in held_out_ids], [
        one for one in examples if id(one) in held_out_ids
    ]


def count_kinds(learnt: Sequence[TrainingExample]) -> dict[str, int]:
    """Count the examples, in all and by kind; ``foreign`` counts only those that were not made up."""
    return {
        "learnt": len(learnt),
        "foreign": sum(one.foreign and not one.made_up for one in learnt),
        "made_up": sum(one.made_up for one in learnt),
        "with_written_negatives": sum(bool(one.against) for one in learnt),
    }


def compute_fingerprint(corpus: DocumentCorpus, examples: Sequence[TrainingExample]) -> str:
    """Return a hash of the training data; another request, document or order changes it."""
    # surrogatepass: texts of a catalogue may hold lone surrogates.
    digest = blake2b(digest_size=16)
    for text in corpus.texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    for example in examples:
        digest.update(f"{example.request}\0{example.solved}{example.against}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
