"""Tools that an author writes by hand: a form each."""

import re
from collections.abc import Sequence
from typing import Literal

from pydantic.types import JsonValue

from domain.model import Model
from domain.side_effect import DeclaredEffect
from domain.tool import Credential, JsonType, Location, Parameter, ToolDoc, make_tool_id
from graph.function_names import build_function_name

_PLACE = re.compile(r"\{([^{}]+)\}")

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


class FormParameter(Model):
    """An input. ``location``: where it is sent; one that stands as ``{name}`` in the address is of the path, whatever is said."""

    name: str
    type: JsonType = "string"
    location: Location = "query"
    required: bool = False
    description: str = ""
    example: JsonValue = None
    enum: tuple[JsonValue, ...] = ()


class FormCredential(Model):
    """A key that calls send, by the name under which it is kept; never its value."""

    secret: str
    place: Literal["header", "query", "cookie"] = "header"
    name: str = "Authorization"
    prefix: str = ""


class FormTool(Model):
    """``url`` may hold ``{name}`` for inputs of the path. ``example_response``: JSON text of what it answers."""

    name: str
    method: Method = "GET"
    url: str
    description: str = ""
    parameters: tuple[FormParameter, ...] = ()
    example_response: str = ""
    credentials: tuple[FormCredential, ...] = ()
    side_effect: DeclaredEffect = ""


def form_docs(tools: Sequence[FormTool], category: str, toolset: str, base_url: str = "") -> tuple[ToolDoc, ...]:
    """Their documents, in order. ``base_url``: before addresses that begin with a slash."""
    return tuple(_doc(one, category, toolset, base_url) for one in tools)


def _doc(tool: FormTool, category: str, toolset: str, base_url: str) -> ToolDoc:
    url = base_url.rstrip("/") + tool.url if tool.url.startswith("/") else tool.url
    in_path = set(_PLACE.findall(url))
    parameters = [_parameter(one, in_path) for one in tool.parameters]
    named = {one.name for one in parameters}
    parameters += [Parameter(name=one, location="path", required=True) for one in sorted(in_path - named)]
    return ToolDoc(
        id=make_tool_id(category, toolset, tool.name),
        category=category,
        toolset=toolset,
        api=tool.name,
        function=build_function_name(tool.name, toolset),
        method=tool.method,
        url=url,
        description=tool.description,
        parameters=tuple(parameters),
        example_response=tool.example_response or None,
        credentials=tuple(Credential(**one.model_dump()) for one in tool.credentials),
        side_effect=tool.side_effect,
    )


def _parameter(given: FormParameter, in_path: set[str]) -> Parameter:
    place: Location = "path" if given.name in in_path else given.location
    return Parameter(
        **given.model_dump(exclude={"location", "required"}), location=place, required=given.required or place == "path"
    )
