# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false
"""Middleware of ``create_agent``: the model is offered a few tools of a store for what its user asks, of however many there are."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from domain.errors import UnavailableError, UsageError
from footpath.asynchronous import AsyncFootpath
from footpath.langchain.opened import Opened, Store
from footpath.langchain.search import FindTools, found_in
from footpath.langchain.tools import Allowed, FootpathTool, document, model_names

_REQUESTS = 256
"""Offers that are kept, so that all steps of an agent that serve one request see the same tools."""
_TOOLS = 2_000
"""Tools that are known by the names that models were told."""


class OfferedTools(AgentMiddleware):
    """Adds to a model's tools those that the store offers for the user's last message, and those that the conversation has called; and calls them.

    ``limit``: of an offer. ``changes``: as of :func:`footpath.langchain.tools.offered_tools`. ``search``: the model may look for more (``find_tools``). The tools need not be
    given to ``create_agent``; those that are given stay.
    """

    def __init__(self, footpath: Store, limit: int = 16, *, changes: Allowed = "deny", search: bool = True) -> None:
        super().__init__()
        self._opened, self._limit = Opened(footpath), limit
        self._allowed: Allowed = changes
        self._offers: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._tools: OrderedDict[str, FootpathTool] = OrderedDict()
        self._taken: set[str] = set()
        self.tools = [FindTools.by(self._opened, self._found)] if search else []

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]) -> ModelResponse:
        """Offers."""
        self._taken |= _names(request)
        chosen = self._opened.run(lambda footpath: self._chosen(footpath, request.messages))
        return handler(_with(request, chosen))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """Offers."""
        self._taken |= _names(request)
        chosen = await self._opened.awaited(lambda footpath: self._chosen(footpath, request.messages))
        return await handler(_with(request, chosen))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Calls what was offered."""
        if request.tool is None:
            tool = self._opened.run(lambda footpath: self._known(footpath, request.tool_call["name"]))
            request = request if tool is None else request.override(tool=tool)
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Calls what was offered."""
        if request.tool is None:
            tool = await self._opened.awaited(lambda footpath: self._known(footpath, request.tool_call["name"]))
            request = request if tool is None else request.override(tool=tool)
        return await handler(request)

    async def _chosen(self, footpath: AsyncFootpath, messages: Sequence[BaseMessage]) -> list[FootpathTool]:
        earlier = [name for name in (*_called(messages), *found_in(messages)) if name not in self._taken]
        known = [await self._known(footpath, name) for name in earlier]
        offered = await self._offered(footpath, messages)
        return await self._named(
            footpath, dict.fromkeys([*offered, *(tool.tool for tool in known if tool is not None)])
        )

    async def _found(self, footpath: AsyncFootpath, request: str) -> list[FootpathTool]:
        """What the model has looked for."""
        offer = await footpath.offer(request, self._limit)
        return await self._named(footpath, [one.id for one in offer.tools])

    async def _offered(self, footpath: AsyncFootpath, messages: Sequence[BaseMessage]) -> Sequence[str]:
        """The ids that the store offers for the last of the user's messages, once for each message."""
        said = [message for message in messages if isinstance(message, HumanMessage) and message.text.strip()]
        if not said:
            return ()
        text = str(said[-1].text)
        key = f"{said[-1].id}\n{text}"
        if key not in self._offers:
            offer = await footpath.offer(text, self._limit)
            self._offers[key] = tuple(one.id for one in offer.tools)
        self._offers.move_to_end(key)
        while len(self._offers) > _REQUESTS:
            self._offers.popitem(last=False)
        return self._offers[key]

    async def _named(self, footpath: AsyncFootpath, ids: Iterable[str]) -> list[FootpathTool]:
        """Tools under names that stay theirs as long as this middleware lives."""
        wanted, there = list(ids), self._by_id()
        docs = [await document(footpath, one) for one in wanted if one not in there]
        there = self._by_id()  # another request may have named some of them meanwhile
        for name, doc in model_names([doc for doc in docs if doc.id not in there], {*self._taken, *self._tools}):
            self._tools[name] = there[doc.id] = FootpathTool.of(doc, name, self._opened, self._allowed)
        while len(self._tools) > _TOOLS:
            self._tools.popitem(last=False)
        return [there[one] for one in wanted]

    def _by_id(self) -> dict[str, FootpathTool]:
        return {tool.tool: tool for tool in self._tools.values()}

    async def _known(self, footpath: AsyncFootpath, name: str) -> FootpathTool | None:
        """The tool of a name or id; after a restart by its name in the store. None: there is none, as the agent is told by LangGraph."""
        if name in self._tools:
            return self._tools[name]
        try:
            doc = await document(footpath, name)
        except (UsageError, UnavailableError):  # none is called so any more, or several are
            return None
        return (await self._named(footpath, [doc.id]))[0]


def _with(request: ModelRequest, chosen: Sequence[FootpathTool]) -> ModelRequest:
    """With what the agent has not been given anyway."""
    given = {tool.tool for tool in request.tools if isinstance(tool, FootpathTool)}
    return request.override(tools=[*request.tools, *(tool for tool in chosen if tool.tool not in given)])


def _names(request: ModelRequest) -> frozenset[str]:
    """Of the tools that an agent has anyway."""
    return frozenset(tool.name for tool in request.tools if not isinstance(tool, dict))


def _called(messages: Sequence[BaseMessage]) -> Iterable[str]:
    """The names of what the conversation called, each once."""
    return dict.fromkeys(
        call["name"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls
    )
