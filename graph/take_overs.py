"""Refuses documents that would turn an existing tool into a different one, unless a person allows it.

A tool is defined by its host, method, credentials, side effects and, if it has one, its source of tools; permissions, keys and evidence
were given to exactly that. A document with a known id may change anything else, whatever file it is from; these properties it may change
only with a person's permission.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from domain.tool import STDIO, Credential, ToolDoc, ToolId
from domain.tool_source import parse_source_id
from graph.store import GraphStore

ForgetTools = Callable[[Collection[ToolId]], Awaitable[None]]
"""Callback that deletes, outside the graph, what was learnt about tools that are different from now on."""

TakeOverListener = Callable[["TakeOver"], None]
"""Callback that receives each take-over at once, whether it is refused or about to be done."""

_PORTS = {"http": ":80", "https": ":443"}
_IDENTITY_PARTS = frozenset({"source", "host", "method"})
"""Changes that make a tool a different one, whose evidence starts over.

A tool that gets its first address stays the same.
"""


@dataclass(frozen=True, slots=True)
class IdentityChange:
    """A changed property of a tool."""

    what: str
    """source, host, method, credentials or side effect."""
    old: str
    """The value of the existing tool."""
    new: str
    """The value in the document."""

    def __str__(self) -> str:
        return f"{self.what} {self.old or 'none'} -> {self.new or 'none'}"


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A document that changes what defines a tool."""

    tool: ToolId
    known: str
    """Source of the existing tool."""
    source: str
    """Source of the document."""
    changes: tuple[IdentityChange, ...]
    replaced: bool
    """Whether it was done, because that was requested; otherwise nothing about the tool was changed."""

    @property
    def advice(self) -> str:
        """Advice for the user if it was refused; otherwise empty."""
        if self.replaced:
            return ""
        return "give the document another title, or x-toolset; or import it alone with --replace, if the tool is to be another from now on"

    def __str__(self) -> str:
        changes = "; ".join(map(str, self.changes))
        return f"{self.tool}, known from {self.known or 'an earlier import'}, by {self.source}: {changes}"


@dataclass(slots=True)
class ImportAdmission:
    """Decides which documents of an import may be stored, and in which form."""

    store: GraphStore
    replace: bool = False
    """Do take-overs instead of refusing them; they are reported either way."""
    forget: ForgetTools | None = None
    on_take_over: TakeOverListener | None = None
    take_overs: list[TakeOver] = field(default_factory=list[TakeOver])

    async def admit(self, documents: Sequence[ToolDoc], source: str) -> list[ToolDoc]:
        """Return the documents to store, each with what only the store knows about its tool.

        What was learnt about tools that become different ones is forgotten first.

        Raises:
            UnavailableError: the store.
        """
        documents = [_reset_source(document, source) for document in documents]
        existing = await self.store.get_tools([document.id for document in documents])
        admitted: list[ToolDoc] = []
        different_tools: list[ToolId] = []
        for document in documents:
            old = existing.get(document.id)
            changes = find_sensitive_changes(old, document) if old else ()
            if old is not None and changes:
                self._report(TakeOver(document.id, old.source, source, changes, self.replace))
                if not self.replace:
                    continue
            is_different = makes_different_tool(changes)
            if is_different:
                different_tools.append(document.id)
            admitted.append(merge_known(document, old, is_different=is_different))
        await self._begin_anew(different_tools)
        return admitted

    async def check_duplicates(self, documents: Sequence[ToolDoc], source: str) -> list[ToolId]:
        """Return the ids of documents whose id an earlier document of the same import has, except for take-overs.

        Take-overs are reported and refused even with ``replace``: one permission cannot stand for both documents. None of the documents is stored.
        """
        existing = await self.store.get_tools([document.id for document in documents])
        identical: list[ToolId] = []
        for document in documents:
            changes = find_sensitive_changes(existing[document.id], document) if document.id in existing else ()
            if changes:
                self._report(TakeOver(document.id, existing[document.id].source, source, changes, False))
            else:
                identical.append(document.id)
        return identical

    def _report(self, take_over: TakeOver) -> None:
        self.take_overs.append(take_over)
        if self.on_take_over is not None:
            self.on_take_over(take_over)

    async def _begin_anew(self, tools: Sequence[ToolId]) -> None:
        """Forget what was learnt about these tools.

        Runs before their documents are stored, so that an import that is interrupted in between forgets twice rather than mixing old evidence
        with new tools.
        """
        if tools and self.forget is not None:
            await self.forget(tools)
        if tools:
            await self.store.reset_tools(tools)


def find_sensitive_changes(old: ToolDoc, new: ToolDoc) -> tuple[IdentityChange, ...]:
    """Return what ``new`` changes of the properties that define a tool.

    Only a tool's own source may declare it read-only, so a new claim from another source counts as a change.
    """
    changes = [
        IdentityChange("source", *_get_sources(old, new)),
        IdentityChange("host", get_origin(old), get_origin(new)),
        IdentityChange("method", old.method, new.method),
        IdentityChange("credentials", _describe_credentials(old.credentials), _describe_credentials(new.credentials)),
    ]
    # An administrator's mark hides what the old document itself declares, so it is ignored here.
    before, after = _remove_mark(old).effect, new.effect
    if after.reads and old.source != new.source:
        changes.append(IdentityChange("side effect", before.kind, after.kind))
    return tuple(change for change in changes if change.old != change.new)


def _reset_source(document: ToolDoc, source: str) -> ToolDoc:
    """Replace a tool source's mark that an imported file claims.

    A document from an import belongs to no source of tools, whatever its file says.
    """
    return document.model_copy(update={"source": source}) if parse_source_id(document.source) is not None else document


def _get_sources(old: ToolDoc, new: ToolDoc) -> tuple[str, str]:
    """Return the tool sources of two documents, both empty if neither has one.

    Tools without a tool source may be imported again from any file.
    """
    if parse_source_id(old.source) is None and parse_source_id(new.source) is None:
        return "", ""
    return old.source, new.source


def makes_different_tool(changes: Iterable[IdentityChange]) -> bool:
    """Return whether these changes make a tool a different one, whose evidence starts over."""
    return any(change.what in _IDENTITY_PARTS and change.old for change in changes)


def get_origin(tool: ToolDoc) -> str:
    """Return the scheme and host of a tool's address in normal form; empty if it has none."""
    if not tool.host or tool.host.startswith(STDIO):
        return tool.host
    scheme = urlsplit(tool.url).scheme.lower()
    return f"{scheme}://{tool.host.removesuffix(_PORTS.get(scheme, ''))}"


def _describe_credentials(credentials: Iterable[Credential]) -> str:
    """Describe which secrets are sent and where. Whether one is optional makes no difference."""
    places = (
        f"{one.secret} ({'basic' if one.basic else f'{one.place} {one.name} {one.prefix}'.strip()})"
        for one in credentials
    )
    return ", ".join(sorted(places))


def _remove_mark(tool: ToolDoc) -> ToolDoc:
    return tool.model_copy(update={"marked": ""}) if tool.marked else tool


def merge_known(document: ToolDoc, old: ToolDoc | None, *, is_different: bool = False) -> ToolDoc:
    """Return the document with what administrators said and what was learnt about its tool.

    A learnt response is kept only while the document says the same about responses. A tool that is ``is_different`` one keeps only a mark that it
    has side effects.
    """
    if old is None:
        return document
    if is_different:
        return document.model_copy(update={"marked": document.marked or ("" if old.marked == "reads" else old.marked)})
    same_documentation = (document.response_schema, document.example_response) == (
        old.response_schema,
        old.example_response,
    )
    # What people say of a source's tool is said at the source, whose document holds it.
    marked = document.marked if parse_source_id(document.source) is not None else old.marked
    entities = document.entity_marks if parse_source_id(document.source) is not None else old.entity_marks
    learnt = old.learnt_response if same_documentation else None
    preserved = {
        "marked": marked,
        "feed_marks": old.feed_marks,
        "entity_marks": entities,
        "learnt_response": learnt or document.learnt_response,
    }
    return document.model_copy(update=preserved)
