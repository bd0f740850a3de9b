"""Documents that have changed: in what they mean, by one change each; or only in order, spaces and form."""

import json
import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from tests.unit.admission.documents import Json, tools

ROOT = Path(__file__).parents[3]
PATHS = 6
_SETS = frozenset({"parameters", "required", "enum", "tags", "anyOf", "oneOf", "allOf"})
"""Lists whose order means nothing."""
_METHODS = ("get", "post", "put", "patch", "delete")


@cache
def playground() -> tuple[str, ...]:
    """The playground's document in parts of a few paths, and those that are kept as odd ones, as JSON texts."""
    whole = json.loads((ROOT / "playground" / "data" / "openapi.json").read_text(encoding="utf-8"))
    odd = [
        ROOT / "tests" / "data" / "openapi" / f"{name}.json"
        for name in ("swagger_2", "media_types", "one_of_discriminator")
    ]
    return (*parts(whole), *(path.read_text(encoding="utf-8") for path in odd))


def parts(whole: Json) -> list[str]:
    """A document in parts of a few paths, each with the components that it refers to."""
    paths = list(whole["paths"].items())
    return [
        json.dumps(_pruned({**whole, "paths": dict(paths[start : start + PATHS])}))
        for start in range(0, len(paths), PATHS)
    ]


def _pruned(document: Json) -> Json:
    everything = document.get("components", {})
    kept: Json = {"securitySchemes": everything.get("securitySchemes", {})}
    text, found = json.dumps(document["paths"]), set[tuple[str, str]]()
    while new := set(re.findall(r'"#/components/(\w+)/([^"/]+)"', text)) - found:
        found |= new
        for room, name in new:
            kept.setdefault(room, {})[name] = everything[room][name]
        text = json.dumps([everything[room][name] for room, name in new])
    return {**document, "components": kept}


def reordered(document: Json, chance: random.Random) -> bytes:
    """The same in another order, with other spaces, in JSON or YAML."""
    turned = _turned(document, chance)
    form = chance.randrange(4)
    if form == 0:
        return yaml.safe_dump(turned, sort_keys=False, allow_unicode=True, width=chance.choice((60, 400))).encode()
    return json.dumps(turned, indent=(None, 2, "\t")[form - 1], ensure_ascii=bool(chance.randrange(2))).encode()


def _turned(value: Any, chance: random.Random, key: str = "") -> Any:
    if isinstance(value, dict):
        items = list(cast(Json, value).items())
        chance.shuffle(items)
        return {name: _turned(one, chance, name) for name, one in items}
    if isinstance(value, list):
        found = [_turned(one, chance) for one in cast(list[Any], value)]
        if key in _SETS:
            chance.shuffle(found)
        return found
    if isinstance(value, str) and key in ("description", "summary"):
        return value.replace(" ", chance.choice((" ", "  ", "\n ", " \t")))
    return value


Change = Callable[[Json, Json, random.Random], bool]
"""Changes a document by one of its operations; False: there is nothing of the kind."""


def _operations(document: Json) -> list[tuple[str, str, Json]]:
    return [
        (route, method, item[method])
        for route, item in document["paths"].items()
        for method in _METHODS
        if method in item
    ]


def _pointed(document: Json, value: Json) -> Json:
    while "$ref" in value:
        node: Any = document
        for step in str(value["$ref"])[2:].split("/"):
            node = node[step.replace("~1", "/").replace("~0", "~")]
        value = node
    return value


def _renamed(document: Json, operation: Json, _: random.Random) -> bool:
    route = next(route for route, _, one in _operations(document) if one is operation)
    document["paths"][f"{route}/v2"] = document["paths"].pop(route)
    return True


def _method(document: Json, operation: Json, _: random.Random) -> bool:
    route, method = next((route, method) for route, method, one in _operations(document) if one is operation)
    if "operationId" not in operation or "put" in document["paths"][route]:
        return False
    document["paths"][route]["put"] = document["paths"][route].pop(method)
    return True


def _gone(document: Json, operation: Json, _: random.Random) -> bool:
    route, method = next((route, method) for route, method, one in _operations(document) if one is operation)
    if len(_operations(document)) == 1:
        return False
    del document["paths"][route][method]
    return True


def _new(document: Json, operation: Json, _: random.Random) -> bool:
    document["paths"]["/quite/new"] = {"get": {**operation, "operationId": "quite_new"}}
    return True


def _needs_more(_document: Json, operation: Json, chance: random.Random) -> bool:
    holder = operation.setdefault("parameters", [])
    holder.append(
        {"name": "tenant", "in": "query", "required": bool(chance.randrange(2)), "schema": {"type": "string"}}
    )
    return True


def _placed(document: Json, operation: Json) -> list[Json]:
    return [one for one in (_pointed(document, one) for one in operation.get("parameters", [])) if one.get("in") in ("query", "header") and str(one["name"]).lower() not in ("accept", "authorization", "content-type")]  # fmt: skip


def _needs_less(document: Json, operation: Json, _: random.Random) -> bool:
    placed = _placed(document, operation)
    if not placed:
        return False
    operation["parameters"] = [one for one in operation["parameters"] if _pointed(document, one) is not placed[0]]
    return True


def _required(document: Json, operation: Json, _: random.Random) -> bool:
    for one in _placed(document, operation)[:1]:
        one["required"] = one.get("required") is not True
        return True
    return False


def _type(document: Json, operation: Json, chance: random.Random) -> bool:
    plain = [
        one["schema"]
        for one in _placed(document, operation)
        if "type" in one.get("schema", {}) and "enum" not in one["schema"]
    ]
    if not plain:
        return False
    schema = chance.choice(plain)
    kept = {key: schema[key] for key in ("description", "title") if key in schema}
    kind = "boolean" if schema["type"] != "boolean" else "integer"
    schema.clear()
    schema.update({**kept, "type": kind})
    return True


def _bound(document: Json, operation: Json, _: random.Random) -> bool:
    for one in _placed(document, operation):
        schema = one.get("schema", {})
        if schema.get("type") in ("integer", "number") and "enum" not in schema:
            schema["maximum"] = float(schema.get("maximum", 1_000)) - 1
            return True
    return False


def _enum(document: Json, operation: Json, _: random.Random) -> bool:
    for one in _placed(document, operation):
        schema = one.get("schema", {})
        if schema.get("type") == "string":
            schema["enum"] = [*schema.get("enum", []), "only-this"]
            return True
    return False


def _host(document: Json, _operation: Json, _: random.Random) -> bool:
    if "swagger" in document:
        document["host"] = "elsewhere.example"
    else:
        document["servers"] = [{"url": "https://elsewhere.example"}]
    return True


def _key(document: Json, operation: Json, _: random.Random) -> bool:
    scheme = {"type": "apiKey", "in": "header", "name": "X-Other-Key"}
    holder = document.setdefault("securityDefinitions", {}) if "swagger" in document else document.setdefault("components", {}).setdefault("securitySchemes", {})  # fmt: skip
    holder["other"] = scheme
    operation["security"] = [{"other": []}]
    return True


def _told(_document: Json, operation: Json, _: random.Random) -> bool:
    operation["description"] = f"{operation.get('description', '')} Only on weekdays."
    return True


def _effect(document: Json, operation: Json, _: random.Random) -> bool:
    if operation.get("x-side-effect"):
        return False
    operation["x-side-effect"] = "changes"
    return _is_get(document, operation)


def _is_get(document: Json, operation: Json) -> bool:
    return any(one is operation and method == "get" for _, method, one in _operations(document))


def _answer(document: Json, operation: Json) -> Json:
    """The object that it answers, or that is an item of the list that it answers; empty where there is none."""
    for code, response in sorted(operation.get("responses", {}).items()):
        if code.startswith("2"):
            content: Json = _pointed(document, response).get("content", {})
            media = [cast(Json, one) for one in content.values()]
            schema = _pointed(document, media[0].get("schema", {})) if media else {}
            if schema.get("type") == "array" and "items" in schema:
                schema = _pointed(document, schema["items"])
            return schema if schema.get("properties") else {}
    return {}


def _answers_less(document: Json, operation: Json, chance: random.Random) -> bool:
    schema = _answer(document, operation)
    if not schema:
        return False
    name = chance.choice(list(schema["properties"]))
    schema["properties"].pop(name)
    schema["required"] = [one for one in schema.get("required", []) if one != name]
    return True


def _answers_otherwise(document: Json, operation: Json, chance: random.Random) -> bool:
    schema = _answer(document, operation)
    plain = [
        name for name, one in schema.get("properties", {}).items() if one.get("type") in ("string", "integer", "number")
    ]
    if not plain:
        return False
    schema["properties"][chance.choice(plain)] = {"type": "array", "items": {"type": "boolean"}}
    return True


CHANGES: tuple[Change, ...] = (
    _renamed, _method, _gone, _new, _needs_more, _needs_less, _required, _type, _bound, _enum, _host, _key, _told, _effect, _answers_less,
    _answers_otherwise,
)  # fmt: skip


@cache
def _imported(text: str) -> frozenset[str]:
    return frozenset(tools(text.encode()))


def drifted(text: str, seed: int) -> tuple[str, Json]:
    """A document with one change, in another order as well; and what the change is called."""
    chance = random.Random(seed)
    while True:
        document = json.loads(text)
        operation = chance.choice(_operations(document))[2]
        if operation.get("operationId", "") not in _imported(text):  # a change of what was never offered touches nobody
            continue
        change = CHANGES[seed % len(CHANGES)] if chance.randrange(4) else chance.choice(CHANGES)
        if change(document, operation, chance):
            return change.__name__, document
