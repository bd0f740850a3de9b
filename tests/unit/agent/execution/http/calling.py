"""A call of the HTTP executor to a scripted server, waits noted and not waited."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agent.execution.executor import CallResult
from agent.execution.http import HttpExecutor, HttpParameters
from agent.execution.http.host_limits import EventLoopClock
from agent.execution.secret_store import SecretStore
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, make_tool_id
from tests.support.scripted_http_server import Answer, Served, serving

WAITS: list[float] = []


class Hurried(EventLoopClock):
    """A clock on which waiting takes no time; ``WAITS`` has what was waited."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def now(self) -> float:
        return super().now() + self._ahead

    async def sleep(self, seconds: float) -> None:
        WAITS.append(seconds)
        self._ahead += seconds


def tool(url: str, method: str = "GET", *parameters: Parameter) -> ToolDoc:
    return ToolDoc(id=make_tool_id("c", "t", "a"), category="c", toolset="t", api="a", function="a", method=method, url=url,
                   parameters=parameters)  # fmt: skip


@asynccontextmanager
async def executor(
    served: Served, secrets: SecretStore | None = None, **chosen: float
) -> AsyncGenerator[HttpExecutor, None]:
    WAITS.clear()
    parameters = {"timeout": 5.0, "response_limit": 100_000, **chosen}
    limits = HttpParameters(
        timeout=parameters["timeout"],
        response_limit=int(parameters["response_limit"]),
        read_timeout=parameters.get("read_timeout", 3.0),
        allow_hosts=frozenset({f"127.0.0.1:{served.port}"}),
        host_concurrency=int(parameters.get("host_concurrency", 4)),
        host_rate=parameters.get("host_rate"),
    )
    made = HttpExecutor(limits, secrets=secrets, clock=Hurried())
    try:
        yield made
    finally:
        await made.close()


async def call(
    *script: Answer, method: str = "GET", arguments: JsonObject | None = None, **chosen: float
) -> tuple[CallResult, Served]:
    async with serving(*script) as served, executor(served, None, **chosen) as made:
        return await made.call(tool(served.url + "/x", method), arguments or {}), served
