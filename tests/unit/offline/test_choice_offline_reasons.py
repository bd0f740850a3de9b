"""The reasons name what is really missing."""

from agent.offer.candidates import ToolCandidate
from agent.policy.protocol import MoveQuestion
from domain.event import Feed
from offline.choice import describe_missing
from tests.support.small_world import need, tool

MAIL = tool("Mail", "send_mail", "Send a mail.", [need("to_email"), need("subject"), need("body")], method="POST")


def situation(request: str) -> MoveQuestion:
    return MoveQuestion(request, (request,), (), (), (1.0,), (), 0.0)


def test_the_input_that_nothing_fills_is_named() -> None:
    candidate = ToolCandidate(MAIL, 0.5, None, (1.0,), "start", ("body",))
    told = situation("Send a mail with the subject 'Hi there' and the body 'See you'")
    assert describe_missing(told, candidate) == "to_email"


def test_what_the_path_feeds_is_not_missing() -> None:
    feeds = (Feed(parameter="to_email", step=1, field="email", score=1.0),)
    candidate = ToolCandidate(MAIL, 0.5, None, (1.0,), "start", ("body",), feeds)
    assert describe_missing(situation("Send a mail with the subject 'Hi there'"), candidate) == "body"
