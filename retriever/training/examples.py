"""Training data of an encoder: requests with the documents that solved them, and the corpus of documents.

Recorded requests can be augmented with negatives that a language model wrote and with synthetic requests.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

from domain.errors import UsageError
from domain.tool import ToolDoc, ToolId, make_tool_id
from retriever.document_texts import build_dense_text, build_lexical_text, hash_text
from retriever.lexical import LexicalIndex
from retriever.training.recipe import TrainingRecipe
from retriever.training.synthetic_requests import SyntheticRequest
from retriever.training.written_negatives import WrittenNegative, to_tool_doc
from retriever.words import normalize_tool_name

ToolName = tuple[str, str]
"""Normalised names of tool set and API, by which copies are recognised."""

_SPLIT_SEED = 7
"""Seed of the choice of held-out requests; it is fixed so that all recipes are validated on the same ones."""


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A request with the documents that solved it."""

    request: str
    positive_rows: tuple[int, ...]
    """Rows of the corpus that solved it, at least one."""
    out_of_domain: bool = False
    """True if it is unlike the requests to be served; such a request is trained on and never held out."""
    written_negative_rows: tuple[int, ...] = ()
    """Rows of documents that were written as negatives of this request."""
    synthetic: bool = False
    """True if it was generated from a document; such requests are foreign, too."""


@dataclass(frozen=True)
class DocumentCorpus:
    """Documents by row; rows with equal ``names`` are one API in another spelling or category."""

    ids: tuple[ToolId, ...]
    texts: tuple[str, ...]
    """Texts for the encoder."""
    lexical_texts: tuple[str, ...]
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
        lexical_texts=tuple(build_lexical_text(document) for document in ordered),
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
    own_examples = [example for example in examples if not example.out_of_domain]
    size = round(held_out * len(own_examples))
    if fold * size >= max(1, len(own_examples)):
        raise UsageError(f"there is no fold {fold} where {held_out:g} of {len(own_examples)} requests are held out")
    rng = random.Random(_SPLIT_SEED)
    first_fold = rng.sample(range(len(own_examples)), size)
    rest = sorted(set(range(len(own_examples))) - set(first_fold))
    rng.shuffle(rest)
    held_out_places = [*first_fold, *rest][fold * size : (fold + 1) * size]
    held_out_ids = {id(own_examples[place]) for place in held_out_places}
    return [example for example in examples if id(example) not in held_out_ids], [
        example for example in examples if id(example) in held_out_ids
    ]


def count_kinds(examples: Sequence[TrainingExample]) -> dict[str, int]:
    """Count the examples, in all and by kind; ``foreign`` counts only those that were not made up."""
    return {
        "learnt": len(examples),
        "foreign": sum(example.out_of_domain and not example.synthetic for example in examples),
        "made_up": sum(example.synthetic for example in examples),
        "with_written_negatives": sum(bool(example.written_negative_rows) for example in examples),
    }


def compute_fingerprint(corpus: DocumentCorpus, examples: Sequence[TrainingExample]) -> str:
    """Return a hash of the training data; another request, document or order changes it."""
    # surrogatepass: texts of a catalogue may hold lone surrogates.
    digest = blake2b(digest_size=16)
    for text in corpus.texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    for example in examples:
        digest.update(
            f"{example.request}\0{example.positive_rows}{example.written_negative_rows}\0".encode(
                "utf-8", "surrogatepass"
            )
        )
    return digest.hexdigest()


@asynccontextmanager
async def open_bm25_index(corpus: DocumentCorpus) -> AsyncGenerator[LexicalIndex]:
    """Open a BM25 index of the corpus in a temporary folder."""
    folder = await asyncio.to_thread(TemporaryDirectory[str])
    try:
        index = LexicalIndex(Path(folder.name))
        await index.put(dict(zip(corpus.ids, corpus.lexical_texts, strict=True)))
        yield index
    finally:
        await asyncio.to_thread(folder.cleanup)


async def select_retrievable(
    corpus: DocumentCorpus, requests: Sequence[SyntheticRequest], limit: int, report: Callable[[int, int], None]
) -> list[SyntheticRequest]:
    """Return the requests whose own document, or a copy of it, is among BM25's ``limit`` best.

    A request that does not find its document may not fit it, and would teach a wrong match. ``report`` is called with
    the number of requests done and the total.
    """
    retrievable: list[SyntheticRequest] = []
    async with open_bm25_index(corpus) as index:
        for number, request in enumerate(requests):
            best = (await index.match(request.request)).select_best(limit)
            names = {corpus.names[corpus.row_by_id[tool]] for tool in best}
            if corpus.names[corpus.row_by_id[ToolId(request.tool)]] in names:
                retrievable.append(request)
            report(number + 1, len(requests))
    return retrievable


_WRITTEN_CATEGORY = "written"
"""Category of written documents, so that none has the id of a real tool."""


def add_negatives(
    corpus: DocumentCorpus,
    examples: Sequence[TrainingExample],
    written_negatives: Sequence[WrittenNegative],
    documents: Mapping[ToolId, ToolDoc],
) -> tuple[DocumentCorpus, list[TrainingExample]]:
    """Append written documents to the corpus, each as a negative of its own request only.

    They have no words for BM25 and a tool set of their own, so that no other request finds or draws them. Requests of
    the same step still have them as negatives.

    Returns:
        The extended corpus, and the examples with the rows of their written negatives.
    """
    rows_by_request: dict[str, list[int]] = {}
    requests = {example.request for example in examples}
    texts: dict[str, int] = {}
    for item in written_negatives:
        solved_tool = documents.get(ToolId(item.tool))
        if solved_tool is None or item.request not in requests:
            continue
        row = texts.setdefault(build_dense_text(to_tool_doc(item, solved_tool)), len(corpus.ids) + len(texts))
        rows_by_request.setdefault(item.request, []).append(row)
    digests = [hash_text(text) for text in texts]
    extended = DocumentCorpus(
        ids=(*corpus.ids, *(make_tool_id(_WRITTEN_CATEGORY, _WRITTEN_CATEGORY, digest) for digest in digests)),
        texts=(*corpus.texts, *texts),
        lexical_texts=(*corpus.lexical_texts, *("" for _ in texts)),
        names=(*corpus.names, *(("", digest) for digest in digests)),
    )
    augmented = [
        replace(item, written_negative_rows=tuple(dict.fromkeys(rows_by_request.get(item.request, ()))))
        for item in examples
    ]
    return extended, augmented


def add_requests(
    corpus: DocumentCorpus,
    examples: Sequence[TrainingExample],
    synthetic_requests: Sequence[SyntheticRequest],
    recipe: TrainingRecipe,
) -> list[TrainingExample]:
    """Append as many synthetic requests as the recipe allows, drawn by its seed. They are never held out."""
    requests_by_tool: dict[str, list[SyntheticRequest]] = {}
    for item in synthetic_requests:
        if item.tool in corpus.row_by_id:
            requests_by_tool.setdefault(item.tool, []).append(item)
    rng = random.Random(recipe.seed)
    eligible = [
        item
        for tool in sorted(requests_by_tool)
        for item in rng.sample(requests_by_tool[tool], min(recipe.synthetic_per_api, len(requests_by_tool[tool])))
    ]
    own_count = sum(not example.out_of_domain for example in examples)
    learnt_count = len(examples) - round(recipe.held_out * own_count)
    # The share is of all that is learnt from, synthetic requests included: s / (1 - s) of the others.
    max_added = int(recipe.synthetic_share / (1 - recipe.synthetic_share) * learnt_count)
    drawn = rng.sample(eligible, min(max_added, len(eligible)))
    existing = {example.request for example in examples}
    added = [
        TrainingExample(item.request, (corpus.row_by_id[ToolId(item.tool)],), out_of_domain=True, synthetic=True)
        for item in drawn
    ]
    return [*examples, *(item for item in added if item.request not in existing)]
