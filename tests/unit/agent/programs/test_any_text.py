"""Whatever text an author gives, the checks answer: a program that was cut, mixed up or nested never brings them down."""

import ast
import random

from agent.programs.program_checks import check_program
from tests.support.good_programs import PROGRAMS
from tests.unit.agent.programs.test_checking import END, FUNCTIONS, OFFER

ODD = (
    "=",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    "\n    ",
    "await ",
    "lambda x: ",
    "*",
    "f'{",
    '"',
    "\\",
    "\x00",
    "\x0c",
    "é",
    "return ",
    "yield ",
    "for ",
    "@",
    "match x:\n case ",
)


class NoTypes:
    """Stands in for a sandbox whose type check finds nothing."""

    async def find_type_errors(self, text: str, stubs: str) -> tuple[str, ...]:
        ast.parse(text)
        return ()


def broken(seed: int) -> str:
    """A right program with some pieces taken out, put in or moved."""
    chance = random.Random(seed)
    text = chance.choice(PROGRAMS)
    for _ in range(chance.randint(1, 2)):
        at, to = sorted((chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)))
        piece = text[at : min(to, at + 20)]
        text = chance.choice(
            [
                text[:at] + text[at + len(piece) :],
                text[:at] + chance.choice(ODD) + text[at:],
                text[:to] + piece + text[to:],
            ]
        )
    return text


async def test_no_text_brings_the_checks_down() -> None:
    parsed = 0
    for seed in range(1500):
        made = await check_program(broken(seed), OFFER, FUNCTIONS, NoTypes(), {})  # pyright: ignore[reportArgumentType]
        parsed += not any("is no Python" in one for one in made.complaints)
        again = await check_program(made.text, OFFER, FUNCTIONS, NoTypes(), {})  # pyright: ignore[reportArgumentType]
        assert again.text == made.text or made.complaints, "what was put right stays as it is"
    assert parsed > 100


async def test_deep_and_wide_texts_are_refused_at_once() -> None:
    for text in (
        "x" + ".a" * 5000,
        "1" + "+1" * 5000,
        "[" * 80 + "]" * 80,
        "not " * 4000 + "1",
        "x = [" + "1," * 9000 + "]",
        "if x:\n" * 3,
    ):
        assert (await check_program(text + END, OFFER, FUNCTIONS, NoTypes(), {})).complaints  # pyright: ignore[reportArgumentType]
