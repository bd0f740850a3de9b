"""Describe the response fields of a function by the words that a request may use for them."""

import re
from dataclasses import dataclass
from functools import lru_cache

from agent.parameter_needs import ParameterNeed, derive_need
from domain.tool import Parameter, ToolDoc
from graph.identifiers import extract_words, split_words
from graph.lenient_json import read_value
from graph.response_fields import OutputField, iterate_descriptions, output_fields
from offline.sentences.kind_nouns import find_head_noun

_PHRASE_END = re.compile(r"[.,:;(\n]|\s(?:which|that|who|whose|when|where|as|is|are|was|it)\b", re.I)
_CLAUSE_START = re.compile(r"(?:whether|how|what|if|true)\b", re.I)
_NUMBERS = frozenset({"integer", "number"})
_NAME_ENDINGS = (("name",), ("title",), ("label",), ("headline",), ("word",))
"""Last words of fields that hold the name of their holder."""
_MACHINE_WORDS = frozenset({"id", "key", "slug", "uri"})
_PAGING_WORDS = frozenset(
    {"count", "total", "page", "number", "result", "per", "limit", "offset", "size", "paging", "item", "hit"}
)
_CLASS_WORDS = frozenset(
    {
        "position",
        "type",
        "category",
        "kind",
        "status",
        "state",
        "role",
        "job",
        "genre",
        "sector",
        "condition",
        "class",
        "phase",
    }
)
"""Last words of fields that say what kind of thing something is."""
_IDENTITY_WORDS = frozenset({"id", "code", "uri", "url", "slug", "key"})


@dataclass(frozen=True, slots=True, eq=False)
class AnswerField:
    """A field in a function's response."""

    path: str
    """Path from the response, with ``[]`` for each item of a list, one of plain values included: ``items[].tags``."""
    name_words: frozenset[str]
    """Words of its name and of the name of what holds it."""
    description_words: frozenset[str]
    """Words of its description."""
    output: OutputField
    is_listed: bool = False
    """True if it holds several values."""
    alias: str = ""
    """Name of a bare value: the last word of its tool's name."""
    has_list_beside: bool = False
    """True if the response has a list of objects."""
    description_noun: frozenset[str] = frozenset()
    """The noun that its description is about: the *year* of the first edition."""

    @property
    def name(self) -> str:
        """Its own name, else the alias."""
        return self.output.name or self.alias

    @property
    def is_numeric(self) -> bool:
        """True if it is a single number and no identifier."""
        return (
            self.output.type in _NUMBERS
            and not self.is_listed
            and not _IDENTITY_WORDS & set(split_words(self.name)[-1:])
        )

    @property
    def is_machine_value(self) -> bool:
        """True if it is an identifier or key that means nothing to a person."""
        return bool(_MACHINE_WORDS & set(split_words(self.name)[-1:]))

    @property
    def is_identity(self) -> bool:
        """True if it identifies something."""
        return bool(_IDENTITY_WORDS & set(split_words(self.name)[-1:]))

    @property
    def is_paging(self) -> bool:
        """True if it describes the size or paging of the list next to it."""
        return self.has_list_beside and self.output.type in _NUMBERS and self.name_words <= _PAGING_WORDS

    @property
    def is_class(self) -> bool:
        """True if it says what kind of thing its holder is."""
        return self.output.type == "string" and bool(_CLASS_WORDS & set(split_words(self.name)[-1:]))

    @property
    def is_name(self) -> bool:
        """True if it is the name of its holder."""
        return split_words(self.name)[-1:] in _NAME_ENDINGS and not self.is_listed

    @property
    def need(self) -> ParameterNeed:
        """Its values described as those of a required parameter, so that the request can be read for them."""
        return _build_need(self)


@lru_cache(maxsize=8192)
def _build_need(field: AnswerField) -> ParameterNeed:
    """Describe a field's values as a required parameter's."""
    kind = field.output.type if field.output.type not in (None, "array", "object") else "string"
    return derive_need(
        Parameter(
            name=field.name
            if split_words(field.name)[-1:] != ("name",) or len(split_words(field.name)) > 1
            else "name",
            type=kind or "string",
            description=" ".join(sorted(field.description_words)),
            required=True,
            example=field.output.example if isinstance(field.output.example, (str, int, float)) else None,
        )
    )


def list_fields(doc: ToolDoc) -> tuple[AnswerField, ...]:
    """List the fields of a tool's response, in order."""
    return _build_fields(
        doc.learnt_response or doc.response_schema or "",
        _HashableOutputs(output_fields(doc)),
        (split_words(doc.api) or ("value",))[-1],
    )


class _HashableOutputs(tuple[OutputField, ...]):
    """Output fields with a cheap hash, for a cache whose key also has the schema that they are read from."""

    __slots__ = ()

    def __hash__(self) -> int:
        return len(self)


@lru_cache(maxsize=2048)
def _build_fields(schema: str, outputs: "_HashableOutputs", alias: str) -> tuple[AnswerField, ...]:
    """Build the fields of a schema, with the words of their names and descriptions."""
    descriptions_by_path = dict(iterate_descriptions(read_value(schema)))
    fields: list[AnswerField] = []
    has_lists = any("[]." in one.path for one in outputs)
    for output in outputs:
        path, listed = output.path, output.path.endswith("[]")
        path = path[:-2] if listed else path
        holder = frozenset(output.holder)
        text = descriptions_by_path.get(output.path, "") + " " + descriptions_by_path.get(path, "")
        description_words = extract_words(text)
        fields.append(
            AnswerField(
                path,
                frozenset(split_words(output.name)) | holder,
                description_words,
                output,
                listed,
                alias,
                has_lists,
                _find_description_noun(text),
            )
        )
    return tuple(fields)


def _find_description_noun(text: str) -> frozenset[str]:
    """Find the noun that a description is about: *code* of "Three-letter code of the currency".

    Descriptions that begin with *whether* or *how many* have none.
    """
    first_phrase = _PHRASE_END.split(text.strip(), maxsplit=1)[0]
    return frozenset() if _CLAUSE_START.match(first_phrase) else find_head_noun(first_phrase)
