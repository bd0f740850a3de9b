"""How the next run is made: what is chosen, and what is begun with."""

from typing import TYPE_CHECKING

from streamlit.testing.v1 import AppTest

from tests.unit.ui.served import Served

if TYPE_CHECKING:
    from ui.client import Client

CHOICES = {
    "planners": [{"name": "program", "about": ""}, {"name": "dfs", "about": ""}],
    "policies": [{"name": "llm", "about": ""}, {"name": "offline", "about": ""}],
    "models": ["usual", "small"],
    "default_model": "usual",
}


def page(client: "Client") -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.screens.run_choices import choosing

    choosing(client)


def test_the_server_says_what_is_begun_with_and_what_was_chosen_holds() -> None:
    served = Served({"GET /choices": CHOICES, "GET /openapi.json": {"paths": {}}})
    test = AppTest.from_function(page, default_timeout=60, kwargs={"client": served.client}).run()
    assert (test.session_state.chosen.policy, test.session_state.chosen.planner) == ("llm", "program")
    test.selectbox[1].select_index(1).run()
    assert not test.exception
    assert (test.session_state.chosen.policy, test.session_state.chosen.planner) == ("llm", "dfs")
