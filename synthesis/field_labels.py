"""Roles of response fields, read from documents: which one names a thing, and which one repeats an input.

Paths are document paths, as ``authors[].name``.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from pydantic.types import JsonValue

from agent.execution.call_wording import is_identifying_field
from agent.parameter_needs import derive_need
from domain.tool import Parameter, ToolDoc
from graph.identifiers import extract_words, split_words
from graph.lenient_json import read_value
from graph.response_fields import OutputField, output_fields

_LABEL_WORDS = ("name", "title", "label", "subject", "headline", "summary")
"""Last words of field names that hold a thing's name, the most usual one first."""
_STOP_WORDS = frozenset(
    {"the", "a", "an", "of", "or", "and", "to", "in", "for", "from", "it", "word", "identifier", "id"}
)
_MAX_SCHEMA_NODES = 5_000
_MAX_DEPTH = 12
_NAME_WORDS = frozenset({"name", "title"})
_MIN_OVERLAP = 0.34
"""Minimum word overlap (Jaccard) at which descriptions of a field and an input count as the same."""


def get_list_path(path: str) -> str | None:
    """Return the path of the innermost list around a field: ``a.b`` of ``a.b[].c``; None without a list."""
    return path.rpartition("[]")[0] if "[]" in path else None


def get_item_path(path: str) -> str:
    """Return the part of a path within an item of its innermost list: ``.c`` of ``a.b[].c``."""
    return path.rpartition("[]")[2] if "[]" in path else path


def list_object_fields(doc: ToolDoc, path: str) -> list[OutputField]:
    """List the fields of the object that holds a field, in order, including the field itself."""
    object_path = _get_object_path(path)
    return [field for field in output_fields(doc) if _get_object_path(field.path) == object_path]


def _get_object_path(path: str) -> str:
    return path if path.endswith("[]") else path.rpartition(".")[0]


def find_label_field(doc: ToolDoc, path: str) -> OutputField | None:
    """Find the field that names the thing to which a field belongs; None if there is none.

    It is a field of the same object, else of the item of the innermost list around it.
    """
    item = f"{path.rpartition('[]')[0]}[].x" if "[]" in path else "x"
    return _pick_label_field(list_object_fields(doc, path)) or _pick_label_field(list_object_fields(doc, item))


def _pick_label_field(fields: Sequence[OutputField]) -> OutputField | None:
    """Pick the field whose name is a label word, else the first whose name ends in one."""
    text_fields = [field for field in fields if field.type in ("string", None) and not is_identifying_field(field.name)]
    fields_by_words = [(split_words(field.name), field) for field in text_fields]
    exact = (
        field for label_word in _LABEL_WORDS for field_words, field in fields_by_words if field_words == (label_word,)
    )
    ending = (
        field
        for label_word in _LABEL_WORDS
        for field_words, field in fields_by_words
        if field_words and field_words[-1] == label_word
    )
    return next(exact, next(ending, None))


def find_echo_field(doc: ToolDoc, parameter: Parameter) -> OutputField | None:
    """Find the field of a tool's response that repeats one of its inputs.

    A search by words of titles echoes its input in ``[].title``.
    """
    fields = [
        field
        for field in output_fields(doc)
        if is_identifying_field(field.name) <= is_identifying_field(parameter.name)
    ]
    parameter_words = split_words(parameter.name)
    same_name = (field for field in fields if split_words(field.name) == parameter_words)
    longer_name = (
        field
        for field in fields
        if parameter_words and set(parameter_words) < set(split_words(field.name)) and field.type == parameter.type
    )
    echo = next(same_name, next(longer_name, None)) or _find_by_description(doc, parameter, fields)
    if echo is None and derive_need(parameter).kind == "query" and _NAME_WORDS & extract_words(parameter.description):
        list_path = next((field.path for field in fields if "[]" in field.path), None)
        return find_label_field(doc, list_path) if list_path is not None else None
    return echo


def _find_by_description(doc: ToolDoc, parameter: Parameter, fields: Sequence[OutputField]) -> OutputField | None:
    """Find the field whose description shares most words with that of the parameter."""
    descriptions = get_field_descriptions(doc)
    parameter_words = extract_words(parameter.description) - _STOP_WORDS
    best: tuple[float, OutputField | None] = (_MIN_OVERLAP, None)
    for field in fields:
        field_words = extract_words(descriptions.get(field.path, "")) - _STOP_WORDS
        shared = (
            len(field_words & parameter_words) / len(field_words | parameter_words)
            if field_words and parameter_words
            else 0.0
        )
        if shared > best[0] and field.type in (parameter.type, None):
            best = (shared, field)
    return best[1]


def find_named_label(doc: ToolDoc, inputs: Sequence[str]) -> OutputField | None:
    """Find the label field of the thing that an input names; None if no input names one.

    An input that is echoed in a label field names the thing. The name of a city, for example, does not name the
    people who live there.
    """
    parameters_by_name = {parameter.name: parameter for parameter in doc.parameters}
    for name in inputs:
        field = find_echo_field(doc, parameters_by_name[name])
        label = find_label_field(doc, field.path) if field is not None else None
        if field is not None and label is not None and field.path == label.path:
            return label
    return None


def get_field_descriptions(doc: ToolDoc) -> dict[str, str]:
    """Return the descriptions of a response schema by path; that of a list also stands for its items."""
    return _read_descriptions(doc.learnt_response or doc.response_schema or "")


@lru_cache(maxsize=4096)
def _read_descriptions(text: str) -> dict[str, str]:
    schema = read_value(text) if len(text) > 2 else None
    descriptions: dict[str, str] = {}
    for path, description in _walk_schema(schema, schema, "", 0, [_MAX_SCHEMA_NODES]):
        descriptions.setdefault(path, description)
    return descriptions


def _walk_schema(
    node: JsonValue, root: JsonValue, path: str, depth: int, budget: list[int]
) -> Iterator[tuple[str, str]]:
    """Yield path and description of each node of a schema.

    ``budget`` holds the number of nodes that may still be read.
    """
    budget[0] -= 1
    if not isinstance(node, dict) or depth > _MAX_DEPTH or budget[0] < 0:
        return
    description = node.get("description")
    if isinstance(description, str) and path:
        yield path, description
        if node.get("type") == "array":
            yield f"{path}[]", description
    reference = node.get("$ref")
    if isinstance(reference, str):
        yield from _walk_schema(_resolve_reference(root, reference), root, path, depth + 1, budget)
    for keyword in ("anyOf", "oneOf", "allOf"):
        options = node.get(keyword)
        for option in options if isinstance(options, list) else ():
            yield from _walk_schema(option, root, path, depth + 1, budget)
    properties = node.get("properties")
    if isinstance(properties, dict):
        for name, child in properties.items():
            yield from _walk_schema(child, root, f"{path}.{name}" if path else name, depth + 1, budget)
    elif "items" in node:
        yield from _walk_schema(node["items"], root, f"{path}[]", depth + 1, budget)


def _resolve_reference(root: JsonValue, reference: str) -> JsonValue:
    """Return the node that a local reference (``#/…``) points to; None if there is none."""
    node = root if reference.startswith("#/") else None
    for part in reference[2:].split("/"):
        node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node
