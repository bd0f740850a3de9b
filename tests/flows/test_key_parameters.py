"""Keys and other values that a document declares as header parameters: which settings give them is said wherever they lack, and they work."""

import os
import sys
from pathlib import Path

import pytest

from footpath import AsyncFootpath, UsageError
from tests.support import forked_commands
from tests.support.mcp_clients import client, text
from tests.support.scripted_http_server import Served, reply, serving
from wiring.container import open_container
from wiring.settings import Settings

ROOT = Path(__file__).parents[2]
REQUEST = "What are the latest topics of the forum?"
KEY, USERNAME = "FOOTPATH_SECRET_FORUM_API_KEY", "FOOTPATH_SECRET_FORUM_API_USERNAME"
DOCUMENT = """
openapi: 3.1.0
info: {title: Forum, version: '1'}
servers: [{url: 'http://127.0.0.1:PORT'}]
paths:
  /latest.json:
    get:
      operationId: latest
      summary: The latest topics of the forum
      parameters:
        - {name: Api-Key, in: header, required: true, schema: {type: string}}
        - {name: Api-Username, in: header, required: true, schema: {type: string}}
      responses: {'200': {description: ok}}
"""


@pytest.fixture
def without_keys(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in [name for name in os.environ if name.startswith("FOOTPATH_SECRET_")]:
        monkeypatch.delenv(name)
    return monkeypatch


def set_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ((KEY, "k-123456"), (USERNAME, "alice")):
        monkeypatch.setenv(name, value)
        monkeypatch.setenv(f"{name}_HOSTS", "127.0.0.1")


async def built(folder: Path, served: Served) -> Path:
    document = folder / "forum.yaml"
    document.write_text(DOCUMENT.replace("PORT", str(served.port)), encoding="utf-8")
    await AsyncFootpath.build(folder / "store", [document])
    return folder / "store"


async def test_the_settings_are_named_where_their_values_lack(tmp_path: Path, without_keys: pytest.MonkeyPatch) -> None:
    _ = without_keys
    async with serving(reply()) as served:
        place = f"127.0.0.1:{served.port}"
        store = await built(tmp_path, served)
        async with AsyncFootpath.open(store, allow_hosts={place}) as opened:
            answer = await opened.ask(REQUEST, policy="offline")
            advice = f"Api-Key is needed: set {KEY} to it and {KEY}_HOSTS to {place}"
            assert f"To call Forum/latest: {advice}; Api-Username is needed: set {USERNAME}" in answer.text
            with pytest.raises(UsageError, match="Api-Key is needed") as lacking:
                await opened.call("latest", {"Api-Username": "alice"})
            assert USERNAME not in str(lacking.value)
            with pytest.raises(UsageError, match=f"set {KEY} to it"):
                await opened.run_program("await latest()", request=REQUEST)
        assert served.requests == []


async def test_they_fill_the_parameters_of_every_call_and_only_the_key_is_hidden(
    tmp_path: Path, without_keys: pytest.MonkeyPatch
) -> None:
    async with serving(reply(body=b'{"topics": ["by alice", "k-123456"]}')) as served:
        store = await built(tmp_path, served)
        set_keys(without_keys)
        async with AsyncFootpath.open(store, allow_hosts={f"127.0.0.1:{served.port}"}) as opened:
            asked = await opened.ask(REQUEST, policy="offline")
            called = await opened.call("latest")
        assert (asked.ok, called.ok) == (True, True)
        assert "by alice" in called.calls[0].response
        assert "k-123456" not in called.calls[0].response
        for request in served.requests:
            assert b"Api-Key: k-123456\r\n" in request
            assert b"Api-Username: alice\r\n" in request


async def test_an_mcp_client_is_told_of_them_and_calls_with_them(
    tmp_path: Path, without_keys: pytest.MonkeyPatch
) -> None:
    async with serving(reply()) as served:
        store = await built(tmp_path, served)
        settings = Settings(allow_hosts=frozenset({f"127.0.0.1:{served.port}"}))
        async with open_container(settings, store) as container, client(container) as session:
            shown = text(await session.call_tool("show_tool", {"tool": "latest"}))
            assert f"Api-Key is needed: set {KEY}" in shown
            refused = await session.call_tool("call_tool", {"tool": "latest", "arguments": {}})
            assert (refused.isError, KEY in text(refused), USERNAME in text(refused)) == (True, True, True)
        set_keys(without_keys)
        async with open_container(settings, store) as container, client(container) as session:
            assert "Api_Key" not in text(await session.call_tool("find_tools", {"request": REQUEST}))
            called = await session.call_tool("call_tool", {"tool": "latest", "arguments": {}})
            assert not called.isError, text(called)


async def test_build_and_show_name_them(tmp_path: Path) -> None:
    document = tmp_path / "forum.yaml"
    document.write_text(DOCUMENT.replace("PORT", "18111"), encoding="utf-8")
    store = str(tmp_path / "store")
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "200"}
    build = [sys.executable, str(ROOT / "scripts" / "build_graph.py"), "--tools", str(document), "--store", store]
    made = forked_commands.run(build, env=environment, timeout=120)
    assert f"{KEY} for 1 tool," in made.stderr
    assert f"{USERNAME} for 1 tool," in made.stderr
    show = [sys.executable, str(ROOT / "scripts" / "show_tool.py"), "latest", "--store", store]
    shown = " ".join(forked_commands.run(show, env=environment, timeout=120).stdout.split())
    assert f"{KEY} gives Api-Key for all calls, {KEY}_HOSTS=127.0.0.1:18111 says where it may go" in shown
