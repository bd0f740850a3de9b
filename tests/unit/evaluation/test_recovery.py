"""Which runs met a dead operation, which recovered, and what is asked with which operation broken."""

from collections.abc import Sequence

import pytest

from domain.event import CallFinished
from domain.plan import StepStatus
from evaluation.answers import AnswerEvaluation, report
from evaluation.correctness import AnswerVerdict, judge
from evaluation.evaluation_cases import EvaluationCase
from evaluation.recovery import PartlyBrokenServices, break_each, find_dead_operations, summarize_breakages
from tests.unit.evaluation.asking import asked, call, end, right_run


def refused(
    operation: str, http_status: int | None = 503, status: StepStatus = "failed", attempts: int = 1
) -> CallFinished:
    """A call that was made and did not succeed."""
    made = call(operation, status=status)
    return made.model_copy(
        update={"result": made.result.model_copy(update={"http_status": http_status, "attempts": attempts})}
    )


@pytest.mark.parametrize(
    ("event", "dead"),
    [
        (refused("a"), True),
        (refused("a", None), True),
        (refused("a", 403), True),
        (refused("a", 404), False),
        (refused("a", 422), False),
        (refused("a", 200, status="ok"), False),
        (refused("a", None, status="missing"), False),
        (refused("a", None, attempts=0), False),
    ],
)
def test_dead_is_what_other_arguments_would_not_mend(event: CallFinished, dead: bool) -> None:
    assert find_dead_operations([event, event]) == (("a",) if dead else ())


def test_the_share_that_recovers_is_of_answerable_runs_that_met_a_dead_operation() -> None:
    verdicts = (
        judge(asked(name="never met one"), right_run()),
        judge(asked(name="around"), [refused("a"), *right_run()]),
        judge(asked(name="lost"), [refused("a"), end("", "gave_up")]),
        judge(asked(name="around too", group="two"), [refused("b", 403), *right_run()]),
        judge(
            EvaluationCase(id="no", request="Sing!", answerable=False, why="none sings"),
            [refused("a"), end("", "gave_up")],
        ),
    )
    assert report(AnswerEvaluation(verdicts))["recovery"] == {
        "groups": {"one": {"n": 2, "right": 1, "share": 0.5}, "two": {"n": 1, "right": 1, "share": 1}},
        "overall": {"n": 3, "right": 2, "share": 2 / 3},
    }
    nobody = report(AnswerEvaluation(verdicts[:1]))["recovery"]
    assert nobody == {"groups": {}, "overall": {"n": 0, "right": 0, "share": None}}


class Services:
    """Keeps what is done to them, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []

    async def reset(self) -> None:
        self.done.append("reset")

    async def effects(self) -> list[str]:
        return ["order"]

    async def switch(self, operation: str, broken: bool) -> None:
        self.done.append(f"{operation} {'broken' if broken else 'mended'}")


async def test_a_reset_breaks_it_anew() -> None:
    services = Services()
    without = PartlyBrokenServices(services, "weather")
    await without.reset()
    await without.reset()
    assert services.done == ["reset", "weather broken"] * 2
    assert await without.effects() == ["order"]


async def test_each_of_a_pair_is_broken_for_what_used_it_with_success() -> None:
    """One goes around, one does not, one never calls it while it is broken and so had nothing to go around."""
    services = Services()
    whole = [
        *(judge(asked(name=name), right_run()) for name in ("around", "lost", "elsewhere")),
        judge(asked(name="wrong anyway"), [call("weather"), end("no")]),
        judge(asked(name="not its business"), [call("other", '{"temperature": 9.6}'), end("9.6")]),
    ]
    seen: dict[str, list[str]] = {}

    async def ask(requests: Sequence[EvaluationCase], without: PartlyBrokenServices) -> Sequence[AnswerVerdict]:
        seen[without.operation] = [one.id for one in requests]
        await without.reset()
        ends = {"around": right_run(), "lost": [end("", "gave_up")], "elsewhere": right_run()}
        met = [refused("weather")]
        return [
            judge(one, [*(met if one.id in ("around", "lost") else []), *ends.get(one.id, right_run())])
            for one in requests
        ]

    found = await break_each(whole, [("weather", "other"), ("x", "y")], services, ask)
    assert seen == {"weather": ["around", "lost", "elsewhere"], "other": ["not its business"]}
    assert services.done[-1] == "reset", "nothing stays broken"
    figures = summarize_breakages(found)
    assert figures["operations"]["weather"] == {"other": "other", "n": 2, "right": 1, "share": 0.5}
    assert figures["operations"]["other"]["n"] == 0
    assert figures["overall"] == {"n": 2, "right": 1, "share": 0.5}
    assert figures["groups"] == {"one": {"n": 2, "right": 1, "share": 0.5}}
