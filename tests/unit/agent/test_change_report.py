"""What a run changed is told by code, and a change that was ordered and not made is noticed."""

import json

from agent.outcome import format_call_changes
from domain.model import JsonObject
from domain.plan import StepResult, StepStatus
from domain.tool import Parameter, ToolDoc, make_tool_id


def doc(api: str, method: str = "GET") -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("Work", "Doable", api), category="Work", toolset="Doable", api=api, function=api, method=method,
        description=api.replace("_", " "), parameters=(Parameter(name="task_id", required=True),),
    )  # fmt: skip


LIST, COMPLETE, CREATE = doc("list_tasks"), doc("complete_task", "POST"), doc("create_task", "POST")


def made(status: StepStatus, task: str = "tsk_1", note: str = "", gave: JsonObject | None = None) -> StepResult:
    response = json.dumps(gave) if gave else ""
    return StepResult(tool=COMPLETE.id, arguments={"task_id": task}, status=status, note=note, response=response)


def lines(steps: list[StepResult], called: list[StepResult] | None = None) -> list[str]:
    both = [[(COMPLETE, result) for result in results] for results in (steps, called or steps)]
    return [line.rstrip("\n") for line in format_call_changes(both[0], both[1])]


def test_a_change_is_told_with_its_values_what_it_gave_and_its_step() -> None:
    assert lines([made("ok")]) == ["Done: complete task tsk_1 [1]"]
    assert lines([made("ok", gave={"task_id": "tsk_1", "receipt_id": "rcp_9", "state": "done"})]) == [
        "Done: complete task tsk_1 (receipt id: rcp_9) [1]"
    ]


def test_reading_is_no_change() -> None:
    result = StepResult(tool=LIST.id, status="ok")
    assert list(format_call_changes([(LIST, result)], [(LIST, result)])) == []


def test_a_change_on_a_path_that_was_given_up_is_told_too() -> None:
    assert lines([made("ok", "tsk_2")], [made("ok"), made("ok", "tsk_2")]) == [
        "Done: complete task tsk_1",
        "Done: complete task tsk_2 [1]",
    ]


def test_what_was_lost_or_refused_is_told_once() -> None:
    refused = made("missing", note="complete_task was not called: nothing is named.")
    assert lines([], [refused, refused]) == ["Not done: complete task. complete_task was not called: nothing is named."]
    assert lines([made("unknown", note="no answer came")]) == [
        "Whether complete task tsk_1 took effect is unknown: no answer came [1]"
    ]
    assert lines([made("failed", note="HTTP 409")]) == ["Not done: complete task tsk_1. HTTP 409"]


def test_a_later_success_makes_up_for_a_failure() -> None:
    assert lines([made("ok", "tsk_2")], [made("failed"), made("ok", "tsk_2")]) == ["Done: complete task tsk_2 [1]"]


def test_what_was_done_stays_done_where_it_is_refused_the_second_time() -> None:
    assert lines([made("skipped", note="It was made before.")], [made("ok"), made("skipped")]) == [
        "Done: complete task tsk_1 [1]"
    ]
