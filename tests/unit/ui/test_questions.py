"""What can be said to what a run asks."""

from domain.event import InputNeeded
from domain.provenance import AskedCall, ValueOrigin
from domain.tool import ToolId
from tests.unit.ui.telling import told
from ui.run_state import AskedCall as AskedQuestion
from ui.run_state import Origin, Question, run_state
from ui.screens.questions import answers_to, whence


def decisions(asks: str) -> list[tuple[str, bool]]:
    return [(one.decision, one.always) for one in answers_to(asks)]


def test_a_call_is_allowed_once_or_always_or_denied() -> None:
    assert decisions("call") == [("allow", False), ("deny", False), ("allow", True)]


def test_of_a_call_whose_end_nobody_knows_is_said_what_became_of_it() -> None:
    assert decisions("unknown_outcome") == [("happened", False), ("did_not_happen", False), ("leave", False)]


def test_what_is_not_known_here_is_never_allowed_for_good() -> None:
    assert decisions("something new") == [("allow", False), ("deny", False)]


def test_what_goes_from_host_to_host_is_allowed_or_denied_once_or_for_good() -> None:
    assert decisions("flow") == [("allow", False), ("deny", False), ("allow", True), ("deny", True)]


def test_a_question_shows_where_the_call_goes_and_where_each_value_comes_from() -> None:
    origin = ValueOrigin(parameter="account", kind="prose", words="words inside a text that read of a.example answered")
    asked = InputNeeded(
        input="k", asks="call", reason="May it?", tool=ToolId("a/b/c"), host="b.example", origins=(origin,)
    )
    (question,) = run_state([told(1, asked)]).questions.values()
    assert whence(question) == [
        "goes to b.example",
        "account: words inside a text that read of a.example answered",
    ]
    before = InputNeeded(input="k", asks="call", reason="May it?", tool=ToolId("a/b/c"))
    (question,) = run_state([told(1, before)]).questions.values()
    assert whence(question) == []


def test_a_question_about_several_calls_shows_them_all() -> None:
    tool = ToolId("a/b/c")
    origins = [ValueOrigin(parameter="id", kind="computed", words=f"worked out {number}") for number in (1, 2)]
    calls = tuple(
        AskedCall(tool=tool, arguments={"id": number}, identity=f"1:1:{number}#0", origins=(origin,))
        for number, origin in enumerate(origins, start=1)
    )
    asked = InputNeeded(input="k", asks="call", reason="May they?", tool=tool, arguments={"id": 1}, calls=calls)
    (question,) = run_state([told(1, asked)]).questions.values()
    assert [one.arguments for one in question.together] == [{"id": 1}, {"id": 2}]
    assert whence(question) == ["id of call 1: worked out 1", "id of call 2: worked out 2"]
    assert [one.label for one in answers_to("call", several=True)] == [
        "Allow what is ticked",
        "Allow none of them",
        "Always allow",
    ]


def test_what_is_so_of_all_calls_is_said_once() -> None:
    calls = [AskedQuestion(origins=[Origin(parameter="day", words="you said it")]) for _ in range(2)]
    assert whence(Question(input="k", undo="It cannot.", calls=calls)) == [
        "It cannot.",
        "day of each call: you said it",
    ]
