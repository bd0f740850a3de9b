"""Traces: which spans there are, what they hold, what they never hold, and that they arrive where they are sent."""

import asyncio
import gzip
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from domain.event import (
    AnswerDelta,
    CallFinished,
    CallStarted,
    Event,
    EventRecord,
    InputNeeded,
    RunFinished,
    RunStarted,
)
from domain.plan import StepResult
from domain.tool import ToolId
from domain.usage import Usage
from server.storage.runs import Run
from server.watching.otel import OpenTelemetry
from server.watching.tracing import Untraced, tracing
from tests.support.server_world import World, copied, serving
from wiring.settings import Settings

BEGAN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECRET = "what nobody else may read"
RUN = Run.model_validate(
    {name: None for name, field in Run.model_fields.items() if field.is_required()}
    | {"id": "run-1", "user_id": "u", "conversation_id": "c-1", "request": SECRET, "status": "running"}
    | {"planner": "dfs", "policy": "llm", "model": "", "settings": {}, "plan_version": 0, "created_at": BEGAN}
)
TOOL = ToolId("weather/now/get")


def a_run() -> list[tuple[float, Event]]:
    usage = Usage(model_calls=3, prompt_tokens=40, completion_tokens=5, by_purpose={"choose": 3})
    ok = StepResult(
        tool=TOOL, arguments={"a": SECRET}, status="ok", outcome="ok", attempts=1, http_status=200, response=SECRET
    )
    failed = StepResult(tool=TOOL, status="failed", outcome="transient", attempts=3, http_status=503, note=SECRET)
    return [
        (0, RunStarted(request=SECRET, planner="dfs", policy="llm")),
        (1, CallStarted(step=1, tool=TOOL, arguments={"a": SECRET})),
        (2, CallStarted(step=2, tool=TOOL, arguments={})),
        (3, CallFinished(step=1, result=ok)),
        (5, CallFinished(step=2, result=failed)),
        (6, AnswerDelta(text=SECRET)),
        (7, RunFinished(outcome="failed", answer=SECRET, usage=usage, error=f"model_unavailable: {SECRET}")),
    ]


def told(traces: OpenTelemetry, events: list[tuple[float, Event]]) -> None:
    for seq, (second, event) in enumerate(events, 1):
        at = BEGAN + timedelta(seconds=second)
        traces.stored(RUN, EventRecord(run=RUN.id, seq=seq, at=at, subtask=1, event=event))


@contextmanager
def tracer() -> Generator[tuple[OpenTelemetry, InMemorySpanExporter]]:
    exporter = InMemorySpanExporter()
    traces = OpenTelemetry(SimpleSpanProcessor(exporter), "a-model")
    yield traces, exporter
    traces.close()


def attributes(span: ReadableSpan) -> Mapping[str, object]:
    return dict(span.attributes or {})


def seconds(span: ReadableSpan) -> tuple[float, float]:
    assert span.start_time is not None
    assert span.end_time is not None
    began = BEGAN.timestamp()
    return round(span.start_time / 1e9 - began, 3), round(span.end_time / 1e9 - began, 3)


def test_a_run_its_calls_and_its_model() -> None:
    with tracer() as (traces, exporter):
        with traces.request("POST", {}) as ended:
            traces.asked(RUN.id)
            ended("/api/v1/conversations/{conversation_id}/runs", 202)
        told(traces, a_run())
        request, first, second, chat, run = exporter.get_finished_spans()
    assert request.name == "POST /api/v1/conversations/{conversation_id}/runs"
    assert request.context is not None
    assert run.context is not None
    assert run.parent is not None
    assert run.parent.span_id == request.context.span_id
    assert all(one.parent is not None and one.parent.span_id == run.context.span_id for one in (first, second, chat))
    assert (run.name, seconds(run)) == ("invoke_agent footpath", (0, 7))
    about = attributes(run)
    assert about["gen_ai.operation.name"] == "invoke_agent"
    assert about["gen_ai.conversation.id"] == "c-1"
    assert about["footpath.outcome"] == "failed"
    assert (run.status.status_code, about["error.type"]) == (StatusCode.ERROR, "model_unavailable")
    assert (first.name, seconds(first), seconds(second)) == (f"execute_tool {TOOL}", (1, 3), (2, 5))
    assert attributes(first)["gen_ai.tool.name"] == TOOL
    assert attributes(first)["http.response.status_code"] == 200
    assert (second.status.status_code, attributes(second)["error.type"]) == (StatusCode.ERROR, "transient")
    assert chat.name == "chat a-model"
    used = attributes(chat)
    assert (used["gen_ai.usage.input_tokens"], used["gen_ai.usage.output_tokens"]) == (40, 5)
    assert (used["gen_ai.request.model"], used["footpath.model_calls.choose"]) == ("a-model", 3)


def test_nothing_of_what_was_said_is_in_them() -> None:
    with tracer() as (traces, exporter):
        told(traces, a_run())
        spans = exporter.get_finished_spans()
    assert len(spans) == 4
    assert SECRET not in "".join(span.to_json() for span in spans)


def test_a_run_that_waits_or_is_put_down_has_a_span_for_each_part() -> None:
    asks = InputNeeded(input="i", asks="call", reason=SECRET, tool=TOOL)
    with tracer() as (traces, exporter):
        told(traces, [*a_run()[:2], (4, asks)])
        told(traces, a_run()[3:4])
        traces.close()
        outcomes = [attributes(span).get("footpath.outcome") for span in exporter.get_finished_spans()]
    assert outcomes == ["waiting", None, "put down"]


def test_a_caller_s_trace_goes_on() -> None:
    with tracer() as (traces, exporter):
        parent = {"Traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}
        with traces.request("GET", parent) as ended:
            ended("unmatched", 500)
        (span,) = exporter.get_finished_spans()
    assert span.context is not None
    assert f"{span.context.trace_id:032x}" == "ab" * 16
    assert span.status.status_code is StatusCode.ERROR


@pytest.mark.parametrize(
    ("setting", "variables", "wanted"),
    [
        ("auto", {}, False),
        ("auto", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, True),
        ("off", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, False),
        ("on", {}, True),
    ],
)
def test_when_there_are_any(setting: str, variables: dict[str, str], wanted: bool) -> None:
    made = tracing(Settings(otel=setting), variables)  # pyright: ignore[reportArgumentType]
    made.close()
    assert isinstance(made, Untraced) is not wanted


@pytest.fixture
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """A small receiver of OTLP over HTTP."""
    received: list[ExportTraceServiceRequest] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            received.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", received
        server.shutdown()
        thread.join()


async def ask(world: World) -> str:
    headers = await world.headers_of("user")
    conversation = (await world.client.post("/api/v1/conversations", json={}, headers=headers)).json()["id"]
    place = f"/api/v1/conversations/{conversation}/runs"
    run = (await world.client.post(place, json={"request": SECRET, "planner": "dfs"}, headers=headers)).json()["id"]
    await world.client.get(f"/api/v1/runs/{run}/events", headers=headers)
    return run


async def test_they_arrive(
    home: Path,
    tmp_path: Path,
    collector: tuple[str, list[ExportTraceServiceRequest]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, received = collector
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    async with serving(await asyncio.to_thread(copied, home, tmp_path / "home")) as world:
        run = await ask(world)
    sent = [
        one for batch in received for part in batch.resource_spans for scope in part.scope_spans for one in scope.spans
    ]
    (made,) = [one for one in sent if one.name == "invoke_agent footpath"]
    (asked,) = [one for one in sent if one.name.startswith("POST") and one.name.endswith("/runs")]
    assert (made.trace_id, made.parent_span_id) == (asked.trace_id, asked.span_id)
    assert {one.key: one.value.string_value for one in made.attributes}["footpath.run.id"] == run
    assert SECRET not in str(received)
