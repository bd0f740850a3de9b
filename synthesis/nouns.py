"""English nouns for functions, parameters and fields, made of the words of their documents."""

import re
from collections.abc import Collection, Sequence

from agent.execution.things import tells_apart
from domain.tool import Parameter, ToolDoc
from graph.identifiers import singular, words
from graph.links import Feed
from graph.response_fields import OutputField
from graph.vocabulary import FORMS, IDENTITY
from synthesis.documents import beside, called, field_descriptions, in_item

_VERBS = frozenset(
    {"get", "search", "find", "list", "fetch", "lookup", "look", "up", "show", "query", "retrieve", "read", "check", "view", "load", "describe"}
)  # fmt: skip
_CUTS = frozenset(
    {"by", "in", "for", "of", "near", "nearby", "at", "from", "with", "on", "to", "between", "per", "using", "via"}
)
_GENERIC = frozenset(
    {"info", "information", "detail", "details", "basic", "data", "profile", "result", "item", "list", "response", "record", "entry", "all",
     "hit", "content", "page", "value", "object", "summary", "api", "full", "complex", "advanced", "json", "xml"}
)  # fmt: skip
"""Words that add nothing to the name of a thing, such as *info* or *list*."""
_MASS = frozenset({"information", "news", "weather", "music", "data", "equipment", "money", "traffic", "advice", "software", "staff", "cast", "crew", "series", "species", "stock"})  # fmt: skip
_IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women", "index": "indices"}
_HEAD = re.compile(r"(?:the |a |an )?([\w-]+(?: [\w-]+){0,2}?) of (?:a|an|the)\b", re.IGNORECASE)
_OF_WHAT = re.compile(r"\bof (?:a|an|the|this|that) ([\w-]+)", re.IGNORECASE)
_LONGEST = 4
"""Words of a phrase that is taken from a description."""
_NO_NOUNS = frozenset(
    {"how", "it", "is", "are", "was", "were", "where", "when", "whether", "which", "who", "whom", "they", "this", "that", "to", "if", "as", "can"}
)  # fmt: skip
"""Words that make a phrase more than a noun with its attributes."""
_NEUTRAL = frozenset({"item", "response", "request", "result", "object", "list", "search", "page"})


def plural(phrase: str) -> str:
    """Return the plural of a noun phrase, by its last word before *of*."""
    head, of, rest = phrase.partition(" of ")
    before, _, last = head.rpartition(" ")
    return " ".join(part for part in (before, _plural_word(last)) if part) + of + rest


def _plural_word(word: str) -> str:
    """Return the plural of one word."""
    low = word.casefold()
    if low in _MASS:
        return word
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    if low.endswith(("ss", "x", "ch", "sh", "us")):
        return f"{word}es"
    return word if low.endswith("s") else f"{word}s"


def phrase(named: Sequence[str]) -> str:
    """Build a phrase of an identifier's words: ``number of citations`` of (number, citation)."""
    own = _each_once(_unversioned(named))
    if len(own) > 1 and own[-1] == "list":
        own = own[:-1]
    if len(own) > 1 and own[0] == "number":
        return f"number of {plural(' '.join(own[1:]))}"
    if len(own) > 1 and own[-1] == "count":
        return f"number of {plural(' '.join(own[:-1]))}"
    return " ".join(own)


def _unversioned(named: Sequence[str]) -> list[str]:
    """Drop numbers from an identifier's words, and the ``v`` before a version number."""
    following = zip(named, (*named[1:], ""), strict=False)
    return [word for word, after in following if not word.isdigit() and not (word == "v" and after.isdigit())]


def _each_once(named: Sequence[str]) -> list[str]:
    """Drop words that repeat the one before: ``verse`` of ``/verse/{verse}``."""
    return [word for word, before in zip(named, ("", *named), strict=False) if word != before]


def field_noun(field: OutputField, otherwise: str = "") -> str:
    """Return the noun for a field; ``default`` where its name is empty, as in a list of plain texts."""
    named = phrase(words(field.name))
    last = re.split(r"[\W_]+", field.name)[-1].lower()
    if field.type == "integer" and singular(last) != last and named != f"number of {plural(named)}":
        return named if named.startswith("number of ") else f"number of {plural(named)}"
    return named or otherwise


def told_noun(doc: ToolDoc, field: OutputField, otherwise: str = "") -> str:
    """Return the noun for a field, or its description where the name is no noun, such as ``founded``."""
    named = field_noun(field, otherwise)
    return described_field(doc, field) or f"{named} value" if named.endswith("ed") and " " not in named else named


def parameter_noun(parameter: Parameter) -> str:
    """Return the noun for a parameter."""
    return phrase(words(parameter.name)) or "value"


def tool_noun(doc: ToolDoc, known: Collection[str] = ()) -> str:
    """Return the noun for what a function is about, without the words of what it is called with.

    ``getCoauthors`` is about a *co-author*; ``getPersonInfo`` of a person about nothing else (empty).
    ``filled_parameters``: names of the parameters that earlier results fill.
    """
    spoken = {word for name in known for word in words(name)} - FORMS
    own: list[str] = []
    for word in _unversioned(words(doc.api)):
        if word in _CUTS and own:
            break
        if word not in _VERBS | _CUTS | spoken:
            own.append(word)
    while own and own[-1] in _GENERIC:
        own.pop()
    return " ".join(_each_once([word for word in own if word not in _GENERIC]))


def held_noun(doc: ToolDoc, path: str, known: Collection[str] = ()) -> str:
    """Return the noun for the list or object that holds a field, else for what the function is about."""
    own = path.removesuffix("[]")
    whole = own.rpartition(".")[0] if path.endswith("[]") else path  # a list of texts is held by what has the list
    holder = whole.rpartition("[]")[0] if "[]" in whole else whole.rpartition(".")[0]
    for part in reversed(holder.replace("[]", "").split(".")):
        named = [word for word in words(part) if word not in _GENERIC]
        if named:
            return " ".join(named)
    return tool_noun(doc, known)


def fed_noun(doc: ToolDoc, feeds: Sequence[Feed], known: Collection[str] = ()) -> str:
    """Return the noun for what a response gives to the next function: a thing itself, or what it refers to."""
    feed = feeds[0]
    if len(feeds) > 1:
        return held_noun(doc, feed.field, known)
    name = feed.field.replace("[]", "").rpartition(".")[2]
    own = " ".join(word for word in words(name) if word not in IDENTITY)
    holder = held_noun(doc, feed.field, known)
    others = [one for one in beside(doc, feed.field) if one.path != feed.field and tells_apart(one.name)]
    label = called(doc, feed.field)
    if own and (
        not holder
        or (tells_apart(name) and others)
        or ("[]" in feed.field and not tells_apart(name) and not _is_label(label, feed))
    ):
        return (
            own if own == holder or not holder else f"{own} of the {plural(holder) if '[]' in feed.field else holder}"
        )
    return holder or own


def _is_label(label: OutputField | None, feed: Feed) -> bool:
    return label is not None and label.path == feed.field


def described_field(doc: ToolDoc, field: OutputField) -> str:
    """Return another phrase for a field from its description, short and with a shared word; else an empty string."""
    said = re.split(r"[.;:,(]", field_descriptions(doc).get(field.path, ""))[0].strip()
    said = re.sub(r" (?:there|here)$", "", said)
    said = re.sub(r"\b(?:its|their|his|her) ", "", _OF_WHAT.split(said)[0]).strip()
    own = said.split()
    if _NO_NOUNS & {word.casefold() for word in own}:
        return ""
    same = any(a[:3].casefold() == b[:3] for a in own for b in words(field.name))
    fit = 0 < len(own) <= _LONGEST and same and all(part.replace("-", "").isalpha() for part in own)
    return _lower(re.sub(r"^(?:The|A|An|the|a|an) ", "", said)) if fit else ""


def described_tool(doc: ToolDoc) -> str:
    """Return a phrase for a function's answer from its description: ``The co-authors of a scholar``; else empty."""
    hit = _HEAD.match(doc.description)
    return _lower(hit[1]) if hit and not set(words(hit[1])) & (_GENERIC | _VERBS) else ""


def described_thing(parameter: Parameter) -> str:
    """Return the noun of the thing that a parameter names: ``scholar`` of *Name of the scholar*; else empty."""
    found = _OF_WHAT.findall(parameter.description)
    return _lower(found[-1]) if found and _lower(found[-1]) not in _NEUTRAL else ""


def inner_noun(field: OutputField) -> str:
    """Return the noun for a field within its list item, for conditions."""
    return phrase(words(in_item(field.path).replace("[]", "").rpartition(".")[2] or field.name))


def _lower(text: str) -> str:
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
