"""Forty programs that try to get out of the sandbox, or to use it up: each is refused or breaks off, and the next one runs.

Each runs without the checks before it, so that these need not hold for the host to be safe.
"""

import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.programs.program_checks import check_program
from agent.programs.program_types import CallFailure, ProgramError, ReturnedValue, SandboxCall, SandboxLimits
from agent.programs.sandbox import MontySandbox
from agent.programs.signatures import render_offer
from domain.tool import Parameter, ToolDoc, ToolId
from tests.support.scripted_host import driven

SECRET = "s3cr3t-of-the-host"
TOOL = ToolDoc(
    id=ToolId("t.find"),
    category="c",
    toolset="t",
    api="find",
    function="find",
    parameters=(Parameter(name="n", type="integer", required=True),),
)
OFFER = render_offer([TOOL])
LIMITS = SandboxLimits(seconds=1, memory=20_000_000, workers=2, calls=40)

ATTEMPTS = {
    "reads a file": "open('{file}').read()",
    "reads a file by its path": "from pathlib import Path\nPath('{file}').read_text()",
    "writes a file": "with open('{file}', 'w') as f:\n    f.write('gone')",
    "lists a folder": "import os\nos.listdir('/')",
    "reads the environment": "import os\nos.environ['FOOTPATH_SECRET_X']",
    "asks for the environment": "import os\nos.getenv('FOOTPATH_SECRET_X') + ''",
    "runs a command": "import os\nos.system('touch {file}.new')",
    "starts a process": "import subprocess\nsubprocess.run(['true'])",
    "forks": "import os\nwhile True:\n    os.fork()",
    "opens a socket": "import socket\nsocket.create_connection(('127.0.0.1', 1))",
    "imports by name": "__import__('os').environ",
    "imports by importlib": "import importlib\nimportlib.import_module('os')",
    "imports C": "import ctypes\nctypes.string_at(0)",
    "loads a pickle": "import pickle\npickle.loads(b'cos\\nsystem\\n.')",
    "takes entropy": "import os\nos.urandom(8)",
    "leaves by sys": "import sys\nsys.exit(3)",
    "reads frames": "import sys\nsys._getframe(0).f_back.f_globals",
    "walks to all classes": "().__class__.__bases__[0].__subclasses__()",
    "walks from a function": "(lambda: 1).__globals__['__builtins__']",
    "walks by getattr": "getattr(getattr(str, '__cla' + 'ss__'), '__mro__')",
    "walks by format": "'{{0.__class__.__mro__}}'.format('x')",
    "walks from an error": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    x = e.__traceback__.tb_frame\nx",
    "takes the builtins": "__builtins__['open']",
    "takes the globals": "globals()['find']",
    "takes the loader": "__loader__.load_module('os')",
    "calls by a text": "await eval('find(n=1)')",
    "calls by a made text": "exec('async def f():\\n    return await find(n=1)')\nawait f()",
    "calls by another name": "await ｆｉｎd(n=1)",
    "hands a call on unawaited": "await find(n=find(n=1))",
    "sends no number": "await find(n=float('nan'))",
    "computes for ever": "while True:\n    pass",
    "computes for ever, caught": "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        continue",
    "calls for ever, caught": "while True:\n    try:\n        await find(n=1)\n    except BaseException:\n        pass",
    "calls all at once": "import asyncio\nawait asyncio.gather(*[find(n=n) for n in range(100000)])",
    "calls itself": "def f(n):\n    return f(n + 1)\nf(0)",
    "keeps a long text": "x = 'a' * 10**10",
    "keeps many values": "x = []\nwhile True:\n    x.append('a' * 1000)",
    "counts to a tower": "9 ** 9 ** 9 ** 9",
    "prints for ever": "while True:\n    print('x' * 1000)",
    "nests for ever": "x = []\nwhile True:\n    x = [x, x]",
}  # fmt: skip


@pytest.fixture(scope="module")
def workers_before() -> set[int]:
    """The workers of other sandboxes that the tests before have started in this process."""
    return find_workers()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(workers_before: set[int]) -> AsyncIterator[MontySandbox]:
    made = MontySandbox(LIMITS)
    yield made
    await made.close()


def test_there_are_forty() -> None:
    assert len(ATTEMPTS) == 40


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", ATTEMPTS)
async def test_no_program_gets_out_or_uses_the_sandbox_up(
    name: str, sandbox: MontySandbox, workers_before: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kept.txt"
    file.write_text(SECRET)
    monkeypatch.setenv("FOOTPATH_SECRET_X", SECRET)
    text = ATTEMPTS[name].format(file=file) if "{" in ATTEMPTS[name] else ATTEMPTS[name]
    made: list[SandboxCall] = []

    def answer(call: SandboxCall) -> CallFailure:
        made.append(call)
        return CallFailure("no")

    async with sandbox.open_session() as session:
        stop = await driven(session, text, answer)
    assert isinstance(stop, ProgramError), stop
    assert stop.message
    assert SECRET not in repr(stop)
    assert file.read_text() == SECRET
    assert names_in(tmp_path) == ["kept.txt"]
    assert all(call.function == "find" and set(call.arguments) == {"n"} for call in made)
    assert len(made) <= LIMITS.calls
    assert len(find_workers() - workers_before) <= 2 * LIMITS.workers + 1
    async with sandbox.open_session() as session:
        assert await driven(session, "1 + 1") == ReturnedValue(2)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    "name", [one for one in ATTEMPTS if one.startswith(("reads", "writes", "runs", "starts", "imports", "takes"))]
)
async def test_the_checks_refuse_what_reaches_for_the_host(name: str, sandbox: MontySandbox) -> None:
    text = ATTEMPTS[name].replace("{file}", "/etc/passwd")
    assert (await check_program(text, OFFER, {"find": TOOL}, sandbox, {})).complaints


def names_in(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


def find_workers() -> set[int]:
    """Return the ids of this process's threads and child processes that work for sandboxes."""
    me = str(os.getpid())
    found = {thread.native_id or 0 for thread in threading.enumerate() if thread.name.startswith("programs")}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = entry.read_text().partition(") ")
        except OSError:
            continue
        if rest.split()[1] == me and "monty" in name:
            found.add(int(entry.parent.name))
    return found
