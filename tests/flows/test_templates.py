"""A good run as a document, run again with other values, kept as a template and run from it: over HTTP, on the playground."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from domain.event import CallFinished, EventRecord, InputNeeded, RunFinished
from tests.support.playground_process import running_playground
from tests.support.server_process import WRITE, Client, Place, built, registered, serving

WIND = "What is the wind speed in Vishalpur right now?"

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with running_playground() as address:
        yield built(tmp_path_factory.mktemp("place"), address)


@pytest.fixture(scope="module")
def ada(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving(place, tmp_path_factory.mktemp("server") / "home") as (address, _):
        yield registered(address)


def calls(records: Sequence[EventRecord]) -> list[tuple[str, dict[str, Any]]]:
    results = [record.event.result for record in records if isinstance(record.event, CallFinished)]
    return [(result.tool.rpartition("/")[2], dict(result.arguments)) for result in results]


def ended(records: Sequence[EventRecord]) -> RunFinished:
    end = records[-1].event
    assert isinstance(end, RunFinished)
    return end


@pytest.fixture(scope="module")
def wind(ada: Client) -> tuple[str, str]:
    """The conversation and the run of a question that took two calls, made one by one: its program is straight, so it has steps."""
    conversation, run = ada.ask(WIND, planner="react")
    assert ended(ada.follow(run)).outcome == "answered"
    return conversation, run


def test_a_run_is_a_document(ada: Client, wind: tuple[str, str]) -> None:
    told = ada.call("GET", f"/runs/{wind[1]}/document").json()
    place, weather = told["document"]["steps"]
    assert (place["arguments"], place["takes"]) == ({"city": "Vishalpur"}, {})
    assert weather["arguments"] == {}
    assert weather["takes"] == {
        "latitude": {"step": 1, "field": "results[].latitude"},
        "longitude": {"step": 1, "field": "results[].longitude"},
    }
    (city,) = told["parameters"]
    assert (city["name"], city["step"], city["parameter"], city["value"]) == ("city", 1, "city", "Vishalpur")
    assert city["schema"]["type"] == "string"


def test_a_run_is_made_again_as_it_was_and_with_other_values(ada: Client, wind: tuple[str, str]) -> None:
    again = ada.call("POST", f"/runs/{wind[1]}/rerun", {})
    assert (again.status_code, again.json()["rerun_of"], again.json()["request"]) == (202, wind[1], WIND)
    assert ended(ada.follow(again.json()["id"])).outcome == "answered"
    document = ada.call("GET", f"/runs/{wind[1]}/document").json()["document"]
    document["steps"][0]["arguments"]["city"] = "Meghalpet"
    changed = ada.call("POST", f"/runs/{wind[1]}/rerun", {"document": document}).json()
    records = ada.follow(changed["id"])
    assert calls(records)[0] == ("search_places", {"city": "Meghalpet"})
    assert "23" in ended(records).answer
    tool, document["steps"][0]["tool"] = document["steps"][0]["tool"], "no/such/tool"
    refused = ada.call("POST", f"/runs/{wind[1]}/rerun", {"document": document})
    assert (refused.status_code, refused.json()["code"]) == (400, "usage")
    assert [one["place"] for one in refused.json()["errors"]] == ["document.steps.1"]
    document["steps"][0] |= {"tool": tool, "arguments": {"city": "Meghalpet", "colour": "red"}}
    document["steps"][1]["takes"]["latitude"]["field"] = "results[0].nothing"
    refused = ada.call("POST", f"/runs/{wind[1]}/rerun", {"document": document}).json()
    assert [one["place"] for one in refused["errors"]] == ["document.steps.1.colour", "document.steps.2.latitude"]
    kept = ada.call("POST", "/templates", {"name": "Wrong", "document": document}).json()
    assert kept["errors"] == refused["errors"]
    named: dict[str, Any] = {
        "steps": [{"tool": tool, "named": {"city": "town"}}],
        "parameters": {"town": {}, "day": {}},
    }
    refused = ada.call("POST", f"/runs/{wind[1]}/rerun", {"document": named}).json()
    assert [one["place"] for one in refused["errors"]] == ["document.parameters.town", "document.parameters.day"]
    kept = ada.call("POST", "/templates", {"name": "Wrong", "document": named}).json()
    assert [one["place"] for one in kept["errors"]] == ["document.parameters.day"]


def test_a_template_is_made_of_a_run_and_run_with_other_values(ada: Client, wind: tuple[str, str]) -> None:
    conversation, run = wind
    body = {"name": "Wind", "run_id": run, "parameters": {"town": {"step": 1, "parameter": "city"}}}
    made = ada.call("POST", "/templates", body)
    assert made.status_code == 201, made.text
    content = made.json()["content"]
    assert content["request"] == "What is the wind speed in {town} right now?"
    assert content["parameters"]["town"]["default"] == "Vishalpur"
    assert content["document"]["steps"][0]["named"] == {"city": "town"}
    assert ada.call("POST", "/templates", body).status_code == 409
    path = f"/templates/{made.json()['id']}"
    answer = ada.call("POST", f"{path}/runs", {"conversation_id": conversation, "parameters": {"town": "Meghalpet"}})
    assert answer.status_code == 202, answer.text
    shown = answer.json()
    assert (shown["request"], shown["template_id"], shown["template_version"]) == (
        "What is the wind speed in Meghalpet right now?",
        made.json()["id"],
        1,
    )
    records = ada.follow(shown["id"])
    assert [tool for tool, _ in calls(records)] == ["search_places", "get_current_weather"]
    assert "23" in ended(records).answer
    wrong = {"conversation_id": conversation, "parameters": {"town": 7, "village": "Oslo"}}
    refused = ada.call("POST", f"{path}/runs", wrong)
    assert (refused.status_code, refused.json()["code"]) == (400, "usage")
    faults = {one["place"]: one["message"] for one in refused.json()["errors"]}
    assert faults.keys() == {"parameters", "parameters.town"}
    assert "village" in faults["parameters"]


def test_versions_stay_as_they_were(ada: Client, wind: tuple[str, str]) -> None:
    conversation, run = wind
    path = f"/templates/{ada.call('POST', '/templates', {'name': 'Versions', 'run_id': run}).json()['id']}"
    later = {"run_id": run, "parameters": {"city": {"step": 1, "parameter": "city"}}}
    assert ada.call("POST", f"{path}/versions", later).json()["version"] == 2
    assert [one["version"] for one in ada.call("GET", f"{path}/versions").json()] == [1, 2]
    assert ada.call("GET", f"{path}?version=1").json()["content"]["parameters"] == {}
    old = {"conversation_id": conversation, "version": 1, "parameters": {"city": "Meghalpet"}}
    assert ada.call("POST", f"{path}/runs", old).status_code == 400
    kept = ada.call("POST", f"{path}/runs", {"conversation_id": conversation, "version": 1}).json()
    assert ada.call("DELETE", path).status_code == 204
    assert calls(ada.follow(kept["id"]))[0] == ("search_places", {"city": "Vishalpur"})
    assert ada.call("GET", path).status_code == 404


def test_a_place_that_is_none_is_refused(ada: Client, wind: tuple[str, str]) -> None:
    for place, said in ({"step": 9, "parameter": "city"}, "step 9"), ({"step": 1, "parameter": "colour"}, "colour"):
        answer = ada.call("POST", "/templates", {"name": "Odd", "run_id": wind[1], "parameters": {"x": place}})
        assert answer.status_code == 400
        assert said in answer.json()["detail"]


def test_only_authors_share_and_a_template_of_a_change_asks_as_ever(ada: Client) -> None:
    conversation, first = ada.ask(WRITE)
    asked = ada.follow(first, until="input.needed")[-1].event
    assert isinstance(asked, InputNeeded)
    ada.call("POST", f"/runs/{first}/inputs/{asked.input}", {"decision": "allow"})
    assert ended(ada.follow(first)).outcome == "answered"
    body = {"name": "Task", "run_id": first, "parameters": {"title": {"step": 1, "parameter": "title"}}}
    made = ada.call("POST", "/templates", body).json()
    assert "default" not in made["content"]["parameters"]["title"]
    path = f"/templates/{made['id']}"
    assert ada.call("PATCH", path, {"shared": True}).json()["code"] == "forbidden"
    assert ada.call("POST", f"{path}/runs", {"conversation_id": conversation}).status_code == 400
    values = {"conversation_id": conversation, "parameters": {"title": "Water the fig tree"}}
    run = ada.call("POST", f"{path}/runs", values).json()["id"]
    records = ada.follow(run, until="input.needed")
    waits = records[-1].event
    assert isinstance(waits, InputNeeded)
    assert waits.arguments["title"] == "Water the fig tree"
