"""What n8n makes of a workflow, as far as exported ones use it: the form that it imports, after its own interfaces and descriptions of nodes, and its
requests carried out one after the other. It stands in for n8n, which is an application of its own.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import quote

from jsonschema import Draft202012Validator
from pydantic.types import JsonValue

Item = dict[str, Any]
Send = Callable[[str, str, dict[str, Any], dict[str, Any]], Item]
"""Told method, address, query and headers with a body: what was answered, as ``body`` or ``data``."""

_PAIRS = {
    "type": "object",
    "required": ["parameters"],
    "additionalProperties": False,
    "properties": {
        "parameters": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["name", "value"],
                "additionalProperties": False,
                "properties": {"name": {"type": "string", "minLength": 1}, "value": {"type": "string"}},
            },
        }
    },
}
_KINDS = ["string", "number", "boolean", "array", "object"]
PARAMETERS: dict[tuple[str, float], dict[str, Any]] = {
    ("manualTrigger", 1): {"properties": {}},
    ("executeWorkflowTrigger", 1.1): {
        "required": ["inputSource"],
        "properties": {
            "inputSource": {"enum": ["workflowInputs", "jsonExample", "passthrough"]},
            "workflowInputs": {
                "properties": {
                    "values": {
                        "minItems": 1,
                        "items": {
                            "required": ["name", "type"],
                            "properties": {"name": {"type": "string"}, "type": {"enum": [*_KINDS, "any"]}},
                        },
                    }
                }
            },
        },
    },
    ("set", 3.4): {
        "required": ["assignments"],
        "properties": {
            "assignments": {
                "properties": {
                    "assignments": {
                        "items": {
                            "required": ["id", "name", "value", "type"],
                            "additionalProperties": False,
                            "properties": {"id": {}, "name": {}, "value": {}, "type": {"enum": _KINDS}},
                        }
                    }
                }
            },
            "options": {"properties": {"dotNotation": {"type": "boolean"}}, "additionalProperties": False},
        },
    },
    ("httpRequest", 4.2): {
        "required": ["method", "url"],
        "properties": {
            "method": {"enum": ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]},
            "url": {"type": "string", "minLength": 1},
            "authentication": {"enum": ["none", "predefinedCredentialType", "genericCredentialType"]},
            "genericAuthType": {"enum": ["httpBasicAuth", "httpHeaderAuth", "httpQueryAuth", "httpCustomAuth"]},
            "sendQuery": {"const": True},
            "queryParameters": _PAIRS,
            "sendHeaders": {"const": True},
            "headerParameters": _PAIRS,
            "sendBody": {"const": True},
            "contentType": {"enum": ["json", "form-urlencoded"]},
            "specifyBody": {"const": "json"},
            "jsonBody": {"type": "string"},
            "bodyParameters": _PAIRS,
            "options": {
                "additionalProperties": False,
                "properties": {
                    "redirect": {"properties": {"redirect": {"properties": {"followRedirects": {"type": "boolean"}}}}},
                    "response": {
                        "properties": {
                            "response": {
                                "additionalProperties": False,
                                "properties": {
                                    "fullResponse": {"type": "boolean"},
                                    "responseFormat": {"enum": ["autodetect", "file", "json", "text"]},
                                    "outputPropertyName": {"type": "string"},
                                },
                            }
                        }
                    },
                    "queryParameterArrays": {"enum": ["repeat", "brackets", "indices"]},
                },
            },
        },
        "dependentRequired": {"queryParameters": ["sendQuery"], "jsonBody": ["sendBody", "contentType", "specifyBody"]},
    },
    ("code", 2): {
        "required": ["mode", "jsCode"],
        "properties": {"mode": {"enum": ["runOnceForAllItems", "runOnceForEachItem"]}, "jsCode": {"type": "string"}},
    },
    ("stickyNote", 1): {
        "properties": {"content": {"type": "string"}, "width": {"type": "number"}, "height": {"type": "number"}}
    },
}
"""By node and version, what n8n describes of the parameters that exported workflows set."""

_WORKFLOW: dict[str, Any] = {
    "type": "object",
    "required": ["name", "nodes", "connections", "active", "settings"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "active": {"const": False},
        "settings": {"properties": {"executionOrder": {"const": "v1"}}},
        "pinData": {"const": {}},
        "nodes": {
            "items": {
                "required": ["parameters", "id", "name", "type", "typeVersion", "position"],
                "additionalProperties": False,
                "properties": {
                    "parameters": {"type": "object"},
                    "id": {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
                    "name": {"type": "string", "minLength": 1},
                    "type": {"type": "string", "pattern": r"^n8n-nodes-base\.\w+$"},
                    "typeVersion": {"type": "number"},
                    "position": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
                    "notes": {"type": "string"},
                },
            }
        },
        "connections": {
            "additionalProperties": {
                "required": ["main"],
                "additionalProperties": False,
                "properties": {
                    "main": {
                        "items": {
                            "items": {
                                "required": ["node", "type", "index"],
                                "properties": {"type": {"const": "main"}, "index": {"type": "integer"}},
                            }
                        }
                    }
                },
            }
        },
    },
}


def read(text: str) -> dict[str, Any]:
    """A workflow that n8n would take; fails where it would not."""
    workflow = json.loads(text)
    _check(_WORKFLOW, workflow)
    names = [one["name"] for one in workflow["nodes"]]
    assert len(set(names)) == len(names)
    assert len({one["id"] for one in workflow["nodes"]}) == len(names)
    for one in workflow["nodes"]:
        described = PARAMETERS[one["type"].removeprefix("n8n-nodes-base."), one["typeVersion"]]
        _check({"additionalProperties": False, **described}, one["parameters"])
        for field in _texts(one["parameters"]):
            inside = field.removeprefix("={{").removesuffix("}}")
            assert not field.startswith("={{") or ("{{" not in inside and "}}" not in inside), field
    linked = {link["node"] for one in workflow["connections"].values() for link in one["main"][0]}
    assert linked | workflow["connections"].keys() <= set(names)
    return workflow


def _check(schema: dict[str, Any], value: Any) -> None:
    cast("Any", Draft202012Validator)(schema).validate(value)


def carried_out(workflow: Mapping[str, Any], given: Mapping[str, Any], send: Send) -> dict[str, Item]:
    """What each node gives, where another workflow calls this one with values. The code at the end is not run."""
    nodes = {one["name"]: one for one in workflow["nodes"]}
    made: dict[str, Item] = {"Called by a workflow": dict(given)}
    at, item = "Called by a workflow", dict(given)
    while at in workflow["connections"]:
        [[link]] = workflow["connections"][at]["main"]
        one = nodes[link["node"]]
        at, parameters = one["name"], one["parameters"]
        match one["type"].removeprefix("n8n-nodes-base."):
            case "set":
                told = parameters["assignments"]["assignments"]
                item = {part["name"]: value_of(part["value"], item, made) for part in told}
            case "httpRequest":
                item = _sent(parameters, item, made, send)
            case _:
                return made
        made[at] = item
    return made


def value_of(field: str, item: Item, made: Mapping[str, Item]) -> Any:
    """What a field comes to: a text, or where it begins so, an expression, of the few kinds that are exported."""
    if not field.startswith("="):
        return field
    code = field.removeprefix("={{").removesuffix("}}").strip()
    if hit := re.fullmatch(r'\$json\[("[^"]*")\](?: \?\? (.*))?', code, re.DOTALL):
        name = json.loads(hit[1])
        return item[name] if item.get(name) is not None or hit[2] is None else json.loads(hit[2])
    return computed(code, made)


def computed(code: str, made: Mapping[str, Item]) -> Any:
    """An expression over what nodes gave. Texts are JSON's, which Python reads as JavaScript does."""
    python = re.sub(r'\$\(("[^"]*")\)\.item\.json', r"made[\1]", code)
    python = re.sub(r"\]\.(body|data)\b", r']["\1"]', python)
    python = re.sub(r'\["body"\]\.(\w+)', r'["body"]["\1"]', python)
    names: dict[str, Any] = {
        "made": made, "encodeURIComponent": _encoded, "String": _text, "stringify": json.dumps, "true": True, "false": False,
        "null": None, "__builtins__": {},
    }  # fmt: skip
    return eval(python.replace("JSON.stringify", "stringify"), names)


def _sent(parameters: Mapping[str, Any], item: Item, made: Mapping[str, Item], send: Send) -> Item:
    def pairs(name: str) -> dict[str, Any]:
        return {
            one["name"]: value_of(one["value"], item, made) for one in parameters.get(name, {}).get("parameters", ())
        }

    body = json.loads(value_of(parameters["jsonBody"], item, made)) if "jsonBody" in parameters else None
    query = {
        name: [_text(part) for part in cast("list[Any]", one)] if isinstance(one, list) else _text(one)
        for name, one in pairs("queryParameters").items()
    }
    told = {"headers": pairs("headerParameters"), "json": body, "data": pairs("bodyParameters")}
    form = parameters["options"]["response"]["response"]
    answer = send(parameters["method"], value_of(parameters["url"], item, made), query, told)
    return answer if form["responseFormat"] == "json" else {form["outputPropertyName"]: answer["body"]}


def _encoded(value: Any) -> str:
    return quote(_text(value), safe="!'()*~")


def _text(value: Any) -> str:
    """A single value as JavaScript writes it."""
    return value if isinstance(value, str) else json.dumps(value)


def _texts(value: JsonValue) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for one in value.values() for text in _texts(one)]
        case list():
            return [text for one in value for text in _texts(one)]
        case _:
            return []
