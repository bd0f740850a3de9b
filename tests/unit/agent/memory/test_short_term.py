from agent.memory.short_term import RECENT_MOVES, SearchMove, append_move, render_move_history
from agent.search.state import SearchState
from domain.tool import make_tool_id

A, B, C = (make_tool_id("c", "Set", name) for name in "abc")


def walked() -> SearchState:
    state = SearchState().offer([A, B]).push(A, "it fits").offer([B]).push(B, "and this")
    return state.backtrack("B is too old").offer([C])


def test_every_move_is_kept_with_its_reason() -> None:
    assert render_move_history(walked().trail) == (
        "went to Set/a: it fits", "went to Set/b: and this", "left Set/b: B is too old",
    )  # fmt: skip


def test_failed_calls_and_reflections_are_moves() -> None:
    state = walked().reopen(0, "HTTP 503", ban=True)
    assert render_move_history(state.trail)[-1] == "the call failed, went back before Set/a: HTTP 503"
    assert (
        render_move_history(state.restart((B,), "noise").trail)[-1]
        == "on reflection, went back before the first step: noise"
    )


def test_what_does_not_fit_is_told_in_one_line() -> None:
    trail: tuple[SearchMove, ...] = ()
    for number in range(40):
        trail = append_move(trail, "advance", A, 1, f"reason {number}")
        trail = append_move(trail, "backtrack", A if number % 2 else B, 0, "no")
    lines = render_move_history(trail)
    assert len(lines) == RECENT_MOVES + 1
    assert lines[0] == f"{80 - RECENT_MOVES} moves before these; left again: Set/b (16 times), Set/a (16 times)"
    assert lines[-2:] == ("went to Set/a: reason 39", "left Set/a: no")


def test_hostile_and_endless_reasons_are_made_short_and_harmless() -> None:
    trail = append_move((), "advance", A, 1, "\x1b[2J" + "x" * 5_000)
    assert len(trail[0].reason) <= 200
    assert "\x1b" not in trail[0].reason


def test_a_memory_without_end_is_none() -> None:
    trail: tuple[SearchMove, ...] = ()
    for number in range(1_000):
        trail = append_move(trail, "advance", A, 1, str(number))
    assert len(trail) == 400
    assert trail[-1].reason == "999"
