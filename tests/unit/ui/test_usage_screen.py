"""Usage on the page: sums, users, limits of one of them, failures and latency."""

from typing import Any

import httpx
from streamlit.testing.v1 import AppTest

from tests.unit.ui.served import HOSTILE, Served
from ui.client import Client

DAYS = [
    {"day": "2026-11-22", "runs": 2, "prompt_tokens": 100},
    {"day": "2026-11-23", "runs": 3, "completion_tokens": 50},
]
USERS = [{"user_id": "c", "name": HOSTILE, "runs": 5, "prompt_tokens": 1000, "model_calls": 7}]
FIGURE = {"name": "a/b/find_ship", "count": 10, "failed": 4, "median": 0.5, "p95": 2.25}
HOLDS = {"own": {"runs": None}, "counts": {"runs": 2000, "tokens": 0, "cost": 0}}


def page(client: "Client") -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.screens.usage import all_usage

    all_usage(client)


def shown(**answers: Any) -> tuple[AppTest, Served]:
    usual = {
        "GET /usage": {"days": DAYS, "users": USERS},
        "GET /usage/performance": {"planners": [FIGURE | {"name": "dfs (offline)"}], "tools": [FIGURE], "most": 5000},
        "GET /users": [{"id": "c", "name": HOSTILE}, {"id": "n", "name": "newcomer"}],
        "GET /users/c/limits": HOLDS,
        "GET /users/n/limits": HOLDS,
        "GET /users/z/limits": HOLDS,
    }
    served = Served(usual | answers, "admin")
    return AppTest.from_function(page, default_timeout=30, kwargs={"client": served.client}).run(), served


def texts(test: AppTest) -> str:
    return "\n".join(str(one) for each in test.table for one in each.value.to_numpy().flatten())


def test_sums_users_and_figures_are_told() -> None:
    test, _ = shown()
    assert not test.exception
    assert [(one.label, one.value) for one in test.metric] == [("Runs", "5"), ("Model calls", "0"), ("Tokens", "150")]
    assert "**loud**" not in texts(test)
    assert "find\\_ship" in texts(test)
    assert "2\\.25 s" in texts(test)
    assert any("no prices" in one.value for one in test.caption)


def test_costs_are_told_where_there_are_prices() -> None:
    test, _ = shown(**{"GET /usage": {"days": [DAYS[0] | {"cost": 1.5}], "users": []}})
    assert test.metric[-1].value == "1.50"


def test_a_user_is_given_limits_and_what_the_server_says_against_it_is_shown() -> None:
    refused = httpx.Response(400, json={"code": "usage", "detail": "a limit of costs needs prices"})

    def answer(sent: dict[str, Any]) -> object:
        return refused if sent["cost"] else HOLDS

    test, served = shown(**{"PUT /users/c/limits": answer})
    test.number_input(key="limit-runs-c").set_value(5)
    test.number_input(key="limit-cost-c").set_value(1.0)
    test.button[0].click().run()
    assert "needs prices" in test.error[0].value
    test.number_input(key="limit-cost-c").set_value(None)
    test.button[0].click().run()
    assert served.asked[-1] == ("PUT /users/c/limits", {"runs": 5, "tokens": None, "cost": None})
    assert "from the next run on" in test.success[0].value


def test_nothing_used_says_so() -> None:
    test, _ = shown(**{"GET /usage": {"days": [], "users": []}, "GET /usage/performance": {}})
    assert [one.value for one in test.info] == ["Nothing was used in this time."]


def test_whoever_has_used_nothing_can_be_given_limits_and_0_is_told_to_be_none() -> None:
    kept = HOLDS | {"own": {"runs": 0}}
    test, served = shown(
        **{"GET /usage": {}, "PUT /users/n/limits": kept, "GET /user-names": [{"id": "z", "name": "zoe"}]}
    )
    test.selectbox(key="limits-of").set_value("n").run()
    assert "0 means no limit" in test.number_input(key="limit-runs-n").help
    test.number_input(key="limit-runs-n").set_value(0)
    served.answers["GET /users/n/limits"] = kept
    test.button[0].click().run()
    assert served.asked == [("PUT /users/n/limits", {"runs": 0, "tokens": None, "cost": None})]
    assert "no limit for this user" in test.warning[0].value
    test.text_input(key="limits-name").set_value("zo").run()
    assert test.selectbox(key="limits-of").options == ["zoe"]
    assert not test.exception
