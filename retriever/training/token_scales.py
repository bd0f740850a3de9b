# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Per-token scales of an int8 encoder, in place of one scale for everything that is embedded together.

onnxruntime's dynamic quantisation chooses one scale of activations for a tensor, so that a text's vector depends on the
other texts of its batch and on padding. Here a token's activations are divided by their own largest magnitude: no other
token or text has an influence, and small activations are not rounded by the steps of large ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from domain.errors import UsageError
from retriever.training.requirements import require_modules

_CONTRIB = "com.microsoft"
"""Domain of ``MatMulIntegerToFloat``, which multiplies and scales columns in one pass."""
_PREFIX = "token_scales/"
_CONSTANTS = {
    "one": np.float32(1.0),
    "steps": np.float32(127.0),
    "step": np.float32(1 / 127),
    "smallest": np.float32(1e-12),
    "zero": np.uint8(128),
}
"""Constants of the graph.

``smallest`` prevents a division by zero for a token of zeros; ``zero`` is unsigned, as VNNI kernels expect activations.
"""


@dataclass(frozen=True, slots=True)
class _QuantizedProduct:
    """Nodes that ``quantize_dynamic`` made of one matrix product with a weight."""

    quantise: Any
    multiply: Any
    cast: Any
    scales: Any
    """Product of the scales of activations and weights."""
    rescale: Any
    weight: str
    weight_scale: str

    @property
    def activations(self) -> str:
        """Return the name of the float activations."""
        return self.quantise.input[0]


def add_token_scales(source: Path, target: Path) -> int:
    """Rewrite a model that ``quantize_dynamic`` made, and return the number of products changed.

    Its weights must be signed and symmetric.

    Raises:
        UsageError: it is not such a model, or was rewritten before.
        UnavailableError: onnx is not installed.
    """
    require_modules("onnx")
    import onnx
    from onnx import helper, numpy_helper

    try:
        model: Any = onnx.load(str(source))
    except Exception as error:  # protobuf's error classes are not part of onnx's interface
        raise UsageError(f"{source} cannot be read as an ONNX model ({error}); name an exported encoder") from error
    products = list(_find_products(model.graph, source))
    if not products:
        raise UsageError(f"{source} has no product with one scale for all texts: it needs no other scales")
    replaced_nodes = {
        id(node)
        for quantized in products
        for node in (quantized.quantise, quantized.multiply, quantized.cast, quantized.scales)
    }
    product_by_node = {id(quantized.rescale): quantized for quantized in products}
    quantised: set[str] = set()
    nodes: list[Any] = []
    for node in model.graph.node:
        if (product := product_by_node.get(id(node))) is not None:
            if product.activations not in quantised:  # several products may share one input
                quantised.add(product.activations)
                nodes += _build_quantisation(product.activations)
            nodes += _build_multiplication(product)
        elif id(node) not in replaced_nodes:
            nodes.append(node)
    used = {name for node in nodes for name in node.input}
    initializers = [tensor for tensor in model.graph.initializer if tensor.name in used]
    constants = [numpy_helper.from_array(np.asarray(value), _PREFIX + name) for name, value in _CONSTANTS.items()]
    del model.graph.node[:]
    del model.graph.initializer[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend([*initializers, *constants])
    if _CONTRIB not in {opset.domain for opset in model.opset_import}:
        model.opset_import.append(helper.make_opsetid(_CONTRIB, 1))
    onnx.save(model, str(target))
    return len(products)


def _find_products(graph: Any, source: Path) -> Iterator[_QuantizedProduct]:
    """Find the products with weights.

    Raises:
        UsageError: one was made another way, so that its weights would be misread.
    """
    from onnx import numpy_helper

    producers = {name: node for node in graph.node for name in node.output}
    consumers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            consumers.setdefault(name, []).append(node)
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        quantise = producers.get(node.input[0])
        cast = consumers[node.output[0]][0]
        rescale = consumers[cast.output[0]][0]
        scales = producers.get(next((name for name in rescale.input if name != cast.output[0]), ""))
        weight_scale = next((name for name in scales.input if name in tensors), "") if scales is not None else ""
        zeros = tensors.get(node.input[3]) if len(node.input) > 3 else None
        kinds = [part.op_type for part in (quantise, cast, rescale, scales) if part is not None]
        if kinds != ["DynamicQuantizeLinear", "Cast", "Mul", "Mul"] or not weight_scale or node.input[1] not in tensors:
            raise UsageError(f"{source}: {node.name} was not made by quantize_dynamic; export the encoder anew")
        if zeros is not None and numpy_helper.to_array(zeros).any():
            raise UsageError(f"{source}: the weights of {node.name} are not symmetric; export the encoder anew")
        yield _QuantizedProduct(quantise, node, cast, scales, rescale, node.input[1], weight_scale)


def _build_quantisation(activations: str) -> list[Any]:
    """Return nodes that compute each token's scale and turn its activations into integers around 128."""
    from onnx import helper

    magnitude, largest, bounded, inverse, scaled, rounded, scale = (
        f"{_PREFIX}{activations}/{name}"
        for name in ("magnitude", "largest", "bounded", "inverse", "scaled", "whole", "scale")
    )
    unit, steps, step, smallest, zero = (_PREFIX + name for name in _CONSTANTS)
    return [
        helper.make_node("Abs", [activations], [magnitude]),
        helper.make_node("ReduceMax", [magnitude], [largest], axes=[-1], keepdims=1),
        helper.make_node("Max", [largest, smallest], [bounded]),
        helper.make_node("Mul", [bounded, step], [scale]),
        helper.make_node("Div", [steps, bounded], [inverse]),
        helper.make_node("Mul", [activations, inverse], [scaled]),
        helper.make_node("QuantizeLinear", [scaled, unit, zero], [rounded]),
    ]


def _build_multiplication(product: _QuantizedProduct) -> list[Any]:
    """Return nodes that multiply the integers and scale columns as the weights, rows as the tokens."""
    from onnx import helper

    prefix, columns = f"{_PREFIX}{product.activations}/", f"{_PREFIX}{product.rescale.output[0]}/columns"
    inputs = [f"{prefix}whole", product.weight, f"{_PREFIX}one", product.weight_scale, f"{_PREFIX}zero"]
    return [
        helper.make_node("MatMulIntegerToFloat", inputs, [columns], domain=_CONTRIB),
        helper.make_node("Mul", [columns, f"{prefix}scale"], [product.rescale.output[0]], name=product.rescale.name),
    ]
