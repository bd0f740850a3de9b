"""Refuses imported documents that would turn an existing tool into a different one, unless a person allows it.

Permissions, keys and evidence belong to a tool's id, so a document that takes the id over would inherit them. The
identity of a tool is its host, method, credentials, side effect and tool source. A document may change these only with
a person's permission, and anything else freely.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from domain.tool import STDIO, Credential, ToolDoc, ToolId
from domain.tool_source import parse_source_id
from graph.store import GraphStore

ForgetTools = Callable[[Collection[ToolId]], Awaitable[None]]
"""Callback that deletes what is stored outside the graph about tools that an import replaces by different ones."""

TakeOverListener = Callable[["TakeOver"], None]
"""Callback that receives each take-over as it is found, whether it is refused or about to be done."""

_PORTS = {"http": ":80", "https": ":443"}
_IDENTITY_PARTS = frozenset({"source", "host", "method"})
"""Properties whose change makes a tool a different one, whose evidence starts over.

A property that had no value before does not count: a tool that gets its first address stays the same.
"""


@dataclass(frozen=True, slots=True)
class IdentityChange:
    """Change of one property that defines a tool."""

    what: str
    """The property: source, host, method, credentials or side effect."""
    old: str
    """The value of the existing tool."""
    new: str
    """The value in the document."""

    def __str__(self) -> str:
        return f"{self.what} {self.old or 'none'} -> {self.new or 'none'}"


@dataclass(frozen=True, slots=True)
class TakeOver:
    """Document that changes the identity of the existing tool with its id."""

    tool: ToolId
    known: str
    """Source of the existing tool."""
    source: str
    """Source of the document."""
    changes: tuple[IdentityChange, ...]
    replaced: bool
    """True if the tool was replaced, as requested; False if the document was refused."""

    @property
    def advice(self) -> str:
        """What the user can do about a refused document; empty if the tool was replaced."""
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
    """Replace the tools instead of refusing the documents. Take-overs are reported either way."""
    forget: ForgetTools | None = None
    on_take_over: TakeOverListener | None = None
    take_overs: list[TakeOver] = field(default_factory=list[TakeOver])

    async def admit(self, documents: Sequence[ToolDoc], source: str) -> list[ToolDoc]:
        """Return the documents to store, each merged with the marks and learnt response of the existing one.

        The evidence of tools that become different ones is deleted first.

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
        """Report take-overs among documents whose ids repeat in one import, and return the ids of the harmless others.

        None of these documents is stored. A take-over is refused even with ``replace``, because one permission cannot
        cover both documents.
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
        """Delete the evidence of tools that become different ones, before their documents are stored.

        An import that is interrupted in between then deletes it twice, rather than giving old evidence to new tools.
        """
        if tools and self.forget is not None:
            await self.forget(tools)
        if tools:
            await self.store.reset_tools(tools)


def find_sensitive_changes(old: ToolDoc, new: ToolDoc) -> tuple[IdentityChange, ...]:
    """Return the changes that ``new`` makes to the properties that define a tool.

    Only a tool's own source may declare it read-only, so the same claim from another source counts as a change.
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
    """Replace the source of a document that claims to come from a registered tool source.

    An imported document never does, whatever its file says.
    """
    return document.model_copy(update={"source": source}) if parse_source_id(document.source) is not None else document


def _get_sources(old: ToolDoc, new: ToolDoc) -> tuple[str, str]:
    """Return the sources of two documents for comparison, both empty if neither is a registered tool source.

    A tool from a file may be imported again from any other file.
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
    """Return the document with the marks and the learnt response of the existing one, ``old``.

    A learnt response is kept only if both documents describe the response alike. If the tool ``is_different``, only a
    mark that it has side effects is kept.
    """
    if old is None:
        return document
    if is_different:
        return document.model_copy(update={"marked": document.marked or ("" if old.marked == "reads" else old.marked)})
    same_documentation = (document.response_schema, document.example_response) == (
        old.response_schema,
        old.example_response,
    )
    # Marks on the tools of a registered source are made at the source, so its document already holds the current ones.
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
