"""An agent with a scripted model behind a real socket, over Footpath's tools and over the same operations as plain ones."""

import json
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest
from mcp.shared.memory import create_connected_server_and_client_session

from agent.llm.client.langchain_model import LangchainModel, ModelParameters
from agent.text import estimate_tokens
from evaluation.client_agent import MAX_REPLIES, ClientRun, ToolSession, serve_request
from scripts._client_places import ClientsSession
from scripts._plain_tools import plain_server
from tests.models.openai_replies import ChatRequest
from tests.models.openai_server import model_server
from tests.support.mcp_clients import BERTHS, SHIPS, client, store
from tests.support.small_api import small_api
from wiring.container import Container

TODAY = date(2026, 5, 12)
REQUEST = "At which berth does the Zeemeeuw lie?"
PROGRAM = '(await berth_of(ship="Zeemeeuw"))["number"]'


@pytest.fixture
async def container(tmp_path: Path) -> AsyncIterator[Container]:
    async with (
        small_api(list_ships=SHIPS, berth_of=BERTHS, book_berth=BERTHS) as api,
        store(tmp_path, api.url) as opened,
    ):
        yield opened


async def agent(session: ToolSession, *replies: object) -> tuple[ClientRun, list[ChatRequest]]:
    """The run of an agent whose model says this, one reply after another, the last again and again; what the model was asked."""
    left = [one if isinstance(one, str) else json.dumps(one) for one in replies]

    def say(_: ChatRequest) -> str:
        return left.pop(0) if len(left) > 1 else left[0]

    async with model_server(say) as server:
        model = LangchainModel(ModelParameters(server.url, server.model))
        run = await serve_request(REQUEST, session, model, TODAY)
        await model.close()
        return run, server.requests


async def test_footpaths_tools(container: Container) -> None:
    async with client(container) as session:
        run, asked = await agent(
            ClientsSession(session, "Find first."),
            {"tool": "find_tools", "arguments": {"request": REQUEST}},
            {"tool": "run_program", "arguments": {"request": REQUEST, "program": PROGRAM}},
            {"answer": "At berth 8."},
        )
    assert (run.outcome, run.answer, run.calls) == ("answered", "At berth 8.", ["find_tools", "run_program"])
    assert "berth_of" in asked[1].prompt
    assert "answered\n" in asked[2].messages[-1]["content"]
    assert run.prompt_tokens == sum(estimate_tokens(one["content"]) for each in asked for one in each.messages)


async def test_plain_tools(container: Container) -> None:
    async with create_connected_server_and_client_session(await plain_server(container)) as session:
        run, asked = await agent(
            ClientsSession(session, ""),
            "It lies somewhere.",
            {"tool": "berth_of", "arguments": {}},
            {"tool": "berth_of", "arguments": {"ship": "Zeemeeuw"}},
            {"cannot": "It is at sea."},
        )
    assert (run.outcome, run.replies, run.unreadable) == ("gave_up", 4, 1)
    first = asked[0].messages[0]["content"]
    assert all(one in first for one in ("list_ships", "berth_of", "book_berth"))
    assert all(each.messages[0]["content"] == first for each in asked)
    assert "error: Input validation error: 'ship' is a required property" in asked[2].messages[-1]["content"]
    assert json.dumps(BERTHS["number"]) in asked[3].messages[-1]["content"]


async def test_who_never_ends_is_ended(container: Container) -> None:
    async with create_connected_server_and_client_session(await plain_server(container)) as session:
        run, _ = await agent(ClientsSession(session, ""), {"tool": "list_ships"})
    assert (run.outcome, run.replies) == ("budget", MAX_REPLIES)
