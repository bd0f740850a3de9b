from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from domain.tool import FINISH, ToolDoc, tool_id, unresolved_id
from domain.trajectory import Call, Finish, Outcome, RecordedCall, Trajectory
from graph.counting import Tally, count_recorded, count_trajectory
from graph.facts import GraphBatch
from graph.function_names import NameIndex

A, B = tool_id("C", "T", "a"), tool_id("C", "T", "b")
NAMES = NameIndex(
    ToolDoc(id=tool, category="C", toolset="T", api=api, function=api) for tool, api in ((A, "a"), (B, "b"))
)


def trajectory(*calls: tuple[str, Outcome], finish: Finish = "give_answer", dead: tuple[Call, ...] = ()) -> Trajectory:
    path = tuple(Call(function, outcome) for function, outcome in calls)
    return Trajectory("1", "test", "", finish, path, path + dead)


def count(*trajectories: Trajectory) -> tuple[GraphBatch, Tally]:
    batch, tally = GraphBatch("k"), Tally()
    for item in trajectories:
        count_trajectory(batch, tally, item, NAMES)
    return batch, tally


def test_a_path_is_linked_to_finish() -> None:
    batch, tally = count(trajectory(("a", Outcome.OK), ("b", Outcome.UNKNOWN)))
    assert batch.transitions == {(A, B): 1, (B, FINISH): 1}
    assert (batch.calls, batch.successes) == ({A: 1}, {A: 1})
    assert (tally.calls, tally.known, tally.ok, tally.kept) == (2, 1, 1, 1)


def test_every_call_node_is_evidence_whether_its_trajectory_is_kept_or_not() -> None:
    batch, tally = count(
        trajectory(("a", Outcome.OK), dead=(Call("b", Outcome.FAILED),)),
        trajectory(("b", Outcome.OK), finish="give_up"),
    )
    assert batch.transitions == {(A, FINISH): 1}
    assert (batch.calls[B], batch.successes[B]) == (2, 1)
    assert tally.dropped == {"gave_up": 1}


def test_the_callers_fault_is_no_evidence() -> None:
    batch, tally = count(trajectory(("a", Outcome.CALLER_FAULT)))
    assert not batch.calls
    assert (tally.calls, tally.known, tally.dropped) == (1, 0, {"empty": 1})


def test_an_unresolved_name_takes_part_in_the_sums() -> None:
    batch, tally = count(trajectory(("a", Outcome.OK), ("ghost", Outcome.OK)))
    ghost = unresolved_id("ghost")
    assert batch.transitions == {(A, ghost): 1, (ghost, FINISH): 1}
    assert tally.unresolved == {"ghost": 1}


def test_recorded_calls_that_join_nothing_are_told_and_not_stored() -> None:
    batch, tally = GraphBatch("k"), Tally()
    known = RecordedCall("C", "t", "a", "{}", "", Outcome.FAILED)
    ghost = RecordedCall("C", "t", "ghost", "{}", "", Outcome.OK)
    assert count_recorded(batch, tally, known, NAMES) == A
    assert count_recorded(batch, tally, ghost, NAMES) is None
    assert (batch.calls, batch.successes) == ({A: 1}, {})
    assert (tally.call_counts(), tally.unresolved) == (
        {"read": 2, "known": 2, "ok": 1, "unresolved": 1, "ambiguous": 0},
        {"C/t/ghost": 1},
    )


CALLS = st.lists(st.tuples(st.sampled_from(["a", "b", "ghost"]), st.sampled_from(list(Outcome))), max_size=9)


@given(st.lists(CALLS, max_size=8), st.integers(0, 8))
def test_parts_merge_to_the_whole(lists: list[list[tuple[str, Outcome]]], cut: int) -> None:
    items = [trajectory(*calls) for calls in lists]
    whole, _ = count(*items)
    parts = [count(*items[cut:])[0], count(*items[:cut])[0]]
    merged = reduce(lambda left, right: (left.merge(right), left)[1], parts)
    assert (merged.transitions, merged.calls, merged.successes) == (whole.transitions, whole.calls, whole.successes)
