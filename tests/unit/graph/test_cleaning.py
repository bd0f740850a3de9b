from hypothesis import given
from hypothesis import strategies as st

from domain.tool import ToolId
from domain.trajectory import RecordedOutcome, TrajectoryEnd
from graph.cleaning import MAX_RAW_CALLS, PSEUDO_TOOLS, RawCall, clean

OK, FAILED, FAULT, UNKNOWN = (
    RecordedOutcome.OK,
    RecordedOutcome.FAILED,
    RecordedOutcome.CALLER_FAULT,
    RecordedOutcome.UNKNOWN,
)


def steps(*calls: tuple[str, RecordedOutcome]) -> list[RawCall]:
    return [(name, ToolId(f"c/t/{name}"), outcome) for name, outcome in calls]


def path(*names: str) -> list[ToolId]:
    return [ToolId(f"c/t/{name}") for name in names]


def test_endings() -> None:
    one = steps(("a", OK))
    assert clean(one, "give_answer") == clean(one, "other") == path("a")
    assert clean(one, "give_up") == "gave_up"
    assert clean(one, "none") == "unfinished"


def test_the_ending_is_judged_before_the_calls() -> None:
    assert clean([], "give_up") == "gave_up"
    assert clean([], "other") == "no_calls"


def test_raw_calls_count_failed_and_repeated_ones() -> None:
    assert clean(steps(*[("a", FAILED)] * 7, ("b", OK)), "give_answer") == path("b")
    assert clean(steps(*[("a", FAILED)] * 8, ("b", OK)), "give_answer") == "too_long"


def test_failed_calls_leave_and_unknown_ones_stay() -> None:
    assert clean(steps(("a", FAILED), ("b", UNKNOWN), ("c", FAULT), ("d", OK)), "other") == path("b", "d")


def test_of_repeated_calls_the_last_that_did_not_fail_stays() -> None:
    assert clean(steps(("a", OK), ("b", OK), ("a", OK)), "other") == path("b", "a")
    assert clean(steps(("a", OK), ("b", OK), ("a", FAILED)), "other") == path("a", "b")
    assert clean(steps(("a", UNKNOWN), ("b", OK), ("a", UNKNOWN), ("a", FAULT)), "other") == path("b", "a")


def test_pseudo_tools_are_no_nodes_but_raw_calls() -> None:
    assert clean(steps(("ask_to_user", OK), ("a", OK)), "other") == path("a")
    assert clean(steps(*[("ask_to_user", OK)] * MAX_RAW_CALLS, ("a", OK)), "other") == "too_long"


def test_a_path_left_empty_has_its_own_reason() -> None:
    assert clean(steps(("a", FAILED), ("Finish", OK)), "give_answer") == "empty"


NAMES = st.sampled_from(["a", "b", "c", "ask_to_user", "Finish"])


@given(
    st.lists(st.tuples(NAMES, st.sampled_from(list(RecordedOutcome))), max_size=12),
    st.sampled_from(["give_answer", "other"]),
)
def test_a_kept_path_holds_each_surviving_tool_once(
    calls: list[tuple[str, RecordedOutcome]], finish: TrajectoryEnd
) -> None:
    raw = steps(*calls)
    cleaned = clean(raw, finish)
    survivors = [node for name, node, outcome in raw if not outcome.failed and name not in PSEUDO_TOOLS]
    if isinstance(cleaned, str):
        assert cleaned == ("no_calls" if not raw else "too_long" if len(raw) > MAX_RAW_CALLS else "empty")
        assert cleaned != "empty" or not survivors
    else:
        assert sorted(cleaned) == sorted(set(survivors))
        last = {node: place for place, node in enumerate(survivors)}
        assert cleaned == sorted(cleaned, key=lambda node: last[node])
