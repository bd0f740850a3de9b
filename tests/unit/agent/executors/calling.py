"""A call of the HTTP executor to a scripted server, waits noted and not waited."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agent.executor import CallResult
from agent.executors.http import HttpExecutor, HttpParameters
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, tool_id
from tests.unit.agent.executors.serving import Answer, Served, serving

WAITS: list[float] = []


async def no_wait(seconds: float) -> None:
    WAITS.append(seconds)


def tool(url: str, method: str = "GET", *parameters: Parameter) -> ToolDoc:
    return ToolDoc(id=tool_id("c", "t", "a"), category="c", toolset="t", api="a", function="a", method=method, url=url,
                   parameters=parameters)  # fmt: skip


@asynccontextmanager
async def executor(served: Served, **chosen: float) -> AsyncGenerator[HttpExecutor, None]:
    WAITS.clear()
    parameters = {"timeout": 5.0, "response_limit": 100_000, **chosen}
    limits = HttpParameters(
        timeout=parameters["timeout"],
        response_limit=int(parameters["response_limit"]),
        read_timeout=parameters.get("read_timeout", 3.0),
        allow_hosts=frozenset({f"127.0.0.1:{served.port}"}),
    )
    made = HttpExecutor(limits, sleep=no_wait)
    try:
        yield made
    finally:
        await made.close()


async def call(
    *script: Answer, method: str = "GET", arguments: JsonObject | None = None, **chosen: float
) -> tuple[CallResult, Served]:
    async with serving(*script) as served, executor(served, **chosen) as made:
        return await made.call(tool(served.url + "/x", method), arguments or {}), served
