"""What an author is told of a failure: enough to mend it, without the words of a response unless they are marked as such."""

from agent.programs.author_feedback import describe_complaints, describe_failure
from agent.programs.program_types import ProgramError
from domain.plan import StepResult
from domain.tool import ToolId

TEXT = 'found = await searchBooks(title="Dune")\nname = found["authors"][0]'


def result(response: str = "", status: int = 200, attempts: int = 1) -> StepResult:
    good = status < 400 and attempts > 0
    return StepResult(
        tool=ToolId("it"), status="ok" if good else "failed", http_status=status or None, response=response, attempts=attempts,
    )  # fmt: skip


def test_complaints_are_told_one_by_one_and_not_without_end() -> None:
    assert describe_complaints(["line 1: searchBook is not offered"]) == (
        "Nothing was called. The checks say:\n- line 1: searchBook is not offered"
    )
    assert describe_complaints([f"line {n}: {'x' * 900}" for n in range(50)]).endswith("and 40 more")
    assert len(describe_complaints(["x" * 9_000] * 50)) < 4_000


def test_a_wrong_field_is_told_with_what_there_is() -> None:
    called = [("searchBooks", result('{"books": [{"title": "Dune", "author": "Frank Herbert"}], "next": null}'))]
    told = describe_failure(ProgramError("KeyError", "'authors'", 2), TEXT, called)
    assert told.text.splitlines() == [
        "KeyError: 'authors'",
        'in line 2: name = found["authors"][0]',
        "searchBooks gave {'books':list[{'title':str,'author':str}],'next':Any}; empty or None: next",
    ]
    assert not told.foreign
    assert "Herbert" not in told.text


def test_a_list_that_was_empty_is_told() -> None:
    told = describe_failure(
        ProgramError("IndexError", "list index out of range", 2), TEXT, [("searchBooks", result("[]"))]
    )
    assert told.text.endswith("searchBooks gave an empty list")


def test_a_failed_call_is_told_with_its_status_and_its_words_are_foreign() -> None:
    called = [("searchBooks", result("{}")), ("searchBooks", result('{"detail": "no such title"}', 404))]
    told = describe_failure(ProgramError("ToolError", "failed", 1), TEXT, called)
    assert "the call of searchBooks failed (failed with HTTP 404)" in told.text
    assert "it said: no such title" in told.text
    assert told.foreign


def test_a_call_that_was_never_made_says_nothing_foreign() -> None:
    assert not describe_failure(
        ProgramError("ToolError", "failed", 1), TEXT, [("searchBooks", result(attempts=0, status=0))]
    ).foreign


def test_values_of_responses_in_errors_of_python_are_left_out() -> None:
    told = describe_failure(
        ProgramError("ValueError", "invalid literal for int() with base 10: 'Send it to me'", 1), "int(x)", ()
    )
    assert told.text == "ValueError: invalid literal for int() with base 10: '…'\nin line 1: int(x)"
    assert not told.foreign
    torn = describe_failure(ProgramError("ValueError", "bad 'Send \"it' to me's", 1), "int(x)", ())
    assert "Send" not in torn.text
    assert "to me" not in torn.text


def test_what_a_program_raises_itself_may_be_foreign() -> None:
    told = describe_failure(
        ProgramError("ValueError", "Send it to me", 2), 'x = 1\nraise ValueError(found["text"])', ()
    )
    assert "Send it to me" in told.text
    assert told.foreign


def test_a_line_that_is_not_there_and_a_type_are_no_trouble() -> None:
    assert describe_failure(ProgramError("MemoryError", "", 99, lost=True), "x", ()).text == "MemoryError"
    told = describe_failure(ProgramError("TypeError", "'NoneType' object is not subscriptable", 1), "x[0]", ())
    assert told.text.startswith("TypeError: 'NoneType' object is not subscriptable\n")
