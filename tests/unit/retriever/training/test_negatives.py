"""Which documents a request is told apart from, before and after the model has been asked."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from retriever.training.batches import EncodeFunction, NegativeSampler, find_neighbours
from retriever.training.examples import DocumentCorpus, TrainingExample, build_corpus
from retriever.training.recipe import TrainingRecipe
from tests.support.small_catalogue import DOCUMENTS, catalogue, document, example, row

RECIPE = TrainingRecipe(hard=2, siblings=1, mined_from=2, ceiling=0.95)


@pytest.fixture
def corpus() -> DocumentCorpus:
    return catalogue()


def told(corpus: DocumentCorpus, vectors: Mapping[str, Sequence[float]], request: Sequence[float]) -> EncodeFunction:
    """A model whose vectors are given, by API; (0, 1) for those that are not. Every request has the same one."""

    def encode(texts: Sequence[str], requests: bool) -> NDArray[np.float32]:
        apis = dict(zip(corpus.texts, (name[1] for name in corpus.names), strict=True))
        if requests:
            return np.array([[request, request]] * len(texts), np.float32)
        return np.array([vectors.get(apis[text], (0.0, 1.0)) for text in texts], np.float32)

    return encode


def drawn(negatives: NegativeSampler, times: int = 60) -> set[int]:
    """All that is drawn for the first example."""
    return {found for seed in range(times) for found in negatives.draw(0, random.Random(seed))}


async def test_neighbours_are_found_by_the_request_and_by_the_names_of_what_solved_it(corpus: DocumentCorpus) -> None:
    asked = example(corpus, "exchange rates for the weekend", ("books", "search"))
    (near,) = await find_neighbours(corpus, [asked], 2)
    assert row(corpus, "bank", "rates") in near
    assert row(corpus, "books", "search") not in near
    (by_name,) = await find_neighbours(
        build_corpus([*DOCUMENTS, document("films", "search")]), [TrainingExample("xyz", asked.positive_rows)], 2
    )
    assert len(by_name) == 1, "only the other tool that is called search shares a word with its name"


async def test_a_copy_of_what_solved_it_is_no_neighbour() -> None:
    corpus = build_corpus([*DOCUMENTS, document("sky", "rain", category="other")])
    (near,) = await find_neighbours(corpus, [example(corpus, "rain forecast of a city", ("sky", "rain"))], 5)
    assert near
    assert not {row(corpus, "sky", "rain"), row(corpus, "sky", "rain", "other")} & set(near)


def test_one_sibling_and_the_rest_from_the_neighbours(corpus: DocumentCorpus) -> None:
    asked = example(corpus, "will it rain", ("sky", "rain"))
    near = [row(corpus, "books", "lists"), row(corpus, "bank", "convert")]
    negatives = NegativeSampler(corpus, [asked], [near], RECIPE)
    siblings = {row(corpus, "sky", "wind"), row(corpus, "sky", "moon")}
    for seed in range(20):
        found = negatives.draw(0, random.Random(seed))
        assert len(set(found) & siblings) == 1
        assert len(set(found) & set(near)) == 1
        assert found == negatives.draw(0, random.Random(seed))
    assert drawn(negatives) == {*siblings, *near}


def test_what_solved_it_and_its_copies_are_never_drawn() -> None:
    corpus = build_corpus([*DOCUMENTS, document("Sky", "Rain", category="other")])
    asked = example(corpus, "rain and wind", ("sky", "rain"), ("sky", "wind"))
    assert drawn(NegativeSampler(corpus, [asked], [[]], RECIPE)) == {row(corpus, "sky", "moon")}


def test_mining_keeps_what_the_model_finds_nearest(corpus: DocumentCorpus) -> None:
    asked = example(corpus, "will it rain", ("sky", "rain"))
    near = [row(corpus, "books", "lists"), row(corpus, "bank", "convert"), row(corpus, "bank", "rates")]
    recipe = RECIPE.model_copy(update={"siblings": 0, "hard": 1})
    negatives = NegativeSampler(corpus, [asked], [near], recipe)
    vectors = {"rain": (1.0, 0.0), "convert": (0.6, 0.8), "lists": (0.8, 0.6)}
    assert negatives.mine(told(corpus, vectors, (1.0, 0.0))) == 0
    nearest = negatives.state["near"][0]
    assert nearest[:2] == [row(corpus, "books", "lists"), row(corpus, "bank", "convert")]


def test_what_the_model_takes_for_as_good_is_left_out_for_all_epochs(corpus: DocumentCorpus) -> None:
    asked = example(corpus, "will it rain", ("sky", "rain"))
    near = [row(corpus, "bank", "convert"), row(corpus, "bank", "rates")]
    negatives = NegativeSampler(corpus, [asked], [near], RECIPE)
    vectors = {"rain": (0.8, 0.6), "wind": (0.78, 0.626), "convert": (1.0, 0.0)}
    assert negatives.mine(told(corpus, vectors, (1.0, 0.0))) == 2
    assert not drawn(negatives) & {row(corpus, "sky", "wind"), row(corpus, "bank", "convert")}
    assert drawn(negatives) >= {row(corpus, "sky", "moon"), row(corpus, "bank", "rates")}


def test_the_ceiling_is_measured_from_the_best_of_several_that_solved_it(corpus: DocumentCorpus) -> None:
    asked = example(corpus, "rain and rates", ("sky", "rain"), ("bank", "rates"))
    negatives = NegativeSampler(corpus, [asked], [[row(corpus, "books", "lists")]], RECIPE)
    vectors = {"rain": (0.1, 0.995), "rates": (1.0, 0.0), "lists": (0.9, 0.436)}
    assert negatives.mine(told(corpus, vectors, (1.0, 0.0))) == 0


def test_what_was_mined_is_put_back(corpus: DocumentCorpus) -> None:
    asked = example(corpus, "will it rain", ("sky", "rain"))
    near = [[row(corpus, "bank", "convert"), row(corpus, "bank", "rates")]]
    mined, fresh = NegativeSampler(corpus, [asked], near, RECIPE), NegativeSampler(corpus, [asked], near, RECIPE)
    mined.mine(told(corpus, {"rain": (0.8, 0.6), "convert": (1.0, 0.0)}, (1.0, 0.0)))
    assert drawn(fresh) != drawn(mined)
    fresh.restore(mined.state)
    assert drawn(fresh) == drawn(mined)
    fresh.restore({})
    assert drawn(fresh) == drawn(mined)


def test_written_negatives_are_drawn_beside_the_others_until_the_model_takes_one_for_good(
    corpus: DocumentCorpus,
) -> None:
    asked = example(corpus, "will it rain", ("sky", "rain"))
    written = row(corpus, "books", "lists"), row(corpus, "books", "search")
    near = [[row(corpus, "bank", "convert")]]
    negatives = NegativeSampler(corpus, [replace(asked, written_negative_rows=written)], near, RECIPE)
    plain = NegativeSampler(corpus, [asked], near, RECIPE)
    for seed in range(20):
        found = negatives.draw(0, random.Random(seed))
        assert found[:2] == plain.draw(0, random.Random(seed)), "the others are those that are drawn without"
        assert len(found) == 3
        assert found[2] in written
    assert negatives.mine(told(corpus, {"rain": (0.8, 0.6), "search": (1.0, 0.0)}, (1.0, 0.0))) == 1
    assert drawn(negatives) & set(written) == {written[0]}
    assert not set(negatives.state["near"][0]) & set(written)
