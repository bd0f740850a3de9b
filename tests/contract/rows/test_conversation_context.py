"""Who said the values of a run's calls: in runs of another's template its author, also in runs that were asked for before that was kept."""

from domain.model import JsonObject
from server.runs.conversation_context import voices_of
from server.storage.runs import Run, RunChoices
from server.storage.storage import Storage
from server.storage.templates import TemplateContent
from server.storage.users import User
from tests.contract.rows.people import user
from tests.flows.small_world import REMOVE

PLAN: JsonObject = {"steps": [{"tool": REMOVE.id, "arguments": {"title": "Dune"}}]}
VALUE = (REMOVE.id, "title", "Dune")


async def asked_before(storage: Storage, of: User, owner: User, conversation: str) -> Run:
    """A run of a template, with the settings that such runs had when nobody kept whose the values are."""
    template = await storage.templates.add(owner.id, "Tidy", TemplateContent(parameters={}, plan=PLAN))
    choices = RunChoices(
        planner="dfs", policy="offline", settings={"document": PLAN}, template_id=template.id, template_version=1
    )
    return await storage.runs.add(of.id, conversation, "Remove Dune", choices)


async def test_what_another_fixed_before_it_was_kept_is_not_the_user_s(storage: Storage) -> None:
    ada, mallory = await user(storage), await user(storage, "mallory")
    conversation = (await storage.conversations.add(ada.id)).id
    old = await asked_before(storage, ada, mallory, conversation)
    voices = await voices_of(old, storage)
    assert (voices.said, voices.fixed) == ([], [])
    assert (voices.others_said, voices.others_fixed) == (["Remove Dune"], [VALUE])
    after = await storage.runs.add(ada.id, conversation, "And now?", RunChoices(planner="dfs", policy="offline"))
    assert (await voices_of(after, storage)).said == ["And now?"]


async def test_what_a_user_fixed_in_a_template_of_their_own_is_theirs(storage: Storage) -> None:
    ada = await user(storage)
    conversation = (await storage.conversations.add(ada.id)).id
    voices = await voices_of(await asked_before(storage, ada, ada, conversation), storage)
    assert (voices.said, voices.fixed) == (["Remove Dune"], [VALUE])
    assert (voices.others_said, voices.others_fixed) == ([], [])
