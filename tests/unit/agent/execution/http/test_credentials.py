"""Keys in calls: where they go, where they do not, and that nothing that comes back holds one."""

import asyncio
import base64
import logging
from urllib.parse import quote, quote_plus

import pytest

from agent.execution.executor import CallResult
from agent.execution.secret_store import EnvironmentSecrets
from domain.plan import Binding
from domain.tool import Credential, Parameter, ToolDoc
from tests.support.scripted_http_server import Answer, Served, reply, reset, serving
from tests.unit.agent.execution.http.calling import executor, tool

VALUE = 'k3y+/= "x"&é'
PLAIN = "k3y-0123456789"


def secrets(value: str = PLAIN, hosts: str = "127.0.0.1") -> EnvironmentSecrets:
    return EnvironmentSecrets({"FOOTPATH_SECRET_KEY": value, "FOOTPATH_SECRET_KEY_HOSTS": hosts})


def guarded(url: str, *credentials: Credential, method: str = "GET", parameters: tuple[Parameter, ...] = ()) -> ToolDoc:
    return tool(url, method, *parameters).model_copy(update={"credentials": credentials})


async def sent(
    *credentials: Credential, answer: Answer | None = None, given: EnvironmentSecrets | None = None, url: str = "/x"
) -> tuple[CallResult, Served]:
    async with serving(answer or reply()) as served, executor(served, given or secrets()) as made:
        return await made.call(guarded(served.url + url, *credentials), {}), served


@pytest.mark.parametrize(
    ("credential", "value", "expected"),
    [
        (Credential(secret="key", name="X-Api-Key"), PLAIN, f"X-Api-Key: {PLAIN}\r\n"),
        (Credential(secret="key", prefix="Bearer "), PLAIN, f"Authorization: Bearer {PLAIN}\r\n"),
        (Credential(secret="key", place="query", name="api key"), VALUE, f"GET /x?api%20key={quote(VALUE, safe='')} HTTP/1.1"),
        (Credential(secret="key", place="cookie", name="session"), PLAIN, f"Cookie: session={PLAIN}\r\n"),
        (Credential(secret="key", basic=True), "me:pass:é", f"Basic {base64.b64encode('me:pass:é'.encode()).decode()}\r\n"),
    ],
)  # fmt: skip
async def test_where_a_key_goes(credential: Credential, value: str, expected: str) -> None:
    result, served = await sent(credential, given=secrets(value))
    assert result.outcome == "ok"
    assert expected.lower() in served.requests[0].decode().lower()
    assert result.secrets == (Binding(parameter=credential.name, origin="secret", reference="key"),)


async def test_a_key_wins_over_an_argument_of_the_same_name() -> None:
    credential = Credential(secret="key", place="query", name="key")
    async with serving(reply()) as served, executor(served, secrets()) as made:
        await made.call(
            guarded(served.url + "/x?key=0&v=1", credential, parameters=(Parameter(name="key"),)), {"key": "mine"}
        )
    assert served.requests[0].startswith(f"GET /x?v=1&key={PLAIN} HTTP/1.1".encode())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (EnvironmentSecrets({}), "set FOOTPATH_SECRET_KEY to it and FOOTPATH_SECRET_KEY_HOSTS to 127.0.0.1:"),
        (secrets(hosts="api.example.com"), "the secret key is not allowed for 127.0.0.1:"),
        (secrets(value="two\r\nX-Evil: lines"), "cannot be sent as a header"),
        (secrets(value="schlüssel"), "cannot be sent as a header"),
    ],
)
async def test_without_its_key_nothing_is_sent_and_what_to_set_is_said(given: EnvironmentSecrets, says: str) -> None:
    result, served = await sent(Credential(secret="key", name="X-Api-Key"), given=given)
    assert (result.outcome, result.attempts, served.requests) == ("caller_fault", 0, [])
    assert says in result.note
    assert "schlüssel" not in result.note
    assert "X-Evil" not in result.note


async def test_a_key_is_not_sent_over_http_to_another_machine() -> None:
    async with serving(reply()) as served, executor(served, secrets(hosts="api.example.com")) as made:
        result = await made.call(guarded("http://api.example.com/x", Credential(secret="key")), {})
    assert (result.outcome, result.attempts) == ("caller_fault", 0)
    assert "over http; use https" in result.note


async def test_an_optional_key_that_is_not_there_is_advised_only_where_the_call_is_refused() -> None:
    optional = Credential(secret="other", name="X-Api-Key", required=False)
    result, _ = await sent(optional)
    assert (result.outcome, result.note, result.secrets) == ("ok", "", ())
    refused, _ = await sent(optional, answer=reply("401 Unauthorized", b"{}"))
    assert refused.outcome == "caller_fault"
    assert "set FOOTPATH_SECRET_OTHER to it" in refused.note


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "429 Too Many Requests"])
async def test_a_key_that_is_refused_says_nothing_of_the_tool(status: str) -> None:
    result, _ = await sent(Credential(secret="key"), answer=reply(status, b"{}"))
    assert result.outcome == "refused"


def forms(value: str) -> list[str]:
    raw = value.encode()
    return [value, quote(value, safe=""), quote_plus(value), base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode(), raw.hex()]  # fmt: skip


def echo(value: str, *, status: str = "200 OK", extra: str = "") -> Answer:
    """All encodings of a value in the body, in headers and in a redirect's target."""
    body = " | ".join([*forms(value), extra]).encode()
    return reply(status, body, content_type="text/plain", location=f"https://example.com/?k={quote(value, safe='')}", retry_after=value.replace("é", ""))  # fmt: skip


@pytest.mark.parametrize("status", ["200 OK", "302 Found", "403 Forbidden", "404 Not Found", "429 Too Many Requests"])
@pytest.mark.parametrize("place", ["header", "query"])
async def test_a_server_that_echoes_the_key_gives_nothing_away(
    place: str, status: str, caplog: pytest.LogCaptureFixture
) -> None:
    value = PLAIN if place == "header" else VALUE
    credential = Credential(secret="key", place="header" if place == "header" else "query", name="key")
    with caplog.at_level(logging.DEBUG):
        result, served = await sent(credential, answer=echo(value, status=status), given=secrets(value))
    told = repr(result) + "\n".join(record.getMessage() for record in caplog.records) + caplog.text
    assert [form for form in forms(value) if form in told] == []
    assert "httpcore" in {record.name.partition(".")[0] for record in caplog.records}
    assert served.requests
    if status == "200 OK":
        assert result.body.count("[secret]") >= 6


async def test_of_a_password_neither_the_pair_nor_the_password_comes_back() -> None:
    pair = base64.b64encode(b"me:hunter22").decode()
    result, _ = await sent(Credential(secret="key", basic=True), answer=echo("me:hunter22", extra=f"hunter22 {pair}"), given=secrets("me:hunter22"))  # fmt: skip
    assert "hunter22" not in result.body
    assert pair not in result.body


async def test_the_beginning_of_a_key_at_the_cut_is_hidden() -> None:
    long = reply(body=b"x" * 990 + PLAIN.encode() * 9, content_type="text/plain")
    async with serving(long) as served, executor(served, secrets(), response_limit=1_000) as made:
        result = await made.call(guarded(served.url, Credential(secret="key")), {})
    assert result.body == "x" * 990 + "[secret]"


async def test_an_error_without_an_answer_holds_no_key(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        result, _ = await sent(Credential(secret="key", place="query", name="k"), answer=reset)
    assert result.outcome == "transient"
    assert PLAIN not in repr(result) + caplog.text


async def test_two_calls_at_once_hide_each_its_own_key(caplog: pytest.LogCaptureFixture) -> None:
    given = EnvironmentSecrets(
        {f"FOOTPATH_SECRET_{n}{rest}": text for n in ("ONE", "TWO") for rest, text in (("", f"value-of-{n}"), ("_HOSTS", "127.0.0.1"))}
    )  # fmt: skip
    echoing = reply(body=b"value-of-ONE value-of-TWO", content_type="text/plain")
    caplog.set_level(logging.DEBUG)
    async with serving(echoing) as served, executor(served, given) as made:
        calls = [guarded(served.url, Credential(secret=name, place="query", name="k")) for name in ("one", "two")]
        first, second = await asyncio.gather(*(made.call(call, {}) for call in calls))
    assert (first.body, second.body) == ("[secret] value-of-TWO", "value-of-ONE [secret]")
    assert "k=value-of" not in caplog.text
