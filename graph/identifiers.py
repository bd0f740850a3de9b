"""Words of field and parameter names: ``personId``, ``person_ids`` and ``PERSON-ID`` are all (person, id)."""

import re
from functools import lru_cache

_PIECE = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[^\W\d_]?[^\W\d_A-Z]+|\d+")

_STANDARD_WORDS = {
    "lat": "latitude",
    "lon": "longitude",
    "lng": "longitude",
    "long": "longitude",
    "identifier": "id",
    "uid": "id",
    "uuid": "id",
    "num": "number",
    "no": "number",
    "nr": "number",
    "cnt": "count",
    "qty": "quantity",
    "addr": "address",
    "ccy": "currency",
    "curr": "currency",
    "lang": "language",
    "tz": "timezone",
    "src": "source",
    "dest": "destination",
    "dst": "destination",
    "org": "organization",
    "organisation": "organization",
    "pub": "publication",
    "msg": "message",
    "img": "image",
    "pic": "picture",
    "photo": "picture",
    "tel": "phone",
    "telephone": "phone",
    "zip": "postcode",
    "zipcode": "postcode",
    "postalcode": "postcode",
    "uri": "url",
    "link": "url",
    "href": "url",
    "ticker": "symbol",
    "sym": "symbol",
    "px": "price",
    "colour": "color",
    "temp": "temperature",
    "min": "minimum",
    "max": "maximum",
    "desc": "description",
    "cat": "category",
    "prod": "product",
    "usr": "user",
    "acct": "account",
}
"""Standard word of each spelling variant or abbreviation."""

_PLURALS = {
    "people": "person",
    "children": "child",
    "men": "man",
    "women": "woman",
    "indices": "index",
    "data": "data",
    "uris": "uri",
}
_NO_PLURAL = frozenset({"news", "series", "species", "status", "address", "bus", "gas", "lens", "class", "sms", "dns"})

_SUFFIXES = ("id", "ids", "code", "name", "key", "token", "number", "secret")
_UNSPLIT_WORDS = frozenset(
    {
        "username", "nickname", "filename", "hostname", "surname", "rename", "firstname", "lastname", "postcode", "zipcode",
        "barcode", "encode", "decode", "unicode", "qrcode", "geocode", "shortcode", "paid", "grid", "valid", "invalid", "android",
        "covid", "solid", "fluid", "rapid", "avoid", "hybrid", "acid", "squid", "liquid", "asteroid", "centroid", "uuid", "guid",
        "humid", "said", "maid", "raid", "void", "amid", "hid", "splendid", "pyramid", "orchid", "vivid", "timid", "hemorrhoid", "steroid",
        "kids", "bids", "grids", "monkey", "turkey", "hockey", "jockey", "whiskey", "kilocode",
    }
)  # fmt: skip
"""Words that end like one of the suffixes but are not split."""


def singularize(word: str) -> str:
    """Return the singular of a lower-case English noun, by its ending; unknown forms stay as they are."""
    if word in _PLURALS:
        return _PLURALS[word]
    if len(word) < 4 or word in _NO_PLURAL or word.endswith(("ss", "us", "is")):
        return "id" if word == "ids" else word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word


def _split_suffix(word: str) -> tuple[str, ...]:
    """Split a suffix off a word: ``productid`` → product, id.

    Catalogues often lower-case what was written in camel case.
    """
    if word in _UNSPLIT_WORDS:
        return (word,)
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return (word[: -len(suffix)], suffix)
    return (word,)


@lru_cache(maxsize=131_072)
def split_words(identifier: str) -> tuple[str, ...]:
    """Return the words of an identifier in order, in a standard form.

    Lower case, singular, spelling variants unified (``lng`` → longitude).
    """
    parts: list[str] = []
    for piece in _PIECE.findall(identifier[:200]):
        lowered = piece.lower()
        for word in (lowered,) if lowered in _STANDARD_WORDS else _split_suffix(lowered):
            base = word if word in _STANDARD_WORDS else singularize(word)
            parts.append(_STANDARD_WORDS.get(base, base))
    return tuple(parts)


@lru_cache(maxsize=16_384)
def extract_words(text: str) -> frozenset[str]:
    """Return the set of words of running text, in the same forms as :func:`split_words`.

    Only the first 600 characters count.
    """
    return frozenset(word for piece in re.findall(r"\w+", text[:600]) for word in split_words(piece))
