"""Why there is no answer: what can be mended first, nothing twice, no bookkeeping."""

from agent.failure_message import format_failure_message
from domain.plan import StepResult
from tests.support.small_world import GEOCODE, NEW_WEATHER, OLD_WEATHER


def test_a_connection_comes_before_the_walk_and_nothing_is_said_twice() -> None:
    dead = StepResult(tool=OLD_WEATHER.id, status="failed", outcome="gone", note="127.0.0.1 cannot be reached.")
    empty = StepResult(
        tool=GEOCODE.id, status="failed", outcome="ok", http_status=200,
        note="it found nothing Tried before, without finding anything: {}",
    )  # fmt: skip
    steps = [(GEOCODE, empty), (OLD_WEATHER, dead), (OLD_WEATHER, dead)]
    assert format_failure_message("no tool fits", steps, ["a/b"]).splitlines() == [
        "This could not be answered: Weather Set/get_forecast could not be called: 127.0.0.1 cannot be reached.",
        "Nothing else served: no tool fits.",
        "Places Set/search_places gave no answer: it found nothing.",
        "Considered to start with: a/b.",
    ]


def test_what_keeps_several_tools_from_being_called_is_said_once() -> None:
    keyless = [
        StepResult(tool=one.id, status="failed", outcome="caller_fault", note="a key is needed")
        for one in (OLD_WEATHER, NEW_WEATHER)
    ]
    told = format_failure_message("r", list(zip((OLD_WEATHER, NEW_WEATHER), keyless, strict=True)), [])
    assert told.count("a key is needed") == 1
    assert "Weather Set/get_forecast and Weather Set/get_daily_forecast could not be called" in told


def test_a_refused_key_is_trouble_and_a_bad_request_is_not() -> None:
    key = StepResult(tool=NEW_WEATHER.id, status="failed", outcome="gone", http_status=401, note="HTTP 401")
    bad = StepResult(tool=GEOCODE.id, status="failed", outcome="caller_fault", http_status=400, note="HTTP 400")
    assert format_failure_message("r", [(GEOCODE, bad), (NEW_WEATHER, key)], []).startswith(
        "This could not be answered: Weather Set/get_daily_forecast could not be called: HTTP 401.\n"
    )
    assert format_failure_message("r", [(GEOCODE, bad)], []).startswith("This could not be answered: r.\n")
