"""What a tool's document says of it: its words, where its address lies, and which inputs hardly anybody knows by heart."""

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
    """``named``: words of its name and its address; ``returns``: of its response's fields; ``takes``: of its inputs and their allowed values.

    ``resource``: the fixed words of its address; ``service``: tools of one
    service have it alike. ``host`` and ``path``: the address, the latter by
    segments with placeholders as ``{}``. ``needs``: required inputs
    that another call has to give; ``may_need``: such inputs that can be left out. ``reads_words``: it must be given words such as a user says.
    """

    named: frozenset[str]
    returns: frozenset[str]
    takes: frozenset[str]
    described: frozenset[str]
    resource: frozenset[str]
    service: tuple[str, str]
    host: str
    path: tuple[str, ...]
    needs: frozenset[str]
    may_need: frozenset[str]
    reads_words: bool

    @property
    def lacks(self) -> object:
        """Equal for tools of one service that need the same to be called; None for a tool that needs nothing."""
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
    """What a document says. The latest are kept: reading one takes longer than all else that is done with a tool for an offer."""
    known = _kept.pop(doc.id, None)
    if known is None or known[0] != doc:
        known = doc, _read(doc)
    _kept[doc.id] = known
    while len(_kept) > _KEPT:
        _kept.popitem(last=False)
    return known[1]


def _read(doc: ToolDoc) -> Profile:
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
    try:
        return tuple(part for part in urlsplit(doc.resource).path.split("/") if part)
    except ValueError:
        return ()


def _words_of(parameter: Parameter) -> tuple[str, ...]:
    return (*words(parameter.name), *(word for value in parameter.enum for word in words(str(value))))


def _may_search(doc: ToolDoc) -> bool:
    """Many documents do not say that a search must be told what to search for."""
    return not doc.required and any(_QUERIES & set(words(one.name)) and _reads_words(one) for one in doc.parameters)


def _reads_words(parameter: Parameter) -> bool:
    return parameter.type == "string" and not parameter.enum and need_of(parameter).kind in _WORDS
