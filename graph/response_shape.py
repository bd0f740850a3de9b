"""The shape of a tool's responses, from what was learnt of them or from its document."""

from functools import lru_cache

from domain.tool import ToolDoc
from graph.lenient_json import read_value
from graph.shapes import UNKNOWN, Shape, completed, is_schema, shape_of_names, shape_of_schema, shape_of_value

_MAX_TEXT = 400_000


def response_shape(doc: ToolDoc) -> Shape:
    """Return the shape learnt from a tool's responses, or :func:`documented_shape` if none was learnt."""
    return _learnt(doc.learnt_response) if doc.learnt_response else documented_shape(doc)


def documented_shape(doc: ToolDoc) -> Shape:
    """Return the shape that a tool's schema gives, completed by its example; ``UNKNOWN`` if it has neither.

    Broken text is read as far as it is intact.
    """
    return _documented(doc.response_schema or "", doc.example_response or "")


@lru_cache(maxsize=4096)
def _learnt(text: str) -> Shape:
    return shape_of_schema(read_value(text))


@lru_cache(maxsize=4096)
def _documented(schema_text: str, example_text: str) -> Shape:
    documented = _of_schema_text(schema_text)
    example = read_value(example_text) if 0 < len(example_text) <= _MAX_TEXT else None
    return documented if example is None else completed(documented, shape_of_value(example))


def _of_schema_text(text: str) -> Shape:
    schema = read_value(text) if 2 < len(text) <= _MAX_TEXT else None
    if not isinstance(schema, dict) or not schema:
        return UNKNOWN
    return shape_of_schema(schema) if is_schema(schema) else shape_of_names(schema)
