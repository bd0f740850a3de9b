"""A server whose PostgreSQL is 200 ms away: seconds and round trips of a run and of what users ask. Figures are printed, none is asserted."""

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.servers.postgres.server import PostgresServer
from tests.support.distant_database import DistantServer, serving_at_distance
from tests.support.playground_process import running_playground
from tests.support.server_process import built

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]
WAY = 0.1
"""Seconds that bytes are on their way, there and back each."""
TIMES = 5


@pytest.fixture
def playground() -> Iterator[str]:
    with running_playground() as address:
        yield address


def test_distance_to_postgres(postgres_server: PostgresServer, playground: str, tmp_path: Path) -> None:
    place = built(tmp_path, playground)
    with serving_at_distance(postgres_server, place, tmp_path / "home", WAY) as distant:
        conversation, run = distant.new_conversation(), distant.run()
        asked = list[str]()
        works: dict[str, Callable[[], object]] = {
            "nothing for 5 s": lambda: time.sleep(5),
            "POST /auth/login": distant.log_in,
            "GET /conversations": lambda: distant.get("/conversations"),
            "POST /conversations": distant.new_conversation,
            "GET /runs/{id}": lambda: distant.get(f"/runs/{run}"),
            "POST /conversations/{id}/runs": lambda: asked.append(distant.ask(conversation)),
            "a run, asked in a new conversation and followed to its end": distant.run,
        }
        print(f"\nstart: {distant.start[1]:.1f} s, {distant.start[0]} round trips")
        for name, work in works.items():
            figures = [_measured(distant, work, asked) for _ in range(TIMES)]
            seconds = [one[1] for one in figures]
            print(
                f"{name}: {statistics.median(seconds):.1f} s ({min(seconds):.1f}-{max(seconds):.1f}), "
                f"{statistics.median(one[0] for one in figures):.0f} round trips (least {min(one[0] for one in figures)})"
            )


def _measured(distant: DistantServer, work: Callable[[], object], asked: list[str]) -> tuple[int, float]:
    figures = distant.measure(work)
    for run in asked:  # nothing else is under way while the next is measured
        distant.client.follow(run)
    asked.clear()
    return figures
