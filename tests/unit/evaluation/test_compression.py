"""The figures of compression, on responses whose lengths are known."""

import pytest

from agent.compression.field_selection import FieldChoices
from agent.execution.executor import CallResult
from domain.model import JsonObject
from domain.tool import ToolDoc
from evaluation.compression import evaluate_compression
from evaluation.evaluation_cases import EvaluationCase
from evaluation.retention import evaluate_retention
from tests.unit.agent.compression.test_compress import RANKING, Naming, tool


async def test_lengths_shares_and_savings() -> None:
    responses = [(tool(), text) for text in ("", "x" * 10, "y" * 1_024, RANKING, "word " * 400)]
    found = (await evaluate_compression(responses, Naming("[].rank"), FieldChoices())).to_figures()
    assert (found["n"], found["apis"], found["apis_over_limit"]) == (5, 1, 1)
    assert found["over_limit"] == {
        "before": {"n": 2, "share": 0.4},
        "after_fields": {"n": 1, "share": 0.2},
        "after_cut": {"n": 0, "share": 0.0},
        "cut": 1,
    }
    assert found["how"] == {"fields chosen": 1, "only rewritten or cut": 1}
    assert found["characters"]["before"] == len(RANKING) + 2_000
    assert found["saved"]["characters"] == found["characters"]["before"] - found["characters"]["after"] > 5_000
    assert found["quantiles"]["0.5"] == 1_024
    assert found["quantiles"]["1.0"] == len(RANKING)
    assert [(row["to"], row["n"]) for row in found["histogram"] if row["n"]] == [
        (0, 1), (64, 1), (1_024, 1), (2_048, 1), (16_384, 1),
    ]  # fmt: skip


async def test_a_source_that_cut_its_responses_is_told() -> None:
    responses = [(tool(), "x" * n) for n in range(1, 90)] + [(tool(), "y" * 800)] * 10
    found = (await evaluate_compression(responses, Naming(), FieldChoices())).to_figures()
    assert found["cut_by_source"] == {"at": 800, "n": 10, "share": 10 / 99}
    assert found["over_limit"]["before"]["n"] == 0


async def test_nothing_to_measure() -> None:
    found = (await evaluate_compression([], Naming(), FieldChoices())).to_figures()
    assert (found["n"], found["mean"], found["over_limit"]["before"]["share"]) == (0, 0.0, 0.0)


class Ranking:
    """An executor: the ranking; ``gone`` for the tool of that name."""

    name = "ranking"

    def __init__(self) -> None:
        self.calls: list[JsonObject] = []

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        self.calls.append(arguments)
        return CallResult("gone", "", 404) if tool.api == "gone" else CallResult("ok", RANKING, 200)

    async def close(self) -> None: ...


def asked(name: str, **expect: object) -> EvaluationCase:
    calls = [{"operation": "top"}, {"operation": "top", "arguments": {"rank": {"from": "1.[2].rank"}}}]
    return EvaluationCase.model_validate({"id": name, "request": name, "calls": calls, "expect": expect})


@pytest.mark.parametrize(("field", "retained"), [("[].title", 2), ("[].rank", 0)])
async def test_expected_values_are_looked_for_in_what_is_left(field: str, retained: int) -> None:
    executor = Ranking()
    requests = [asked("one", texts=["Title 7", "nowhere"])]
    found = await evaluate_retention(requests, {"top": tool()}, executor, Naming(field), FieldChoices())
    figures = found.to_figures()
    assert (figures["responses"], figures["compressed"]) == (2, 2)
    assert (figures["values"], figures["retained"]) == (2, retained)
    assert figures["lost"] == ({} if retained else {"one": ["Title 7", "Title 7"]})
    assert figures["unseen"] == ({} if retained else {"one": ["Title 7"]})
    assert executor.calls == [{}, {"rank": 3}]


async def test_a_call_that_fails_is_listed() -> None:
    request = EvaluationCase.model_validate(
        {"id": "one", "request": "r", "calls": [{"operation": "gone"}], "expect": {"numbers": [1]}}
    )
    gone = tool().model_copy(update={"api": "gone"})
    found = await evaluate_retention([request], {"gone": gone}, Ranking(), Naming(), FieldChoices())
    assert found.to_figures()["failed"] == {"one": "gone: 404"}
    assert found.to_figures()["share"] is None
