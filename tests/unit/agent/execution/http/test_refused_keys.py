"""A key that is refused though it should count: obtained anew once, and the call made once more where that is safe."""

import pytest

from agent.execution.executor import CallResult
from agent.execution.http import HttpExecutor, HttpParameters
from domain.errors import SecretError
from domain.tool import Credential
from tests.support.scripted_http_server import Answer, Served, reply, serving
from tests.unit.agent.execution.http.calling import tool

REFUSED = reply("401 Unauthorized", b'{"error": "no"}')


class Obtained:
    """A key whose value is another after each refusal. ``fails``: what is raised in place of one."""

    def __init__(self, fails: str = "", last: bool = False) -> None:
        self.refusals: list[str] = []
        self._fails = fails
        self._last = last

    async def has(self, name: str) -> bool:
        return bool(name)

    async def get_value(self, name: str, host: str, port: int, *, encrypted: bool) -> str | None:
        return f"token-{len(self.refusals)}"

    async def replace_refused(self, name: str, value: str) -> bool:
        self.refusals.append(value)
        if self._fails:
            raise SecretError(self._fails)
        return not self._last

    def build_advice(self, name: str, host: str, port: int, needed: str = "a key") -> str:
        return f"{needed} {name}"


async def called(secrets: Obtained, method: str, *script: Answer) -> tuple[CallResult, Served]:
    async with serving(*script) as served:
        doc = tool(f"{served.url}/things", method).model_copy(
            update={"credentials": (Credential(secret="key", prefix="Bearer "),)}
        )
        executor = HttpExecutor(HttpParameters(allow_hosts=frozenset({"127.0.0.1"})), secrets=secrets)
        try:
            return await executor.call(doc, {}), served
        finally:
            await executor.close()


def tokens(served: Served) -> list[bytes]:
    return [line[22:] for one in served.requests for line in one.split(b"\r\n") if line.startswith(b"Authorization: Bearer")]  # fmt: skip


async def test_what_reads_is_asked_once_more_with_the_new_one() -> None:
    secrets = Obtained()
    result, served = await called(secrets, "GET", REFUSED, reply())
    assert (result.outcome, result.attempts, secrets.refusals) == ("ok", 2, ["token-0"])
    assert tokens(served) == [b"token-0", b"token-1"]
    assert "obtained anew; the call was made once more" in result.note


async def test_one_that_is_refused_again_is_not_asked_for_a_third_time() -> None:
    secrets = Obtained()
    result, served = await called(secrets, "GET", REFUSED)
    assert (result.outcome, result.http_status, len(served.requests)) == ("refused", 401, 2)
    assert secrets.refusals == ["token-0"]


async def test_what_changes_something_is_left_to_who_asked() -> None:
    result, served = await called(Obtained(), "POST", REFUSED, reply())
    assert (result.outcome, len(served.requests)) == ("refused", 1)
    assert "it was not made once more: ask for it again" in result.note.replace("the call changes something, so ", "")


async def test_what_is_harmless_twice_is_made_once_more() -> None:
    result, served = await called(Obtained(), "PUT", REFUSED, reply())
    assert (result.outcome, len(served.requests)) == ("ok", 2)


@pytest.mark.parametrize(("secrets", "said"), [(Obtained(last=True), "HTTP 401"), (Obtained("obtain key again"), "obtain key again")])  # fmt: skip
async def test_where_there_is_no_other_key_that_is_told(secrets: Obtained, said: str) -> None:
    result, served = await called(secrets, "GET", REFUSED)
    assert (result.outcome, len(served.requests)) == ("refused", 1)
    assert said in result.note


async def test_another_refusal_renews_nothing() -> None:
    secrets = Obtained()
    await called(secrets, "GET", reply("403 Forbidden", b"{}"))
    assert secrets.refusals == []
