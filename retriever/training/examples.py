"""Training data of an encoder: requests with the tools that solved them, over the documents of a catalogue."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from domain.errors import UsageError
from domain.tool import ToolDoc, ToolId
from retriever.documents import dense_text, lexical_text
from retriever.words import standard_names

Named = tuple[str, str]
"""Normalised names of tool set and API, by which copies are recognised."""

_DRAW = 7
"""Seed of the choice of held-out requests, fixed so that it does not depend on a recipe."""


@dataclass(frozen=True, slots=True)
class Example:
    """A request with the documents that solved it."""

    request: str
    solved: tuple[int, ...]
    """Rows of the corpus that solved it, at least one."""
    foreign: bool = False
    """True if it is unlike the requests to be served: then it is trained on and never held out."""
    against: tuple[int, ...] = ()
    """Rows of documents that were written as negatives of this request."""
    made_up: bool = False
    """True if it was generated from a document; such requests are foreign, too."""


@dataclass(frozen=True)
class Corpus:
    """Documents by row; rows with equal ``names`` are one API in another spelling or category."""

    ids: tuple[ToolId, ...]
    texts: tuple[str, ...]
    lexical: tuple[str, ...]
    names: tuple[Named, ...]

    @cached_property
    def row(self) -> dict[ToolId, int]:
        """Return the row of each id."""
        return {tool: row for row, tool in enumerate(self.ids)}

    @cached_property
    def sets(self) -> dict[str, list[int]]:
        """Return the rows of each tool set."""
        found: dict[str, list[int]] = {}
        for row, (toolset, _) in enumerate(self.names):
            found.setdefault(toolset, []).append(row)
        return found

    @cached_property
    def copies(self) -> dict[Named, list[int]]:
        """Return the rows of each name: the copies of one API."""
        found: dict[Named, list[int]] = {}
        for row, name in enumerate(self.names):
            found.setdefault(name, []).append(row)
        return found


def corpus_of(documents: Iterable[ToolDoc]) -> Corpus:
    """Build a corpus of the documents, in the order of their ids."""
    ordered = sorted(documents, key=lambda document: document.id)
    return Corpus(
        ids=tuple(document.id for document in ordered),
        texts=tuple(dense_text(document) for document in ordered),
        lexical=tuple(lexical_text(document) for document in ordered),
        names=tuple(standard_names(document.id) for document in ordered),
    )


def split(examples: Sequence[Example], held_out: float, fold: int = 0) -> tuple[list[Example], list[Example]]:
    """Split examples into those to train on and those that are held out, which are never foreign.

    The split does not depend on a recipe's seed. ``fold``: number of the part that is held out; each part has the share ``held_out``,
    and the last one has the rest.

    Raises:
        UsageError: there is no such part.
    """
    own = [example for example in examples if not example.foreign]
    size = round(held_out * len(own))
    if fold * size >= max(1, len(own)):
        raise UsageError(f"there is no fold {fold} where {held_out:g} of {len(own)} requests are held out")
    chance = random.Random(_DRAW)
    first = chance.sample(range(len(own)), size)
    rest = sorted(set(range(len(own))) - set(first))
    chance.shuffle(rest)
    judged = [*first, *rest][fold * size : (fold + 1) * size]
    apart = {id(own[place]) for place in judged}
    return [one for one in examples if id(one) not in apart], [one for one in examples if id(one) in apart]


def kinds(learnt: Sequence[Example]) -> dict[str, int]:
    """Count the examples, in all and by kind; ``foreign`` counts only those that were not made up."""
    return {
        "learnt": len(learnt),
        "foreign": sum(one.foreign and not one.made_up for one in learnt),
        "made_up": sum(one.made_up for one in learnt),
        "with_written_negatives": sum(bool(one.against) for one in learnt),
    }


def fingerprint(corpus: Corpus, examples: Sequence[Example]) -> str:
    """Return a hash of the training data; another request, document or order changes it."""
    told = blake2b(digest_size=16)
    for text in corpus.texts:
        told.update(text.encode("utf-8", "surrogatepass") + b"\0")
    for example in examples:
        told.update(f"{example.request}\0{example.solved}{example.against}\0".encode("utf-8", "surrogatepass"))
    return told.hexdigest()
