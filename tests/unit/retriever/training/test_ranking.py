# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
import numpy as np
import pytest

from domain.errors import UsageError
from retriever.features import NAMES_OF_ALL
from retriever.forest import forest_of
from retriever.reranker import reranker_of
from retriever.training.ranking import Judged, cross_fitted, learn, tree_of

pytestmark = pytest.mark.neural
TELLING = NAMES_OF_ALL.index("linked")


def requests(count: int = 80) -> list[Judged]:
    """Candidates of chance, of which the one with the highest ``linked`` serves."""
    chance = np.random.default_rng(3)
    found: list[Judged] = []
    for _ in range(count):
        features = chance.normal(size=(12, len(NAMES_OF_ALL))).astype(np.float32)
        features[:, NAMES_OF_ALL.index("sentences")] = 1.0  # a feature without spread
        found.append(Judged(features, np.arange(12) == features[:, TELLING].argmax()))
    return found


def share_right(given: list[Judged], scores: list[np.ndarray]) -> float:
    return float(np.mean([one.serves[judged.argmax()] for one, judged in zip(given, scores, strict=True)]))


def test_it_finds_what_tells() -> None:
    learnt = learn(requests(), "encoder")
    assert learnt.encoder == "encoder"
    assert max(range(len(learnt.weights)), key=lambda place: learnt.weights[place]) == TELLING
    fresh = requests(100)[80:]
    assert share_right(fresh, [reranker_of(learnt).judge(one.features) for one in fresh]) >= 0.6


def test_each_is_judged_by_one_that_did_not_learn_from_it() -> None:
    given = requests()
    assert share_right(given, cross_fitted(given, 7)) >= 0.6
    assert share_right(given, cross_fitted(given, 7, ("linked",))) <= 0.3


def test_the_trees_say_what_their_library_says() -> None:
    import lightgbm

    given = requests(120)
    values = np.concatenate([one.features for one in given])
    serves = np.concatenate([one.serves for one in given]).astype(int)
    booster = lightgbm.train(
        {"objective": "binary", "verbose": -1, "num_threads": 1}, lightgbm.Dataset(values, serves), 20
    )
    forest = forest_of([tree_of(one["tree_structure"]) for one in booster.dump_model()["tree_info"]])
    assert forest.depth > 2
    assert np.allclose(forest.judge(values), booster.predict(values, raw_score=True), atol=1e-4)


def test_the_regression_weighs_half_of_the_trees() -> None:
    learnt = learn(given := requests(), "encoder")
    values = np.concatenate([one.features for one in given])
    straight = reranker_of(learnt.model_copy(update={"trees": ()})).judge(values)
    assert straight.std() == pytest.approx(0.5, abs=0.01)
    assert forest_of(learnt.trees).judge(values).std() == pytest.approx(1.0, abs=0.01)
    assert TELLING in {asked for tree in learnt.trees for asked in tree.feature}


def test_hidden_features_are_seen_by_neither() -> None:
    learnt = learn(requests(), "encoder", ("linked",))
    assert learnt.weights[TELLING] == 0.0
    assert TELLING not in {asked for tree in learnt.trees for asked in tree.feature}


def test_the_same_twice() -> None:
    assert learn(requests(), "encoder") == learn(requests(), "encoder")


def test_nothing_to_learn_from() -> None:
    with pytest.raises(UsageError, match="nothing to learn from"):
        learn([Judged(np.zeros((2, len(NAMES_OF_ALL)), np.float32), np.zeros(2, np.bool_))], "encoder")
