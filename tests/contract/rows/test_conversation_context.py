"""Who said the values of a run's calls: in runs of another's template its author, also in runs that were asked for before that was kept."""

from domain.model import JsonObject
from server.runs.conversation_context import collect_statements
from server.storage.accounts import User
from server.storage.runs import Run, RunChoices
from server.storage.storage import Storage
from server.storage.templates import TemplateContent
from tests.contract.rows.conftest import ManualClock
from tests.support.row_samples import CHOICES, run, user
from tests.support.small_world import REMOVE

PLAN: JsonObject = {
    "program": {
        "text": 'await remove(title="Dune")',
        "tools": {"remove": REMOVE.id},
        "arguments": {"remove": {"title": "title"}},
    }
}
VALUE = (REMOVE.id, "title", "Dune")


ASKED: JsonObject = {"reason": "Which one?", "choices": ["account 999", "account 998"]}


async def says(storage: Storage, of: Run, key: str, answer: JsonObject) -> None:
    """A question of a run, answered."""
    await storage.run_questions.ask(of.id, key, "question", ASKED)
    await storage.run_questions.answer(of.id, key, of.user_id, answer)


async def asked_before(storage: Storage, of: User, owner: User, conversation: str) -> Run:
    """A run of a template, with the settings that such runs had when nobody kept whose the values are."""
    template = await storage.templates.add(owner.id, "Tidy", TemplateContent(parameters={}, plan=PLAN))
    choices = RunChoices(
        planner="dfs", policy="offline", settings={"plan": PLAN}, template_id=template.id, template_version=1
    )
    return await storage.runs.add(of.id, conversation, "Remove Dune", choices)


async def test_what_another_fixed_before_it_was_kept_is_not_the_user_s(storage: Storage) -> None:
    ada, mallory = await user(storage), await user(storage, "mallory")
    conversation = (await storage.conversations.add(ada.id)).id
    old = await asked_before(storage, ada, mallory, conversation)
    voices = await collect_statements(old, storage)
    assert (voices.user_messages, voices.user_values) == ([], [])
    assert (voices.author_messages, voices.author_values) == (["Remove Dune"], [VALUE])
    after = await storage.runs.add(ada.id, conversation, "And now?", RunChoices(planner="dfs", policy="offline"))
    assert (await collect_statements(after, storage)).user_messages == ["And now?"]


async def test_what_a_user_fixed_in_a_template_of_their_own_is_theirs(storage: Storage) -> None:
    ada = await user(storage)
    conversation = (await storage.conversations.add(ada.id)).id
    voices = await collect_statements(await asked_before(storage, ada, ada, conversation), storage)
    assert (voices.user_messages, voices.user_values) == (["Remove Dune"], [VALUE])
    assert (voices.author_messages, voices.author_values) == ([], [])


async def test_what_a_user_answered_in_an_earlier_run_was_said(storage: Storage, clock: ManualClock) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    first, conversation = await run(storage, ada, "Book a table")
    await says(storage, first, "question-1", {"decision": "answer", "answer": "Trattoria Rossi"})
    await says(storage, first, "question-2", {"decision": "deny"})
    others, _ = await run(storage, eve, "Book a room")
    await says(storage, others, "question-1", {"decision": "answer", "answer": "Room 7"})
    after = await storage.runs.add(ada.id, conversation.id, "And a taxi there", CHOICES)
    clock.on(seconds=1)
    await says(storage, first, "question-3", {"decision": "answer", "answer": "said after it"})
    assert (await collect_statements(after, storage)).user_messages == [
        "Book a table",
        "Trattoria Rossi",
        "And a taxi there",
    ]


async def test_a_choice_that_another_s_template_proposed_is_not_in_its_user_s_words(storage: Storage) -> None:
    ada, mallory = await user(storage), await user(storage, "mallory")
    conversation = (await storage.conversations.add(ada.id)).id
    old = await asked_before(storage, ada, mallory, conversation)
    await says(storage, old, "question-1", {"decision": "answer", "answer": "account 999"})
    await says(storage, old, "question-2", {"decision": "answer", "answer": "account 7"})
    after = await storage.runs.add(ada.id, conversation, "And now?", CHOICES)
    assert (await collect_statements(after, storage)).user_messages == ["account 7", "And now?"]
