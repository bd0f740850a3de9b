"""Keys in whole runs against the playground: what to set is said, what is set works, and no event holds it."""

import base64
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.execution.http import HttpExecutor, HttpParameters
from agent.execution.secret_store import EnvironmentSecrets, to_variable_name
from agent.run import run
from agent.transcript import RunTranscript
from domain.event import EventRecord
from domain.tool import Parameter, ToolDoc
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from playground.keys import COURIER_MAIL, RATES_PRO
from tests.support.moved_playground import playground_tools
from tests.support.playground_process import running_playground
from tests.support.run_deps import build_deps
from tests.support.small_world import finder, graph

QUOTE = "Convert an amount of 120 VDK into NRV with bid and ask rates"
MAIL = "What is your own address of the mailbox and what you have sent?"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_playground() as url:
        yield url


def holding(docs: Iterable[ToolDoc], value: str, hosts: str = "127.0.0.1") -> EnvironmentSecrets:
    names = [to_variable_name(credential.secret) for doc in docs for credential in doc.credentials]
    return EnvironmentSecrets(
        {f"{name}{rest}": text for name in names for rest, text in (("", value), ("_HOSTS", hosts))}
    )


async def asked(
    request: str, docs: list[ToolDoc], secrets: EnvironmentSecrets, address: str, folder: Path
) -> tuple[list[EventRecord], RunTranscript]:
    store, search = await graph([], docs), await finder(folder, docs)
    executor = HttpExecutor(HttpParameters(allow_hosts=frozenset({address.removeprefix("http://")})), secrets=secrets)
    records = [
        record
        async for record in run(
            request,
            build_deps(
                store,
                search,
                OfflinePolicy(),
                executor,
                secrets=secrets,
                approver=AllowChangesApprover(),
                reader=EnglishReader(),
            ),
        )
    ]
    await executor.close()
    return records, RunTranscript.from_records(records)


@pytest.mark.parametrize(
    ("request_", "api", "key"), [(QUOTE, "get_currency_quote", RATES_PRO), (MAIL, "get_mailbox", COURIER_MAIL)]
)
async def test_a_key_opens_its_operation_and_stays_out_of_everything(
    request_: str, api: str, key: str, address: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    docs = playground_tools(address, api)
    records, transcript = await asked(request_, docs, holding(docs, key), address, tmp_path)
    assert transcript.end is not None
    assert transcript.end.outcome == "answered", transcript.end.answer
    [step] = transcript.steps.values()
    assert [binding.reference for binding in step.provenance if binding.origin == "secret"] == [
        docs[0].credentials[0].secret
    ]
    produced = "\n".join(record.model_dump_json() for record in records) + caplog.text + transcript.end.answer
    assert key not in produced
    assert base64.b64encode(key.encode()).decode() not in produced


@pytest.mark.parametrize(("request_", "api"), [(QUOTE, "get_currency_quote"), (MAIL, "get_mailbox")])
async def test_without_the_key_the_answer_names_what_to_set(
    request_: str, api: str, address: str, tmp_path: Path
) -> None:
    docs = playground_tools(address, api)
    _, transcript = await asked(request_, docs, EnvironmentSecrets({}), address, tmp_path)
    assert transcript.end is not None
    assert transcript.end.outcome == "gave_up"
    assert f"set {to_variable_name(docs[0].credentials[0].secret)} to it" in transcript.end.answer


async def test_a_key_for_another_host_is_not_sent(address: str, tmp_path: Path) -> None:
    docs = playground_tools(address, "get_mailbox")
    _, transcript = await asked(MAIL, docs, holding(docs, COURIER_MAIL, "mail.example.com"), address, tmp_path)
    assert transcript.end is not None
    assert transcript.end.outcome == "gave_up"
    assert "is not allowed for 127.0.0.1:" in transcript.end.answer
    assert COURIER_MAIL not in transcript.end.answer


async def test_a_key_declared_as_a_parameter_is_filled_by_the_secret_of_its_name(address: str, tmp_path: Path) -> None:
    [doc] = playground_tools(address, "get_currency_quote")
    declared = Parameter(name="X-Api-Key", location="header", required=True)
    older = doc.model_copy(update={"credentials": (), "parameters": (*doc.parameters, declared)})
    name = to_variable_name("rates_pro_x_api_key")
    _, missing = await asked(QUOTE, [older], EnvironmentSecrets({}), address, tmp_path / "a")
    assert missing.end is not None
    assert missing.end.outcome == "gave_up"
    secrets = EnvironmentSecrets({name: RATES_PRO, f"{name}_HOSTS": "127.0.0.1"})
    _, found = await asked(QUOTE, [older], secrets, address, tmp_path / "b")
    assert found.end is not None
    assert found.end.outcome == "answered", found.end.answer
