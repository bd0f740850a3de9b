"""People's answers to a question for an object.

The question lists the fields; the answer may be ``name: Ada, street: 3 Elm Street`` or JSON.
"""

import re
from typing import Any, cast

from pydantic.types import JsonValue

from agent.execution.coercion import coerce, shaped
from agent.execution.validation import checked, value_schema
from agent.text import clean
from domain.tool import Parameter, ToolDoc
from graph.identifiers import words
from graph.lenient_json import read_value

_TOLD = 8
"""Most fields that a question names."""


def fields_of(parameter: Parameter) -> dict[str, dict[str, Any]]:
    """Return the fields of an object with their schemas; none if it has no fixed ones or is no object."""
    if parameter.type != "object":
        return {}
    schema: Any = value_schema(parameter)
    if parameter.nullable:
        schema = schema["anyOf"][0]
    found: Any = schema.get("properties")
    fields = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return {name: cast("dict[str, Any]", one) if isinstance(one, dict) else {} for name, one in fields.items()}


def form_told(parameter: Parameter) -> str:
    """Describe how to answer with an object; empty if the parameter is no object.

    Example: ``answer as name: …, street: …; phone may be left out``.
    """
    fields = fields_of(parameter)
    if not fields:
        return "answer with an object as JSON" if parameter.type == "object" else ""
    required = _required(parameter) & set(fields)
    first = [name for name in fields if name in required] or list(fields)
    named = ", ".join(f"{clean(name, 24)}: …" for name in first[:_TOLD])
    rest = [clean(name, 24) for name in fields if name not in first]
    left = f"; {', '.join(rest[:_TOLD])} may be left out" if rest else ""
    return f"answer as {named}{left}"


def value_of(answer: str, parameter: Parameter) -> JsonValue:
    """Return the answer in the parameter's type if it can be read so, else as text."""
    value = coerce(answer, parameter)
    if parameter.type == "any" and answer.lstrip()[:1] in ("{", "["):
        structure = read_value(answer)
        return value if structure is None else structure
    fields = fields_of(parameter)
    if not fields or not isinstance(value, str):
        return value
    told = _pairs(value, fields)
    return {name: shaped(text, fields[name]) for name, text in told.items()} or value


def fault_of(value: JsonValue, tool: ToolDoc, parameter: Parameter) -> str:
    """Return the complaint about a value in a sentence; empty if it fits."""
    found = checked(tool, {parameter.name: value})[1]
    return next((said for name, said in found if name == parameter.name), "")


def _pairs(text: str, fields: dict[str, Any]) -> dict[str, str]:
    """Return the text behind each field that is named, up to the next one."""
    by_words = {" ".join(words(name)): name for name in fields} | {name.casefold(): name for name in fields}
    named = "|".join(sorted(map(re.escape, by_words), key=len, reverse=True))
    marks = list(re.finditer(rf"(?:^|[\s,;])({named})\s*[:=]\s*", text, re.IGNORECASE))
    ends = [mark.start() for mark in marks[1:]] + [len(text)] * bool(marks)
    told: dict[str, str] = {}
    for mark, end in zip(marks, ends, strict=True):
        told[by_words[mark[1].casefold()]] = text[mark.end() : end].strip(" ,;")
    return told


def _required(parameter: Parameter) -> set[str]:
    schema: Any = value_schema(parameter)
    if parameter.nullable:
        schema = schema["anyOf"][0]
    found: Any = schema.get("required")
    return {one for one in cast("list[Any]", found) if isinstance(one, str)} if isinstance(found, list) else set()
