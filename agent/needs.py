"""What a parameter wants: which kinds of spans may fill it, how well, and from which side of the request."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic.types import JsonValue

from agent.lexicon import FROM_WORDS, TO_WORDS
from agent.spans import SpanKind
from domain.tool import JsonType, Parameter
from graph.identifiers import text_words, words

NeedKind = Literal[
    "secret", "technical", "email", "url", "domain", "ip", "phone", "latitude", "longitude", "coordinates", "currency", "unit",
    "language", "country", "date", "year", "time", "place", "person", "symbol", "identifier", "amount", "number", "boolean", "query",
    "text", "entity",
]  # fmt: skip

FITS: Mapping[NeedKind, Mapping[SpanKind, float]] = {
    "secret": {},
    "technical": {},
    "email": {"email": 0.95},
    "url": {"url": 0.95, "domain": 0.8},
    "domain": {"domain": 0.95, "url": 0.7},
    "ip": {"ip": 0.95},
    "phone": {"phone": 0.95},
    "latitude": {"coordinates": 0.95},
    "longitude": {"coordinates": 0.95},
    "coordinates": {"coordinates": 0.95},
    "currency": {"currency": 0.9},
    "unit": {"unit": 0.9},
    "language": {"language": 0.85},
    "country": {"country": 0.88, "name": 0.4},
    "date": {"date": 0.9},
    "year": {"number": 0.0, "date": 0.5},
    "time": {"time": 0.9},
    "place": {"name": 0.6, "country": 0.62, "quoted": 0.65, "phrase": 0.4},
    "person": {"name": 0.7, "quoted": 0.75, "phrase": 0.35},
    "symbol": {"code": 0.75, "name": 0.5, "quoted": 0.6, "currency": 0.55},
    "identifier": {"code": 0.55, "quoted": 0.5, "number": 0.2},
    "amount": {"number": 0.45},
    "number": {"number": 0.35},
    "boolean": {},
    "query": {"quoted": 0.9, "phrase": 0.66, "name": 0.68},
    "text": {"quoted": 0.92},
    "entity": {"quoted": 0.75, "name": 0.55, "phrase": 0.4, "code": 0.4, "number": 0.1},
}
"""How well a span's kind alone speaks for it, in [0, 1]; words around the span move it (agent.candidates)."""

_SECRET = frozenset(
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
_TECHNICAL = frozenset({"content", "accept", "callback", "webhook", "header"})
_PLACE = frozenset({"city", "location", "place", "address", "region", "town", "destination", "origin", "airport", "station",
                    "area", "where", "venue", "state", "province", "locality", "departure", "arrival"})  # fmt: skip
_PERSON = frozenset({"author", "artist", "actor", "player", "person", "director", "singer", "scholar", "firstname", "lastname",
                     "surname", "writer", "composer", "username", "nickname", "celebrity"})  # fmt: skip
_QUERY = frozenset(
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
_TEXT = frozenset({"text", "sentence", "content", "message", "body", "paragraph", "comment", "html", "word"})
_IDENTIFIER = frozenset(
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
_AMOUNT = frozenset({"amount", "price", "value", "quantity", "weight", "height", "distance", "length", "temperature", "number",
                     "sum", "total", "budget", "age", "principal"})  # fmt: skip
_BY_WORD: tuple[tuple[frozenset[str], NeedKind], ...] = (
    (frozenset({"email", "mail"}), "email"), (frozenset({"url", "website", "webpage"}), "url"),
    (frozenset({"domain", "host", "hostname"}), "domain"), (frozenset({"ip"}), "ip"), (frozenset({"phone", "mobile"}), "phone"),
    (frozenset({"latitude"}), "latitude"), (frozenset({"longitude"}), "longitude"),
    (frozenset({"coordinate", "latlng", "latlon", "geopoint", "coord"}), "coordinates"), (frozenset({"currency"}), "currency"),
    (frozenset({"unit"}), "unit"), (frozenset({"language", "locale"}), "language"), (frozenset({"country", "nation"}), "country"),
    (frozenset({"date", "day", "checkin", "checkout", "birthday"}), "date"), (frozenset({"year"}), "year"),
    (frozenset({"timezone"}), "entity"), (frozenset({"time"}), "time"), (frozenset({"symbol", "stock"}), "symbol"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Need:
    """A parameter as the matching sees it. ``specific``: the words of its name that a request may use beside a value."""

    name: str
    type: JsonType
    kind: NeedKind
    words: tuple[str, ...]
    described: frozenset[str]
    role: Literal["", "from", "to"]
    required: bool
    enum: tuple[JsonValue, ...]
    minimum: float | None
    maximum: float | None
    form: str
    example: str


def need_of(parameter: Parameter) -> Need:
    """What a parameter wants, judged by its name, type, format and description."""
    example = parameter.example if parameter.example not in (None, "") else parameter.default
    enum = tuple(str(value) if isinstance(value, (dict, list)) else value for value in parameter.enum)
    return _need(
        parameter.name, parameter.type, parameter.format or "", parameter.description[:600], parameter.required, enum,
        parameter.minimum, parameter.maximum, "" if example is None else str(example)[:200],
    )  # fmt: skip


@lru_cache(maxsize=8192, typed=True)
def _need(
    name: str, kind: JsonType, form: str, description: str, required: bool, enum: tuple[JsonValue, ...],
    minimum: float | None, maximum: float | None, example: str,
) -> Need:  # fmt: skip
    own, described = words(name), text_words(description)
    semantic = _kind(frozenset(own), own, kind, form, described)
    role = "from" if FROM_WORDS & set(own) else "to" if TO_WORDS & set(own) else ""
    return Need(
        name, kind, semantic, own, described, role, required, enum, minimum, maximum, f"{form} {description}", example
    )


def _kind(
    own: frozenset[str], ordered: tuple[str, ...], kind: JsonType, form: str, described: frozenset[str]
) -> NeedKind:
    by_form: dict[str, NeedKind] = {"date": "date", "date-time": "date", "email": "email", "uri": "url", "time": "time", "ipv4": "ip",
                                    "credentials": "secret", "password": "secret", "binary": "technical"}  # fmt: skip
    if form.lower() in by_form:
        return by_form[form.lower()]
    if (
        own & _SECRET
        or {"api", "key"} <= own
        or (own & {"key", "id"} and own & {"app", "client", "consumer", "private", "public"})
    ):
        return "secret"
    if own & _TECHNICAL and kind == "string" and len(own) > 1:
        return "technical"
    if kind == "boolean":
        return "boolean"
    if ordered and ordered[-1] in ("id", "isbn", "sku", "slug") and "country" not in own:
        return "identifier"
    for named, semantic in _BY_WORD:
        if own & named and not (
            kind in ("number", "integer") and semantic in ("date", "time", "unit", "currency", "place", "symbol")
        ):
            return semantic
    if kind in ("number", "integer"):
        return "amount" if own & _AMOUNT else "number"
    return _textual(own, described)


def _textual(own: frozenset[str], described: frozenset[str]) -> NeedKind:
    if own <= (FROM_WORDS | TO_WORDS | {"symbol"}):
        for word, semantic in (("currency", "currency"), ("language", "language"), ("unit", "unit"), ("date", "date")):
            if word in described:
                return semantic  # pyright: ignore[reportReturnType]
        if own & {"base"}:
            return "currency"
        return "entity" if not described & _PLACE else "place"
    if (
        own & _PERSON
        or ("name" in own and own & {"first", "last", "full", "user"})
        or (own == frozenset({"name"}) and described & _PERSON)
    ):
        return "person"
    for named, semantic in (
        (_PLACE, "place"),
        (_IDENTIFIER, "identifier"),
        (_QUERY, "query"),
        (_TEXT, "text"),
        (_AMOUNT, "amount"),
    ):
        if own & named:
            return semantic  # pyright: ignore[reportReturnType]
    return "entity"
