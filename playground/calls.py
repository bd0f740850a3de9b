"""One call over HTTP, by a tool's document: for recording only, with no retries and no guard."""

from urllib.parse import quote

import httpx
import orjson
from pydantic import JsonValue

from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc
from playground.keys import TEST_KEYS

Query = list[tuple[str, str | int | float | bool | None]]


def send(client: httpx.Client, tool: ToolDoc, arguments: JsonObject, *, keys: bool = False) -> httpx.Response:
    """Call a tool. ``client`` holds the server's address; ``keys``: with the test key that its tool set wants, if any.

    Raises:
        KeyError: an argument is none of the tool's parameters.
    """
    return client.send(request_for(client, tool, arguments, keys=keys))


def request_for(
    client: httpx.Client | httpx.AsyncClient, tool: ToolDoc, arguments: JsonObject, *, keys: bool = False
) -> httpx.Request:
    """The request of a call, to be sent by the client.

    Raises:
        KeyError: an argument is none of the tool's parameters.
    """
    path = httpx.URL(tool.url.replace("{", "%7B").replace("}", "%7D")).path
    query: Query = []
    headers = dict([TEST_KEYS[tool.toolset]]) if keys and tool.toolset in TEST_KEYS else {}
    body: JsonObject = {}
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    for name, value in arguments.items():
        parameter = parameters[name]
        if parameter.location == "path":
            path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
        elif parameter.location == "header":
            headers[name] = str(value)
        elif parameter.location == "body":
            body[name] = value
        else:
            query += _in_query(parameter, value)
    content = orjson.dumps(body) if body else None
    kind = {"Content-Type": "application/json"} if body else {}
    return client.build_request(tool.method, path, params=query, headers=headers | kind, content=content)


def _in_query(parameter: Parameter, value: JsonValue) -> Query:
    """A list is repeated under its name, an object is a deep one: what the playground declares."""
    if isinstance(value, list):
        return [(parameter.name, _text(item)) for item in value]
    if isinstance(value, dict):
        return [(f"{parameter.name}[{key}]", _text(item)) for key, item in value.items()]
    return [(parameter.name, _text(value))]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
