"""Reduces untrusted JSON Schemas to a bounded subset without references that is safe to validate with."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

Schema = dict[str, Any]

MAX_DEPTH = 12
MAX_NODES = 2_000
MAX_PATTERN = 1_000
MAX_ENUM = 2_000
TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_UNSUPPORTED_KEYWORDS = frozenset(
    {"$ref", "$dynamicRef", "$recursiveRef", "patternProperties", "propertyNames", "if", "contains", "dependentSchemas", "dependentRequired",
     "dependencies", "unevaluatedProperties", "unevaluatedItems", "additionalItems"}
)  # fmt: skip
"""Keywords that constrain values but are not checked; a schema that uses one accepts more than its author meant."""


def sanitize_schema(value: object, keeps_pattern: Callable[[str], bool] = lambda _: True) -> Schema:
    """Return ``value`` reduced to a 2020-12 schema that any validator can apply without fetching or recursing.

    Parts that cannot be kept are left open, so the result never refuses what the original accepts: ``oneOf`` with an
    open part becomes ``anyOf``, and ``not`` of an open part is dropped. ``keeps_pattern`` decides which regular
    expressions are kept.
    """
    return _SchemaSanitizer(keeps_pattern).sanitize(value, MAX_DEPTH)[0]


def sanitize_value(value: object, depth: int = 32) -> Any:
    """Return a copy of a JSON value, or None if it is nested too deeply, too large, not finite or not JSON."""
    budget = [5_000]
    try:
        return _copy_value(value, depth, budget)
    except ValueError:
        return None


def _copy_value(value: Any, depth: int, budget: list[int]) -> Any:
    """Copy a JSON value. Raises ``ValueError`` beyond ``depth`` levels or ``budget[0]`` nodes, and for other values.

    ``budget`` is a list so that all recursive calls reduce the same number.
    """
    budget[0] -= 1
    if depth == 0 or budget[0] < 0:
        raise ValueError
    match value:
        case None | bool() | str():
            return value
        case int() if abs(value) < 2**63:
            return value
        case float() if math.isfinite(value):
            return value
        case list():
            return [_copy_value(one, depth - 1, budget) for one in cast(list[object], value)]
        case dict():
            members = cast(dict[object, object], value)
            return {str(name): _copy_value(one, depth - 1, budget) for name, one in members.items()}
        case _:
            raise ValueError


@dataclass(slots=True)
class _SchemaSanitizer:
    """One reduction of a schema.

    Each method also returns whether its result is exact, that is, accepts no more than the original.
    """

    keeps_pattern: Callable[[str], bool]
    nodes_left: int = MAX_NODES
    """How many schema nodes may still be visited."""

    def sanitize(self, value: object, depth: int) -> tuple[Schema, bool]:
        """Return the reduced form of a schema node and whether it is exact."""
        self.nodes_left -= 1
        if isinstance(value, bool):
            return ({} if value else {"not": {}}), True
        if not isinstance(value, dict) or depth == 0 or self.nodes_left < 0:
            return {}, False
        original = cast(Schema, value)
        sanitized: Schema = {}
        exact = original.keys().isdisjoint(_UNSUPPORTED_KEYWORDS)
        for keyword, content in original.items():
            if keyword in _KEYWORD_CHECKS:
                fits = _KEYWORD_CHECKS[keyword](content) and (keyword != "pattern" or self.keeps_pattern(content))
                if fits:
                    sanitized[keyword] = content
                exact = exact and fits
            elif keyword in _SCHEMA_KEYWORDS:
                exact = self._sanitize_nested(sanitized, keyword, content, depth - 1) and exact
        if "patternProperties" in original:
            # Without its patterns, ``additionalProperties`` would refuse the members that they allow.
            sanitized.pop("additionalProperties", None)
        return sanitized, exact

    def _sanitize_nested(self, sanitized: Schema, keyword: str, content: object, depth: int) -> bool:
        """Reduce a keyword that holds schemas, store it in ``sanitized``, and return whether it is exact."""
        match keyword, content:
            case "properties", dict():
                parts = {str(name): self.sanitize(part, depth) for name, part in cast(Schema, content).items()}
                sanitized["properties"] = {name: part for name, (part, _) in parts.items()}
                return all(exact for _, exact in parts.values())
            case (("allOf" | "anyOf" | "oneOf" | "prefixItems"), list()) if content:
                alternatives = [self.sanitize(part, depth) for part in cast(list[object], content)]
                exact = all(part[1] for part in alternatives)
                # Parts that were left open may all match, which ``oneOf`` would refuse.
                sanitized["anyOf" if keyword == "oneOf" and not exact else keyword] = [part for part, _ in alternatives]
                return exact
            case (("items" | "additionalProperties" | "not"), bool()):
                sanitized[keyword] = content
                return True
            case (("items" | "additionalProperties" | "not"), dict()):
                part, exact = self.sanitize(cast(object, content), depth)
                # The negation of a part that accepts too much would refuse too much.
                if exact or keyword != "not":
                    sanitized[keyword] = part
                return exact
            case _:
                return False


def _is_number(value: object) -> bool:
    """Return whether a value is a finite number that stores can hold.

    Integers are limited to 64 bits, as arguments are.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) < 2**63
    return isinstance(value, float) and math.isfinite(value)


def _is_positive(value: object) -> bool:
    return _is_number(value) and cast(float, value) > 0


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_type(value: object) -> bool:
    names = cast(list[object], value if isinstance(value, list) else [value])
    return bool(names) and all(isinstance(name, str) and name in TYPES for name in names)


def _is_enum(value: object) -> bool:
    if not isinstance(value, list):
        return False
    return 0 < len(cast(list[object], value)) <= MAX_ENUM and sanitize_value(cast(object, value)) is not None


def _is_name_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in cast(list[object], value))


def _is_pattern(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_PATTERN


_KEYWORD_CHECKS: dict[str, Callable[[Any], bool]] = {
    "type": _is_type, "enum": _is_enum, "const": lambda value: value is None or sanitize_value(value) is not None,
    "minimum": _is_number, "maximum": _is_number, "exclusiveMinimum": _is_number, "exclusiveMaximum": _is_number, "multipleOf": _is_positive,
    "minLength": _is_count, "maxLength": _is_count, "minItems": _is_count, "maxItems": _is_count, "minProperties": _is_count, "maxProperties": _is_count,
    "uniqueItems": lambda value: isinstance(value, bool), "required": _is_name_list, "pattern": _is_pattern,
    "format": lambda value: isinstance(value, str), "description": lambda value: isinstance(value, str),
}  # fmt: skip
"""Keywords that hold no schemas, each with the test that its value must pass to be kept."""
_SCHEMA_KEYWORDS = frozenset(
    {"properties", "items", "prefixItems", "additionalProperties", "allOf", "anyOf", "oneOf", "not"}
)
"""Keywords whose values hold schemas."""
