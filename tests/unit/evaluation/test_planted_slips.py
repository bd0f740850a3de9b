"""Planted slips: each is of its kind and changes nothing else, and the same requests get them whatever the order."""

import ast
import random

import pytest

from agent.programs.program_types import ProgramAttempt, ProgramQuestion, WrittenProgram
from agent.programs.signatures import OfferText
from evaluation.planted_slips import KINDS, SlipKind, SlipPlantingPolicy, plant_slip
from offline.policy import OfflinePolicy

RIGHT = """é = "ü"
people = await searchPerson(name="Zoë", limit=3)
infos = [await getPerson(person_id=one["id"]) for one in people]
{"answered": "yes", "answer": f"{infos[0]['name']}, cited {infos[0]['cited']} times"}"""
SLIPPED: dict[SlipKind, set[str]] = {
    "wrong field": {'"id"]', "'name']", "'cited']"},
    "wrong function": {"searchPersons(", "getPersons("},
    "missing await": {"people = searchPerson", "[getPerson("},
    "positional argument": {'searchPerson("Zoë", limit=3)', 'getPerson(one["id"])'},
    "wrong literal": {"'Zo'", "limit=4"},
    "prose around": {"Of course!"},
}


class Writer(OfflinePolicy):
    """Writes the same right program each time."""

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        return WrittenProgram(f"# {question.request}\n{RIGHT}")


def question(request: str, **fields: object) -> ProgramQuestion:
    return ProgramQuestion(request, OfferText("", (), 0), "2026-11-23", **fields)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_a_slip_is_of_its_kind(kind: SlipKind, seed: int) -> None:
    made = plant_slip(RIGHT, random.Random(seed), [kind])
    assert made is not None
    assert made.kind == kind
    text = made.reply.split("```python\n")[1].split("\n```")[0]
    ast.parse(text)
    assert (text == RIGHT) == (kind == "prose around")
    if kind == "wrong field":
        assert made.reply.count("_value") == 1
    else:
        assert any(one in made.reply for one in SLIPPED[kind])


def test_a_program_without_a_place_for_it_gets_none() -> None:
    assert plant_slip('{"answered": "no"}', random.Random(1), ["missing await", "wrong literal"]) is None


async def test_one_request_of_five_gets_a_slip_the_same_ones_in_any_order() -> None:
    requests = [f"request {number}" for number in range(200)]

    async def slipped(order: list[str], seed: int) -> set[str]:
        found: set[str] = set()
        for one in order:
            policy = SlipPlantingPolicy(Writer(), 0.2, seed, [kind for kind in KINDS if kind != "prose around"])
            if (await policy.decide(question(one))).text != f"# {one}\n{RIGHT}":
                found.add(one)
            assert len(policy.planted) == (one in found)
        return found

    chosen = await slipped(requests, 7)
    assert 25 <= len(chosen) <= 55
    assert await slipped(requests[::-1], 7) == chosen
    assert await slipped(requests, 8) != chosen


async def test_what_is_written_after_a_slip_is_left_alone() -> None:
    policy = SlipPlantingPolicy(Writer(), 1.0)
    assert (await policy.decide(question("x", attempts=(ProgramAttempt("1", "wrong"),)))).text == f"# x\n{RIGHT}"
    assert policy.planted == []


async def test_a_run_gets_one_slip_however_many_subtasks_it_has() -> None:
    policy = SlipPlantingPolicy(Writer(), 1.0, kinds=["wrong function"])
    assert (await policy.decide(question("x"))).text != f"# x\n{RIGHT}"
    assert (await policy.decide(question("y"))).text == f"# y\n{RIGHT}"
    assert policy.planted == ["wrong function"]


async def test_prose_around_a_program_is_read_past() -> None:
    policy = SlipPlantingPolicy(Writer(), 1.0, kinds=["prose around"])
    assert (await policy.decide(question("x"))).text == f"# x\n{RIGHT}"
    assert policy.planted == ["prose around"]
