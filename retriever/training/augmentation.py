"""Augmentation of the training examples with written negatives and synthetic requests."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from domain.tool import ToolDoc, ToolId, tool_id
from retriever.documents import build_dense_text, hash_text
from retriever.training.examples import DocumentCorpus, TrainingExample
from retriever.training.recipe import TrainingRecipe
from retriever.training.written_negatives import WrittenNegative, to_document
from retriever.training.written_requests import SyntheticRequest

_WRITTEN_CATEGORY = "written"
"""Category of written documents, so that none has the id of a real tool."""


def add_negatives(
    corpus: DocumentCorpus,
    examples: Sequence[TrainingExample],
    written: Sequence[WrittenNegative],
    documents: Mapping[ToolId, ToolDoc],
) -> tuple[DocumentCorpus, list[TrainingExample]]:
    """Append written documents to the corpus, each as a negative of its own request only.

    They have no words for BM25 and a tool set of their own, so that no other request finds or draws them. Requests of
    the same step still have them as negatives.

    Returns:
        The extended corpus, and the examples with the rows of their written negatives.
    """
    against: dict[str, list[int]] = {}
    requests = {example.request for example in examples}
    texts: dict[str, int] = {}
    for one in written:
        solved = documents.get(ToolId(one.tool))
        if solved is None or one.request not in requests:
            continue
        row = texts.setdefault(build_dense_text(to_document(one, solved)), len(corpus.ids) + len(texts))
        against.setdefault(one.request, []).append(row)
    names = [hash_text(text) for text in texts]
    extended = DocumentCorpus(
        ids=(*corpus.ids, *(tool_id(_WRITTEN_CATEGORY, _WRITTEN_CATEGORY, name) for name in names)),
        texts=(*corpus.texts, *texts),
        lexical=(*corpus.lexical, *("" for _ in texts)),
        names=(*corpus.names, *(("", name) for name in names)),
    )
    augmented = [replace(one, against=tuple(dict.fromkeys(against.get(one.request, ())))) for one in examples]
    return extended, augmented


def add_requests(
    corpus: DocumentCorpus,
    examples: Sequence[TrainingExample],
    made_up: Sequence[SyntheticRequest],
    recipe: TrainingRecipe,
) -> list[TrainingExample]:
    """Append as many synthetic requests as the recipe allows, drawn by its seed. They are never held out."""
    of_tool: dict[str, list[SyntheticRequest]] = {}
    for one in made_up:
        if one.tool in corpus.row_by_id:
            of_tool.setdefault(one.tool, []).append(one)
    rng = random.Random(recipe.seed)
    fit = [
        one
        for tool in sorted(of_tool)
        for one in rng.sample(of_tool[tool], min(recipe.synthetic_per_api, len(of_tool[tool])))
    ]
    own = sum(not example.foreign for example in examples)
    learnt_count = len(examples) - round(recipe.held_out * own)
    # The share is of all that is learnt from, synthetic requests included: s / (1 - s) of the others.
    max_added = int(recipe.synthetic_share / (1 - recipe.synthetic_share) * learnt_count)
    drawn = rng.sample(fit, min(max_added, len(fit)))
    existing = {example.request for example in examples}
    added = [
        TrainingExample(one.request, (corpus.row_by_id[ToolId(one.tool)],), foreign=True, made_up=True) for one in drawn
    ]
    return [*examples, *(one for one in added if one.request not in existing)]
