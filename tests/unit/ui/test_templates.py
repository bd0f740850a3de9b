"""What is told of a template before it is run, and which values it still needs."""

from streamlit.testing.v1 import AppTest

from domain.model import JsonObject
from domain.plan import PlanDocument
from ui.screens.running import missing_of
from ui.screens.templates import said_of


def test_what_has_no_default_has_to_be_given() -> None:
    parameters: dict[str, JsonObject] = {"city": {"type": "string"}, "year": {"type": "integer", "default": 2026}}
    assert missing_of(parameters, {}) == ["city"]
    assert missing_of(parameters, {"city": "Meghalpet"}) == []


def test_each_value_is_told_with_who_gives_it() -> None:
    pay: JsonObject = {
        "tool": "Bank/Accounts/create_transfer",
        "arguments": {"account": "DE89", "amount": 950},
        "named": {"reason": "month"},
        "takes": {"sender": {"step": 1, "field": "id"}},
    }
    document = PlanDocument.model_validate(
        {"steps": [{"tool": "Bank/Accounts/whoami"}, pay], "parameters": {"month": {}}}
    )
    assert said_of(document) == [
        "1. Accounts / whoami",
        '2. Accounts / create_transfer with account = "DE89", amount = 950, reason = your month, sender = what step 1 gave at id',
    ]


def test_a_value_that_would_hide_is_told_by_its_code() -> None:
    document = PlanDocument.model_validate({"steps": [{"tool": "a/b/c", "arguments": {"to": "x\u202ey"}}]})
    assert said_of(document) == ['1. b / c with to = "x\\u202ey"']


def page(text: str) -> None:
    """A template that is a program; Streamlit runs it apart, so it imports for itself."""
    from domain.program import Program, ProgramPlan
    from ui.reruns import Content, WholeTemplate
    from ui.screens.templates import _about  # pyright: ignore[reportPrivateUsage]

    plan = ProgramPlan(program=Program(text=text, tools={}))
    _about(WholeTemplate(id="t", name="t", content=Content(version=1, program=plan)))


def test_what_turns_the_direction_of_a_program_is_written_out() -> None:
    shown = AppTest.from_function(page, kwargs={"text": 'a = "\u202e evil \u2066"  # \u202e'}).run()
    assert not shown.exception
    assert shown.code[0].value == 'a = "\\u202e evil \\u2066"  # \\u202e'
