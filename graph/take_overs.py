"""Documents that would turn a tool that is there into another: refused, unless somebody has said so.

What a tool is: the host it is called at, the method, what it is let in with, that it only reads, and the source of tools that it is of, if one. Leave, keys and evidence were given
to that. A document under a known id may say anything else anew, from whatever file; these it may change only with somebody's word.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from domain.source import source_id_of
from domain.tool import STDIO, Credential, ToolDoc, ToolId
from graph.store import GraphStore

Forget = Callable[[Collection[ToolId]], Awaitable[None]]
"""Forgets, outside the graph, what was learnt of tools that are others from now on."""

Tell = Callable[["TakeOver"], None]
"""Told of a take-over at once, whether it is refused or about to be done."""

_PORTS = {"http": ":80", "https": ":443"}
_ANOTHER = frozenset({"source", "host", "method"})
"""What makes a tool another one, whose evidence begins anew; one that gets its first address is the same."""


@dataclass(frozen=True, slots=True)
class Change:
    """``what``: source, host, method, credentials or side effect; as it is, and as the document would have it."""

    what: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.what} {self.old or 'none'} -> {self.new or 'none'}"


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A document that changes what a tool is. ``known``: where the tool is from; ``source``: where the document is.

    ``replaced``: it was done, because that was said; else nothing of the tool was changed.
    """

    tool: ToolId
    known: str
    source: str
    changes: tuple[Change, ...]
    replaced: bool

    @property
    def advice(self) -> str:
        """What to do where it was refused."""
        if self.replaced:
            return ""
        return "give the document another title, or x-toolset; or import it alone with --replace, if the tool is to be another from now on"

    def __str__(self) -> str:
        changes = "; ".join(map(str, self.changes))
        return f"{self.tool}, known from {self.known or 'an earlier import'}, by {self.source}: {changes}"


@dataclass(slots=True)
class Admission:
    """Which documents of an import may be put, and as what. ``replace``: take-overs are done, and shown."""

    store: GraphStore
    replace: bool = False
    forget: Forget | None = None
    tell: Tell | None = None
    take_overs: list[TakeOver] = field(default_factory=list[TakeOver])

    async def admitted(self, documents: Sequence[ToolDoc], source: str) -> list[ToolDoc]:
        """Those to be put, each with what the store alone knows of it. Of tools that are others now, all that was learnt is forgotten first.

        Raises:
            UnavailableError: the store.
        """
        documents = [_imported(document, source) for document in documents]
        known = await self.store.get_tools([document.id for document in documents])
        admitted: list[ToolDoc] = []
        others: list[ToolId] = []
        for document in documents:
            old = known.get(document.id)
            changes = sensitive_changes(old, document) if old else ()
            if old is not None and changes:
                self._told(TakeOver(document.id, old.source, source, changes, self.replace))
                if not self.replace:
                    continue
            another = makes_another(changes)
            if another:
                others.append(document.id)
            admitted.append(with_known(document, old, another=another))
        await self._begin_anew(others)
        return admitted

    async def of_two(self, documents: Sequence[ToolDoc], source: str) -> list[ToolId]:
        """Documents under ids that an earlier one of this very import has: none is put, whatever was said, since one word cannot mean both.

        Those that would be take-overs are told as such; the ids of the others are returned.
        """
        known = await self.store.get_tools([document.id for document in documents])
        alike: list[ToolId] = []
        for document in documents:
            changes = sensitive_changes(known[document.id], document) if document.id in known else ()
            if changes:
                self._told(TakeOver(document.id, known[document.id].source, source, changes, False))
            else:
                alike.append(document.id)
        return alike

    def _told(self, one: TakeOver) -> None:
        self.take_overs.append(one)
        if self.tell is not None:
            self.tell(one)

    async def _begin_anew(self, tools: Sequence[ToolId]) -> None:
        """Before the documents are put: an import that is stopped in between forgets once more, and mixes nothing."""
        if tools and self.forget is not None:
            await self.forget(tools)
        if tools:
            await self.store.begin_anew(tools)


def sensitive_changes(old: ToolDoc, new: ToolDoc) -> tuple[Change, ...]:
    """What ``new`` changes of what a tool is. That a tool only reads is its own source's to say."""
    found = [
        Change("source", *_sources(old, new)),
        Change("host", origin(old), origin(new)),
        Change("method", old.method, new.method),
        Change("credentials", _written(old.credentials), _written(new.credentials)),
    ]
    before, after = _without_mark(old).effect, new.effect
    if after.reads and old.source != new.source:
        found.append(Change("side effect", before.kind, after.kind))
    return tuple(change for change in found if change.old != change.new)


def _imported(document: ToolDoc, source: str) -> ToolDoc:
    """What an import gives is of no source of tools, whatever its file says."""
    return document.model_copy(update={"source": source}) if source_id_of(document.source) is not None else document


def _sources(old: ToolDoc, new: ToolDoc) -> tuple[str, str]:
    """The sources of tools that the two are of; both empty where no source has this one, which an import may then say anew from any file."""
    if source_id_of(old.source) is None and source_id_of(new.source) is None:
        return "", ""
    return old.source, new.source


def makes_another(changes: Iterable[Change]) -> bool:
    """Whether a tool with these changes is another one, whose evidence begins anew."""
    return any(change.what in _ANOTHER and change.old for change in changes)


def origin(tool: ToolDoc) -> str:
    """Scheme and host of a tool's address, as they are the same for all ways to write them; empty where it has none."""
    if not tool.host or tool.host.startswith(STDIO):
        return tool.host
    scheme = urlsplit(tool.url).scheme.lower()
    return f"{scheme}://{tool.host.removesuffix(_PORTS.get(scheme, ''))}"


def _written(credentials: Iterable[Credential]) -> str:
    """Which secrets are sent, and in which place. Whether one is optional changes nothing of that."""
    places = (
        f"{one.secret} ({'basic' if one.basic else f'{one.place} {one.name} {one.prefix}'.strip()})"
        for one in credentials
    )
    return ", ".join(sorted(places))


def _without_mark(tool: ToolDoc) -> ToolDoc:
    return tool.model_copy(update={"marked": ""}) if tool.marked else tool


def with_known(document: ToolDoc, old: ToolDoc | None, *, another: bool = False) -> ToolDoc:
    """With what its administrator said of it, and what was learnt of its answers while it says the same of them; of a tool that is another now, only that it changes something."""
    if old is None:
        return document
    if another:
        return document.model_copy(update={"marked": document.marked or ("" if old.marked == "reads" else old.marked)})
    said = (document.response_schema, document.example_response) == (old.response_schema, old.example_response)
    # What people say of a source's tool is said at the source, whose document holds it.
    marked = document.marked if source_id_of(document.source) is not None else old.marked
    entities = document.entity_marks if source_id_of(document.source) is not None else old.entity_marks
    learnt = old.learnt_response if said else None
    kept = {
        "marked": marked,
        "feed_marks": old.feed_marks,
        "entity_marks": entities,
        "learnt_response": learnt or document.learnt_response,
    }
    return document.model_copy(update=kept)
