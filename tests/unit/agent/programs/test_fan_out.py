"""A program over two hundred items and a slow host: all are asked for, so many at once, over real sockets."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.execution.http import HttpExecutor, HttpParameters
from agent.programs.program_runner import MAX_CONCURRENT_CALLS
from agent.programs.program_types import SandboxLimits
from agent.programs.sandbox import MontySandbox
from domain.event import ProgramEnded
from domain.tool import Parameter
from tests.support.program_runs import DOCS, Work, ran
from tests.support.scripted_http_server import Answer, reply, serving

TEXT = "import asyncio\nlen(await asyncio.gather(*[get(name=str(n)) for n in range(200)]))"
IN_QUERY = Parameter(name="name", type="string", required=True, location="query")


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = MontySandbox(SandboxLimits(workers=1))
    yield made
    await made.close()


@pytest.mark.parametrize(
    ("host_concurrency", "most"), [(3, 3), (100, MAX_CONCURRENT_CALLS)], ids=["the host's bound", "the program's"]
)
async def test_a_slow_host_is_asked_within_its_bounds(
    host_concurrency: int, most: int, sandbox: MontySandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once, seen, answer = 0, list[int](), reply()

    async def slow(writer: asyncio.StreamWriter) -> None:
        nonlocal at_once
        at_once += 1
        seen.append(at_once)
        await asyncio.sleep(0.02)
        at_once -= 1
        await answer(writer)

    script: Answer = slow
    async with serving(script) as served:
        got = DOCS["get"].model_copy(update={"url": f"{served.url}/get", "parameters": (IN_QUERY,)})
        monkeypatch.setitem(DOCS, "get", got)
        allowed = frozenset({served.url.removeprefix("http://")})
        executor = HttpExecutor(
            HttpParameters(allow_hosts=allowed, host_concurrency=host_concurrency, host_rate=100_000)
        )
        end = await ran(Work(sandbox, executor), TEXT)
        await executor.close()
    assert isinstance(end, ProgramEnded)
    assert (end.answer, len(seen), max(seen)) == ("200", 200, most)
