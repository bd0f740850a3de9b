"""Scales for each token, put into a model that has one scale for all. Needs onnx."""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnxruntime import InferenceSession

from domain.errors import UsageError
from retriever.training.token_scales import add_token_scales

pytestmark = pytest.mark.neural
WIDTH = 16


@pytest.fixture
def weights() -> NDArray[np.float32]:
    return np.random.default_rng(3).normal(size=(WIDTH, WIDTH)).astype(np.float32)


@pytest.fixture
def quantised(tmp_path: Path, weights: NDArray[np.float32]) -> Path:
    """A model of two products of the same activations, as ``quantize_dynamic`` leaves it."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import QuantType, quantize_dynamic

    shape = ["texts", "tokens", WIDTH]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["once"], name="once"),
        helper.make_node("MatMul", ["x", "v"], ["again"], name="again"),
        helper.make_node("Add", ["once", "again"], ["y"]),
    ]
    told, given = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "yx")
    tensors = [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(weights * 2, "v")]
    graph = helper.make_graph(nodes, "small", [given], [told], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(tmp_path / "float.onnx"))
    made = tmp_path / "per_tensor.onnx"
    quantize_dynamic(str(tmp_path / "float.onnx"), str(made), per_channel=True, weight_type=QuantType.QInt8)
    return made


def run(model: Path, rows: NDArray[np.float32]) -> NDArray[np.float32]:
    session: Any = InferenceSession(str(model), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": rows})[0]


def test_a_token_is_not_touched_by_others(tmp_path: Path, quantised: Path, weights: NDArray[np.float32]) -> None:
    target = tmp_path / "per_token.onnx"
    assert add_token_scales(quantised, target) == 2
    rows = np.random.default_rng(4).normal(size=(3, 5, WIDTH)).astype(np.float32)
    rows[1] *= 1000
    rows[2, 0] = 0
    together, alone = run(target, rows), run(target, rows[:1])
    assert (together[:1] == alone).all()
    assert (together[2, 0] == 0).all()
    exact = rows @ weights * 3
    assert np.abs(together[0] - exact[0]).max() < 0.03 * np.abs(exact[0]).max()
    assert np.abs(run(quantised, rows)[0] - exact[0]).max() > 0.3 * np.abs(exact[0]).max(), "what is mended"


def test_a_model_that_has_them_already_is_refused(tmp_path: Path, quantised: Path) -> None:
    add_token_scales(quantised, tmp_path / "once.onnx")
    with pytest.raises(UsageError, match="needs no other scales"):
        add_token_scales(tmp_path / "once.onnx", tmp_path / "twice.onnx")


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"not a model")
    with pytest.raises(UsageError, match="cannot be read"):
        add_token_scales(tmp_path / "broken.onnx", tmp_path / "out.onnx")


def test_the_bundled_model_has_them(tmp_path: Path) -> None:
    from retriever.embedders.onnx_embedder import BUNDLED_FOLDER

    with pytest.raises(UsageError, match="needs no other scales"):
        add_token_scales(BUNDLED_FOLDER / "model.onnx", tmp_path / "out.onnx")
