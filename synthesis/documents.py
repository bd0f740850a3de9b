"""Labels, descriptions and echoed inputs: what documents tell about fields beyond their names and types."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from pydantic.types import JsonValue

from agent.execution.things import tells_apart
from agent.parameters.needs import need_of
from domain.tool import Parameter, ToolDoc
from graph.identifiers import text_words, words
from graph.lenient_json import read_value
from graph.response_fields import OutputField, output_fields

_CALLED = ("name", "title", "label", "subject", "headline", "summary")
"""Last words of field names that hold a thing's name, the most usual one first."""
_EMPTY_WORDS = frozenset(
    {"the", "a", "an", "of", "or", "and", "to", "in", "for", "from", "it", "word", "identifier", "id"}
)
_MOST_PARTS = 5_000
_DEEPEST = 12
_NAMING = frozenset({"name", "title"})
_ALIKE = 0.34
"""Share of common words from which the descriptions of a field and of an input count as the same."""


def list_of(path: str) -> str | None:
    """Return the path of the innermost list that holds a field, without brackets: ``a.b`` of ``a.b[].c``; else None."""
    return path.rpartition("[]")[0] if "[]" in path else None


def in_item(path: str) -> str:
    """Return the part of a path within the item of its innermost list: ``.c`` of ``a.b[].c``."""
    return path.rpartition("[]")[2] if "[]" in path else path


def beside(doc: ToolDoc, path: str) -> list[OutputField]:
    """List the fields of the object that holds a field, in order, including the field itself."""
    held = _holder(path)
    return [field for field in output_fields(doc) if _holder(field.path) == held]


def _holder(path: str) -> str:
    return path if path.endswith("[]") else path.rpartition(".")[0]


def called(doc: ToolDoc, path: str) -> OutputField | None:
    """Find the field that names the thing which holds a field, directly or as a list item; None if there is none."""
    item = f"{path.rpartition('[]')[0]}[].x" if "[]" in path else "x"
    return _called(beside(doc, path)) or _called(beside(doc, item))


def _called(fields: Sequence[OutputField]) -> OutputField | None:
    """Pick the field whose name is a label word, else the first whose name ends in one."""
    texts = [field for field in fields if field.type in ("string", None) and not tells_apart(field.name)]
    by_words = [(words(field.name), field) for field in texts]
    exact = (field for wanted in _CALLED for named, field in by_words if named == (wanted,))
    ending = (field for wanted in _CALLED for named, field in by_words if named and named[-1] == wanted)
    return next(exact, next(ending, None))


def told_by(doc: ToolDoc, parameter: Parameter) -> OutputField | None:
    """Find the field of a tool's response that repeats one of its inputs.

    A search by words of titles echoes its input in ``[].title``.
    """
    fields = [field for field in output_fields(doc) if tells_apart(field.name) <= tells_apart(parameter.name)]
    wanted = words(parameter.name)
    same = (field for field in fields if words(field.name) == wanted)
    longer = (
        field for field in fields if wanted and set(wanted) < set(words(field.name)) and field.type == parameter.type
    )
    found = next(same, next(longer, None)) or _described_alike(doc, parameter, fields)
    if found is None and need_of(parameter).kind == "query" and _NAMING & text_words(parameter.description):
        listed = next((field.path for field in fields if "[]" in field.path), None)
        return called(doc, listed) if listed is not None else None
    return found


def _described_alike(doc: ToolDoc, parameter: Parameter, fields: Sequence[OutputField]) -> OutputField | None:
    """Find the field whose description shares most words with that of the parameter."""
    told = field_descriptions(doc)
    described = text_words(parameter.description) - _EMPTY_WORDS
    best: tuple[float, OutputField | None] = (_ALIKE, None)
    for field in fields:
        own = text_words(told.get(field.path, "")) - _EMPTY_WORDS
        shared = len(own & described) / len(own | described) if own and described else 0.0
        if shared > best[0] and field.type in (parameter.type, None):
            best = (shared, field)
    return best[1]


def named_by(doc: ToolDoc, inputs: Sequence[str]) -> OutputField | None:
    """Find the label field of the one thing that some inputs name; None where they name none.

    A city, for example, does not name the people who live in it.
    """
    parameters = {one.name: one for one in doc.parameters}
    for name in inputs:
        field = told_by(doc, parameters[name])
        label = called(doc, field.path) if field is not None else None
        if field is not None and label is not None and field.path == label.path:
            return label
    return None


def field_descriptions(doc: ToolDoc) -> dict[str, str]:
    """Return the descriptions of a response schema by path; that of a list also stands for its items."""
    return _described(doc.learnt_response or doc.response_schema or "")


@lru_cache(maxsize=4096)
def _described(text: str) -> dict[str, str]:
    root = read_value(text) if len(text) > 2 else None
    found: dict[str, str] = {}
    for path, said in _of_node(root, root, "", 0, [_MOST_PARTS]):
        found.setdefault(path, said)
    return found


def _of_node(node: JsonValue, root: JsonValue, path: str, depth: int, left: list[int]) -> Iterator[tuple[str, str]]:
    """Yield path and description of each node of a schema.

    ``budget`` holds the number of nodes that may still be read.
    """
    left[0] -= 1
    if not isinstance(node, dict) or depth > _DEEPEST or left[0] < 0:
        return
    said = node.get("description")
    if isinstance(said, str) and path:
        yield path, said
        if node.get("type") == "array":
            yield f"{path}[]", said
    reference = node.get("$ref")
    if isinstance(reference, str):
        yield from _of_node(_at(root, reference), root, path, depth + 1, left)
    for way in ("anyOf", "oneOf", "allOf"):
        options = node.get(way)
        for option in options if isinstance(options, list) else ():
            yield from _of_node(option, root, path, depth + 1, left)
    properties = node.get("properties")
    if isinstance(properties, dict):
        for name, one in properties.items():
            yield from _of_node(one, root, f"{path}.{name}" if path else name, depth + 1, left)
    elif "items" in node:
        yield from _of_node(node["items"], root, f"{path}[]", depth + 1, left)


def _at(root: JsonValue, reference: str) -> JsonValue:
    """Return the node that a local reference (``#/…``) points to; None if there is none."""
    node = root if reference.startswith("#/") else None
    for part in reference[2:].split("/"):
        node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node
