"""Profile of a tool from its document: its words, its address, and the inputs that a user rarely knows by heart."""

import re
from collections import OrderedDict
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent.parameters.kinds import NeedKind
from agent.parameters.needs import need_of
from domain.tool import Parameter, ToolDoc, ToolId
from graph.identifiers import text_words, words
from graph.response_fields import output_fields

_PLACEHOLDER = re.compile(r"\{[^}]*\}")
_OPAQUE = frozenset[NeedKind]({"identifier", "latitude", "longitude", "coordinates"})
_OPTIONAL = frozenset[NeedKind]({"identifier", "url"})
_WORDS = frozenset[NeedKind]({"query", "person", "organization", "place", "text", "entity"})
_QUERIES = frozenset({"q", "query", "search"})


@dataclass(frozen=True, slots=True)
class Profile:
    """Words and inputs of one tool."""

    named: frozenset[str]
    """Words of its name and of its address."""
    returns: frozenset[str]
    """Words of the fields of its response."""
    takes: frozenset[str]
    """Words of its inputs and their allowed values."""
    described: frozenset[str]
    """Words of its description."""
    resource: frozenset[str]
    """Fixed words of its address."""
    service: tuple[str, str]
    """Equal for tools of one service."""
    host: str
    """Host of its address."""
    path: tuple[str, ...]
    """Path of its address by segments, with placeholders as ``{}``."""
    needs: frozenset[str]
    """Required inputs that another call has to supply."""
    may_need: frozenset[str]
    """Such inputs that can be left out."""
    reads_words: bool
    """True if it needs words such as a user says."""

    @property
    def lacks(self) -> object:
        """Key that is equal for tools of one service that depend on the same inputs; None without such inputs."""
        if not self.needs:
            return None
        return self.service, self.path[: self.path.index("{}") + 1] if "{}" in self.path else self.needs

    @property
    def says(self) -> frozenset[str]:
        """All its words."""
        return self.named | self.returns | self.takes | self.described


_KEPT = 4_096
_kept: OrderedDict[ToolId, tuple[ToolDoc, Profile]] = OrderedDict()


def profile(doc: ToolDoc) -> Profile:
    """Return the profile of a document.

    The latest ones are cached, because reading a document takes longer than everything else that an offer does with a
    tool.
    """
    known = _kept.pop(doc.id, None)
    if known is None or known[0] != doc:
        known = doc, _read(doc)
    _kept[doc.id] = known
    while len(_kept) > _KEPT:
        _kept.popitem(last=False)
    return known[1]


def _read(doc: ToolDoc) -> Profile:
    """Build the profile of a document."""
    path = _path(doc)
    fixed = frozenset(word for part in path if not _PLACEHOLDER.search(part) for word in words(part) if word.isalpha())
    opaque = [one for one in doc.parameters if need_of(one).kind in _OPAQUE]
    return Profile(
        named=frozenset(words(doc.api)) | fixed,
        returns=frozenset(word for field in output_fields(doc) for word in (*words(field.name), *field.holder)),
        takes=frozenset(word for one in doc.parameters for word in _words_of(one)),
        described=text_words(doc.description),
        resource=fixed,
        service=(doc.host or doc.category, doc.toolset),
        host=doc.host,
        path=tuple(_PLACEHOLDER.sub("{}", part) for part in path),
        needs=frozenset(one.name for one in opaque if one.required and one.default in (None, "")),
        may_need=frozenset(one.name for one in doc.parameters if not one.required and need_of(one).kind in _OPTIONAL),
        reads_words=any(map(_reads_words, doc.required)) or _may_search(doc),
    )


def _path(doc: ToolDoc) -> tuple[str, ...]:
    """Return the segments of a tool's address; empty if it cannot be parsed."""
    try:
        return tuple(part for part in urlsplit(doc.resource).path.split("/") if part)
    except ValueError:
        return ()


def _words_of(parameter: Parameter) -> tuple[str, ...]:
    """Return the words of a parameter's name and allowed values."""
    return (*words(parameter.name), *(word for value in parameter.enum for word in words(str(value))))


def _may_search(doc: ToolDoc) -> bool:
    """Return whether a tool is likely a search that must be given a text.

    Many documents mark no input of a search as required.
    """
    return not doc.required and any(_QUERIES & set(words(one.name)) and _reads_words(one) for one in doc.parameters)


def _reads_words(parameter: Parameter) -> bool:
    """Return whether a parameter takes free text such as a user says."""
    return parameter.type == "string" and not parameter.enum and need_of(parameter).kind in _WORDS
