import json

from pydantic.types import JsonValue

from agent.execution.error_bodies import is_empty_response
from agent.text import clean_text, format_scalar
from domain.plan import Binding, StepResult, StepStatus
from domain.tool import ToolDoc
from offline.nlp.asked_words import find_asked_words
from offline.response_summary import summarize_response
from offline.template_answer import compose
from tests.support.small_world import GEOCODE, NEW_WEATHER


def step(tool: ToolDoc, value: object, *, status: StepStatus = "ok", fed: str = "", note: str = "") -> StepResult:
    provenance = (Binding(parameter="latitude", origin="step", reference=fed),) if fed else ()
    return StepResult(tool=tool.id, status=status, response=json.dumps(value), provenance=provenance, note=note)


PLACES = {"count": 2, "results": [{"city": "Paris", "place_id": "p1", "latitude": 48.85, "population": 2100000}]}


def test_the_asked_field_is_told_with_its_call_and_nothing_else() -> None:
    weather = step(
        NEW_WEATHER, {"observed_at": "12:00", "temperature": 7.30, "wind_speed": 24.8}, fed="1.results[0].latitude"
    )
    text = "".join(
        compose("What is the temperature in Paris?", [(GEOCODE, step(GEOCODE, PLACES)), (NEW_WEATHER, weather)])
    )
    assert text.splitlines() == [
        "temperature: 7.3 [2]",
        "Based on: [1] Places Set/search_places, [2] Weather Set/get_daily_forecast",
    ]


def test_a_step_on_the_way_is_told_where_it_is_asked_about() -> None:
    weather = step(NEW_WEATHER, {"temperature": 7.3}, fed="1.results[0].latitude")
    steps = [(GEOCODE, step(GEOCODE, PLACES)), (NEW_WEATHER, weather)]
    text = "".join(compose("What are the temperature and the population of Paris?", steps))
    assert "temperature: 7.3 [2]" in text
    assert "population: 2100000 [1]" in text


def test_open_parts_and_failures_are_named() -> None:
    failed = step(NEW_WEATHER, "", status="failed", note="HTTP 503")
    text = "".join(compose("q", [(GEOCODE, step(GEOCODE, PLACES)), (NEW_WEATHER, failed)], ["the weather"]))
    assert "Weather Set/get_daily_forecast gave no answer: HTTP 503" in text
    assert 'Not answered: "the weather"' in text


def test_a_lost_write_is_said_to_be_unknown() -> None:
    text = "".join(compose("q", [(GEOCODE, step(GEOCODE, "", status="unknown", note="no answer in time"))]))
    assert "Whether Places Set/search_places took effect is unknown" in text


def lines(request: str, value: object, used: str = "") -> tuple[str, ...]:
    return summarize_response(json.dumps(value), find_asked_words(request), used).lines


def test_a_list_is_told_item_by_item_and_cut_with_a_count() -> None:
    found = lines("titles", {"books": [{"title": f"Book {i}", "price": i} for i in range(11)]})
    assert found[0] == "title: Book 0"
    assert len(found) == 9
    assert found[-1] == "… and 3 more"


def test_where_nothing_is_asked_by_name_the_telling_fields_are_shown() -> None:
    assert lines("zzz", {"id": "x1", "image_url": "http://x", "name": "Dune", "author": "Herbert"}) == (
        "name: Dune; author: Herbert",
    )


def test_identifiers_are_shown_when_asked_for() -> None:
    assert "x1" in lines("What is the id of Dune?", {"id": "x1", "name": "Dune"})[0]


def test_of_a_list_that_a_step_took_from_only_the_item_is_shown() -> None:
    value = {"results": [{"city": "Paris"}, {"city": "Rome"}]}
    assert lines("the city", value, "results[1].city") == ("city: Rome",)


def test_plain_values_and_text_are_told() -> None:
    assert lines("interests", ["graphs", "search"]) == ("graphs, search",)
    assert summarize_response("It is\x1b[31m sunny\u202e.", find_asked_words("weather")).lines == ("It is[31m sunny.",)
    assert summarize_response("", find_asked_words("x")).lines == ()


def test_emptiness_is_judged_by_values() -> None:
    assert is_empty_response("[]")
    assert is_empty_response('{"count": 0, "results": []}')
    assert not is_empty_response('{"temperature": 7, "alerts": []}')
    assert not is_empty_response("plain text")
    assert lines("anything", {"count": 0, "results": []}) == ("count: 0",)


def test_hostile_and_huge_text_is_made_harmless() -> None:
    assert clean_text("a\u202eb\x00c\nd\u200b") == "abc d"
    assert len(clean_text("x" * 10_000, 50)) == 50
    deep: object = "end"
    for _ in range(200):
        deep = {"a": deep}
    assert lines("x", {"a": deep, "name": "Dune"}) == ("name: Dune",)


def test_values_are_shown_as_a_person_reads_them() -> None:
    values: list[JsonValue] = [True, None, 2.0, 0.1 + 0.2, 10**20, ["a", 1]]
    assert [format_scalar(value) for value in values] == [
        "yes", "none", "2", "0.3", "1" + "0" * 20, "a, 1",
    ]  # fmt: skip


def test_an_answer_says_what_was_not_found_beside_what_was() -> None:
    found = step(GEOCODE, {"harbour": "Brest", "berths": []})
    text = "".join(compose("Which berths are free in Brest harbour?", [(GEOCODE, found)]))
    assert text.splitlines()[:2] == ["harbour: Brest [1]", "No berths were found. [1]"]
