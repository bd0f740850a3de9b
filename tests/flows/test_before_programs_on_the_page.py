"""Plans of the version whose plans were steps, on the page of this one: the run that waits with one shows it, and it can be approved."""

import asyncio
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from tests.flows.before_programs import KEPT_FOR_EVER, RUNS, unpacked
from tests.flows.served import PASSWORD, Place, serving
from tests.playing import running_playground
from wiring.verify import verify

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The old rows and store behind the new server."""
    with running_playground() as address:
        old = unpacked(tmp_path_factory.mktemp("old"), address)
        assert asyncio.run(verify(old.store, lambda stage, done, total: None, mend=True)).equal
        with serving(Place(address, address, old.store), old.home, **KEPT_FOR_EVER) as (server, _):
            yield server


def page(server: str, password: str, run: str) -> None:
    """The page of a run that waits with a plan; Streamlit runs it apart, so it imports for itself."""
    from ui.client import log_in, opened
    from ui.run_state import run_state
    from ui.run_view import draw
    from ui.screens.around_run import around
    from ui.screens.plan import plan
    from ui.stream import Told

    def read_so_far() -> list[Told]:
        told: list[Told] = []
        for one in client.events(run):
            told.append(one)
            if one.kind == "input.needed":
                break
        return told

    with opened(server) as http:
        client = log_in(http, "ada", password)
        story = run_state(read_so_far())
        (waits,) = client.open_questions(run)
        draw(story, around(client, run, story, client.asked(run)))
        plan(client, run, waits, story)


@pytest.mark.parametrize(
    ("run", "labels"),
    [
        ("waits with a plan", {"Value of city"}),
        ("waits with an edited plan", {"Value of city"}),
        ("waits with a plan of a change", {"Value of title", "Value of due_date"}),
    ],
)
def test_the_plan_that_it_waits_with_can_be_approved(server: str, run: str, labels: set[str]) -> None:
    told = {"server": server, "password": PASSWORD, "run": RUNS[run]}
    shown = AppTest.from_function(page, default_timeout=60, kwargs=told).run()
    assert not shown.exception
    assert any(one.value.startswith("**This is the plan.**") for one in shown.markdown)
    assert labels <= {one.label for one in shown.text_input} | {one.label for one in shown.date_input}
    assert not shown.error
    (approve,) = [one for one in shown.button if one.label == "Approve"]
    assert not approve.disabled
