"""Response fields of a function, with the words that a request may use for them."""

import re
from dataclasses import dataclass
from functools import lru_cache

from agent.parameters.needs import Need, need_of
from domain.tool import Parameter, ToolDoc
from graph.identifiers import text_words, words
from graph.lenient_json import read_value
from graph.response_descriptions import descriptions
from graph.response_fields import OutputField, output_fields
from offline.sentences.kinds import head_of

_BREAK = re.compile(r"[.,:;(\n]|\s(?:which|that|who|whose|when|where|as|is|are|was|it)\b", re.I)
_ASKS = re.compile(r"(?:whether|how|what|if|true)\b", re.I)
_NUMBERS = frozenset({"integer", "number"})
_NAMES = (("name",), ("title",), ("label",), ("headline",), ("word",))
_MACHINE = frozenset({"id", "key", "slug", "uri"})
_PAGING = frozenset(
    {"count", "total", "page", "number", "result", "per", "limit", "offset", "size", "paging", "item", "hit"}
)
_CLASSES = frozenset(
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
_IDENTITY = frozenset({"id", "code", "uri", "url", "slug", "key"})


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A value in a response."""

    path: str
    """Path from the response, with ``[]`` for each item of a list, one of plain values included: ``items[].tags``."""
    own: frozenset[str]
    """Words of its name and of what holds it."""
    told: frozenset[str]
    """Words of its description."""
    output: OutputField
    listed: bool = False
    """True if it holds several values."""
    alias: str = ""
    """Name of a bare value: the last word of its tool's name."""
    beside_list: bool = False
    """True if the response holds a list of things."""
    sort: frozenset[str] = frozenset()
    """The noun that its description is about: the *year* of the first edition."""

    @property
    def name(self) -> str:
        """Its own name, else the alias."""
        return self.output.name or self.alias

    @property
    def numeric(self) -> bool:
        """True if it is a single number and no identifier."""
        return self.output.type in _NUMBERS and not self.listed and not _IDENTITY & set(words(self.name)[-1:])

    @property
    def machine(self) -> bool:
        """True if it is of use to machines alone."""
        return bool(_MACHINE & set(words(self.name)[-1:]))

    @property
    def identity(self) -> bool:
        """True if it identifies something."""
        return bool(_IDENTITY & set(words(self.name)[-1:]))

    @property
    def paging(self) -> bool:
        """True if it counts the list beside it, rather than telling of anything in the list."""
        return self.beside_list and self.output.type in _NUMBERS and self.own <= _PAGING

    @property
    def classifies(self) -> bool:
        """True if it says what kind of thing something is."""
        return self.output.type == "string" and bool(_CLASSES & set(words(self.name)[-1:]))

    @property
    def names(self) -> bool:
        """True if it is the name of its holder."""
        return words(self.name)[-1:] in _NAMES and not self.listed

    @property
    def need(self) -> Need:
        """Form of its values, described as for a parameter."""
        return _need(self)


@lru_cache(maxsize=8192)
def _need(field: Field) -> Need:
    """Describe a field's values as a required parameter's."""
    kind = field.output.type if field.output.type not in (None, "array", "object") else "string"
    return need_of(
        Parameter(
            name=field.name if words(field.name)[-1:] != ("name",) or len(words(field.name)) > 1 else "name",
            type=kind or "string",
            description=" ".join(sorted(field.told)),
            required=True,
            example=field.output.example if isinstance(field.output.example, (str, int, float)) else None,
        )
    )


def fields_of(doc: ToolDoc) -> tuple[Field, ...]:
    """List the fields of a tool's response, in order."""
    return _fields(
        doc.learnt_response or doc.response_schema or "",
        _Outputs(output_fields(doc)),
        (words(doc.api) or ("value",))[-1],
    )


class _Outputs(tuple[OutputField, ...]):
    """Output fields with a cheap hash, for a cache whose key also holds the schema that they are read from."""

    __slots__ = ()

    def __hash__(self) -> int:
        return len(self)


@lru_cache(maxsize=2048)
def _fields(schema: str, outputs: "_Outputs", alias: str) -> tuple[Field, ...]:
    """Build the fields of a schema, with the words of their names and descriptions."""
    told_of = dict(descriptions(read_value(schema)))
    found: list[Field] = []
    lists = any("[]." in one.path for one in outputs)
    for output in outputs:
        path, listed = output.path, output.path.endswith("[]")
        path = path[:-2] if listed else path
        holder = frozenset(output.holder)
        text = told_of.get(output.path, "") + " " + told_of.get(path, "")
        told = text_words(text)
        found.append(
            Field(path, frozenset(words(output.name)) | holder, told, output, listed, alias, lists, _sort(text))
        )
    return tuple(found)


def _sort(text: str) -> frozenset[str]:
    """Find the noun that a description is about: *code* of "Three-letter code of the currency".

    Descriptions that begin with *whether* or *how many* have none.
    """
    said = _BREAK.split(text.strip(), maxsplit=1)[0]
    return frozenset() if _ASKS.match(said) else head_of(said)
