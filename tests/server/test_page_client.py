"""The page's client on a real server, over a socket."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest

from domain.plan import PlanDocument, PlannedStep
from domain.tool import ToolId
from tests.support.source_tree import ROOT
from ui import reruns
from ui.client import Client, log_in, opened, register, registration
from ui.problems import ServerError
from ui.replies import Chosen, Run
from ui.stream import LAST

PASSWORD = "correct horse battery"
STEPS = PlanDocument(steps=(PlannedStep(tool=ToolId("atlas/places/rivers"), arguments={"country": "Norvania"}),))


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Connections to a server of this module's own, which has no tools."""
    home = tmp_path_factory.mktemp("page")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "FOOTPATH_SERVER_HOME": str(home)}
    command = [sys.executable, str(ROOT / "scripts" / "serve.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=home, env=environment) as process:
        assert process.stdout
        with opened(process.stdout.readline().split()[1], "192.0.2.7") as connections:
            yield connections
        process.terminate()


@pytest.fixture(scope="module")
def ada(http: httpx.Client) -> Client:
    return register(http, "ada", PASSWORD)


def test_who_has_registered_can_log_in(http: httpx.Client, ada: Client) -> None:
    assert registration(http) == "open"
    assert log_in(http, "ada", PASSWORD).account.user == ada.account.user


def test_problems_say_what_to_do(http: httpx.Client, ada: Client) -> None:
    with pytest.raises(ServerError) as wrong:
        log_in(http, "ada", "not it at all")
    assert (wrong.value.status, wrong.value.logged_out) == (401, False), "nobody was logged in"
    with pytest.raises(ServerError, match=r"password: .*at least 8") as short:
        register(http, "bob", "short")
    assert (short.value.status, short.value.problem) == (422, "invalid_request")


def test_conversations_are_begun_renamed_found_and_removed(ada: Client) -> None:
    made = ada.begin("rivers")
    ada.rename(made.id, "lakes")
    assert [one.shown_title for one in ada.conversations("lakes")] == ["lakes"]
    ada.remove(made.id)
    assert ada.conversations("lakes") == []


def test_an_access_token_that_has_ended_is_renewed(http: httpx.Client) -> None:
    client = register(http, "carol", PASSWORD)
    before = client.account.bearer()
    client.account._tokens.access_expires_at = datetime(2020, 1, 1, tzinfo=UTC)  # pyright: ignore[reportPrivateUsage]  # a quarter of an hour is too long for a test
    assert client.conversations() == []
    assert client.account.bearer() != before


def test_a_session_that_was_ended_says_so(http: httpx.Client) -> None:
    client = register(http, "dora", PASSWORD)
    client.log_out()
    with pytest.raises(ServerError, match="log in again") as ended:
        client.conversations()
    assert ended.value.logged_out


def test_a_server_that_is_not_there_is_named() -> None:
    with opened("http://127.0.0.1:9") as nowhere, pytest.raises(ServerError, match=r"127\.0\.0\.1:9.*does not answer"):
        registration(nowhere)


def test_what_a_server_can_is_known(ada: Client) -> None:
    assert ada.can("/runs/{run_id}/events")
    assert not ada.can("/runs/{run_id}/no-such-thing")
    assert "dfs" in [one.name for one in ada.choices().planners]


def test_an_answer_to_what_was_never_asked_is_refused(ada: Client) -> None:
    run = ada.ask(ada.begin("rivers").id, "Which rivers are there?", Chosen())
    with pytest.raises(ServerError) as refused:
        ada.answer(run.id, "call-1", "deny")
    assert refused.value.status == 404


def ended(client: Client) -> Run:
    """A run that has ended: this server has no tools, so it failed at once."""
    run = client.ask(client.begin("rivers").id, "Which rivers are there?", Chosen())
    assert list(client.events(run.id))[-1].kind == LAST
    return client.run(run.id)


def test_a_run_is_made_once_more_as_it_was_and_with_other_steps(ada: Client) -> None:
    run = ended(ada)
    document = reruns.done(ada, run.id).document
    assert document is not None
    assert document.steps == ()
    same = reruns.rerun(ada, run.id)
    assert (same.rerun_of, same.request) == (run.id, run.request)
    other = reruns.rerun(ada, run.id, STEPS)
    assert (other.rerun_of, other.id) != (None, same.id)
    with pytest.raises(ServerError, match="at least one step"):
        reruns.rerun(ada, run.id, PlanDocument(steps=()))


def test_a_template_is_listed_run_and_removed(ada: Client) -> None:
    place = {"step": 1, "parameter": "country"}
    body = {"name": "Rivers", "document": STEPS.model_dump(mode="json"), "parameters": {"land": place}}
    made = reruns.WholeTemplate.model_validate_json(ada.send("POST", "/templates", json=body).content)
    assert [one.name for one in reruns.templates(ada)] == ["Rivers"]
    assert reruns.template(ada, made.id) == made
    assert list(made.content.parameters) == ["land"]
    run = reruns.run_template(ada, made.id, ada.begin("rivers").id, {"land": "Caldera"}, 1)
    assert (run.template_id, run.template_version) == (made.id, 1)
    with pytest.raises(ServerError, match="lake"):
        reruns.run_template(ada, made.id, ada.begin("rivers").id, {"lake": "Caldera"}, 1)
    assert (reruns.differences(ada, made.id).changes, made.newer) == ([], None)
    with pytest.raises(ServerError, match="needs no taking"):
        reruns.take(ada, made.id, 1)
    reruns.remove_template(ada, made.id)
    assert reruns.templates(ada) == []


def test_a_run_that_called_nothing_makes_no_template(ada: Client) -> None:
    with pytest.raises(ServerError, match="at least one step") as refused:
        reruns.save(ada, ended(ada).id, "Nothing", {})
    assert refused.value.status == 400
