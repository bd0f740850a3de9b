"""Kinds of values that parameters take, inferred from their names, formats and descriptions."""

from typing import Literal

from domain.tool import ParameterType

NeedKind = Literal[
    "secret", "technical", "email", "url", "domain", "ip", "phone", "latitude", "longitude", "coordinates", "currency", "unit",
    "language", "country", "date", "year", "time", "place", "person", "organization", "symbol", "identifier", "amount", "number", "boolean", "query",
    "text", "entity",
]  # fmt: skip

UNTOUCHED: frozenset[NeedKind] = frozenset({"secret", "technical"})
"""Kinds of parameters that are filled neither from a request nor from a response."""
FROM_WORDS = frozenset(
    {"from", "source", "origin", "base", "departure", "start", "begin", "since", "have", "check", "checkin"}
)
TO_WORDS = frozenset({"to", "target", "destination", "arrival", "end", "until", "want", "finish", "checkout", "out"})
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
_ROLES = frozenset({"guest", "patient", "applicant", "customer", "client", "visitor", "attendee", "participant", "passenger", "holder",
                    "traveller", "traveler", "recipient", "sender", "employee", "member", "student", "buyer", "user"})  # fmt: skip
"""Roles of people: followed by *name*, they mean the name of a person."""
_ORGANIZATION = frozenset(
    {"organization", "company", "firm", "university", "affiliation", "institution", "employer", "institute"}
)
ORGANIZATION_WORDS = frozenset({"university", "institute", "academy", "polytechnic", "college", "school", "laboratory", "hospital", "museum",
                                "bank", "ministry", "agency", "council", "association", "society", "federation", "foundation", "corporation", "company", "inc", "ltd", "gmbh", "corp"})  # fmt: skip
"""Words that mark a name as that of an organisation."""
WORK_WORDS = frozenset(
    {"book", "novel", "paper", "article", "film", "movie", "song", "album", "poem", "publication", "story", "title"}
)
"""Words for works that have a title."""
_BOOKED = frozenset({"booked", "reserved", "book", "reserve", "booking", "reservation"})
"""Words that with *under* mean a person's name, as in ``name the table is booked under``."""
_WHEREABOUTS = frozenset({"where", "region"})
GENERIC = (
    frozenset({"country", "capital", "town", "city", "birthplace", "money", "currency", "village", "there"})
    | (_PLACE - _WHEREABOUTS)
    | _PERSON
    | WORK_WORDS
    | _ORGANIZATION
)
"""Words for kinds of things. A phrase in lower case that ends in one of them names no particular thing."""

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
_NUMERIC = frozenset({"count", "limit", "maximum", "minimum", "page", "size", "offset", "radius", "zoom", "percent"})
_BY_WORD: tuple[tuple[frozenset[str], NeedKind], ...] = (
    (frozenset({"email", "mail"}), "email"), (frozenset({"url", "website", "webpage"}), "url"),
    (frozenset({"domain", "host", "hostname"}), "domain"), (frozenset({"ip"}), "ip"), (frozenset({"phone", "mobile"}), "phone"),
    (frozenset({"latitude"}), "latitude"), (frozenset({"longitude"}), "longitude"),
    (frozenset({"coordinate", "latlng", "latlon", "geopoint", "coord"}), "coordinates"), (frozenset({"currency"}), "currency"),
    (frozenset({"unit"}), "unit"), (frozenset({"language", "locale"}), "language"), (frozenset({"country", "nation"}), "country"),
    (frozenset({"date", "day", "checkin", "checkout", "birthday"}), "date"), (frozenset({"year"}), "year"),
    (frozenset({"timezone"}), "entity"), (frozenset({"time"}), "time"), (frozenset({"symbol", "stock"}), "symbol"),
)  # fmt: skip
_BY_WORD_LAST: tuple[tuple[frozenset[str], NeedKind], ...] = (
    (_ORGANIZATION, "organization"), (_PLACE, "place"), (_IDENTIFIER, "identifier"), (_QUERY, "query"), (_TEXT, "text"),
    (_AMOUNT, "amount"),
)  # fmt: skip
_ENDS: tuple[NeedKind, ...] = ("currency", "language", "unit", "date")
"""Kinds that a parameter named ``from``, ``to`` or the like may have, if its description names the kind."""


def kind_of(
    own: frozenset[str], ordered: tuple[str, ...], kind: ParameterType, form: str, described: frozenset[str]
) -> NeedKind:
    """Return the kind of value that a parameter takes.

    Decided by its format, then by characteristic words of its name, then by its type, and last by its description.

    Args:
        own: words of the parameter's name.
        ordered: the same words in order.
        kind: JSON type of the parameter.
        form: its format, as JSON Schema names it.
        described: words of its description.
    """
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
    if kind == "string" and ordered and ordered[-1] == "number" and len(ordered) > 1 and "phone" not in own:
        return "identifier"
    for named, semantic in _BY_WORD:
        if own & named and not (
            kind in ("number", "integer") and semantic in ("date", "time", "unit", "currency", "place", "symbol")
        ):
            return semantic
    if kind in ("number", "integer"):
        return "amount" if own & _AMOUNT else "number"
    return "number" if own & _NUMERIC else _textual(own, described)


def names_person(told: frozenset[str]) -> bool:
    """Return whether words contain an occupation or role of a person."""
    return not told.isdisjoint(_PERSON | _ROLES)


def _textual(own: frozenset[str], described: frozenset[str]) -> NeedKind:
    """Return the kind of a text parameter by the words of its name and description; ``entity`` if nothing fits."""
    if own <= (FROM_WORDS | TO_WORDS | {"symbol"}):
        for word in _ENDS:
            if word in described:
                return word
        if own & {"base"}:
            return "currency"
        return "entity" if not described & _PLACE else "place"
    if own & _PERSON or ("name" in own and own & (_ROLES | {"first", "last", "full"})):
        return "person"
    says_nothing = own == frozenset({"name"}) or (own <= _TEXT and "name" in described)
    named = _whose_name(described) if says_nothing else None
    if named:
        return named
    for named, semantic in _BY_WORD_LAST:
        if own & named:
            return semantic
    return "entity"


def _whose_name(described: frozenset[str]) -> NeedKind | None:
    """Return the kind of thing whose name a parameter takes, judged by its description; None if that is ambiguous.

    For parameters called just ``name``, or called ``text`` and described as a name.
    """
    if described & _PERSON or ("under" in described and described & _BOOKED):
        return "person"
    kinds: tuple[tuple[frozenset[str], NeedKind], ...] = (
        (frozenset({"country", "nation"}), "country"), (_PLACE - _WHEREABOUTS, "place"), (_ORGANIZATION, "organization"),
    )  # fmt: skip
    found: list[NeedKind] = [kind for telling, kind in kinds if described & telling]
    return found[0] if len(found) == 1 else None
