"""Traces by OpenTelemetry, with its conventions for generative AI: requests, runs and calls of tools, read off the stored events.

What was asked, sent and answered is in none of them.
"""

from collections import OrderedDict
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from domain.event import CallFinished, CallStarted, EventRecord, InputNeeded, RunDelayed, RunFinished
from server.storage.runs import Run
from server.watching.tracing import Ended

_MOST = 1000
"""Runs that are remembered: those under way here, and those that were asked for and are not yet."""


def exporting(model: str) -> "OpenTelemetry":
    """Sent by OTLP over HTTP, in batches, from a thread; where to, say the standard ``OTEL_…`` variables."""
    return OpenTelemetry(BatchSpanProcessor(OTLPSpanExporter()), model)


@dataclass
class _Open:
    span: Span
    began: int
    calls: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])


class OpenTelemetry:
    """One process's, with a provider of its own. ``model``: the language model of the settings."""

    def __init__(self, processor: SpanProcessor, model: str = "") -> None:
        self._provider = TracerProvider(resource=Resource.create({"service.name": "footpath"}))
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("footpath.server")
        self._model = model
        self._asked: OrderedDict[str, context.Context] = OrderedDict()
        self._open: OrderedDict[str, _Open] = OrderedDict()

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Generator[Ended]:
        """A span of the server's, as part of the caller's trace where it sends one (W3C Trace Context)."""
        about = TraceContextTextMapPropagator().extract({name.lower(): value for name, value in headers.items()})
        given: dict[str, AttributeValue] = {"http.request.method": method}
        span = self._tracer.start_span(method, about, kind=SpanKind.SERVER, attributes=given)
        token = context.attach(trace.set_span_in_context(span, about))

        def ended(route: str, status: int) -> None:
            span.update_name(f"{method} {route}")
            span.set_attributes({"http.route": route, "http.response.status_code": status})
            if status >= 500:
                span.set_status(StatusCode.ERROR)

        try:
            yield ended
        finally:
            context.detach(token)
            span.end()

    def asked(self, run_id: str) -> None:
        """The run's spans are to be the request's."""
        self._asked[run_id] = context.get_current()
        if len(self._asked) > _MOST:
            self._asked.popitem(last=False)

    def stored(self, run: Run, record: EventRecord) -> None:
        """A span of a run lasts from the first event to the last that is stored here, or to where it waits for its user."""
        if run.id not in self._open:
            self._begin(run, _nanoseconds(record.at))
        made, at = self._open[run.id], _nanoseconds(record.at)
        match event := record.event:
            case CallStarted():
                made.calls[record.subtask, event.step] = at
            case CallFinished():
                self._called(run, record.subtask, event, at)
            case InputNeeded():
                self._end(run.id, "waiting", at)
            case RunDelayed():
                self._end(run.id, "delayed", at)
            case RunFinished():
                self._chatted(made, event, at)
                if event.error:
                    made.span.set_status(StatusCode.ERROR)
                    made.span.set_attribute("error.type", event.error.partition(":")[0])
                self._end(run.id, event.outcome, at)
                self._asked.pop(run.id, None)
            case _:
                return

    def _begin(self, run: Run, at: int) -> None:
        given = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "footpath",
            "gen_ai.conversation.id": run.conversation_id,
            "footpath.run.id": run.id,
            "footpath.planner": run.planner,
            "footpath.policy": run.policy,
        }
        parent = self._asked.get(run.id, context.Context())
        span = self._tracer.start_span("invoke_agent footpath", parent, attributes=given, start_time=at)
        self._open[run.id] = _Open(span, at)
        if len(self._open) > _MOST:
            self._end(next(iter(self._open)), "lost", at)

    def _called(self, run: Run, subtask: int, event: CallFinished, at: int) -> None:
        made, result = self._open[run.id], event.result
        given: dict[str, AttributeValue] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": result.tool,
            "gen_ai.tool.call.id": f"{run.id}/{subtask}/{event.step}",
            "footpath.call.status": result.status,
            "footpath.call.attempts": result.attempts,
        }
        if result.http_status is not None:
            given["http.response.status_code"] = result.http_status
        began = made.calls.pop((subtask, event.step), at)
        span = self._within(made, f"execute_tool {result.tool}", SpanKind.INTERNAL, given, began)
        if result.status != "ok":
            span.set_attribute("error.type", result.outcome or result.status)
            span.set_status(StatusCode.ERROR)
        span.end(at)

    def _chatted(self, made: _Open, event: RunFinished, at: int) -> None:
        """The events tell what a run's calls of the model came to, not each: one span stands for all of them."""
        used = event.usage
        tokens = {"gen_ai.usage.input_tokens": used.prompt_tokens, "gen_ai.usage.output_tokens": used.completion_tokens}
        if not used.model_calls:
            return
        made.span.set_attributes(tokens)
        given: dict[str, AttributeValue] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": self._model,
            "footpath.model_calls": used.model_calls,
            **tokens,
        }
        given |= {f"footpath.model_calls.{purpose}": calls for purpose, calls in used.by_purpose.items()}
        self._within(made, f"chat {self._model}".strip(), SpanKind.CLIENT, given, made.began).end(at)

    def _within(self, made: _Open, name: str, kind: SpanKind, given: Mapping[str, AttributeValue], began: int) -> Span:
        inside = trace.set_span_in_context(made.span, context.Context())
        return self._tracer.start_span(name, inside, kind=kind, attributes=dict(given), start_time=began)

    def _end(self, run_id: str, how: str, at: int | None = None) -> None:
        made = self._open.pop(run_id)
        made.span.set_attribute("footpath.outcome", how)
        made.span.end(at)

    def close(self) -> None:
        """End the spans of runs that are put down, and send all that is left."""
        for run_id in list(self._open):
            self._end(run_id, "put down")
        self._provider.shutdown()


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1000
