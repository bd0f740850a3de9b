"""The back ends of the vector index that the contract is tested on. A further one adds its line, and nothing else."""

from collections.abc import Callable
from pathlib import Path

from retriever.backends.edge import EdgeIndex
from retriever.backends.exact import ExactIndex
from retriever.backends.qdrant import QdrantIndex
from retriever.backends.qdrant_connection import QdrantAddress
from retriever.index import VectorIndex

BACKENDS: dict[str, Callable[[Path], VectorIndex]] = {
    "edge": lambda folder: EdgeIndex(folder / "vectors"),
    "exact": lambda _: ExactIndex(),
    "qdrant-local": lambda _: QdrantIndex(QdrantAddress(":memory:")),
}
"""Each makes an index that is not set up, in a folder of the test's own."""
