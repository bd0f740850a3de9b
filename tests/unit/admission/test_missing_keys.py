"""A tool whose key its caller gives: who looks at it has none, and that speaks neither against its live call nor against its document."""

from collections.abc import Mapping

from admission.auth_check import check_auth
from admission.gate import GateDeps, ToolDraft, examine
from agent.execution.executor import CallResult
from agent.execution.secret_store import EnvironmentSecrets
from domain.model import JsonObject
from domain.tool import Credential, Parameter, ToolDoc
from tests.unit.admission.test_quality import doc


class Counted:
    """Answers every call, and counts them."""

    name = "counted"
    calls = 0

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        self.calls += 1
        return CallResult("ok", '{"ships": 2}', note=f"{tool.api} {arguments} {identity}")

    async def close(self) -> None:
        """Nothing is open."""


async def said(*, required: bool) -> tuple[Mapping[str, str], Counted]:
    """The verdicts on a tool that wants a key which nobody has."""
    tool = doc("list_ships", "Lists the ships that lie in the harbour.").model_copy(
        update={
            "url": "http://127.0.0.1:9/ships",
            "credentials": (Credential(secret="harbour_key", name="X-Key", required=required),),
        }
    )
    executor = Counted()

    async def reach(url: str) -> None:
        assert url == tool.url

    deps = GateDeps(executor=executor, secrets=EnvironmentSecrets({}), check_reachable=reach)
    (found,) = [one async for one in examine([ToolDraft(tool)], deps)]
    return {one.check: one.verdict for one in found.findings}, executor


async def test_without_the_key_it_is_not_called_and_nothing_fails() -> None:
    verdicts, executor = await said(required=True)
    assert (verdicts["auth"], verdicts["probe"], verdicts["quality"]) == ("warned", "skipped", "passed")
    assert executor.calls == 0


async def test_a_key_that_may_be_missing_keeps_nothing_from_being_called() -> None:
    verdicts, executor = await said(required=False)
    assert (verdicts["auth"], verdicts["probe"]) == ("warned", "passed")
    assert executor.calls == 1


async def test_a_header_that_each_call_needs_is_named_with_its_setting() -> None:
    token = Parameter(name="Api-Username", location="header", required=True)
    tool = doc("list_ships", "Lists the ships that lie in the harbour.").model_copy(
        update={"url": "https://harbour.example/ships", "toolset": "Harbour", "parameters": (token,)}
    )
    (found,) = await check_auth(tool, EnvironmentSecrets({}), "caller")
    assert (found.verdict, "FOOTPATH_SECRET_HARBOUR_API_USERNAME" in found.advice) == ("warned", True)
    kept = EnvironmentSecrets({"FOOTPATH_SECRET_HARBOUR_API_USERNAME": "ada"})
    assert [one.verdict for one in await check_auth(tool, kept, "caller")] == ["passed"]
