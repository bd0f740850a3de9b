"""The names by which a client's programs call tools: each means one thing for as long as the client's session lasts."""

from collections.abc import Iterable, Sequence

from agent.execution.supplied_values import CachedSecretNames, apply_supplied_values
from agent.programs.function_names import RESERVED_NAMES, assign_names, assign_tool_names
from agent.programs.signatures import ToolSignature, build_named_signatures
from domain.errors import UsageError
from domain.source_text import try_parse_source
from domain.tool import ToolDoc, ToolId
from graph.tool_description import find_tool
from server.gateway.backend import Backend

_MOST = 2000
"""Names that a session knows; the oldest are forgotten for new ones."""


class SessionFunctions:
    """One session's."""

    def __init__(self) -> None:
        self._tools: dict[str, ToolId] = {}
        self._names: dict[ToolId, str] = {}

    def shown(self, docs: Sequence[ToolDoc]) -> list[ToolSignature]:
        """The signatures of tools under the names that the session has for them, which it knows from now on."""
        new = [doc for doc in docs if doc.id not in self._names]
        for name, (_, doc) in assign_names(
            assign_tool_names(new), lambda one: (one[0],), {*RESERVED_NAMES, *self._tools}
        ):
            self._tools[name], self._names[doc.id] = doc.id, name
        made = build_named_signatures({self._names[doc.id]: doc for doc in docs})
        while len(self._tools) > _MOST:
            oldest = next(iter(self._tools))
            self._names.pop(self._tools.pop(oldest))
        return list(made.values())

    async def tool(self, name: str, backend: Backend) -> ToolDoc:
        """The tool, as this caller may call it, that a name of this session means, or else an id or a name of the store. ``UsageError`` where it is none, or several."""
        tool = self._tools.get(name) or await find_tool(backend.container.graph, name)
        found = (await supplied(backend, [tool])).get(tool)
        if found is None:
            raise UsageError(f"{name[:200]!r} is no tool that can be called; find_tools names some that can")
        return found

    async def called_in(self, text: str, backend: Backend) -> dict[str, ToolDoc]:
        """The tools that a text calls, by their names in it. A name that only the store knows is taken where it is one tool's."""
        known = {name: self._tools.get(name) for name in _called(text)}
        for name in [one for one, tool in known.items() if tool is None]:
            found = await backend.container.graph.find_function(name)
            known[name] = found[0] if len(found) == 1 else None
        wanted = {name: tool for name, tool in known.items() if tool is not None}
        docs = await supplied(backend, wanted.values())
        return {name: docs[tool] for name, tool in wanted.items() if tool in docs}


async def supplied(backend: Backend, tools: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
    """Tools as a run of this caller sees them: without the parameters that their secrets fill. Those without a document are left out."""
    found = await backend.container.graph.get_tools(tools)
    secrets = CachedSecretNames(await backend.secrets())
    return {tool: await apply_supplied_values(doc, secrets) for tool, doc in found.items()}


def _called(text: str) -> Iterable[str]:
    """Names that a text calls as functions and does not make itself; none where it cannot be read: the check says why."""
    source = try_parse_source(text)
    return sorted({call.name for call in source.calls} - source.bound_names - RESERVED_NAMES - {""}) if source else []
