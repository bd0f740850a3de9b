"""Tools of a store as LangChain's: each call goes through the whole execution, and what it answers is bounded and marked as others' words."""

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
"""What becomes of changes; ``interrupt``: LangGraph stops, and a person's word comes with the resumption."""

_Work = Callable[[AsyncFootpath], Coroutine[Any, Any, Answer]]
MOST = 16_000
"""Characters of what a call answers, as a model reads it."""
_DESCRIPTION = 1_000
_WORDS = 300


class FootpathTool(BaseTool):
    """A tool of a store. ``tool``: its id; ``changes``: calling it may change something. Made by :func:`offered_tools` and :func:`named_tools`."""

    tool: str
    changes: bool
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True
    _opened: Opened = PrivateAttr()
    _allowed: Allowed = PrivateAttr(default="deny")

    @classmethod
    def of(cls, doc: ToolDoc, name: str, opened: Opened, allowed: Allowed) -> "FootpathTool":
        """A tool out of its document."""
        words = clean(doc.description or doc.toolset_description or doc.api, _DESCRIPTION)
        more = "" if doc.safe else " It may change something."
        made = cls(name=name, description=words + more, args_schema=_schema(doc), tool=doc.id, changes=not doc.safe)
        made._opened, made._allowed = opened, allowed
        return made

    def _run(self, /, *_: Any, **arguments: Any) -> tuple[str, dict[str, Any]]:
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
        """What a person allowed. Nothing was called before: the graph starts this call again when it is resumed."""
        try:
            allowed = word_on(self.name, arguments, change)
        except NotAskedError as error:
            raise ToolException(f"The call was not made, since it may change something: {error}") from error
        if not allowed:
            raise ToolException("The user did not allow this call, so it was not made.")
        return Approved(change)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes tools of one store, with one word on changes."""

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
    """The tools that a request is to be served with, best first, by search and graph. ``changes``: as of ``ask``, or ``interrupt``."""
    made = _Maker(Opened(footpath), changes)
    return made.opened.run(lambda opened: made.offered(opened, request, limit))


async def aoffered_tools(
    footpath: Store, request: str, limit: int = 16, *, changes: Allowed = "deny"
) -> Sequence[FootpathTool]:
    """As :func:`offered_tools`."""
    made = _Maker(Opened(footpath), changes)
    return await made.opened.awaited(lambda opened: made.offered(opened, request, limit))


def named_tools(footpath: Store, names: Collection[str], *, changes: Allowed = "deny") -> Sequence[FootpathTool]:
    """Tools by their ids, functions or APIs' names. ``UsageError``: nothing is called so, or several things are."""
    made = _Maker(Opened(footpath), changes)
    return made.opened.run(lambda opened: made.named(opened, names))


async def anamed_tools(footpath: Store, names: Collection[str], *, changes: Allowed = "deny") -> Sequence[FootpathTool]:
    """As :func:`named_tools`."""
    made = _Maker(Opened(footpath), changes)
    return await made.opened.awaited(lambda opened: made.named(opened, names))


async def document(footpath: AsyncFootpath, name: str) -> ToolDoc:
    """The document of a tool."""
    return ToolDoc.model_validate((await footpath.tool(name)).document)


def model_names(docs: Iterable[ToolDoc], taken: Collection[str] = ()) -> list[tuple[str, ToolDoc]]:
    """Tools with names that vendors of models take: ASCII, at most 64 characters, each for one tool only."""
    return [
        (name, doc)
        for name, (_, doc) in assign_names(
            assign_tool_names(docs), lambda one: (_ascii(*one),), {*RESERVED_NAMES, *taken}
        )
    ]


def _ascii(name: str, doc: ToolDoc) -> str:
    return name if name.isascii() else f"tool_{hashlib.sha256(doc.id.encode()).hexdigest()[:12]}"


def _schema(doc: ToolDoc) -> dict[str, Any]:
    """JSON Schema of a call's arguments, by the names that the tool's function has for them."""
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
    """What a call came to: for the model, and for programs, the response as JSON where it is short enough. ``ToolException``: it failed, or was not made."""
    if not answer.calls:
        raise ToolException(_fenced("The call was not made.", "why", f"{answer.text} {answer.error}".strip()))
    last = answer.calls[-1]
    head = f"{last.status}{f': {clean(last.note, _WORDS)}' if last.note else ''}"
    text = _fenced(head, "response", last.response) if last.response else head
    if last.status != "ok":
        raise ToolException(text)
    return text, {"run": answer.run, "tool": last.tool, "status": last.status, "response": _parsed(last.response)}


def _fenced(head: str, name: str, text: str) -> str:
    """With what others wrote between marks that nobody could have guessed."""
    cut = len(text) - MOST
    more = f"\n({cut} characters more were left out)" if cut > 0 else ""
    return f"{head}\n{PromptFence().render_block(name, text[:MOST])}{more}"


def _parsed(response: str) -> JsonValue:
    """A response as the value that it is; the text where it is no JSON, and nothing where it is too long to be kept."""
    if len(response) > MOST:
        return None
    try:
        value: JsonValue = json.loads(response)
    except (ValueError, RecursionError):
        return response
    return value
