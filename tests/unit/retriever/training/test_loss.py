"""The loss of a step, against its formula and against the one of sentence-transformers. Needs torch."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
import math
import random
from pathlib import Path

import pytest

from retriever.training.batches import IGNORED, NEGATIVE, POSITIVE, BatchCollator, NegativeSampler
from retriever.training.encoder import TrainedEncoder
from retriever.training.examples import TrainingExample
from retriever.training.recipe import TrainingRecipe
from tests.support.small_catalogue import catalogue

pytestmark = [
    pytest.mark.neural,
    pytest.mark.timeout(600),
    # torch and transformers warn of their own inner workings.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
]


def test_other_positives_do_not_count_against_one() -> None:
    import torch

    from retriever.training.training_loop import compute_contrastive_loss

    chance = random.Random(3)
    scores = [[chance.uniform(-9, 9) for _ in range(6)] for _ in range(4)]
    label = [[chance.choice((POSITIVE, IGNORED, NEGATIVE)) for _ in range(6)] for _ in range(4)]
    terms: list[float] = []
    for given, told in zip(scores, label, strict=True):
        wrong = [math.exp(score) for score, one in zip(given, told, strict=True) if one == NEGATIVE]
        right = [math.exp(score) for score, one in zip(given, told, strict=True) if one == POSITIVE]
        terms += [-math.log(one / (one + sum(wrong))) for one in right]
    assert compute_contrastive_loss(torch.tensor(scores), torch.tensor(label)).item() == pytest.approx(
        sum(terms) / len(terms), rel=1e-5
    )


def test_with_one_positive_each_it_is_the_multiple_negatives_ranking_loss() -> None:
    import torch
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    from retriever.training.training_loop import compute_contrastive_loss

    torch.manual_seed(1)
    asked, solved, hard = (torch.nn.functional.normalize(torch.randn(5, 8), dim=-1) for _ in range(3))
    theirs = MultipleNegativesRankingLoss(torch.nn.Identity(), scale=20.0).compute_loss_from_embeddings(
        [asked, solved, hard], torch.zeros(5)
    )
    label = torch.cat([torch.eye(5), torch.zeros(5, 5)], 1)
    assert torch.allclose(
        compute_contrastive_loss(20.0 * asked @ torch.cat([solved, hard]).T, label), theirs, atol=1e-6
    )


def test_a_step_knows_what_solved_each_request(base: Path) -> None:
    corpus = catalogue()
    first, second = range(2)
    examples = [TrainingExample("rain", (first, second)), TrainingExample("books", (first,))]
    near = [[place for place in range(len(corpus.ids)) if place not in one.positive_rows] for one in examples]
    recipe = TrainingRecipe(base=str(base), positives=1, hard=3)
    encoder = TrainedEncoder(recipe)
    batches = BatchCollator(encoder, corpus, examples, NegativeSampler(corpus, examples, near, recipe), recipe)
    made = batches([{"place": 0}, {"place": 1}])
    requests, documents = made["label"].shape
    assert (requests, documents) == (2, made["document_input_ids"].shape[0])
    assert ((made["label"] == POSITIVE).sum(1) == 1).all()
    assert made["document_parts"].shape[:2] == (documents, 1)
    assert made["request_parts"].shape[0] == requests
    again = batches([{"place": 0}, {"place": 1}])
    assert all((made[name] == again[name]).all() for name in made), "what is drawn depends on the epoch and the place"
