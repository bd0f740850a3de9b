"""Differences between two JSON Schemas: values that only one of them accepts or gives, place by place."""

import json
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, cast

Way = Literal["sent", "answered"]
"""Direction of a value: ``sent`` with a call, or ``answered`` and read by a program."""

MAX_DEPTH = 12
_TELLING = frozenset({"description", "title", "example", "examples", "default", "deprecated", "externalDocs", "xml"})
"""Keywords that do not affect which values fit."""
_SETS = frozenset({"enum", "required", "type", "anyOf", "oneOf", "allOf"})
"""Lists whose order means nothing."""
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_HANDLED = frozenset({"type", "enum", "properties", "required", "items", *_LOWER, *_UPPER})


class Difference(NamedTuple):
    """Difference between two documents."""

    told: str
    """The difference, with its place."""
    breaks: bool
    """A call or program that was right may now be wrong."""


def canonical(value: Any) -> str:
    """Return a value as a text for comparison, ignoring the order of names and sets, and repeated spaces."""
    return json.dumps(_ordered(value), sort_keys=True, ensure_ascii=False)


def differences(before: Any, now: Any, way: Way, place: str = "", depth: int = 0) -> Iterator[Difference]:
    """Yield the differences between two schemas of values that go in one direction."""
    if canonical(_bare(before)) == canonical(_bare(now)):
        return
    if not isinstance(before, dict) or not isinstance(now, dict) or depth > MAX_DEPTH:
        yield Difference(f"{place or 'its value'} has another schema", breaks=True)
        return
    old, new = cast(dict[str, Any], before), cast(dict[str, Any], now)
    found = [*_kinds(old, new, way, place), *_enums(old, new, way, place), *_bounds(old, new, way, place)]
    found += _fields(old, new, way, place, depth)
    if "items" in old or "items" in new:
        found += differences(old.get("items", {}), new.get("items", {}), way, f"{place}[]", depth + 1)
    rest = {key for key in (*old, *new) if key not in _HANDLED and key not in _TELLING}
    changed = sorted(key for key in rest if canonical(_bare(old.get(key))) != canonical(_bare(new.get(key))))
    if changed:
        found.append(Difference(f"{place or 'its value'} has other rules ({', '.join(changed)})", breaks=True))
    yield from found


def _kinds(old: dict[str, Any], new: dict[str, Any], way: Way, place: str) -> Iterator[Difference]:
    """Compare the types. Sent values may be widened, answered values may be narrowed, without breaking."""
    was, is_ = _types(old), _types(new)
    if was == is_:
        return
    narrow, wide = (was, is_) if way == "sent" else (is_, was)
    fits = not wide or (bool(narrow) and all(one in wide or (one == "integer" and "number" in wide) for one in narrow))
    yield Difference(f"{place or 'its value'} is {_any(is_)} instead of {_any(was)}", breaks=not fits)


def _enums(old: dict[str, Any], new: dict[str, Any], way: Way, place: str) -> Iterator[Difference]:
    was, is_ = ({canonical(one) for one in _items(schema.get("enum"))} for schema in (old, new))
    if was == is_:
        return
    gone, added = was - is_, is_ - was
    narrows = bool(is_) and (not was or bool(gone))
    told = ", ".join(
        [f"no longer {', '.join(sorted(gone)[:5])}"] * bool(gone)
        + [f"now also {', '.join(sorted(added)[:5])}"] * bool(added)
    )
    what = "may be any value" if not is_ else told
    yield Difference(f"{place or 'its value'}: {what}", breaks=narrows if way == "sent" else False)


def _bounds(old: dict[str, Any], new: dict[str, Any], way: Way, place: str) -> Iterator[Difference]:
    for keys, sign in ((_LOWER, 1), (_UPPER, -1)):
        for key in keys:
            was, is_ = old.get(key), new.get(key)
            if was == is_:
                continue
            tighter = is_ is not None and (was is None or sign * (_number(is_) - _number(was)) > 0)
            yield Difference(
                f"{place or 'its value'}: {key} is {is_} instead of {was}", breaks=tighter and way == "sent"
            )


def _fields(old: dict[str, Any], new: dict[str, Any], way: Way, place: str, depth: int) -> Iterator[Difference]:
    was, is_ = (cast(dict[str, Any], schema.get("properties") or {}) for schema in (old, new))
    needed_before, needed_now = (set(map(str, _items(schema.get("required")))) for schema in (old, new))
    for name in dict.fromkeys((*was, *is_)):
        here = f"{place}.{name}" if place else name
        if name not in is_:
            yield Difference(f"{here} is gone", breaks=True)
        elif name not in was:
            needed = name in needed_now and way == "sent"
            yield Difference(f"{here} is new{' and must be given' if needed else ''}", breaks=needed)
        else:
            if (name in needed_before) != (name in needed_now):
                must = name in needed_now
                told = "must be there now" if must else "need no longer be there"
                yield Difference(f"{here} {told}", breaks=must if way == "sent" else False)
            yield from differences(was[name], is_[name], way, here, depth + 1)


def _types(schema: dict[str, Any]) -> frozenset[str]:
    said = schema.get("type")
    return frozenset([said] if isinstance(said, str) else map(str, _items(said)))


def _any(types: frozenset[str]) -> str:
    return " or ".join(sorted(types)) or "anything"


def _items(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _bare(value: Any) -> Any:
    """Return a schema without annotations such as descriptions and examples."""
    if isinstance(value, list):
        return [_bare(one) for one in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    schema = cast(dict[str, Any], value)
    bare = {key: _bare(one) for key, one in schema.items() if key not in _TELLING and key != "properties"}
    if isinstance(schema.get("properties"), dict):
        bare["properties"] = {name: _bare(one) for name, one in cast(dict[str, Any], schema["properties"]).items()}
    return bare


def _ordered(value: Any, key: str = "") -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        parts = [_ordered(one) for one in cast(list[Any], value)]
        return sorted(parts, key=lambda one: json.dumps(one, sort_keys=True)) if key in _SETS else parts
    if isinstance(value, dict):
        return {name: _ordered(one, name) for name, one in cast(dict[str, Any], value).items()}
    return value
