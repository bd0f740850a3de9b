"""Tools of servers that are started here: by an allow-list, without a shell, with a bare environment, and ended with all that they started."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from agent.execution.mcp import McpExecutor, ServerCommand, bounded_start, list_tools
from agent.execution.mcp.process import SESSION_VARIABLE
from agent.execution.secret_store import EnvironmentSecrets
from domain.errors import InvalidArgumentsError
from domain.tool import Credential
from graph.importers.mcp import McpSource
from tests.support import everything_mcp_server
from tests.support.mcp_servers import sessions, tool

SUPPORT = Path(everything_mcp_server.__file__).parent
NO_KEYS = EnvironmentSecrets({})
EVERYTHING = ServerCommand((sys.executable, everything_mcp_server.__file__))


async def test_tools_are_listed_and_called() -> None:
    async with sessions(commands={"everything": EVERYTHING}, seconds=20) as ours:
        source = McpSource("stdio:everything", "harbour", "everything")
        listing = await list_tools(ours, source, NO_KEYS)
        docs = {doc.api: doc for doc in listing.docs}
        assert {"berth_of", "note", "plain"} <= docs.keys()
        assert docs["berth_of"].host == docs["berth_of"].address == "stdio:everything"
        executor = McpExecutor(ours)
        found = await executor.call(docs["berth_of"], {"ship": "Argo"})
        assert (found.outcome, orjson.loads(found.body)) == ("ok", {"number": 4, "free": False})
        assert ours.open_count == 1


async def test_only_what_an_administrator_allows_is_started() -> None:
    async with sessions(commands={"everything": EVERYTHING}) as ours:
        executor = McpExecutor(ours)
        with pytest.raises(InvalidArgumentsError, match=r"FOOTPATH_MCP_COMMANDS \(there are: everything\)"):
            await executor.call(tool("stdio:/bin/sh", "plain"), {})


def shown(script: str, folder: Path) -> ServerCommand:
    """A command that is no server of the protocol."""
    program = folder / "server.py"
    program.write_text(script)
    return ServerCommand((sys.executable, str(program)))


async def test_it_sees_a_bare_environment_and_the_keys_of_who_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTPATH_VAULT_KEYS", "1:hidden")
    script = "import json, os, sys\njson.dump(dict(os.environ), open(sys.argv[1], 'w'))\n"
    plain = shown(script, tmp_path)
    told = tmp_path / "environment.json"
    command = ServerCommand((*plain.words, str(told)), {"HARBOUR": "Oskvik"}, frozenset({"HARBOUR_KEY"}))
    keyed = tool("stdio:bare", "any", credentials=(Credential(secret="harbour", name="HARBOUR_KEY"),))
    secrets = EnvironmentSecrets(
        {"FOOTPATH_SECRET_HARBOUR": "s3cret-key", "FOOTPATH_SECRET_HARBOUR_HOSTS": "stdio:bare"}
    )
    async with sessions(commands={"bare": command}) as ours:
        result = await McpExecutor(ours, secrets=secrets).call(keyed, {})
    assert result.outcome == "transient"
    assert "ended" in result.note or "closed" in result.note.lower()
    seen = orjson.loads(told.read_bytes())
    seen.pop("LC_CTYPE", None)  # Python's own
    assert len(seen.pop(SESSION_VARIABLE)) == 32
    assert seen == {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HARBOUR": "Oskvik",
        "HARBOUR_KEY": "s3cret-key",
    }


async def test_a_key_goes_only_where_its_owner_and_an_administrator_let_it() -> None:
    keyed = tool("stdio:everything", "plain", "name", credentials=(Credential(secret="harbour", name="LD_PRELOAD"),))
    secrets = EnvironmentSecrets({"FOOTPATH_SECRET_HARBOUR": "k", "FOOTPATH_SECRET_HARBOUR_HOSTS": "stdio:other"})
    async with sessions(commands={"everything": EVERYTHING}) as ours:
        refused = await McpExecutor(ours, secrets=secrets).call(keyed, {"name": "Ann"})
        assert (refused.outcome, refused.attempts) == ("caller_fault", 0)
        assert "takes no key as LD_PRELOAD" in refused.note
    named = ServerCommand(EVERYTHING.words, keys=frozenset({"LD_PRELOAD"}))
    async with sessions(commands={"everything": named}) as ours:
        refused = await McpExecutor(ours, secrets=secrets).call(keyed, {"name": "Ann"})
        assert (refused.outcome, refused.attempts) == ("caller_fault", 0)
        assert "not allowed for stdio:everything" in refused.note


def runs(process: int) -> bool:
    """Whether it is there, and no mere entry that nobody has read yet."""
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().split()[2] != "Z"


async def test_all_that_it_started_ends_with_it(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys\n"
        "child = subprocess.Popen(['/bin/sleep', '600'])\n"
        "open(sys.argv[1], 'w').write(str(child.pid))\n"
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from everything_mcp_server import everything\n"
        "everything().run('stdio')\n"
    )
    told = tmp_path / "pid"
    command = ServerCommand((*shown(script, tmp_path).words, str(told), str(SUPPORT)))
    async with sessions(commands={"family": command}, seconds=20) as ours:
        found = await McpExecutor(ours).call(tool("stdio:family", "plain", "name"), {"name": "Ann"})
        assert found.outcome == "ok"
        child = int(told.read_text())
        os.kill(child, 0)
    for _ in range(100):  # a killed process is there until its new parent has taken note
        if not runs(child):
            break
        await asyncio.sleep(0.01)
    else:
        pytest.fail("what the server started still runs")


SERVING = "sys.path.insert(0, sys.argv[2])\nfrom everything_mcp_server import everything\nserver = everything()\n"


async def test_what_leaves_its_group_ends_with_it_too(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys\nchild = subprocess.Popen(['/bin/sleep', '600'], start_new_session=True)\n"
        f"open(sys.argv[1], 'w').write(str(child.pid))\n{SERVING}server.run('stdio')\n"
    )
    told = tmp_path / "pid"
    command = ServerCommand((*shown(script, tmp_path).words, str(told), str(SUPPORT)))
    async with sessions(commands={"family": command}, seconds=20) as ours:
        assert (await McpExecutor(ours).call(tool("stdio:family", "plain", "name"), {"name": "Ann"})).outcome == "ok"
        child = int(told.read_text())
        assert runs(child)
    for _ in range(100):
        if not runs(child):
            break
        await asyncio.sleep(0.01)
    else:
        pytest.fail("what left the group of the server still runs")


@pytest.mark.parametrize(
    ("greedy", "bounds"),
    [
        ("kept = bytearray(400_000_000)", {"memory": 200 * 1024 * 1024}),
        ("open(sys.argv[1], 'wb').write(bytes(9_000_000))", {"file": 1024 * 1024}),
    ],
    ids=["memory", "disk"],
)
async def test_one_that_takes_more_than_it_may_ends_or_is_refused(
    tmp_path: Path, greedy: str, bounds: dict[str, int]
) -> None:
    """The call says so, and the next one is served by a process of its own."""
    script = f"import sys\n{SERVING}@server.tool()\ndef takes() -> str:\n    {greedy}\n    return 'done'\nserver.run('stdio')\n"
    command = ServerCommand((*shown(script, tmp_path).words, str(tmp_path / "much"), str(SUPPORT)), **bounds)  # pyright: ignore[reportArgumentType]
    async with sessions(commands={"greedy": command}, seconds=20) as ours:
        executor = McpExecutor(ours)
        taken = await executor.call(tool("stdio:greedy", "takes"), {})
        assert taken.outcome in ("unknown", "transient", "caller_fault")
        again = await executor.call(tool("stdio:greedy", "plain", "name"), {"name": "Ann"})
        assert (again.outcome, orjson.loads(again.body)) == ("ok", {"result": "Hello Ann"})


def test_one_that_computes_without_end_is_ended() -> None:
    bounds = (str(2**30), "1", str(2**30))
    command = [
        sys.executable,
        "-I",
        "-S",
        bounded_start.__file__,
        *bounds,
        sys.executable,
        "-I",
        "-S",
        "-c",
        "while True: pass",
    ]
    done = subprocess.run(command, timeout=60, check=False)
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


async def test_a_message_without_end_ends_the_server_and_not_us(tmp_path: Path) -> None:
    script = "import sys\nwhile True:\n    sys.stdout.write('x' * 65536)\n"
    async with sessions(commands={"flood": shown(script, tmp_path)}, limit=200_000, seconds=20) as ours:
        result = await McpExecutor(ours).call(tool("stdio:flood", "any"), {})
    assert result.outcome == "transient"
    assert "longer than 200000 bytes" in result.note


async def test_a_command_that_is_not_there_is_told() -> None:
    async with sessions(commands={"none": ServerCommand(("/no/such/program",))}) as ours:
        result = await McpExecutor(ours).call(tool("stdio:none", "any"), {})
    assert (result.outcome, result.reached) == ("transient", False)
    assert "it cannot be started (No such file or directory)" in result.note


async def test_a_change_whose_server_dies_is_not_known_and_not_made_again(tmp_path: Path) -> None:
    script = (
        "import sys, os\nsys.path.insert(0, sys.argv[2])\nfrom everything_mcp_server import everything\nserver = everything()\n"
        "@server.tool()\ndef dies() -> str:\n    open(sys.argv[1], 'a').write('x')\n    os._exit(1)\n"
        "server.run('stdio')\n"
    )
    count = tmp_path / "count"
    command = ServerCommand((*shown(script, tmp_path).words, str(count), str(SUPPORT)))
    async with sessions(commands={"mortal": command}, seconds=20) as ours:
        executor = McpExecutor(ours)
        lost = await executor.call(tool("stdio:mortal", "dies"), {})
        assert (lost.outcome, lost.attempts) == ("unknown", 1)
        assert "not known whether it took effect" in lost.note
        assert count.read_text() == "x"
        again = await executor.call(tool("stdio:mortal", "plain", "name"), {"name": "Ann"})
        assert (again.outcome, orjson.loads(again.body)) == ("ok", {"result": "Hello Ann"})


async def test_what_it_writes_to_its_errors_is_logged_without_keys(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "agent.execution.mcp.process")
    script = "import os, sys\nfor _ in range(1000):\n    print('key is', os.environ['K'], file=sys.stderr)\n"
    command = ServerCommand(shown(script, tmp_path).words, keys=frozenset({"K"}))
    keyed = tool("stdio:loud", "any", credentials=(Credential(secret="k", name="K"),))
    secrets = EnvironmentSecrets({"FOOTPATH_SECRET_K": "s3cret-key", "FOOTPATH_SECRET_K_HOSTS": "stdio:loud"})
    async with sessions(commands={"loud": command}, seconds=20) as ours:
        await McpExecutor(ours, secrets=secrets).call(keyed, {})
    lines = [record.getMessage() for record in caplog.records if "writes:" in record.getMessage()]
    assert 0 < len(lines) <= 200
    assert set(lines) == {"stdio:loud writes: key is [secret]"}
