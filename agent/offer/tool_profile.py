"""Profile of a tool from its document: its words, its address, and the inputs that a user rarely knows by heart."""

import re
from collections import OrderedDict
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent.parameter_needs import NeedKind, derive_need
from domain.tool import Parameter, ToolDoc, ToolId
from graph.identifiers import extract_words, split_words
from graph.response_fields import output_fields

_PLACEHOLDER = re.compile(r"\{[^}]*\}")
_OPAQUE_KINDS = frozenset[NeedKind]({"identifier", "latitude", "longitude", "coordinates"})
_OPTIONAL_KINDS = frozenset[NeedKind]({"identifier", "url"})
_TEXT_KINDS = frozenset[NeedKind]({"query", "person", "organization", "place", "text", "entity"})
_QUERY_NAMES = frozenset({"q", "query", "search"})


@dataclass(frozen=True, slots=True)
class ToolProfile:
    """Words and inputs of one tool."""

    name_terms: frozenset[str]
    """Words of its name and of its address."""
    output_terms: frozenset[str]
    """Words of the fields of its response."""
    input_terms: frozenset[str]
    """Words of its inputs and their allowed values."""
    description_terms: frozenset[str]
    """Words of its description."""
    address_terms: frozenset[str]
    """Fixed words of its address."""
    service: tuple[str, str]
    """Equal for tools of one service."""
    host: str
    """Host of its address."""
    path: tuple[str, ...]
    """Path of its address by segments, with placeholders as ``{}``."""
    required_inputs: frozenset[str]
    """Required inputs that another call has to supply."""
    optional_inputs: frozenset[str]
    """Such inputs that can be left out."""
    accepts_text: bool
    """True if it needs words such as a user says."""

    @property
    def dependency_key(self) -> object:
        """Key that is equal for tools of one service that depend on the same inputs; None without such inputs."""
        if not self.required_inputs:
            return None
        return self.service, self.path[: self.path.index("{}") + 1] if "{}" in self.path else self.required_inputs

    @property
    def terms(self) -> frozenset[str]:
        """All its words."""
        return self.name_terms | self.output_terms | self.input_terms | self.description_terms


_CACHE_SIZE = 4_096
_cache: OrderedDict[ToolId, tuple[ToolDoc, ToolProfile]] = OrderedDict()


def build_profile(doc: ToolDoc) -> ToolProfile:
    """Return the profile of a document.

    The latest ones are cached, because reading a document takes longer than everything else that an offer does with a
    tool.
    """
    cached = _cache.pop(doc.id, None)
    if cached is None or cached[0] != doc:
        cached = doc, _read_profile(doc)
    _cache[doc.id] = cached
    while len(_cache) > _CACHE_SIZE:
        _cache.popitem(last=False)
    return cached[1]


def _read_profile(doc: ToolDoc) -> ToolProfile:
    """Build the profile of a document."""
    path = _split_path(doc)
    fixed = frozenset(
        word for part in path if not _PLACEHOLDER.search(part) for word in split_words(part) if word.isalpha()
    )
    opaque = [parameter for parameter in doc.parameters if derive_need(parameter).kind in _OPAQUE_KINDS]
    return ToolProfile(
        name_terms=frozenset(split_words(doc.api)) | fixed,
        output_terms=frozenset(
            word for field in output_fields(doc) for word in (*split_words(field.name), *field.holder)
        ),
        input_terms=frozenset(word for parameter in doc.parameters for word in _find_words(parameter)),
        description_terms=extract_words(doc.description),
        address_terms=fixed,
        service=(doc.host or doc.category, doc.toolset),
        host=doc.host,
        path=tuple(_PLACEHOLDER.sub("{}", part) for part in path),
        required_inputs=frozenset(
            parameter.name for parameter in opaque if parameter.required and parameter.default in (None, "")
        ),
        optional_inputs=frozenset(
            parameter.name
            for parameter in doc.parameters
            if not parameter.required and derive_need(parameter).kind in _OPTIONAL_KINDS
        ),
        accepts_text=any(map(_accepts_text, doc.required)) or _may_search(doc),
    )


def _split_path(doc: ToolDoc) -> tuple[str, ...]:
    """Return the segments of a tool's address; empty if it cannot be parsed."""
    try:
        return tuple(part for part in urlsplit(doc.resource).path.split("/") if part)
    except ValueError:
        return ()


def _find_words(parameter: Parameter) -> tuple[str, ...]:
    """Return the words of a parameter's name and allowed values."""
    return (*split_words(parameter.name), *(word for value in parameter.enum for word in split_words(str(value))))


def _may_search(doc: ToolDoc) -> bool:
    """Return whether a tool is likely a search that must be given a text.

    Many documents mark no input of a search as required.
    """
    return not doc.required and any(
        _QUERY_NAMES & set(split_words(parameter.name)) and _accepts_text(parameter) for parameter in doc.parameters
    )


def _accepts_text(parameter: Parameter) -> bool:
    """Return whether a parameter takes free text such as a user says."""
    return parameter.type == "string" and not parameter.enum and derive_need(parameter).kind in _TEXT_KINDS
