"""A call as an HTTP Request node of n8n."""

from collections.abc import Sequence
from typing import Any

from pydantic.types import JsonValue

from agent.exporting.n8n_values import StepValues, expression, literal, pairs
from domain.errors import UsageError
from domain.side_effect import MCP
from domain.tool import STDIO, Credential, Parameter, ToolDoc

_JSON = "application/json"
_PLACES = {"header": "httpHeaderAuth", "query": "httpQueryAuth"}


def request_node(name: str, values: StepValues) -> dict[str, Any]:
    """The node that makes a call.

    Raises:
        UsageError: n8n cannot make it as Footpath does.
    """
    tool = values.tool
    _refuse(tool, values)
    parameters: dict[str, Any] = {"method": tool.method.upper(), "url": values.url()}
    parameters |= _credential(tool.credentials)
    options: dict[str, Any] = {
        "redirect": {"redirect": {"followRedirects": False}},
        "response": {"response": {"fullResponse": True, "responseFormat": "json"}},
    }
    if query := values.at("query"):
        for one in query:
            _check_query(one, tool)
        parameters |= {"sendQuery": True, "queryParameters": pairs(query, values)}
        if any(one.type == "array" for one in query):
            options["queryParameterArrays"] = "repeat"
    headers = [{"name": one.wire_name, "value": values.header(one)} for one in values.at("header")]
    body = values.at("body")
    sends_body = bool(body) or tool.body_required
    if sends_body and tool.body_type == "json" and tool.body_media not in ("", _JSON):
        headers.append({"name": "content-type", "value": tool.body_media})
    if headers:
        parameters |= {"sendHeaders": True, "headerParameters": {"parameters": headers}}
    if sends_body:
        parameters |= _body(body, values)
    parameters["options"] = options
    node: dict[str, Any] = {
        "parameters": parameters, "id": "", "name": name, "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": [0, 0],
    }  # fmt: skip
    return {**node, **({"notes": notes} if (notes := _notes(tool)) else {})}


def _refuse(tool: ToolDoc, values: StepValues) -> None:
    if tool.method == MCP or tool.url.startswith(STDIO):
        raise UsageError(f"{tool.api} is a tool of an MCP server, which n8n's HTTP requests do not reach")
    if not tool.url:
        raise UsageError(f"{tool.api} is known by its document only and has no address: import it again with --server")
    if values.at("cookie"):
        raise UsageError(f"{tool.api} takes a value in a cookie, which n8n's HTTP requests do not send")
    body = values.at("body")
    if (body or tool.body_required) and tool.body_type not in ("json", "form"):
        raise UsageError(f"{tool.api} takes its values as {tool.body_type}, which is not carried over to n8n")
    if tool.body_required and not body and tool.body_type == "form":
        raise UsageError(f"{tool.api} takes a form without a field, which n8n's HTTP requests do not send")
    if further := next((one for one in body if one.spread), None):
        raise UsageError(f"{tool.api} takes further fields in {further.name}, which are not carried over to n8n")


def _check_query(parameter: Parameter, tool: ToolDoc) -> None:
    """Lists are written once for each item; objects, and lists of another style, the node writes otherwise."""
    repeated = parameter.type == "array" and parameter.style in (None, "form") and parameter.explode is not False
    if parameter.type in ("object", "any") or parameter.allow_reserved or (parameter.type == "array" and not repeated):
        raise UsageError(f"{tool.api} takes {parameter.name} in a style that n8n does not write")


def _body(given: Sequence[Parameter], values: StepValues) -> dict[str, JsonValue]:
    if values.tool.body_type == "form":
        for one in given:
            values.single(one, "a form")
        return {"sendBody": True, "contentType": "form-urlencoded", "bodyParameters": pairs(given, values)}
    whole = next((one for one in given if one.whole_body), None)
    if whole is not None:
        code = values.code(whole)
    else:
        code = f"{{ {', '.join(f'{literal(one.wire_name)}: {values.code(one)}' for one in given)} }}"
    return {
        "sendBody": True,
        "contentType": "json",
        "specifyBody": "json",
        "jsonBody": expression(f"JSON.stringify({code})"),
    }


def _credential(credentials: Sequence[Credential]) -> dict[str, JsonValue]:
    """Which kind of credential the node asks for; its value is chosen in n8n."""
    needed = [one for one in credentials if one.required]
    if not needed:
        return {}
    kind = "httpCustomAuth"
    if len(needed) == 1:
        kind = "httpBasicAuth" if needed[0].basic else _PLACES.get(needed[0].place, kind)
    return {"authentication": "genericCredentialType", "genericAuthType": kind}


def _notes(tool: ToolDoc) -> str:
    """What the credential has to hold; names, never values."""
    told = [
        f"{'Needs' if one.required else 'May take'} {one.secret}: "
        + (
            "user and password"
            if one.basic
            else f"{one.place} {one.name}" + (f", its value after {one.prefix!r}" if one.prefix.strip() else "")
        )
        for one in tool.credentials
    ]
    return "\n".join(told)
