"""Needs of parameters: the kind, format, allowed values and role of the value that a parameter takes.

They are inferred from a parameter's name, type, schema, description and example.
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, cast

from pydantic.types import JsonValue

from domain.tool import Parameter, ParameterType
from graph.identifiers import extract_words, split_words

NeedKind = Literal[
    "secret", "technical", "email", "url", "domain", "ip", "phone", "latitude", "longitude", "coordinates", "currency", "unit",
    "language", "country", "date", "year", "time", "place", "person", "organization", "symbol", "identifier", "amount", "number", "boolean", "query",
    "text", "entity",
]  # fmt: skip

UNFILLED_KINDS: frozenset[NeedKind] = frozenset({"secret", "technical"})
"""Kinds of parameters that are filled neither from a request nor from a response."""
FROM_WORDS = frozenset(
    {"from", "source", "origin", "base", "departure", "start", "begin", "since", "have", "check", "checkin"}
)
TO_WORDS = frozenset({"to", "target", "destination", "arrival", "end", "until", "want", "finish", "checkout", "out"})
_SECRET_WORDS = frozenset(
    {
        "token",
        "secret",
        "password",
        "apikey",
        "authorization",
        "credential",
        "oauth",
        "jwt",
        "rapidapi",
        "signature",
        "auth",
    }
)
_TECHNICAL_WORDS = frozenset({"content", "accept", "callback", "webhook", "header"})
_PLACE_WORDS = frozenset({"city", "location", "place", "address", "region", "town", "destination", "origin", "airport", "station",
                    "area", "where", "venue", "state", "province", "locality", "departure", "arrival"})  # fmt: skip
_PERSON_WORDS = frozenset({"author", "artist", "actor", "player", "person", "director", "singer", "scholar", "firstname", "lastname",
                     "surname", "writer", "composer", "username", "nickname", "celebrity"})  # fmt: skip
_ROLE_WORDS = frozenset({"guest", "patient", "applicant", "customer", "client", "visitor", "attendee", "participant", "passenger", "holder",
                    "traveller", "traveler", "recipient", "sender", "employee", "member", "student", "buyer", "user"})  # fmt: skip
"""Roles of people: followed by *name*, they mean the name of a person."""
_ORGANIZATION_PARAMETER_WORDS = frozenset(
    {"organization", "company", "firm", "university", "affiliation", "institution", "employer", "institute"}
)
ORGANIZATION_WORDS = frozenset({"university", "institute", "academy", "polytechnic", "college", "school", "laboratory", "hospital", "museum",
                                "bank", "ministry", "agency", "council", "association", "society", "federation", "foundation", "corporation", "company", "inc", "ltd", "gmbh", "corp"})  # fmt: skip
"""Words that mark a name as that of an organisation."""
WORK_WORDS = frozenset(
    {"book", "novel", "paper", "article", "film", "movie", "song", "album", "poem", "publication", "story", "title"}
)
"""Words for works that have a title."""
_BOOKING_WORDS = frozenset({"booked", "reserved", "book", "reserve", "booking", "reservation"})
"""Words that with *under* mean a person's name, as in ``name the table is booked under``."""
_VAGUE_PLACE_WORDS = frozenset({"where", "region"})
GENERIC_WORDS = (
    frozenset({"country", "capital", "town", "city", "birthplace", "money", "currency", "village", "there"})
    | (_PLACE_WORDS - _VAGUE_PLACE_WORDS)
    | _PERSON_WORDS
    | WORK_WORDS
    | _ORGANIZATION_PARAMETER_WORDS
)
"""Words for kinds of things. A phrase in lower case that ends in one of them names no particular thing."""

_QUERY_WORDS = frozenset(
    {
        "q",
        "query",
        "search",
        "keyword",
        "term",
        "topic",
        "title",
        "subject",
        "phrase",
        "info",
        "interest",
        "name",
        "genre",
    }
)
_TEXT_WORDS = frozenset({"text", "sentence", "content", "message", "body", "paragraph", "comment", "html", "word"})
_IDENTIFIER_WORDS = frozenset(
    {
        "id",
        "sku",
        "asin",
        "isbn",
        "barcode",
        "vin",
        "iban",
        "slug",
        "handle",
        "hash",
        "code",
        "key",
        "imdb",
        "upc",
        "postcode",
    }
)
_AMOUNT_WORDS = frozenset({"amount", "price", "value", "quantity", "weight", "height", "distance", "length", "temperature", "number",
                     "sum", "total", "budget", "age", "principal"})  # fmt: skip
_NUMERIC_WORDS = frozenset(
    {"count", "limit", "maximum", "minimum", "page", "size", "offset", "radius", "zoom", "percent"}
)
_KIND_BY_WORD: tuple[tuple[frozenset[str], NeedKind], ...] = (
    (frozenset({"email", "mail"}), "email"), (frozenset({"url", "website", "webpage"}), "url"),
    (frozenset({"domain", "host", "hostname"}), "domain"), (frozenset({"ip"}), "ip"), (frozenset({"phone", "mobile"}), "phone"),
    (frozenset({"latitude"}), "latitude"), (frozenset({"longitude"}), "longitude"),
    (frozenset({"coordinate", "latlng", "latlon", "geopoint", "coord"}), "coordinates"), (frozenset({"currency"}), "currency"),
    (frozenset({"unit"}), "unit"), (frozenset({"language", "locale"}), "language"), (frozenset({"country", "nation"}), "country"),
    (frozenset({"date", "day", "checkin", "checkout", "birthday"}), "date"), (frozenset({"year"}), "year"),
    (frozenset({"timezone"}), "entity"), (frozenset({"time"}), "time"), (frozenset({"symbol", "stock"}), "symbol"),
)  # fmt: skip
_TEXT_KIND_BY_WORD: tuple[tuple[frozenset[str], NeedKind], ...] = (
    (_ORGANIZATION_PARAMETER_WORDS, "organization"), (_PLACE_WORDS, "place"), (_IDENTIFIER_WORDS, "identifier"), (_QUERY_WORDS, "query"), (_TEXT_WORDS, "text"),
    (_AMOUNT_WORDS, "amount"),
)  # fmt: skip
_ENDPOINT_KINDS: tuple[NeedKind, ...] = ("currency", "language", "unit", "date")
"""Kinds that a parameter named ``from``, ``to`` or the like may have, if its description names the kind."""


def classify_parameter(
    name_words: frozenset[str],
    ordered_words: tuple[str, ...],
    parameter_type: ParameterType,
    value_format: str,
    description_words: frozenset[str],
) -> NeedKind:
    """Return the kind of value that a parameter takes.

    Decided by its format, then by characteristic words of its name, then by its type, and last by its description.

    Args:
        name_words: words of the parameter's name.
        ordered_words: the same words in order.
        parameter_type: JSON type of the parameter.
        value_format: its format, as JSON Schema names it.
        description_words: words of its description.
    """
    by_form: dict[str, NeedKind] = {"date": "date", "date-time": "date", "email": "email", "uri": "url", "time": "time", "ipv4": "ip",
                                    "credentials": "secret", "password": "secret", "binary": "technical"}  # fmt: skip
    if value_format.lower() in by_form:
        return by_form[value_format.lower()]
    if (
        name_words & _SECRET_WORDS
        or {"api", "key"} <= name_words
        or (name_words & {"key", "id"} and name_words & {"app", "client", "consumer", "private", "public"})
    ):
        return "secret"
    if name_words & _TECHNICAL_WORDS and parameter_type == "string" and len(name_words) > 1:
        return "technical"
    if parameter_type == "boolean":
        return "boolean"
    if ordered_words and ordered_words[-1] in ("id", "isbn", "sku", "slug") and "country" not in name_words:
        return "identifier"
    if (
        parameter_type == "string"
        and ordered_words
        and ordered_words[-1] == "number"
        and len(ordered_words) > 1
        and "phone" not in name_words
    ):
        return "identifier"
    for words, semantic in _KIND_BY_WORD:
        if name_words & words and not (
            parameter_type in ("number", "integer")
            and semantic in ("date", "time", "unit", "currency", "place", "symbol")
        ):
            return semantic
    if parameter_type in ("number", "integer"):
        return "amount" if name_words & _AMOUNT_WORDS else "number"
    return "number" if name_words & _NUMERIC_WORDS else _classify_text_parameter(name_words, description_words)


def mentions_person(words: frozenset[str]) -> bool:
    """Return whether words contain an occupation or role of a person."""
    return not words.isdisjoint(_PERSON_WORDS | _ROLE_WORDS)


def _classify_text_parameter(name_words: frozenset[str], description_words: frozenset[str]) -> NeedKind:
    """Return the kind of a text parameter by the words of its name and description; ``entity`` if nothing fits."""
    if name_words <= (FROM_WORDS | TO_WORDS | {"symbol"}):
        for word in _ENDPOINT_KINDS:
            if word in description_words:
                return word
        if name_words & {"base"}:
            return "currency"
        return "entity" if not description_words & _PLACE_WORDS else "place"
    if name_words & _PERSON_WORDS or ("name" in name_words and name_words & (_ROLE_WORDS | {"first", "last", "full"})):
        return "person"
    says_nothing = name_words == frozenset({"name"}) or (name_words <= _TEXT_WORDS and "name" in description_words)
    named = _classify_named_thing(description_words) if says_nothing else None
    if named:
        return named
    for named, semantic in _TEXT_KIND_BY_WORD:
        if name_words & named:
            return semantic
    return "entity"


def _classify_named_thing(description_words: frozenset[str]) -> NeedKind | None:
    """Return the kind of thing whose name a parameter takes, judged by its description; None if that is ambiguous.

    For parameters called just ``name``, or called ``text`` and described as a name.
    """
    if description_words & _PERSON_WORDS or ("under" in description_words and description_words & _BOOKING_WORDS):
        return "person"
    kinds: tuple[tuple[frozenset[str], NeedKind], ...] = (
        (frozenset({"country", "nation"}), "country"), (_PLACE_WORDS - _VAGUE_PLACE_WORDS, "place"), (_ORGANIZATION_PARAMETER_WORDS, "organization"),
    )  # fmt: skip
    matching_kinds: list[NeedKind] = [kind for words, kind in kinds if description_words & words]
    return matching_kinds[0] if len(matching_kinds) == 1 else None


_FORMAT = re.compile(r'"format"\s*:\s*"(email|uri|date|date-time|time|ipv4)"')
_AT_SIGN_PATTERN = re.compile(r'"pattern"\s*:\s*"(?:[^"\\]|\\.)*@')
_ADDRESS = re.compile(r"[\[\"']*[\w.+-]+@[\w-]+(?:\.[\w-]+)+[\]\"']*")
_MAX_ALLOWED_VALUES = 60


def find_format(parameter: Parameter) -> str:
    """Return the format of a text or of a list's items by its JSON Schema name; empty if unknown.

    ``email`` is also inferred from an ``@`` in a pattern, or from the example.
    """
    if parameter.format:
        return parameter.format
    if parameter.type not in ("string", "array"):
        return ""
    schema = parameter.json_schema or ""
    match = _FORMAT.search(schema) if parameter.type == "array" else None
    if match:
        return match[1]
    example = "" if parameter.example is None else str(parameter.example)
    return "email" if _AT_SIGN_PATTERN.search(schema) or _ADDRESS.fullmatch(example) else ""


def list_allowed_values(parameter: Parameter) -> tuple[JsonValue, ...]:
    """Return the allowed values of a parameter or, for a list, of its items; empty if they are not restricted."""
    if parameter.enum or parameter.type != "array" or not parameter.json_schema:
        return parameter.enum
    return _read_item_enum(parameter.json_schema)


@lru_cache(maxsize=2048)
def _read_item_enum(schema: str) -> tuple[JsonValue, ...]:
    """Return the ``enum`` of the items in a list's JSON schema, or in one of its ``anyOf`` and ``oneOf`` branches."""
    try:
        root = json.loads(schema)
    except (ValueError, RecursionError):
        return ()
    for branch in (root, *_list_alternatives(root)):
        items: Any = cast("dict[str, Any]", branch).get("items") if isinstance(branch, dict) else None
        values: Any = cast("dict[str, Any]", items).get("enum") if isinstance(items, dict) else None
        if isinstance(values, list) and all(isinstance(v, (str, int, float)) for v in cast("list[Any]", values)):
            return tuple(cast("list[JsonValue]", values)[:_MAX_ALLOWED_VALUES])
    return ()


def _list_alternatives(schema: Any) -> list[Any]:
    """Return the branches of ``anyOf`` and ``oneOf``."""
    if not isinstance(schema, dict):
        return []
    node = cast("dict[str, Any]", schema)
    alternatives = [node.get(key) for key in ("anyOf", "oneOf")]
    return [one for some in alternatives if isinstance(some, list) for one in cast("list[Any]", some)]


_MAX_NAME_WORDS = 2
"""Longest description, in words, that can replace a name of one letter."""


@dataclass(frozen=True, slots=True)
class ParameterNeed:
    """A parameter prepared for matching it with values of requests and responses."""

    name: str
    """Name of the parameter."""
    type: ParameterType
    """Its JSON type."""
    kind: NeedKind
    """Kind of value that it takes."""
    words: tuple[str, ...]
    """Words of its name, which a request may use beside the value."""
    description_words: frozenset[str]
    """Words of its description."""
    role: Literal["", "from", "to"]
    """Which end of a range, route or conversion it is; empty if neither."""
    required: bool
    """True if a call must have it."""
    enum: tuple[JsonValue, ...]
    """Values that it allows; empty for any."""
    minimum: float | None
    """Least number that it allows."""
    maximum: float | None
    """Greatest number that it allows."""
    format_text: str
    """Its format and its description as one text, in which words for formats of dates are looked up."""
    example: str
    """An example or the default, as text; empty if there is none."""


def derive_need(parameter: Parameter) -> ParameterNeed:
    """Derive the need of a parameter from its name, type, format and description."""
    example = parameter.example if parameter.example not in (None, "") else parameter.default
    enum = tuple(str(value) if isinstance(value, (dict, list)) else value for value in list_allowed_values(parameter))
    return _derive_cached_need(
        parameter.name, parameter.type, find_format(parameter), parameter.description[:600], parameter.required, enum,
        parameter.minimum, parameter.maximum, "" if example is None else str(example)[:200],
    )  # fmt: skip


@lru_cache(maxsize=8192, typed=True)
def _derive_cached_need(
    name: str, parameter_type: ParameterType, value_format: str, description: str, required: bool, enum: tuple[JsonValue, ...],
    minimum: float | None, maximum: float | None, example: str,
) -> ParameterNeed:  # fmt: skip
    """Derive a need from hashable parts of a parameter, so that the result can be cached."""
    words, description_words = (
        split_words(name) if len(name) > 1 else _expand_initial(name, description),
        extract_words(description),
    )
    kind = classify_parameter(frozenset(words), words, parameter_type, value_format, description_words)
    role = "from" if FROM_WORDS & set(words) and "out" not in words else "to" if TO_WORDS & set(words) else ""
    return ParameterNeed(
        name,
        parameter_type,
        kind,
        words,
        description_words,
        role,
        required,
        enum,
        minimum,
        maximum,
        f"{value_format} {description}",
        example,
    )


def _expand_initial(name: str, description: str) -> tuple[str, ...]:
    """Return the words of a name of one letter.

    If the description has one or two words and begins with the letter, as "Year." for ``y``, its words are returned.
    """
    words = split_words(description)
    return words if 0 < len(words) <= _MAX_NAME_WORDS and words[0].startswith(name.lower()) else split_words(name)
