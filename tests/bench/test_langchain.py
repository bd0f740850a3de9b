"""What an agent's model reads with the middleware, on the playground's requests: against all tools at once, and against LangChain's own selection by a
model, which reads all of them, too. Needs LangChain: ``make test-langchain ARGS="-m 'langchain and bench' -s tests/bench/test_langchain.py"``.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import json
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from agent.text import estimate_tokens
from footpath import Footpath
from footpath.langchain.tools import FootpathTool, named_tools
from tests.support.small_library import playground_folder

pytestmark = [pytest.mark.bench, pytest.mark.langchain]
pytest.importorskip("langchain", reason="LangChain is not installed: make test-langchain")

REQUESTS = Path(__file__).parents[2] / "playground" / "requests"
FILES = ("one", "two", "three", "double", "branching", "held_out")
DOCUMENT = Path(__file__).parents[2] / "playground" / "data" / "openapi.json"


class Reads(GenericFakeChatModel):
    """Notes the tokens of tools that it is given, and those of a question about which to take."""

    tokens: list[int] = Field(default_factory=list[int])
    names: list[frozenset[str]] = Field(default_factory=list[frozenset[str]])
    asked: list[int] = Field(default_factory=list[int])
    first: str = ""

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        self.tokens.append(tokens_of(tools))
        self.names.append(frozenset(tool.name for tool in tools))
        return self

    def with_structured_output(self, schema: Any, **options: Any) -> Runnable[Any, Any]:
        def answer(prompt: Any) -> Any:
            self.asked.append(estimate_tokens(json.dumps(schema) + str(prompt)))
            return {"tools": [self.first]}

        return RunnableLambda(answer)


def tokens_of(tools: Sequence[Any]) -> int:
    return estimate_tokens(json.dumps([convert_to_openai_tool(tool) for tool in tools]))


def model(first: str = "") -> Reads:
    return Reads(messages=iter(lambda: AIMessage(content="done"), None), first=first)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Generator[Footpath]:
    folder = tmp_path_factory.mktemp("read")
    with playground_folder(folder), Footpath.open(folder / "my-store") as footpath:
        yield footpath


def requests() -> list[tuple[str, frozenset[str]]]:
    texts = [(REQUESTS / f"{name}.jsonl").read_text(encoding="utf-8") for name in FILES]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    return [(line["request"], frozenset(call["operation"] for call in line["calls"])) for line in lines]


def all_tools(opened: Footpath) -> Sequence[FootpathTool]:
    paths = json.loads(DOCUMENT.read_bytes())["paths"].values()
    return named_tools(opened, [operation["operationId"] for path in paths for operation in path.values()])


def test_a_model_reads_a_fifth_of_what_all_tools_take(opened: Footpath) -> None:
    from langchain.agents import create_agent
    from langchain.agents.middleware import LLMToolSelectorMiddleware

    from footpath.langchain import OfferedTools

    everything = all_tools(opened)
    told, middleware = model(), OfferedTools(opened)
    agent = create_agent(told, middleware=[middleware])
    asked, times = requests(), list[float]()
    for request, _ in asked:
        began = time.perf_counter()
        agent.invoke({"messages": [("user", request)]})
        times.append(1000 * (time.perf_counter() - began))
    selecting = model(everything[0].name)
    other = create_agent(selecting, tools=list(everything), middleware=[LLMToolSelectorMiddleware(max_tools=16)])
    other.invoke({"messages": [("user", asked[0][0])]})
    apis = {tool.name: tool.tool.rpartition("/")[2] for tool in everything}
    offered = [{apis.get(name, name) for name in names} for names in told.names]
    there = sum(needed <= names for (_, needed), names in zip(asked, offered, strict=True))
    plain = tokens_of(everything)
    print(f"\n{len(everything)} tools, {len(asked)} requests: all needed tools offered for {there}")
    print(f"tokens of tools in each call of the model: {np.median(told.tokens):.0f}, all tools {plain}")
    print(
        f"LLMToolSelectorMiddleware: one call more per step, {selecting.asked[0]} tokens, nothing is asked of a model here"
    )
    print(f"an agent's step without its model: p50 {np.median(times):.0f} ms, p99 {np.percentile(times, 99):.0f} ms")
    assert np.median(told.tokens) < plain / 5
    assert there >= 0.9 * len(asked)
