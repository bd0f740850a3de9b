"""The server's figures for Prometheus. Labels have few values each: never an id, a name, a path or a tool."""

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from domain.errors import FootpathError
from domain.event import CallFinished, EventRecord, RunFinished
from domain.plan import StepResult
from domain.usage import Usage
from server.storage.runs import Run

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ANSWERS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_RUNS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160)
_LOGIN = "/api/v1/auth/login"
_REFUSED = {401: "wrong_password", 429: "locked_out"}


class Metrics:
    """One process's, in a registry of its own. What is counted begins at 0 with the process."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._requests = Counter(
            "footpath_http_requests", "Answers by route.", ["route", "method", "status"], registry=registry
        )
        self._seconds = Histogram(
            "footpath_http_request_seconds",
            "Seconds to an answer's end; of streams, to their beginning.",
            ["route", "method"],
            buckets=_ANSWERS,
            registry=registry,
        )
        self._logins = Counter("footpath_login_failures", "Log-ins that failed.", ["reason"], registry=registry)
        self._database = Counter("footpath_database_errors", "Errors of the database.", ["code"], registry=registry)
        self._runs = Counter("footpath_runs", "Runs that ended.", ["outcome", "planner", "policy"], registry=registry)
        self._run_seconds = Histogram(
            "footpath_run_seconds", "What runs took.", ["stage", "policy"], buckets=_RUNS, registry=registry
        )
        self._calls = Counter("footpath_tool_calls", "Calls of tools.", ["outcome", "http_class"], registry=registry)
        self._retries = Counter("footpath_tool_call_retries", "Repeated attempts of calls.", registry=registry)
        self._model_calls = Counter("footpath_model_calls", "Calls of the model.", ["purpose"], registry=registry)
        self._purpose_tokens = Counter(
            "footpath_model_tokens", "Tokens, in and out, by what for.", ["purpose"], registry=registry
        )
        self._tokens = Counter("footpath_tokens", "Tokens by direction.", ["direction"], registry=registry)
        self._events = Counter("footpath_events_stored", "Events of runs that were stored.", registry=registry)
        self._state = Gauge(
            "footpath_runs_open",
            "Runs that have not ended, of all servers on this database.",
            ["status"],
            registry=registry,
        )

        self._lessons = Gauge(
            "footpath_lessons_waiting",
            "Lessons that wait for a store, of all servers on this database.",
            registry=registry,
        )
        self._in_hand = Gauge("footpath_runs_in_hand", "Runs that this process makes.", registry=registry)
        self._followers = Gauge("footpath_followers", "Who follows runs of this process.", registry=registry)

    def watch(self, in_hand: Callable[[], int], followers: Callable[[], int]) -> None:
        """What is looked at when it is asked for: runs that this process makes, and who follows runs here."""
        self._in_hand.set_function(in_hand)
        self._followers.set_function(followers)

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """A request was answered. ``route``: its template."""
        method = method if method in _METHODS else "other"
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds)
        if route == _LOGIN and status in _REFUSED:
            self._logins.labels(_REFUSED[status]).inc()

    def database_failed(self, error: FootpathError) -> None:
        """The database did not do what it was asked."""
        self._database.labels(error.code).inc()

    def stored(self, run: Run, record: EventRecord) -> None:
        """An event of a run was stored."""
        self._events.inc()
        event = record.event
        match event:
            case CallFinished():
                self._called(event.result)
            case RunFinished():
                self._runs.labels(event.outcome, run.planner, run.policy).inc()
                self._used(run.policy, event.usage)
            case _:
                return

    def _called(self, result: StepResult) -> None:
        status = f"{result.http_status // 100}xx" if result.http_status else "none"
        self._calls.labels(result.outcome or "not_made", status).inc()
        self._retries.inc(max(0, result.attempts - 1))

    def _used(self, policy: str, usage: Usage) -> None:
        spent = (
            ("plan", usage.plan_seconds),
            ("write", usage.write_seconds),
            ("check", usage.check_seconds),
            ("execute", usage.execute_seconds),
            ("total", usage.total_seconds),
        )
        for stage, seconds in spent:
            self._run_seconds.labels(stage, policy).observe(seconds)
        for purpose, calls in usage.by_purpose.items():
            self._model_calls.labels(purpose).inc(calls)
        for purpose, tokens in usage.tokens_by_purpose.items():
            self._purpose_tokens.labels(purpose).inc(tokens)
        self._tokens.labels("prompt").inc(usage.prompt_tokens)
        self._tokens.labels("completion").inc(usage.completion_tokens)

    def text(self, open_runs: Mapping[str, int], lessons: float) -> bytes:
        """All figures in Prometheus' format. ``open_runs``: by status; empty where the database did not tell. ``lessons``: how many wait; then NaN."""
        self._lessons.set(lessons)
        self._state.clear()
        for status, count in open_runs.items():
            self._state.labels(status).set(count)
        return generate_latest(self.registry)
