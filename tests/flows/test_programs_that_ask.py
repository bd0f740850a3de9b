"""What a user answers to a program: a choice is gone on with, words of their own go back to its author."""

from dataclasses import dataclass
from pathlib import Path

from agent.user_questions import UserQuestion
from domain.event import ProgramLooked
from tests.flows.test_programs import DAYS, RIGHT, SAID, calls
from tests.support.program_world import code, end, the, world
from tests.support.run_deps import change_deps


@dataclass
class Answers:
    """A user who says this, whatever is asked."""

    words: str
    asked: int = 0

    async def answer(self, question: UserQuestion) -> str | None:
        self.asked += 1
        return self.words


async def test_what_a_user_answers_in_their_own_words_goes_back_to_the_author(tmp_path: Path) -> None:
    asks = 'city = await ask("Which city?", choices=["Rome", "Oslo"])\nplace = (await search_places(city=city))["results"][0]'
    async with world(tmp_path, executor := calls(), code(asks, DAYS, SAID), RIGHT) as made:
        made.deps = change_deps(made.deps, channel=(user := Answers("The one in France, Paris.")))
        records = await made.told("What is the weather forecast there?")
    assert (user.asked, end(records).outcome) == (1, "answered")
    assert len(executor.made) == 2
    assert "The one in France, Paris." in made.server.requests[1].messages[-1]["content"]
    (looked,) = the(records, ProgramLooked)
    assert isinstance(looked, ProgramLooked)
    assert looked.shown == "Which city? -> The one in France, Paris."


async def test_a_choice_is_gone_on_with_at_once(tmp_path: Path) -> None:
    asks = 'city = await ask("Which city?", choices=["Paris", "Oslo"])\nplace = (await search_places(city=city))["results"][0]'
    async with world(tmp_path, calls(), code(asks, DAYS, SAID)) as made:
        made.deps = change_deps(made.deps, channel=Answers("Paris"))
        records = await made.told("What is the weather forecast there?")
    assert (end(records).outcome, made.brain.asked) == ("answered", ["program"])
