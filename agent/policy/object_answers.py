"""Answers of people to a question for an object: ``name: Ada, street: 3 Elm Street`` or JSON."""

import re
from typing import Any, cast

from pydantic.types import JsonValue

from agent.execution.coercion import coerce, convert_to_schema
from agent.execution.validation import build_value_schema, check_arguments
from agent.text import clean
from domain.tool import Parameter, ToolDoc
from graph.identifiers import split_words
from graph.lenient_json import read_value

_MAX_NAMED_FIELDS = 8
"""Limit of fields that a question names."""


def get_fields(parameter: Parameter) -> dict[str, dict[str, Any]]:
    """Return the fields of an object parameter with their schemas; none if they are not fixed or it is no object."""
    if parameter.type != "object":
        return {}
    schema: Any = build_value_schema(parameter)
    if parameter.nullable:
        schema = schema["anyOf"][0]
    properties: Any = schema.get("properties")
    fields = cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
    return {name: cast("dict[str, Any]", one) if isinstance(one, dict) else {} for name, one in fields.items()}


def describe_form(parameter: Parameter) -> str:
    """Describe the form of an answer that is an object; empty for other parameters.

    Example: ``answer as name: …, street: …; phone may be left out``.
    """
    fields = get_fields(parameter)
    if not fields:
        return "answer with an object as JSON" if parameter.type == "object" else ""
    required = _get_required_fields(parameter) & set(fields)
    first = [name for name in fields if name in required] or list(fields)
    required_text = ", ".join(f"{clean(name, 24)}: …" for name in first[:_MAX_NAMED_FIELDS])
    rest = [clean(name, 24) for name in fields if name not in first]
    optional_text = f"; {', '.join(rest[:_MAX_NAMED_FIELDS])} may be left out" if rest else ""
    return f"answer as {required_text}{optional_text}"


def parse_answer(answer: str, parameter: Parameter) -> JsonValue:
    """Convert an answer to the type of a parameter; if that is not possible, return it as text."""
    value = coerce(answer, parameter)
    if parameter.type == "any" and answer.lstrip()[:1] in ("{", "["):
        structure = read_value(answer)
        return value if structure is None else structure
    fields = get_fields(parameter)
    if not fields or not isinstance(value, str):
        return value
    texts = _parse_pairs(value, fields)
    return {name: convert_to_schema(text, fields[name]) for name, text in texts.items()} or value


def find_fault(value: JsonValue, tool: ToolDoc, parameter: Parameter) -> str:
    """Return why a value does not fit a parameter, in a sentence; empty if it fits."""
    complaints = check_arguments(tool, {parameter.name: value})[1]
    return next((said for name, said in complaints if name == parameter.name), "")


def _parse_pairs(text: str, fields: dict[str, Any]) -> dict[str, str]:
    """Return the text after each field name, up to the next one."""
    by_words = {" ".join(split_words(name)): name for name in fields} | {name.casefold(): name for name in fields}
    name_pattern = "|".join(sorted(map(re.escape, by_words), key=len, reverse=True))
    marks = list(re.finditer(rf"(?:^|[\s,;])({name_pattern})\s*[:=]\s*", text, re.IGNORECASE))
    ends = [mark.start() for mark in marks[1:]] + [len(text)] * bool(marks)
    texts: dict[str, str] = {}
    for mark, end in zip(marks, ends, strict=True):
        texts[by_words[mark[1].casefold()]] = text[mark.end() : end].strip(" ,;")
    return texts


def _get_required_fields(parameter: Parameter) -> set[str]:
    schema: Any = build_value_schema(parameter)
    if parameter.nullable:
        schema = schema["anyOf"][0]
    names: Any = schema.get("required")
    return {one for one in cast("list[Any]", names) if isinstance(one, str)} if isinstance(names, list) else set()
