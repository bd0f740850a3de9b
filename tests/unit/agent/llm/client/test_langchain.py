"""The client of a language model against the real protocol: what works, what is learnt, what is retried."""

import json

import pytest

from agent.llm.client.chat import ModelReply, ModelTokenUsage
from agent.llm.client.retrying import MAX_WAIT
from agent.llm.program_reply import extract_program
from domain.errors import ModelUnavailableError
from tests.models.openai_replies import BUSY, ILL, Hangs, Refuses, Resets, Says, scripted
from tests.models.openai_server import model_server
from tests.unit.agent.llm.client.talking import FORM, HELLO, KEY, WAITS, streamed, talking


async def test_a_whole_reply_with_its_tokens() -> None:
    async with talking(scripted(Says("Hello.", usage=(12, 3)))) as (model, server):
        assert await model.complete(HELLO) == ModelReply("Hello.", ModelTokenUsage(12, 3))
        assert [m["content"] for m in server.requests[0].messages] == ["Be brief.", "Hello?"]


async def test_calls_of_tools_are_kept_whether_or_not_their_arguments_are_json() -> None:
    said = Says("", calls=(("python", '{"code": "x = 1"}'), ("python", "x = 1\ny = 2")), finish="tool_calls")
    async with talking(scripted(said)) as (model, _):
        reply = await model.complete(HELLO)
        assert reply.text == ""
        assert json.loads(reply.tool_calls) == [
            {"name": "python", "arguments": {"code": "x = 1"}},
            {"name": "python", "arguments": "x = 1\ny = 2"},
        ]
        assert extract_program(reply).text == "x = 1"


async def test_a_streamed_reply_with_its_tokens() -> None:
    async with talking(scripted(Says("Hello, this is a long story.", usage=(12, 3), piece=5))) as (model, _):
        text, end = await streamed(model)
        assert text == end.text == "Hello, this is a long story."
        assert end.usage == ModelTokenUsage(12, 3)


async def test_tokens_are_estimated_where_none_are_reported() -> None:
    async with talking(scripted(Says("x" * 400, usage=None))) as (model, _):
        assert (await model.complete(HELLO)).usage == ModelTokenUsage(4, 101, is_counted=False)


async def test_a_reply_at_the_bound_of_its_length_says_so() -> None:
    async with talking(scripted(Says("Hel", finish="length"))) as (model, _):
        assert (await model.complete(HELLO, FORM)).cut
        assert (await streamed(model))[1].cut


async def test_a_long_reply_is_read_whole() -> None:
    async with talking(scripted("y" * 200_000)) as (model, _):
        assert len((await model.complete(HELLO)).text) == 200_000


async def test_an_endpoint_that_knows_no_schemas_is_asked_for_less_and_remembered() -> None:
    supports = frozenset({"json_object", "temperature", "max_tokens", "stream_options"})
    async with talking(scripted("{}"), supports=supports) as (model, server):
        await model.complete(HELLO, FORM)
        assert [r.response_format for r in server.requests] == ["json_schema", "json_object"]
        await model.complete(HELLO, FORM)
        assert server.requests[-1].response_format == "json_object"
        assert len(server.requests) == 3


async def test_an_endpoint_that_knows_next_to_nothing_still_answers() -> None:
    async with talking(scripted("{}"), supports=frozenset()) as (model, server):
        assert (await model.complete(HELLO, FORM)).text == "{}"
        assert (await streamed(model))[0] == "{}"
        left = set(server.requests[-1].body) - {"messages", "model", "stream"}
        assert left == {"max_completion_tokens"}


async def test_a_refusal_that_has_another_cause_is_told() -> None:
    async with talking(scripted("{}", Refuses(400, "maximum context length is 4096 tokens"))) as (model, server):
        await model.complete(HELLO, FORM)
        with pytest.raises(ModelUnavailableError, match="maximum context length") as told:
            await model.complete(HELLO, FORM)
        assert told.value.kind == "request"
        assert len(server.requests) == 2


@pytest.mark.parametrize("ill", [ILL, Refuses(503, "loading"), Resets()], ids=["500", "503", "reset"])
async def test_a_passing_failure_is_retried_with_jitter(ill: Refuses | Resets) -> None:
    async with talking(scripted(ill, ill, "Hello.")) as (model, server):
        assert (await model.complete(HELLO)).text == "Hello."
        assert len(server.requests) == 3
    assert len(WAITS) == 2
    assert all(0 <= wait <= 8 for wait in WAITS)
    assert WAITS[0] != WAITS[1]


async def test_the_endpoint_says_how_long_to_wait() -> None:
    async with talking(scripted(BUSY, "Hello.")) as (model, _):
        assert (await model.complete(HELLO)).text == "Hello."
    assert WAITS[0] >= 1


@pytest.mark.parametrize(("asked", "seconds"), [(MAX_WAIT + 1, None), (5.0, 2.0)], ids=["too long", "no time left"])
async def test_no_wait_that_cannot_be_afforded(asked: float, seconds: float | None) -> None:
    busy = Refuses(429, "later", None, {"retry-after": str(asked)})
    async with talking(scripted(busy, "Hello.")) as (model, server):
        with pytest.raises(ModelUnavailableError) as told:
            await model.complete(HELLO, seconds=seconds)
        assert told.value.retry_after == asked
        assert len(server.requests) == 1
    assert WAITS == []


async def test_attempts_are_bounded() -> None:
    async with talking(scripted(ILL), attempts=2) as (model, server):
        with pytest.raises(ModelUnavailableError):
            await model.complete(HELLO)
        with pytest.raises(ModelUnavailableError):
            await streamed(model)
        assert len(server.requests) == 4


async def test_a_stream_is_retried_before_its_first_piece_only() -> None:
    async with talking(scripted(Resets(), Says("Hello, you.", piece=4, cut_after=1))) as (model, server):
        source = model.stream(HELLO)
        assert await anext(source) == "Hell"
        with pytest.raises(ModelUnavailableError, match="broke the connection off"):
            await anext(source)
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    "slow", [Hangs(), Says("x" * 400, drip=0.2), Says("x", wait=9)], ids=["hangs", "drips", "late"]
)
async def test_one_answer_takes_bounded_time(slow: Hangs | Says) -> None:
    async with talking(scripted(slow), timeout=0.3) as (model, server):
        with pytest.raises(ModelUnavailableError, match="FOOTPATH_MODEL_TIMEOUT") as told:
            await model.complete(HELLO)
        assert told.value.kind == "timeout"
        assert len(server.requests) == 1


async def test_a_slow_stream_goes_on_while_pieces_come() -> None:
    async with talking(scripted(Says("x" * 10, piece=1, drip=0.1)), timeout=0.6) as (model, _):
        assert (await streamed(model))[0] == "x" * 10


async def test_the_time_of_the_caller_bounds_all_attempts_and_streams() -> None:
    async with talking(scripted(Says("x" * 100, piece=1, drip=0.1))) as (model, _):
        with pytest.raises(ModelUnavailableError, match="in time"):
            await streamed(model, seconds=0.5)


async def test_nothing_of_the_machine_is_sent_and_nobody_else_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever other programs' variables say: no tracing, no proxy, no other account, no redirect of requests."""
    async with model_server(scripted("spied")) as spy:
        elsewhere = spy.url.removesuffix("/v1")
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_PROXY", "LANGSMITH_ENDPOINT", "OPENAI_BASE_URL"):
            monkeypatch.setenv(name, elsewhere)
        others = {"LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": "ls", "OPENAI_ORG_ID": "org", "OPENAI_API_KEY": "sk-other",
                  "LANGSMITH_GATEWAY": elsewhere, "OPENAI_CUSTOM_HEADERS": "x-more: 1", "LANGCHAIN_TRACING_V2": "true"}  # fmt: skip
        for name, value in others.items():
            monkeypatch.setenv(name, value)
        async with talking(scripted("Hello.")) as (model, server):
            await model.complete(HELLO)
            await streamed(model)
            assert [r.headers["authorization"] for r in server.requests] == [f"Bearer {KEY}"] * 2
            known = {"host", "accept", "content-type", "content-length", "connection", "accept-encoding", "user-agent"}
            assert set(server.requests[0].headers) - known == {"authorization", "x-stainless-raw-response"}
            assert server.requests[0].headers["user-agent"] == "footpath"
        assert spy.requests == []
