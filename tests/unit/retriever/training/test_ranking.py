# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
import numpy as np
import pytest

from domain.errors import UsageError
from retriever.features import FEATURE_NAMES
from retriever.reranker import build_forest, build_reranker
from retriever.training.reranker import LabelledCandidates, parse_tree, score_by_cross_validation, train_reranker

pytestmark = pytest.mark.neural
TELLING = FEATURE_NAMES.index("linked")


def requests(count: int = 80) -> list[LabelledCandidates]:
    """Candidates of chance, of which the one with the highest ``linked`` serves."""
    chance = np.random.default_rng(3)
    found: list[LabelledCandidates] = []
    for _ in range(count):
        features = chance.normal(size=(12, len(FEATURE_NAMES))).astype(np.float32)
        features[:, FEATURE_NAMES.index("sentences")] = 1.0  # a feature without spread
        found.append(LabelledCandidates(features, np.arange(12) == features[:, TELLING].argmax()))
    return found


def share_right(given: list[LabelledCandidates], scores: list[np.ndarray]) -> float:
    return float(np.mean([one.serves[judged.argmax()] for one, judged in zip(given, scores, strict=True)]))


def test_it_finds_what_tells() -> None:
    learnt = train_reranker(requests(), "encoder")
    assert learnt.encoder == "encoder"
    assert max(range(len(learnt.weights)), key=lambda place: learnt.weights[place]) == TELLING
    fresh = requests(100)[80:]
    assert share_right(fresh, [build_reranker(learnt).score(one.features) for one in fresh]) >= 0.6


def test_each_is_judged_by_one_that_did_not_learn_from_it() -> None:
    given = requests()
    assert share_right(given, score_by_cross_validation(given, 7)) >= 0.6
    assert share_right(given, score_by_cross_validation(given, 7, ("linked",))) <= 0.3


def test_the_trees_say_what_their_library_says() -> None:
    import lightgbm

    given = requests(120)
    values = np.concatenate([one.features for one in given])
    serves = np.concatenate([one.serves for one in given]).astype(int)
    booster = lightgbm.train(
        {"objective": "binary", "verbose": -1, "num_threads": 1}, lightgbm.Dataset(values, serves), 20
    )
    forest = build_forest([parse_tree(one["tree_structure"]) for one in booster.dump_model()["tree_info"]])
    assert forest.depth > 2
    assert np.allclose(forest.predict(values), booster.predict(values, raw_score=True), atol=1e-4)


def test_the_regression_weighs_half_of_the_trees() -> None:
    learnt = train_reranker(given := requests(), "encoder")
    values = np.concatenate([one.features for one in given])
    straight = build_reranker(learnt.model_copy(update={"trees": ()})).score(values)
    assert straight.std() == pytest.approx(0.5, abs=0.01)
    assert build_forest(learnt.trees).predict(values).std() == pytest.approx(1.0, abs=0.01)
    assert TELLING in {asked for tree in learnt.trees for asked in tree.feature}


def test_hidden_features_are_seen_by_neither() -> None:
    learnt = train_reranker(requests(), "encoder", ("linked",))
    assert learnt.weights[TELLING] == 0.0
    assert TELLING not in {asked for tree in learnt.trees for asked in tree.feature}


def test_the_same_twice() -> None:
    assert train_reranker(requests(), "encoder") == train_reranker(requests(), "encoder")


def test_nothing_to_learn_from() -> None:
    with pytest.raises(UsageError, match="nothing to learn from"):
        train_reranker(
            [LabelledCandidates(np.zeros((2, len(FEATURE_NAMES)), np.float32), np.zeros(2, np.bool_))], "encoder"
        )
