"""Tools of a real server over streamable HTTP: listed, called, and what may go wrong on the way."""

import orjson

from agent.execution.mcp import McpExecutor, list_tools
from agent.execution.secrets import EnvironmentSecrets
from graph.importers.mcp import McpSource
from tests.unit.agent.execution.mcp.everything import everything
from tests.unit.agent.execution.mcp.serving import served, sessions

NO_KEYS = EnvironmentSecrets({})


async def test_tools_are_listed_and_called() -> None:
    async with served(everything().streamable_http_app()) as at, sessions() as open_sessions:
        source = McpSource(f"{at}/mcp", "harbour", "everything")
        listing = await list_tools(open_sessions, source, NO_KEYS)
        docs = {doc.api: doc for doc in listing.docs}
        assert listing.skipped == ()
        assert docs["berth_of"].toolset_description == "Berths, and notes of the harbour master."
        assert [one.name for one in docs["note"].parameters] == ["text", "tags"]
        assert not docs["berth_of"].safe
        assert docs["berth_of"].hints == ("reads",)
        executor = McpExecutor(open_sessions)
        found = await executor.call(docs["berth_of"], {"ship": "Argo"})
        assert (found.outcome, orjson.loads(found.body)) == ("ok", {"number": 4, "free": False})
        assert open_sessions.open == 1
