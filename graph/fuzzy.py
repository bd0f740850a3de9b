"""Tells the inputs that a user can state from those that must be looked up.

Users state names, titles, topics, dates, countries, choices and numbers, but not ids, tokens or coordinates. A tool is
*fuzzy* if a call needs only what users state; SoAy's term for the functions that can begin a solution.
"""

import re
from functools import lru_cache
from itertools import combinations

from pydantic.types import JsonValue

from domain.tool import Parameter, ToolDoc
from graph.coupling import get_subject_words
from graph.entities import ServiceEntities
from graph.entity_vocabulary import IDENTITY
from graph.identifiers import split_words
from graph.lenient_json import read_value

_OPAQUE_WORDS = IDENTITY | frozenset(
    {
        "auth", "authorization", "base64", "bearer", "blob", "body", "callback", "checksum", "continuation", "cookie", "credential", "csrf", "cursor",
        "data", "etag", "file", "guid", "handle", "hash", "header", "host", "image", "img", "jwt", "key", "latitude", "longitude", "nonce", "oauth",
        "password", "payload", "secret", "session", "sha", "shortcode", "signature", "token", "useragent",
        "webhook", "xml",
    }
)  # fmt: skip
"""Last words of names whose values only machines understand, or that are secret."""

_SETTING_WORDS = frozenset(
    {
        "ascending", "callback", "count", "descending", "detail", "direction", "embed", "expand", "field", "fields", "format", "include",
        "exclude", "indent", "lang", "language", "limit", "locale", "maximum", "minimum", "offset", "order", "output", "page", "per", "encoding", "accept", "agent", "cache", "charset", "debug", "device",
        "pretty", "results", "result", "rows", "row", "size", "skip", "sort", "start", "take", "timezone", "top", "unit", "units",
        "verbose", "version", "width", "height", "mode", "total", "number", "items", "item", "of", "by", "max", "min", "end", "response",
    }
)  # fmt: skip
"""Words of settings. An input whose name has no other word says how to answer, not what about."""

_MACHINE_FORMATS = frozenset(
    {"uuid", "uri", "url", "uri-reference", "iri", "byte", "binary", "password", "json-pointer", "regex", "jwt"}
)
_IDENTIFIER_PATTERN = re.compile(r"\b(?:ids?|uuid|guid|identifiers?|token|slug|hash)\b", re.IGNORECASE)
_TEXT_PATTERN = re.compile(
    r"\b(?:names?|titles?|words?|text|query|keywords?|search|terms?|phrases?|codes?)\b", re.IGNORECASE
)
_HEXADECIMAL = re.compile(r"(?=.*\d)[0-9a-fA-F-]{16,}")
_JUMBLE = re.compile(r"(?=.*\d.*[A-Za-z]|.*[A-Za-z].*\d)[\w-]{10,}")
_DIGITS = re.compile(r"\d{3,}")
_NUMERIC_WORDS = frozenset(
    {
        "amount",
        "age",
        "date",
        "day",
        "month",
        "number",
        "phone",
        "postcode",
        "price",
        "quantity",
        "time",
        "value",
        "weight",
        "year",
        "zip",
    }
)
"""Words for values that may be all digits without being ids."""

MAX_OPTIONAL_INPUTS = 2
"""Maximum number of optional inputs of one request: people rarely state more conditions."""


def can_user_state(parameter: Parameter, tool: ToolDoc, service: ServiceEntities) -> bool:
    """Return whether a user can state the value of an input in a request."""
    if parameter.enum:
        return True
    if parameter.type == "object" or parameter.location in ("header", "cookie") or parameter.whole_body:
        return False
    if parameter.type == "array" and not _is_scalar_array(parameter.json_schema):
        return False
    return not is_identifier(parameter, tool, service)


def is_identifier(parameter: Parameter, tool: ToolDoc, service: ServiceEntities) -> bool:
    """Return whether an input takes an identifier that only machines use."""
    name_words = split_words(parameter.wire_name)
    if not name_words or _is_machine_name(name_words) or (parameter.format or "").lower() in _MACHINE_FORMATS:
        return True
    slot = service.resolve_input(tool, parameter)
    if slot is not None and slot.form in IDENTITY:
        return True
    if name_words == ("code",) or _is_described_as_identifier(parameter.description):
        return True
    return _is_opaque_example(parameter.example, parameter, name_words) or _is_opaque_example(
        parameter.default, parameter, name_words
    )


def is_topic(parameter: Parameter) -> bool:
    """Return whether an input names a subject of the request, like ``city``, rather than a setting, like ``page``."""
    name_words = split_words(parameter.wire_name)
    own_header = parameter.wire_name[:2].lower() == "x-"
    return parameter.type != "boolean" and not set(name_words) <= _SETTING_WORDS and not own_header


def is_fuzzy(tool: ToolDoc, service: ServiceEntities) -> bool:
    """Return whether all that a call needs is stated by the user, or is a setting with a default."""
    return not any(needs_lookup(one, tool, service) for one in tool.required) and not _is_called_by_id(tool, service)


def _is_called_by_id(tool: ToolDoc, service: ServiceEntities) -> bool:
    """Return whether the tool's only subject is the id of the entity in its name, required or not.

    Example: ``get_movie`` with an optional ``movie_id``, which returns nothing useful without it.
    """
    if any(is_topic(one) and can_user_state(one, tool, service) for one in tool.parameters):
        return False
    slots = (service.resolve_input(tool, one) for one in tool.parameters)
    subject_words = get_subject_words(tool.api)
    return any(
        subject_words & set(entity.split())
        for slot in slots
        if slot is not None and slot.form in IDENTITY
        for entity in slot.entities
    )


def needs_lookup(parameter: Parameter, tool: ToolDoc, service: ServiceEntities) -> bool:
    """Return whether a required input must be looked up because no user states it and it has no usable default.

    The default of an input that identifies something is only an example, so it is not usable.
    """
    if can_user_state(parameter, tool, service):
        return False
    return parameter.default is None or (is_topic(parameter) and is_identifier(parameter, tool, service))


def select_user_inputs(
    tool: ToolDoc, service: ServiceEntities, filled: frozenset[str] = frozenset()
) -> tuple[Parameter, ...]:
    """Return the required inputs that a user has to state for a call.

    A default makes a setting optional, but not a subject: a request for the weather of the default city is not the
    user's request. ``filled`` names inputs that take their values from elsewhere; they are left out.
    """
    return tuple(
        parameter
        for parameter in tool.required
        if parameter.name not in filled
        and (parameter.default is None or (_is_about(parameter) and can_user_state(parameter, tool, service)))
    )


def _is_about(parameter: Parameter) -> bool:
    """Return whether an input is a topic and, if it takes a number, one that has a meaning, like a year or a price."""
    number = parameter.type in ("integer", "number")
    return is_topic(parameter) and (not number or bool(_NUMERIC_WORDS & set(split_words(parameter.wire_name))))


def list_input_subsets(tool: ToolDoc, service: ServiceEntities) -> list[tuple[Parameter, ...]]:
    """Return the combinations of inputs with which a user may call a fuzzy tool.

    Each combination holds all required inputs. At most one optional topic is added to them, or two if nothing is
    required. A tool without required inputs gets at least one of its optional topics, or no input if it has none.
    """
    required = select_user_inputs(tool, service)
    optional = [
        one for one in tool.parameters if not one.required and is_topic(one) and can_user_state(one, tool, service)
    ]
    max_optional = MAX_OPTIONAL_INPUTS - min(len(required), MAX_OPTIONAL_INPUTS - 1)
    choices = [required] if required or not optional else []
    for size in range(1, max_optional + 1):
        choices += [(*required, *some) for some in combinations(optional, size)]
    return choices


def _is_scalar_array(json_schema: str | None) -> bool:
    """Return whether the text is the JSON Schema of an array of strings or numbers."""
    schema = read_value(json_schema) if json_schema else None
    items = schema.get("items") if isinstance(schema, dict) else None
    return isinstance(items, dict) and items.get("type") in ("string", "number", "integer")


@lru_cache(maxsize=65_536)
def _is_machine_name(name_words: tuple[str, ...]) -> bool:
    """Return whether a name begins with ``id``, or ends in an opaque word (also before ``value`` or ``list``)."""
    if name_words[-1] in _OPAQUE_WORDS or name_words[0] == "id":
        return True
    return (
        len(name_words) > 1
        and name_words[-1] in ("value", "string", "list", "text")
        and name_words[-2] in _OPAQUE_WORDS
    )


@lru_cache(maxsize=65_536)
def _is_described_as_identifier(description: str) -> bool:
    """Return whether the beginning of a description mentions an id, but no name, title or other text."""
    first = description[:120]
    return bool(_IDENTIFIER_PATTERN.search(first)) and not _TEXT_PATTERN.search(first)


def _is_opaque_example(example: JsonValue, parameter: Parameter, name_words: tuple[str, ...]) -> bool:
    """Return whether an example looks like an id: an address, mixed letters and digits, or digits in a text input."""
    if not isinstance(example, str) or parameter.type != "string":
        return False
    value = example.strip()
    if _HEXADECIMAL.fullmatch(value) or (value.startswith(("http://", "https://")) and " " not in value):
        return True
    if set(name_words) & _NUMERIC_WORDS:
        return False
    return bool(_DIGITS.fullmatch(value)) or bool(
        _JUMBLE.fullmatch(value) and sum(map(str.isdigit, value)) > len(value) / 4
    )
