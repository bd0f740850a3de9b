"""Programs after a solution that was chosen, without a model: its own with the values that the request says."""

from dataclasses import replace

from agent.programs.program_types import KnownProgram, KnownPrograms, ProgramAttempt, ProgramQuestion
from agent.programs.signatures import render_offer
from offline.policy import OfflinePolicy
from tests.support.small_world import BOOKS

AUTHOR = KnownProgram(
    "Who wrote {title}?",
    {"title": {"type": "string"}},
    'books = await search_books(title=title)\nbooks["books"][0]["author"]',
)
QUESTION = ProgramQuestion(
    'Who wrote "Dune Messiah"?',
    render_offer([BOOKS]),
    "2026-11-23",
    known_programs=KnownPrograms((AUTHOR,), is_chosen=True),
)


async def test_its_inputs_are_what_the_request_says() -> None:
    written = await OfflinePolicy().decide(QUESTION)
    assert written.text.splitlines()[0] in ('title = "Dune Messiah"', "title = 'Dune Messiah'")
    assert written.text.endswith(AUTHOR.text)


async def test_only_where_the_request_asks_the_same_and_it_was_not_tried() -> None:
    policy = OfflinePolicy()
    for other in (
        replace(QUESTION, request='Who wrote "Dune Messiah" and in which year?'),
        replace(QUESTION, known_programs=KnownPrograms((AUTHOR,))),
        replace(QUESTION, attempts=(ProgramAttempt("x", "it broke off"),)),
    ):
        assert AUTHOR.text not in (await policy.decide(other)).text
