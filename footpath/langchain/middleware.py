# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false
"""Middleware for ``create_agent`` that offers the model a few tools of a large store for each request.

The model may search for further tools itself (``find_tools``), and call what it finds from its next step on.
"""

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
"""Number of cached offers. The cache shows all steps of an agent that serve one request the same tools."""
_TOOLS = 2_000
"""Number of cached tools, by the names that models know them under."""


class OfferedTools(AgentMiddleware):
    """Middleware that adds tools of a store to those of the model, and calls them.

    The model gets the tools that the store offers for the user's last message, and those that the conversation has
    called or found. They need not be given to ``create_agent``; tools that are given stay.

    Args:
        footpath: The open store.
        limit: Number of tools of an offer.
        changes: As for :func:`footpath.langchain.tools.offered_tools`.
        search: Give the model the tool ``find_tools`` too.
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
        """Add the selected tools to the request."""
        self._taken |= _names(request)
        chosen = self._opened.run(lambda footpath: self._chosen(footpath, request.messages))
        return handler(_with(request, chosen))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """Add the selected tools to the request."""
        self._taken |= _names(request)
        chosen = await self._opened.awaited(lambda footpath: self._chosen(footpath, request.messages))
        return await handler(_with(request, chosen))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call a tool of the store where the agent itself knows none of the name."""
        if request.tool is None:
            tool = self._opened.run(lambda footpath: self._known(footpath, request.tool_call["name"]))
            request = request if tool is None else request.override(tool=tool)
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Call a tool of the store where the agent itself knows none of the name."""
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
        """Return the tools for a search of the model."""
        offer = await footpath.offer(request, self._limit)
        return await self._named(footpath, [one.id for one in offer.tools])

    async def _offered(self, footpath: AsyncFootpath, messages: Sequence[BaseMessage]) -> Sequence[str]:
        """Return the ids that the store offers for the user's last message; each message is looked up once."""
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
        """Return tools by their ids, each under a name that it keeps as long as it is cached."""
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
        """Return the tool of a name or id; after a restart, by its name in the store.

        None where there is none: LangGraph reports that to the agent.
        """
        if name in self._tools:
            return self._tools[name]
        try:
            doc = await document(footpath, name)
        except (UsageError, UnavailableError):  # none is called so any more, or several are
            return None
        return (await self._named(footpath, [doc.id]))[0]


def _with(request: ModelRequest, chosen: Sequence[FootpathTool]) -> ModelRequest:
    """Return the request with the tools that the agent was not given already."""
    given = {tool.tool for tool in request.tools if isinstance(tool, FootpathTool)}
    return request.override(tools=[*request.tools, *(tool for tool in chosen if tool.tool not in given)])


def _names(request: ModelRequest) -> frozenset[str]:
    """Return the names of the agent's own tools."""
    return frozenset(tool.name for tool in request.tools if not isinstance(tool, dict))


def _called(messages: Sequence[BaseMessage]) -> Iterable[str]:
    """Return the names of the tools that the conversation called, each once."""
    return dict.fromkeys(
        call["name"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls
    )
