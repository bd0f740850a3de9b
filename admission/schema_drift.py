"""Differences between two JSON Schemas: values that only one of them accepts or gives, place by place."""

import json
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, cast

ValueDirection = Literal["sent", "answered"]
"""Direction of a value: ``sent`` with a call, or ``answered`` by the service and read by a program.

It decides what breaks: an API may accept more and answer less variety than before, not the other way round.
"""

MAX_DEPTH = 12
_ANNOTATIONS = frozenset(
    {"description", "title", "example", "examples", "default", "deprecated", "externalDocs", "xml"}
)
"""Keywords that do not affect which values fit."""
_SETS = frozenset({"enum", "required", "type", "anyOf", "oneOf", "allOf"})
"""Lists whose order means nothing."""
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_HANDLED = frozenset({"type", "enum", "properties", "required", "items", *_LOWER, *_UPPER})


class SchemaDifference(NamedTuple):
    """Difference between two documents."""

    message: str
    """The difference, with its place."""
    breaks: bool
    """A call or program that was right may now be wrong."""


def to_canonical_text(value: Any) -> str:
    """Return a value as a text for comparison, ignoring the order of names and sets, and repeated spaces."""
    return json.dumps(_normalize_order(value), sort_keys=True, ensure_ascii=False)


def find_differences(
    before: Any, now: Any, direction: ValueDirection, path: str = "", depth: int = 0
) -> Iterator[SchemaDifference]:
    """Yield the differences between two schemas of values that go in one direction."""
    if to_canonical_text(_strip_annotations(before)) == to_canonical_text(_strip_annotations(now)):
        return
    if not isinstance(before, dict) or not isinstance(now, dict) or depth > MAX_DEPTH:
        yield SchemaDifference(f"{path or 'its value'} has another schema", breaks=True)
        return
    old, new = cast(dict[str, Any], before), cast(dict[str, Any], now)
    differences = [
        *_compare_types(old, new, direction, path),
        *_compare_enums(old, new, direction, path),
        *_compare_bounds(old, new, direction, path),
    ]
    differences += _compare_fields(old, new, direction, path, depth)
    if "items" in old or "items" in new:
        differences += find_differences(old.get("items", {}), new.get("items", {}), direction, f"{path}[]", depth + 1)
    rest = {key for key in (*old, *new) if key not in _HANDLED and key not in _ANNOTATIONS}
    changed = sorted(
        key
        for key in rest
        if to_canonical_text(_strip_annotations(old.get(key))) != to_canonical_text(_strip_annotations(new.get(key)))
    )
    if changed:
        differences.append(
            SchemaDifference(f"{path or 'its value'} has other rules ({', '.join(changed)})", breaks=True)
        )
    yield from differences


def _compare_types(
    old: dict[str, Any], new: dict[str, Any], direction: ValueDirection, path: str
) -> Iterator[SchemaDifference]:
    """Compare the types. Sent values may be widened, answered values may be narrowed, without breaking."""
    old_types, new_types = _get_types(old), _get_types(new)
    if old_types == new_types:
        return
    narrow, wide = (old_types, new_types) if direction == "sent" else (new_types, old_types)
    fits = not wide or (
        bool(narrow) and all(type_name in wide or (type_name == "integer" and "number" in wide) for type_name in narrow)
    )
    yield SchemaDifference(
        f"{path or 'its value'} is {_format_types(new_types)} instead of {_format_types(old_types)}", breaks=not fits
    )


def _compare_enums(
    old: dict[str, Any], new: dict[str, Any], direction: ValueDirection, path: str
) -> Iterator[SchemaDifference]:
    old_values, new_values = (
        {to_canonical_text(value) for value in _to_list(schema.get("enum"))} for schema in (old, new)
    )
    if old_values == new_values:
        return
    removed, added = old_values - new_values, new_values - old_values
    narrows = bool(new_values) and (not old_values or bool(removed))
    message = ", ".join(
        [f"no longer {', '.join(sorted(removed)[:5])}"] * bool(removed)
        + [f"now also {', '.join(sorted(added)[:5])}"] * bool(added)
    )
    what = "may be any value" if not new_values else message
    yield SchemaDifference(f"{path or 'its value'}: {what}", breaks=narrows if direction == "sent" else False)


def _compare_bounds(
    old: dict[str, Any], new: dict[str, Any], direction: ValueDirection, path: str
) -> Iterator[SchemaDifference]:
    for keys, sign in ((_LOWER, 1), (_UPPER, -1)):
        for key in keys:
            old_bound, new_bound = old.get(key), new.get(key)
            if old_bound == new_bound:
                continue
            tighter = new_bound is not None and (
                old_bound is None or sign * (_to_number(new_bound) - _to_number(old_bound)) > 0
            )
            yield SchemaDifference(
                f"{path or 'its value'}: {key} is {new_bound} instead of {old_bound}",
                breaks=tighter and direction == "sent",
            )


def _compare_fields(
    old: dict[str, Any], new: dict[str, Any], direction: ValueDirection, path: str, depth: int
) -> Iterator[SchemaDifference]:
    old_fields, new_fields = (cast(dict[str, Any], schema.get("properties") or {}) for schema in (old, new))
    needed_before, needed_now = (set(map(str, _to_list(schema.get("required")))) for schema in (old, new))
    for name in dict.fromkeys((*old_fields, *new_fields)):
        field_path = f"{path}.{name}" if path else name
        if name not in new_fields:
            yield SchemaDifference(f"{field_path} is gone", breaks=True)
        elif name not in old_fields:
            needed = name in needed_now and direction == "sent"
            yield SchemaDifference(f"{field_path} is new{' and must be given' if needed else ''}", breaks=needed)
        else:
            if (name in needed_before) != (name in needed_now):
                must = name in needed_now
                phrase = "must be there now" if must else "need no longer be there"
                yield SchemaDifference(f"{field_path} {phrase}", breaks=must if direction == "sent" else False)
            yield from find_differences(old_fields[name], new_fields[name], direction, field_path, depth + 1)


def _get_types(schema: dict[str, Any]) -> frozenset[str]:
    declared = schema.get("type")
    return frozenset([declared] if isinstance(declared, str) else map(str, _to_list(declared)))


def _format_types(types: frozenset[str]) -> str:
    return " or ".join(sorted(types)) or "anything"


def _to_list(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _to_number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _strip_annotations(value: Any) -> Any:
    """Return a schema without annotations such as descriptions and examples."""
    if isinstance(value, list):
        return [_strip_annotations(item) for item in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    schema = cast(dict[str, Any], value)
    bare = {
        key: _strip_annotations(item) for key, item in schema.items() if key not in _ANNOTATIONS and key != "properties"
    }
    if isinstance(schema.get("properties"), dict):
        bare["properties"] = {
            name: _strip_annotations(item) for name, item in cast(dict[str, Any], schema["properties"]).items()
        }
    return bare


def _normalize_order(value: Any, key: str = "") -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        parts = [_normalize_order(item) for item in cast(list[Any], value)]
        return sorted(parts, key=lambda one: json.dumps(one, sort_keys=True)) if key in _SETS else parts
    if isinstance(value, dict):
        return {name: _normalize_order(item, name) for name, item in cast(dict[str, Any], value).items()}
    return value
