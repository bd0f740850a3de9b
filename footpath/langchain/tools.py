"""Tools of a store as LangChain tools. Calls go through Footpath's execution; responses are cut and fenced."""

import hashlib
import json
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.tools import BaseTool, ToolException
from pydantic import PrivateAttr
from pydantic.types import JsonValue

from agent.execution.validation import build_value_schema
from agent.llm.prompts import PromptFence
from agent.programs.names import RESERVED_NAMES, assign_names, assign_tool_names
from agent.programs.signatures import build_signature
from agent.text import clean
from domain.errors import UsageError
from domain.tool import Parameter, ToolDoc
from footpath.asynchronous import AsyncFootpath
from footpath.langchain.approval import Approved, NotAskedError, Noted, word_on
from footpath.langchain.opened import Opened, Store
from footpath.results import Answer
from footpath.user import Change, Changes

Allowed = Changes | Literal["interrupt"]
"""Treatment of calls with side effects, as for ``ask``; ``interrupt`` stops the graph until a person decides."""

_Work = Callable[[AsyncFootpath], Coroutine[Any, Any, Answer]]
MOST = 16_000
"""Characters of a response that a model reads."""
_DESCRIPTION = 1_000
_WORDS = 300


class FootpathTool(BaseTool):
    """A tool of a store. Created by :func:`offered_tools` and :func:`named_tools`."""

    tool: str
    """Id of the tool in the store."""
    changes: bool
    """True if a call may have side effects."""
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True
    _opened: Opened = PrivateAttr()
    _allowed: Allowed = PrivateAttr(default="deny")

    @classmethod
    def of(cls, doc: ToolDoc, name: str, opened: Opened, allowed: Allowed) -> "FootpathTool":
        """Create a tool from its document. ``name``: as the model calls it; ``allowed``: treatment of side effects."""
        words = clean(doc.description or doc.toolset_description or doc.api, _DESCRIPTION)
        more = "" if doc.safe else " It may change something."
        made = cls(name=name, description=words + more, args_schema=_schema(doc), tool=doc.id, changes=not doc.safe)
        made._opened, made._allowed = opened, allowed
        return made

    def _run(self, /, *_: Any, **arguments: Any) -> tuple[str, dict[str, Any]]:
        # With ``interrupt``, the first call is refused before it is sent: it only finds out what would be changed.
        noted = Noted()
        answer = self._opened.run(self._call(arguments, noted if self._asks else self._own, learn=not self._asks))
        if noted.change is not None:
            answer = self._opened.run(self._call(arguments, self._approved(arguments, noted.change)))
        return told(answer)

    async def _arun(self, /, *_: Any, **arguments: Any) -> tuple[str, dict[str, Any]]:
        noted = Noted()
        first = self._call(arguments, noted if self._asks else self._own, learn=not self._asks)
        answer = await self._opened.awaited(first)
        if noted.change is not None:
            answer = await self._opened.awaited(self._call(arguments, self._approved(arguments, noted.change)))
        return told(answer)

    def _call(self, arguments: Mapping[str, Any], changes: Changes, *, learn: bool = True) -> _Work:
        async def called(footpath: AsyncFootpath) -> Answer:
            try:
                return await footpath.call(self.tool, arguments, changes=changes, learn=learn)
            except UsageError as error:
                raise ToolException(f"Nothing was called. {error}") from error

        return called

    @property
    def _asks(self) -> bool:
        return self.changes and self._allowed == "interrupt"

    @property
    def _own(self) -> Changes:
        return "deny" if self._allowed == "interrupt" else self._allowed

    def _approved(self, arguments: Mapping[str, Any], change: Change) -> Approved:
        """Ask a person, and return the callback that allows the approved change only.

        Nothing was called before, since the graph starts this call again when it is resumed. ``ToolException`` where
        the change was refused, or nobody could be asked.
        """
        try:
            allowed = word_on(self.name, arguments, change)
        except NotAskedError as error:
            raise ToolException(f"The call was not made, since it may change something: {error}") from error
        if not allowed:
            raise ToolException("The user did not allow this call, so it was not made.")
        return Approved(change)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Creates the tools of one store, with the same treatment of side effects."""

    opened: Opened
    allowed: Allowed

    async def offered(self, footpath: AsyncFootpath, request: str, limit: int) -> list[FootpathTool]:
        offer = await footpath.offer(request, limit)
        return await self.named(footpath, [one.id for one in offer.tools])

    async def named(self, footpath: AsyncFootpath, names: Iterable[str]) -> list[FootpathTool]:
        docs = [await document(footpath, name) for name in names]
        return [FootpathTool.of(doc, name, self.opened, self.allowed) for name, doc in model_names(docs)]


def offered_tools(
    footpath: Store, request: str, limit: int = 16, *, changes: Allowed = "deny"
) -> Sequence[FootpathTool]:
    """Return the tools to serve a request with, best first. ``changes``: as for ``ask``, or ``interrupt``."""
    made = _Maker(Opened(footpath), changes)
    return made.opened.run(lambda opened: made.offered(opened, request, limit))


async def aoffered_tools(
    footpath: Store, request: str, limit: int = 16, *, changes: Allowed = "deny"
) -> Sequence[FootpathTool]:
    """Return the tools to serve a request with, as :func:`offered_tools` does, for use in an event loop."""
    made = _Maker(Opened(footpath), changes)
    return await made.opened.awaited(lambda opened: made.offered(opened, request, limit))


def named_tools(footpath: Store, names: Collection[str], *, changes: Allowed = "deny") -> Sequence[FootpathTool]:
    """Return tools by their ids, function names or API names. ``UsageError`` for an unknown or ambiguous name."""
    made = _Maker(Opened(footpath), changes)
    return made.opened.run(lambda opened: made.named(opened, names))


async def anamed_tools(footpath: Store, names: Collection[str], *, changes: Allowed = "deny") -> Sequence[FootpathTool]:
    """Return tools by their names, as :func:`named_tools` does, for use in an event loop."""
    made = _Maker(Opened(footpath), changes)
    return await made.opened.awaited(lambda opened: made.named(opened, names))


async def document(footpath: AsyncFootpath, name: str) -> ToolDoc:
    """Return the document of a tool by its name. Raises as :meth:`AsyncFootpath.tool`."""
    return ToolDoc.model_validate((await footpath.tool(name)).document)


def model_names(docs: Iterable[ToolDoc], taken: Collection[str] = ()) -> list[tuple[str, ToolDoc]]:
    """Give tools the names that model vendors accept: ASCII, at most 64 characters, unique, none of ``taken``."""
    return [
        (name, doc)
        for name, (_, doc) in assign_names(
            assign_tool_names(docs), lambda one: (_ascii(*one),), {*RESERVED_NAMES, *taken}
        )
    ]


def _ascii(name: str, doc: ToolDoc) -> str:
    return name if name.isascii() else f"tool_{hashlib.sha256(doc.id.encode()).hexdigest()[:12]}"


def _schema(doc: ToolDoc) -> dict[str, Any]:
    """Return the JSON Schema of the arguments, under the parameter names of the tool's signature."""
    by_name = {parameter.name: parameter for parameter in doc.parameters}
    given = {name: by_name[own] for name, own in build_signature(doc).arguments.items()}
    properties = {name: _described(parameter) for name, parameter in given.items()}
    required = [name for name, parameter in given.items() if parameter.required]
    return {"type": "object", "properties": properties, "required": required}


def _described(parameter: Parameter) -> dict[str, JsonValue]:
    words = clean(parameter.description, _WORDS)
    known: dict[str, JsonValue] = {"default": parameter.default} if parameter.default is not None else {}
    return {**build_value_schema(parameter), **({"description": words} if words else {}), **known}


def told(answer: Answer) -> tuple[str, dict[str, Any]]:
    """Return the content and the artifact of a call's message; the artifact has the response as JSON.

    ``ToolException`` where the call failed, or was not made.
    """
    if not answer.calls:
        raise ToolException(_fenced("The call was not made.", "why", f"{answer.text} {answer.error}".strip()))
    last = answer.calls[-1]
    head = f"{last.status}{f': {clean(last.note, _WORDS)}' if last.note else ''}"
    text = _fenced(head, "response", last.response) if last.response else head
    if last.status != "ok":
        raise ToolException(text)
    return text, {"run": answer.run, "tool": last.tool, "status": last.status, "response": _parsed(last.response)}


def _fenced(head: str, name: str, text: str) -> str:
    """Fence foreign text in marks that its author could not guess, so that it cannot pose as instructions."""
    cut = len(text) - MOST
    more = f"\n({cut} characters more were left out)" if cut > 0 else ""
    return f"{head}\n{PromptFence().render_block(name, text[:MOST])}{more}"


def _parsed(response: str) -> JsonValue:
    """Return a response as a JSON value, or as text where it is no JSON; None where it is too long to be kept."""
    if len(response) > MOST:
        return None
    try:
        value: JsonValue = json.loads(response)
    except (ValueError, RecursionError):
        return response
    return value
