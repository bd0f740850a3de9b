"""What an encoder learns from: requests with the tools that solved them, over the documents of a catalogue."""

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
"""Tool set and API, as names are compared."""

_DRAW = 7
"""Of the requests that are held out."""


@dataclass(frozen=True, slots=True)
class Example:
    """``solved``: rows of the corpus; at least one. ``foreign``: unlike the requests to be served, so learnt from and never judged by.
    ``against``: rows of documents that were written so as not to serve the request. ``made_up``: from a document, and so foreign, too.
    """

    request: str
    solved: tuple[int, ...]
    foreign: bool = False
    against: tuple[int, ...] = ()
    made_up: bool = False


@dataclass(frozen=True)
class Corpus:
    """Documents by row. Rows of equal ``names`` are one API in another spelling or category."""

    ids: tuple[ToolId, ...]
    texts: tuple[str, ...]
    lexical: tuple[str, ...]
    names: tuple[Named, ...]

    @cached_property
    def row(self) -> dict[ToolId, int]:
        """Rows by id."""
        return {tool: row for row, tool in enumerate(self.ids)}

    @cached_property
    def sets(self) -> dict[str, list[int]]:
        """Rows by tool set."""
        found: dict[str, list[int]] = {}
        for row, (toolset, _) in enumerate(self.names):
            found.setdefault(toolset, []).append(row)
        return found

    @cached_property
    def copies(self) -> dict[Named, list[int]]:
        """Rows by name."""
        found: dict[Named, list[int]] = {}
        for row, name in enumerate(self.names):
            found.setdefault(name, []).append(row)
        return found


def corpus_of(documents: Iterable[ToolDoc]) -> Corpus:
    """The documents in the order of their ids."""
    ordered = sorted(documents, key=lambda document: document.id)
    return Corpus(
        ids=tuple(document.id for document in ordered),
        texts=tuple(dense_text(document) for document in ordered),
        lexical=tuple(lexical_text(document) for document in ordered),
        names=tuple(standard_names(document.id) for document in ordered),
    )


def split(examples: Sequence[Example], held_out: float, fold: int = 0) -> tuple[list[Example], list[Example]]:
    """Those to train on, and those to judge by: whole requests of the catalogue, never foreign ones; the same ones whatever a recipe's seed.

    ``fold``: which part of the requests is apart, each of the share ``held_out``; the last one is what is left. ``UsageError``: there is no such part.
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
    """How many there are in all and of each kind; of foreign ones, those that people asked."""
    return {
        "learnt": len(learnt),
        "foreign": sum(one.foreign and not one.made_up for one in learnt),
        "made_up": sum(one.made_up for one in learnt),
        "with_written_negatives": sum(bool(one.against) for one in learnt),
    }


def fingerprint(corpus: Corpus, examples: Sequence[Example]) -> str:
    """Names what is learnt from: another request, document or order is another one."""
    told = blake2b(digest_size=16)
    for text in corpus.texts:
        told.update(text.encode("utf-8", "surrogatepass") + b"\0")
    for example in examples:
        told.update(f"{example.request}\0{example.solved}{example.against}\0".encode("utf-8", "surrogatepass"))
    return told.hexdigest()
