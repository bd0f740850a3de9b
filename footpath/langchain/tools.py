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
from agent.programs.function_names import RESERVED_NAMES, assign_names, assign_tool_names
from agent.programs.signatures import build_signature
from agent.text import clean_text
from domain.errors import UsageError
from domain.tool import Parameter, ToolDoc
from footpath.async_footpath import AsyncFootpath
from footpath.langchain.interrupt_approval import ApprovedChangeOnly, ChangeRecorder, NoInterruptError, ask_by_interrupt
from footpath.langchain.store_runner import AnyFootpath, StoreRunner
from footpath.results import Answer
from footpath.user_callbacks import Change, Changes

ChangePolicy = Changes | Literal["interrupt"]
"""Treatment of calls with side effects, as for ``ask``; ``interrupt`` stops the graph until a person decides."""

_CallOperation = Callable[[AsyncFootpath], Coroutine[Any, Any, Answer]]
MAX_RESPONSE_LENGTH = 16_000
"""Characters of a response that a model reads."""
_MAX_DESCRIPTION = 1_000
_MAX_TEXT = 300


class FootpathTool(BaseTool):
    """A tool of a store. Created by :func:`offered_tools` and :func:`named_tools`."""

    tool: str
    """Id of the tool in the store."""
    changes: bool
    """True if a call may have side effects."""
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True
    _runner: StoreRunner = PrivateAttr()
    _change_policy: ChangePolicy = PrivateAttr(default="deny")

    @classmethod
    def from_doc(cls, doc: ToolDoc, name: str, opened: StoreRunner, allowed: ChangePolicy) -> "FootpathTool":
        """Create a tool from its document. ``name``: as the model calls it; ``allowed``: treatment of side effects."""
        description = clean_text(doc.description or doc.toolset_description or doc.api, _MAX_DESCRIPTION)
        change_note = "" if doc.safe else " It may change something."
        tool = cls(
            name=name,
            description=description + change_note,
            args_schema=_build_argument_schema(doc),
            tool=doc.id,
            changes=not doc.safe,
        )
        tool._runner, tool._change_policy = opened, allowed
        return tool

    def _run(self, /, *_: Any, **arguments: Any) -> tuple[str, dict[str, Any]]:
        # With ``interrupt``, the first call is refused before it is sent: it only finds out what would be changed.
        recorder = ChangeRecorder()
        answer = self._runner.run(
            self._create_call(
                arguments, recorder if self._interrupts else self._static_changes, learn=not self._interrupts
            )
        )
        if recorder.change is not None:
            answer = self._runner.run(self._create_call(arguments, self._ask_user(arguments, recorder.change)))
        return build_tool_result(answer)

    async def _arun(self, /, *_: Any, **arguments: Any) -> tuple[str, dict[str, Any]]:
        recorder = ChangeRecorder()
        first_call = self._create_call(
            arguments, recorder if self._interrupts else self._static_changes, learn=not self._interrupts
        )
        answer = await self._runner.run_async(first_call)
        if recorder.change is not None:
            answer = await self._runner.run_async(
                self._create_call(arguments, self._ask_user(arguments, recorder.change))
            )
        return build_tool_result(answer)

    def _create_call(self, arguments: Mapping[str, Any], changes: Changes, *, learn: bool = True) -> _CallOperation:
        async def call_tool(footpath: AsyncFootpath) -> Answer:
            try:
                return await footpath.call(self.tool, arguments, changes=changes, learn=learn)
            except UsageError as error:
                raise ToolException(f"Nothing was called. {error}") from error

        return call_tool

    @property
    def _interrupts(self) -> bool:
        return self.changes and self._change_policy == "interrupt"

    @property
    def _static_changes(self) -> Changes:
        return "deny" if self._change_policy == "interrupt" else self._change_policy

    def _ask_user(self, arguments: Mapping[str, Any], change: Change) -> ApprovedChangeOnly:
        """Ask a person, and return the callback that allows the approved change only.

        Nothing was called before, since the graph starts this call again when it is resumed. ``ToolException`` where
        the change was refused, or nobody could be asked.
        """
        try:
            allowed = ask_by_interrupt(self.name, arguments, change)
        except NoInterruptError as error:
            raise ToolException(f"The call was not made, since it may change something: {error}") from error
        if not allowed:
            raise ToolException("The user did not allow this call, so it was not made.")
        return ApprovedChangeOnly(change)


@dataclass(frozen=True, slots=True)
class _ToolFactory:
    """Creates the tools of one store, with the same treatment of side effects."""

    opened: StoreRunner
    changes: ChangePolicy

    async def create_offered(self, footpath: AsyncFootpath, request: str, limit: int) -> list[FootpathTool]:
        offer = await footpath.offer(request, limit)
        return await self.create_named(footpath, [offered_tool.id for offered_tool in offer.tools])

    async def create_named(self, footpath: AsyncFootpath, names: Iterable[str]) -> list[FootpathTool]:
        docs = [await fetch_tool_doc(footpath, name) for name in names]
        return [FootpathTool.from_doc(doc, name, self.opened, self.changes) for name, doc in assign_model_names(docs)]


def offered_tools(
    footpath: AnyFootpath, request: str, limit: int = 16, *, changes: ChangePolicy = "deny"
) -> Sequence[FootpathTool]:
    """Return the tools to serve a request with, best first. ``changes``: as for ``ask``, or ``interrupt``."""
    factory = _ToolFactory(StoreRunner(footpath), changes)
    return factory.opened.run(lambda opened: factory.create_offered(opened, request, limit))


async def aoffered_tools(
    footpath: AnyFootpath, request: str, limit: int = 16, *, changes: ChangePolicy = "deny"
) -> Sequence[FootpathTool]:
    """Return the tools to serve a request with, as :func:`offered_tools` does, for use in an event loop."""
    factory = _ToolFactory(StoreRunner(footpath), changes)
    return await factory.opened.run_async(lambda opened: factory.create_offered(opened, request, limit))


def named_tools(
    footpath: AnyFootpath, names: Collection[str], *, changes: ChangePolicy = "deny"
) -> Sequence[FootpathTool]:
    """Return tools by their ids, function names or API names. ``UsageError`` for an unknown or ambiguous name."""
    factory = _ToolFactory(StoreRunner(footpath), changes)
    return factory.opened.run(lambda opened: factory.create_named(opened, names))


async def anamed_tools(
    footpath: AnyFootpath, names: Collection[str], *, changes: ChangePolicy = "deny"
) -> Sequence[FootpathTool]:
    """Return tools by their names, as :func:`named_tools` does, for use in an event loop."""
    factory = _ToolFactory(StoreRunner(footpath), changes)
    return await factory.opened.run_async(lambda opened: factory.create_named(opened, names))


async def fetch_tool_doc(footpath: AsyncFootpath, name: str) -> ToolDoc:
    """Return the document of a tool by its name. Raises as :meth:`AsyncFootpath.tool`."""
    return ToolDoc.model_validate((await footpath.tool(name)).document)


def assign_model_names(docs: Iterable[ToolDoc], taken_names: Collection[str] = ()) -> list[tuple[str, ToolDoc]]:
    """Give tools the names that model vendors accept: ASCII, at most 64 characters, unique, none of ``taken_names``."""
    return [
        (name, doc)
        for name, (_, doc) in assign_names(
            assign_tool_names(docs), lambda one: (_to_ascii_name(*one),), {*RESERVED_NAMES, *taken_names}
        )
    ]


def _to_ascii_name(name: str, doc: ToolDoc) -> str:
    return name if name.isascii() else f"tool_{hashlib.sha256(doc.id.encode()).hexdigest()[:12]}"


def _build_argument_schema(doc: ToolDoc) -> dict[str, Any]:
    """Return the JSON Schema of the arguments, under the parameter names of the tool's signature."""
    by_name = {parameter.name: parameter for parameter in doc.parameters}
    parameters = {name: by_name[own_name] for name, own_name in build_signature(doc).arguments.items()}
    properties = {name: _build_parameter_schema(parameter) for name, parameter in parameters.items()}
    required = [name for name, parameter in parameters.items() if parameter.required]
    return {"type": "object", "properties": properties, "required": required}


def _build_parameter_schema(parameter: Parameter) -> dict[str, JsonValue]:
    description = clean_text(parameter.description, _MAX_TEXT)
    default_entry: dict[str, JsonValue] = {"default": parameter.default} if parameter.default is not None else {}
    return {**build_value_schema(parameter), **({"description": description} if description else {}), **default_entry}


def build_tool_result(answer: Answer) -> tuple[str, dict[str, Any]]:
    """Return the content and the artifact of a call's message; the artifact has the response as JSON.

    ``ToolException`` where the call failed, or was not made.
    """
    if not answer.calls:
        raise ToolException(_render_fenced("The call was not made.", "why", f"{answer.text} {answer.error}".strip()))
    last = answer.calls[-1]
    head = f"{last.status}{f': {clean_text(last.note, _MAX_TEXT)}' if last.note else ''}"
    text = _render_fenced(head, "response", last.response) if last.response else head
    if last.status != "ok":
        raise ToolException(text)
    return text, {
        "run": answer.run,
        "tool": last.tool,
        "status": last.status,
        "response": _parse_response_value(last.response),
    }


def _render_fenced(head: str, name: str, text: str) -> str:
    """Fence foreign text in marks that its author could not guess, so that it cannot pose as instructions."""
    excess = len(text) - MAX_RESPONSE_LENGTH
    cut_note = f"\n({excess} characters more were left out)" if excess > 0 else ""
    return f"{head}\n{PromptFence().render_block(name, text[:MAX_RESPONSE_LENGTH])}{cut_note}"


def _parse_response_value(response: str) -> JsonValue:
    """Return a response as a JSON value, or as text where it is no JSON; None where it is too long to be kept."""
    if len(response) > MAX_RESPONSE_LENGTH:
        return None
    try:
        value: JsonValue = json.loads(response)
    except (ValueError, RecursionError):
        return response
    return value
