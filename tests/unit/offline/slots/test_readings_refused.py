"""What of a request names nothing, however much it looks like a name, a code or a number."""

from datetime import date

from agent.parameter_needs import derive_need
from domain.tool import JsonType, Parameter
from offline.nlp.entities import find_spans
from offline.slots.span_readings import rank_readings

_DAY = date(2026, 5, 4)


def _read(name: str, request: str, kind: JsonType = "string") -> list[object]:
    need = derive_need(Parameter(name=name, type=kind, required=True))
    return [item.value for item in rank_readings(need, find_spans(request, _DAY), request)]


def test_a_spelled_number_is_no_identifier() -> None:
    assert _read("company_id", "One company has its seat there: who runs it?") == []
    assert _read("company_id", "Who runs the company 17?") == ["17"]


def test_a_parcel_number_is_no_name_to_look_for() -> None:
    assert "PE350544194" not in _read("query", "I am after my parcel PE350544194. Which hotel is best?")
    assert "PE350544194" in _read("tracking_code", "Where is my parcel PE350544194?")


def test_at_present_and_at_most_name_nothing() -> None:
    for idiom in ("present", "most", "least", "once"):
        assert idiom not in _read("city", f"How bad is the air there at {idiom}?")


def test_what_is_measured_is_no_code() -> None:
    assert not [span for span in find_spans("The PM10 and CO2 values in Oslo", _DAY) if span.text in ("PM10", "CO2")]
