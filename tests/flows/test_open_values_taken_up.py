"""A plan whose open value its user was asked for goes on with the answer and with what was read, wherever its run was broken off."""

from pathlib import Path

from agent.policy.protocol import ArgumentsQuestion, CallArguments
from agent.user_questions import UserQuestion
from domain.event import CallFinished, QuestionAnswered
from offline.policy import OfflinePolicy
from tests.flows.test_carried_programs import plan
from tests.flows.test_given_plans import deps
from tests.flows.test_resuming import course, ended, told
from tests.support.small_world import ScriptedExecutor, ok

PLAN = plan('found = await search_places(city=fill())\nawait delete_book(title=found["results"][0]["city"])')


class Silent(OfflinePolicy):
    """A policy that finds no value."""

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        return CallArguments({}, (), missing=tuple(one.name for one in question.tool.parameters if one.required))


class Says:
    """A user who always says the same. ``asked``: how often."""

    def __init__(self, answer: str) -> None:
        self.asked = 0
        self._answer = answer

    async def answer(self, question: UserQuestion) -> str | None:
        self.asked += 1
        return self._answer


def shelf(title: str) -> ScriptedExecutor:
    return ScriptedExecutor(search_places=ok({"results": [{"city": title}]}), delete_book=ok({}))


async def test_a_plan_whose_open_value_was_asked_goes_on_after_each_of_its_events(tmp_path: Path) -> None:
    """What it searches answers something else by then: what was read before stands, and nothing is read twice."""
    user = Says("Dune")
    whole = await told("Tidy up", await deps(tmp_path, shelf("Dune"), PLAN, channel=user, policy=Silent()))
    assert (ended(whole).outcome, user.asked) == ("answered", 1)
    asked = next(at for at, one in enumerate(whole, start=1) if isinstance(one.event, QuestionAnswered))
    read = next(at for at, one in enumerate(whole, start=1) if isinstance(one.event, CallFinished))
    assert asked < read
    for cut in range(asked, len(whole)):
        again, executor = Says("Dune"), shelf("Emma" if cut >= read else "Dune")
        rest = await told(
            "Tidy up", await deps(tmp_path, executor, PLAN, channel=again, policy=Silent()), past=whole[:cut]
        )
        assert again.asked == 0, cut
        assert [api for api, _ in executor.made].count("search_places") == (cut < read), cut
        assert ended(rest).error == "", cut
        titles = {str(arguments["title"]) for api, arguments in executor.made if api == "delete_book"}
        assert titles <= {"Dune"}, cut
        if not titles and cut > read:
            continue
        assert course(rest) == course(whole), cut
