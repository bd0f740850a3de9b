import pytest

from agent.search.state import DeadPrefix, SearchState
from domain.tool import ToolId

A, B, C = (ToolId(f"c/t/{name}") for name in "abc")


def walked(*path: ToolId) -> SearchState:
    state = SearchState()
    for tool in path:
        state = state.offer([A, B, C]).push(tool)
    return state.offer([A, B, C])


def test_push_takes_an_open_candidate_only() -> None:
    state = walked(A)
    assert state.path == (A,)
    assert state.open == (B, C)
    with pytest.raises(ValueError, match="no open candidate"):
        state.push(A)
    with pytest.raises(ValueError, match="no open candidate"):
        state.push(ToolId("c/t/never-offered"))


def test_backtrack_pops_exactly_one_and_keeps_the_parents_candidates() -> None:
    state = walked(A, B).backtrack("leads nowhere")
    assert state.path == (A,)
    assert state.open == (C,)
    assert state.dead == (DeadPrefix(path=(A, B), reason="leads nowhere"),)
    assert state.reasons == ("leads nowhere",)


def test_backtrack_past_the_start_gives_up() -> None:
    state = walked(A).backtrack("x")
    assert not state.given_up
    assert state.backtrack("y").given_up


def test_a_dead_tool_is_dead_under_its_own_prefix_only() -> None:
    state = walked(A, B).backtrack("x").backtrack("y")
    assert not state.is_open(A)
    assert state.push(B).offer([A]).open == (A,)


def test_reopen_returns_to_the_node_of_the_failed_call() -> None:
    state = walked(A, B, C).reopen(1, "503 from the server", ban=True)
    assert state.path == (A,)
    assert state.offered[-1] == ()
    assert state.is_dead((A, B, C))
    assert state.offer([B, C]).open == (C,)
    assert state.offer([B, C]).push(C).offer([B]).open == ()


def test_reopen_without_a_ban_leaves_the_tool_open_elsewhere() -> None:
    state = walked(A, B).reopen(1, "an argument is missing").offer([C]).push(C)
    assert state.offer([B]).open == (B,)


def test_reopen_forgets_a_best_path_through_what_died() -> None:
    kept = SearchState().offer([A]).push(A).offer([B], value=1.0)
    best = kept.push(B).offer([], value=2.0)
    assert best.best == (A, B)
    assert best.reopen(1, "failed", ban=True).best == ()
    assert kept.push(B).reopen(1, "failed").best == (A,)
    with pytest.raises(ValueError, match="position 2"):
        best.reopen(2, "failed")


def test_the_empty_path_cannot_die() -> None:
    with pytest.raises(ValueError, match="empty path"):
        SearchState().mark_dead((), "x")


def test_marking_below_a_dead_prefix_adds_nothing() -> None:
    state = SearchState().mark_dead((A,), "x")
    assert state.mark_dead((A, B), "y") == state


def test_a_state_is_a_value_that_survives_json() -> None:
    state = walked(A, B).backtrack("because").reopen(0, "failed", ban=True)
    assert SearchState.model_validate_json(state.model_dump_json()) == state


def test_resume_stands_before_the_wrong_step_which_is_dead_there() -> None:
    state = walked(A, B, C).resume((A, B, C), 1, "B is wrong")
    assert (state.path, len(state.offered)) == ((A,), 2)
    assert not state.is_open(B)
    assert state.offer([B, C]).push(C).path == (A, C)


def test_resume_brings_a_path_back_that_was_left() -> None:
    left = walked(A, B).backtrack("x").backtrack("y").backtrack("z")
    assert left.given_up
    state = left.resume((A, B), 1, "B was wrong, A was not").offer([B, C])
    assert not state.given_up
    assert state.open == (C,)
    whole = left.resume((A, B), 2, "go on").offer([C])
    assert (whole.path, whole.open) == ((A, B), (C,))


def test_restart_stands_at_the_start_without_the_noisy_tools() -> None:
    state = walked(A, B).restart((A,), "noise").offer([A, B])
    assert (state.path, state.open) == ((), (B,))
    assert state.push(B).offer([A]).open == (A,), "they are noise to start with, and nowhere else"


def test_only_a_failed_call_asks_for_a_stand_in() -> None:
    state = walked(A, B).reopen(1, "503")
    assert state.instead_of == B
    assert state.offer([C]).push(C).instead_of is None
    assert walked(A, B).reopen(1, "a value is missing", replace=False).instead_of is None
