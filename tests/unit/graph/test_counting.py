from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from domain.tool import FINISH, ToolDoc, make_tool_id, make_unresolved_id
from domain.trajectory import RecordedCall, RecordedOutcome, Trajectory, TrajectoryCall, TrajectoryEnd
from graph.counting import ImportTally, count_recorded_call, count_trajectory
from graph.facts import GraphBatch
from graph.function_names import NameIndex

A, B = make_tool_id("C", "T", "a"), make_tool_id("C", "T", "b")
NAMES = NameIndex(
    ToolDoc(id=tool, category="C", toolset="T", api=api, function=api) for tool, api in ((A, "a"), (B, "b"))
)


def trajectory(
    *calls: tuple[str, RecordedOutcome], finish: TrajectoryEnd = "give_answer", dead: tuple[TrajectoryCall, ...] = ()
) -> Trajectory:
    path = tuple(TrajectoryCall(function, outcome) for function, outcome in calls)
    return Trajectory("1", "test", "", finish, path, path + dead)


def count(*trajectories: Trajectory) -> tuple[GraphBatch, ImportTally]:
    batch, tally = GraphBatch("k"), ImportTally()
    for item in trajectories:
        count_trajectory(batch, tally, item, NAMES)
    return batch, tally


def test_a_path_is_linked_to_finish() -> None:
    batch, tally = count(trajectory(("a", RecordedOutcome.OK), ("b", RecordedOutcome.UNKNOWN)))
    assert batch.transitions == {(A, B): 1, (B, FINISH): 1}
    assert (batch.calls, batch.successes) == ({A: 1}, {A: 1})
    assert (tally.calls, tally.known, tally.ok, tally.kept) == (2, 1, 1, 1)


def test_every_call_node_is_evidence_whether_its_trajectory_is_kept_or_not() -> None:
    batch, tally = count(
        trajectory(("a", RecordedOutcome.OK), dead=(TrajectoryCall("b", RecordedOutcome.FAILED),)),
        trajectory(("b", RecordedOutcome.OK), finish="give_up"),
    )
    assert batch.transitions == {(A, FINISH): 1}
    assert (batch.calls[B], batch.successes[B]) == (2, 1)
    assert tally.dropped == {"gave_up": 1}


def test_the_callers_fault_is_no_evidence() -> None:
    batch, tally = count(trajectory(("a", RecordedOutcome.CALLER_FAULT)))
    assert not batch.calls
    assert (tally.calls, tally.known, tally.dropped) == (1, 0, {"empty": 1})


def test_an_unresolved_name_takes_part_in_the_sums() -> None:
    batch, tally = count(trajectory(("a", RecordedOutcome.OK), ("ghost", RecordedOutcome.OK)))
    ghost = make_unresolved_id("ghost")
    assert batch.transitions == {(A, ghost): 1, (ghost, FINISH): 1}
    assert tally.unresolved == {"ghost": 1}


def test_recorded_calls_that_join_nothing_are_told_and_not_stored() -> None:
    batch, tally = GraphBatch("k"), ImportTally()
    known = RecordedCall("C", "t", "a", "{}", "", RecordedOutcome.FAILED)
    ghost = RecordedCall("C", "t", "ghost", "{}", "", RecordedOutcome.OK)
    assert count_recorded_call(batch, tally, known, NAMES) == A
    assert count_recorded_call(batch, tally, ghost, NAMES) is None
    assert (batch.calls, batch.successes) == ({A: 1}, {})
    assert (tally.summarize_calls(), tally.unresolved) == (
        {"read": 2, "known": 2, "ok": 1, "unresolved": 1, "ambiguous": 0},
        {"C/t/ghost": 1},
    )


CALLS = st.lists(st.tuples(st.sampled_from(["a", "b", "ghost"]), st.sampled_from(list(RecordedOutcome))), max_size=9)


@given(st.lists(CALLS, max_size=8), st.integers(0, 8))
def test_parts_merge_to_the_whole(lists: list[list[tuple[str, RecordedOutcome]]], cut: int) -> None:
    items = [trajectory(*calls) for calls in lists]
    whole, _ = count(*items)
    parts = [count(*items[cut:])[0], count(*items[:cut])[0]]
    merged = reduce(lambda left, right: (left.merge(right), left)[1], parts)
    assert (merged.transitions, merged.calls, merged.successes) == (whole.transitions, whole.calls, whole.successes)
