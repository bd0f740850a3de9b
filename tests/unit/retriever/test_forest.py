import numpy as np
import pytest
from pydantic import ValidationError

from retriever.features import FEATURE_NAMES
from retriever.reranker import LEAF, RegressionTree, build_forest

SPLIT = RegressionTree(
    feature=(2, LEAF, LEAF), threshold=(0.5, 0.0, 0.0), left=(1, 0, 0), right=(2, 0, 0), value=(0.0, -1.0, 4.0)
)
DEEP = RegressionTree(
    feature=(0, 1, LEAF, LEAF, LEAF),
    threshold=(0.0, 3.0, 0.0, 0.0, 0.0),
    left=(1, 3, 0, 0, 0),
    right=(2, 4, 0, 0, 0),
    value=(0.0, 0.0, 10.0, 20.0, 30.0),
)


def rows(*values: tuple[float, float, float]) -> np.ndarray:
    found = np.zeros((len(values), len(FEATURE_NAMES)), np.float32)
    found[:, :3] = np.reshape(values, (-1, 3))
    return found


def test_each_tree_leads_to_a_leaf_and_the_leaves_are_added() -> None:
    asked = rows((-1, 3, 0.5), (-1, 3.5, 0.6), (1, 0, 9))
    assert build_forest([SPLIT]).predict(asked).tolist() == [-1, 4, 4], "what is equal goes left"
    assert build_forest([DEEP]).predict(asked).tolist() == [20, 30, 10]
    assert build_forest([SPLIT, DEEP]).predict(asked).tolist() == [19, 34, 14]


def test_no_trees_say_nothing() -> None:
    assert build_forest([]).predict(rows((1, 2, 3), (4, 5, 6))).tolist() == [0, 0]
    assert build_forest([SPLIT]).predict(rows()).shape == (0,)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"left": (0, 0, 0)}, "lead to a leaf"),
        ({"right": (7, 0, 0)}, "lead to a leaf"),
        ({"feature": (999, LEAF, LEAF)}, "not there"),
        ({"feature": (-2, LEAF, LEAF)}, "not there"),
        ({"value": (1.0,)}, "one of each"),
        ({"feature": (), "threshold": (), "left": (), "right": (), "value": ()}, "one of each"),
    ],
)
def test_a_broken_tree_is_refused(change: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        RegressionTree.model_validate({**SPLIT.model_dump(), **change})
