"""What can be said to what a run asks."""

from ui.screens.asking import answers_to


def decisions(asks: str) -> list[tuple[str, bool]]:
    return [(one.decision, one.always) for one in answers_to(asks)]


def test_a_call_is_allowed_once_or_always_or_denied() -> None:
    assert decisions("call") == [("allow", False), ("allow", True), ("deny", False)]


def test_of_a_call_whose_end_nobody_knows_is_said_what_became_of_it() -> None:
    assert decisions("unknown_outcome") == [("happened", False), ("did_not_happen", False), ("leave", False)]


def test_what_is_not_known_here_is_never_allowed_for_good() -> None:
    assert decisions("something new") == [("allow", False), ("deny", False)]
