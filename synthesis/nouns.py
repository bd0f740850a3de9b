"""English nouns for tools, parameters and fields, made of the words of their documents."""

import re
from collections.abc import Collection, Sequence

from agent.execution.call_wording import is_identifying_field
from domain.tool import Parameter, ToolDoc
from graph.entity_vocabulary import IDENTIFYING_WORDS, IDENTITY
from graph.identifiers import singularize, split_words
from graph.links import FeedLink
from graph.response_fields import OutputField
from synthesis.field_labels import find_label_field, get_field_descriptions, get_item_path, list_object_fields

_VERBS = frozenset(
    {"get", "search", "find", "list", "fetch", "lookup", "look", "up", "show", "query", "retrieve", "read", "check", "view", "load", "describe"}
)  # fmt: skip
_PREPOSITIONS = frozenset(
    {"by", "in", "for", "of", "near", "nearby", "at", "from", "with", "on", "to", "between", "per", "using", "via"}
)
_GENERIC = frozenset(
    {"info", "information", "detail", "details", "basic", "data", "profile", "result", "item", "list", "response", "record", "entry", "all",
     "hit", "content", "page", "value", "object", "summary", "api", "full", "complex", "advanced", "json", "xml"}
)  # fmt: skip
"""Words that add nothing to the name of a thing, such as *info* or *list*."""
_MASS_NOUNS = frozenset({"information", "news", "weather", "music", "data", "equipment", "money", "traffic", "advice", "software", "staff", "cast", "crew", "series", "species", "stock"})  # fmt: skip
_IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women", "index": "indices"}
_HEAD_NOUN = re.compile(r"(?:the |a |an )?([\w-]+(?: [\w-]+){0,2}?) of (?:a|an|the)\b", re.IGNORECASE)
_OF_NOUN = re.compile(r"\bof (?:a|an|the|this|that) ([\w-]+)", re.IGNORECASE)
_MAX_WORDS = 4
"""Words of a phrase that is taken from a description."""
_CLAUSE_WORDS = frozenset(
    {"how", "it", "is", "are", "was", "were", "where", "when", "whether", "which", "who", "whom", "they", "this", "that", "to", "if", "as", "can"}
)  # fmt: skip
"""Words that make a phrase more than a noun with its attributes."""
_NEUTRAL_NOUNS = frozenset({"item", "response", "request", "result", "object", "list", "search", "page"})


def pluralize(phrase: str) -> str:
    """Return the plural of a noun phrase, by its last word before *of*."""
    head, preposition, rest = phrase.partition(" of ")
    before, _, last_word = head.rpartition(" ")
    return " ".join(part for part in (before, _pluralize_word(last_word)) if part) + preposition + rest


def _pluralize_word(word: str) -> str:
    """Return the plural of one word."""
    lowered = word.casefold()
    if lowered in _MASS_NOUNS:
        return word
    if lowered in _IRREGULAR:
        return _IRREGULAR[lowered]
    if lowered.endswith("y") and lowered[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    if lowered.endswith(("ss", "x", "ch", "sh", "us")):
        return f"{word}es"
    return word if lowered.endswith("s") else f"{word}s"


def build_phrase(name_words: Sequence[str]) -> str:
    """Build a phrase of an identifier's words: ``number of citations`` of (number, citation)."""
    phrase_words = _drop_repeats(_drop_version(name_words))
    if len(phrase_words) > 1 and phrase_words[-1] == "list":
        phrase_words = phrase_words[:-1]
    if len(phrase_words) > 1 and phrase_words[0] == "number":
        return f"number of {pluralize(' '.join(phrase_words[1:]))}"
    if len(phrase_words) > 1 and phrase_words[-1] == "count":
        return f"number of {pluralize(' '.join(phrase_words[:-1]))}"
    return " ".join(phrase_words)


def _drop_version(name_words: Sequence[str]) -> list[str]:
    """Drop numbers from an identifier's words, and the ``v`` before a version number."""
    word_pairs = zip(name_words, (*name_words[1:], ""), strict=False)
    return [word for word, after in word_pairs if not word.isdigit() and not (word == "v" and after.isdigit())]


def _drop_repeats(name_words: Sequence[str]) -> list[str]:
    """Drop words that repeat the one before: ``verse`` of ``/verse/{verse}``."""
    return [word for word, before in zip(name_words, ("", *name_words), strict=False) if word != before]


def name_field(field: OutputField, default: str = "") -> str:
    """Return the noun for a field; ``default`` where its name is empty, as in a list of plain texts."""
    noun = build_phrase(split_words(field.name))
    last_word = re.split(r"[\W_]+", field.name)[-1].lower()
    if field.type == "integer" and singularize(last_word) != last_word and noun != f"number of {pluralize(noun)}":
        return noun if noun.startswith("number of ") else f"number of {pluralize(noun)}"
    return noun or default


def name_requested_field(doc: ToolDoc, field: OutputField, default: str = "") -> str:
    """Return the noun for a field, or its description where the name is no noun, such as ``founded``."""
    noun = name_field(field, default)
    return describe_field(doc, field) or f"{noun} value" if noun.endswith("ed") and " " not in noun else noun


def name_parameter(parameter: Parameter) -> str:
    """Return the noun for a parameter."""
    return build_phrase(split_words(parameter.name)) or "value"


def name_tool(doc: ToolDoc, filled_parameters: Collection[str] = ()) -> str:
    """Return the noun for what a tool is about; empty if that is only what it is called with.

    ``getCoauthors`` is about *coauthor*, while ``getPersonInfo`` called with a person is about nothing else.

    ``filled_parameters``: names of the parameters that earlier results fill.
    """
    parameter_words = {word for name in filled_parameters for word in split_words(name)} - IDENTIFYING_WORDS
    noun_words: list[str] = []
    for word in _drop_version(split_words(doc.api)):
        if word in _PREPOSITIONS and noun_words:
            break
        if word not in _VERBS | _PREPOSITIONS | parameter_words:
            noun_words.append(word)
    while noun_words and noun_words[-1] in _GENERIC:
        noun_words.pop()
    return " ".join(_drop_repeats([word for word in noun_words if word not in _GENERIC]))


def name_holder(doc: ToolDoc, path: str, filled_parameters: Collection[str] = ()) -> str:
    """Return the noun for the list or object that holds a field, else for what the tool is about."""
    field_path = path.removesuffix("[]")
    item_path = (
        field_path.rpartition(".")[0] if path.endswith("[]") else path
    )  # a list of texts is held by what has the list
    holder = item_path.rpartition("[]")[0] if "[]" in item_path else item_path.rpartition(".")[0]
    for part in reversed(holder.replace("[]", "").split(".")):
        noun_words = [word for word in split_words(part) if word not in _GENERIC]
        if noun_words:
            return " ".join(noun_words)
    return name_tool(doc, filled_parameters)


def name_source(doc: ToolDoc, feeds: Sequence[FeedLink], filled_parameters: Collection[str] = ()) -> str:
    """Return the noun for what a response gives to the next tool.

    That is the thing that holds the fields, or what a field refers to.
    """
    feed = feeds[0]
    if len(feeds) > 1:
        return name_holder(doc, feed.field, filled_parameters)
    name = feed.field.replace("[]", "").rpartition(".")[2]
    noun = " ".join(word for word in split_words(name) if word not in IDENTITY)
    holder = name_holder(doc, feed.field, filled_parameters)
    other_ids = [
        field
        for field in list_object_fields(doc, feed.field)
        if field.path != feed.field and is_identifying_field(field.name)
    ]
    label = find_label_field(doc, feed.field)
    if noun and (
        not holder
        or (is_identifying_field(name) and other_ids)
        or ("[]" in feed.field and not is_identifying_field(name) and not _is_label(label, feed))
    ):
        return (
            noun
            if noun == holder or not holder
            else f"{noun} of the {pluralize(holder) if '[]' in feed.field else holder}"
        )
    return holder or noun


def _is_label(label: OutputField | None, feed: FeedLink) -> bool:
    return label is not None and label.path == feed.field


def describe_field(doc: ToolDoc, field: OutputField) -> str:
    """Return a phrase for a field from its description; empty if that gives no usable one.

    A usable phrase is short, has no clause, and shares a word with the field's name.
    """
    text = re.split(r"[.;:,(]", get_field_descriptions(doc).get(field.path, ""))[0].strip()
    text = re.sub(r" (?:there|here)$", "", text)
    text = re.sub(r"\b(?:its|their|his|her) ", "", _OF_NOUN.split(text)[0]).strip()
    text_words = text.split()
    if _CLAUSE_WORDS & {word.casefold() for word in text_words}:
        return ""
    shares_word = any(
        text_word[:3].casefold() == field_word[:3] for text_word in text_words for field_word in split_words(field.name)
    )
    is_usable = (
        0 < len(text_words) <= _MAX_WORDS
        and shares_word
        and all(part.replace("-", "").isalpha() for part in text_words)
    )
    return _lower_first(re.sub(r"^(?:The|A|An|the|a|an) ", "", text)) if is_usable else ""


def describe_tool(doc: ToolDoc) -> str:
    """Return the head noun of a tool's description: ``co-authors`` of *The co-authors of a scholar*; else empty."""
    hit = _HEAD_NOUN.match(doc.description)
    return _lower_first(hit[1]) if hit and not set(split_words(hit[1])) & (_GENERIC | _VERBS) else ""


def describe_thing(parameter: Parameter) -> str:
    """Return the noun of the thing that a parameter names: ``scholar`` of *Name of the scholar*, or empty."""
    nouns = _OF_NOUN.findall(parameter.description)
    return _lower_first(nouns[-1]) if nouns and _lower_first(nouns[-1]) not in _NEUTRAL_NOUNS else ""


def name_item_field(field: OutputField) -> str:
    """Return the noun for a field within its list item, for conditions."""
    return build_phrase(split_words(get_item_path(field.path).replace("[]", "").rpartition(".")[2] or field.name))


def _lower_first(text: str) -> str:
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
