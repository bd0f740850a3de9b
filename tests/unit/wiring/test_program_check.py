"""Which form a model writes programs in is found out by asking it over a real socket, and kept beside the store."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.programs.program_types import ProgramQuestion
from agent.programs.signatures import render_offer
from domain.errors import UsageError
from tests.models.brain import Brain
from tests.models.openai_replies import ChatRequest
from tests.models.openai_server import EVERYTHING, ModelServer, model_server
from tests.models.sample_programs import coder, planner
from wiring.container import open_container
from wiring.model_samples import PROGRAM_SAMPLES, SAMPLE_TODAY, SAMPLE_TOOLS
from wiring.models import create_chat_model
from wiring.program_check import ProgramCheck, check_programs, choose_program_form
from wiring.program_forms import get_form, get_forms_file, read_forms, store_form
from wiring.settings import Settings, read_settings

Line = Callable[[ChatRequest], str]


async def tried(server: ModelServer, prices: tuple[float, float] | None = None) -> dict[str, ProgramCheck]:
    model = create_chat_model(read_settings(model_url=server.url, model_name="rules", model_attempts=1))
    try:
        return {**await check_programs(model, prices)}
    finally:
        await model.close()


async def test_a_model_that_writes_code_is_asked_for_no_plans() -> None:
    async with model_server(Brain(program=[coder(0.0)])) as server:
        found = await tried(server, (1.0, 2.0))
    assert list(found) == ["code"]
    code = found["code"]
    assert (code.right, code.first, code.samples, code.model_calls) == (5, 5, len(PROGRAM_SAMPLES), 5)
    assert code.cost == pytest.approx((code.prompt_tokens + 2 * code.completion_tokens) / 5_000_000)


@pytest.mark.parametrize("schemas", [True, False])
async def test_one_that_writes_none_is_asked_for_plans_of_the_grammar(schemas: bool) -> None:
    supports = EVERYTHING if schemas else EVERYTHING - {"json_schema", "json_object"}
    async with model_server(Brain(program_grammar=[planner(0.0)]), supports=supports) as server:
        found = await tried(server)
        forms = {str(request.body.get("response_format", {})) for request in server.requests}
    assert (found["code"].right, found["grammar"].right, found["grammar"].first) == (0, 5, 5)
    assert choose_program_form({"code": found["code"], "grammar": found["grammar"]}) == "grammar"
    assert any("for_each" in one for one in forms), "the schema of the grammar was offered"
    assert found["grammar"].cost is None


@pytest.mark.parametrize("rate", [0.05, 0.2])
async def test_slips_are_told_and_mended_in_both_forms(rate: float) -> None:
    async with model_server(Brain(program=[coder(rate, seed=3)])) as server:
        code = (await tried(server))["code"]
    async with model_server(Brain(program_grammar=[planner(rate, seed=5)])) as server:
        grammar = (await tried(server))["grammar"]
    assert min(code.right, grammar.right) >= 4
    assert code.model_calls >= len(PROGRAM_SAMPLES)


async def test_a_model_that_does_neither_has_no_form() -> None:
    async with model_server(Brain()) as server:
        found = await tried(server)
    assert [one.right for one in found.values()] == [0, 0]
    assert choose_program_form({}) is None
    assert all(one.unwritten for one in found.values())


def settings(tmp_path: Path, **given: object) -> Settings:
    return read_settings(store=tmp_path / "store", model_url="http://127.0.0.1:9/v1", model_name="small", **given)


def test_what_was_found_out_is_kept_for_that_model_alone(tmp_path: Path) -> None:
    chosen = settings(tmp_path)
    assert get_form(chosen, read_forms(chosen)) == "code"
    store_form(chosen, "grammar")
    kept = read_forms(chosen)
    assert get_form(chosen, kept) == "grammar"
    assert get_form(chosen, kept, "large") == "code"
    assert get_form(settings(tmp_path, program_form="code"), kept) == "code"
    store_form(chosen, "code")
    assert get_form(chosen, read_forms(chosen)) == "code"


async def test_runs_ask_for_the_form_that_was_found_out(tmp_path: Path) -> None:
    brain = Brain(program=[coder(0.0)], program_grammar=[planner(0.0)])
    question = ProgramQuestion(PROGRAM_SAMPLES[1].request, render_offer(SAMPLE_TOOLS), SAMPLE_TODAY)
    async with model_server(brain) as server:
        chosen = read_settings(store=tmp_path / "store", model_url=server.url, model_name="rules")
        await asyncio.to_thread(store_form, chosen, "grammar")
        async with open_container(chosen, create=True) as container:
            assert "population" in (await container.create_policy("llm").decide(question)).text
        async with open_container(chosen.model_copy(update={"program_form": "code"}), create=True) as container:
            await container.create_policy("llm").decide(question)
    assert brain.asked == ["program_grammar", "program"]


@pytest.mark.parametrize("held", ["[1]", '{"x": ["code"]}', '{"x": {}}', '{"x": "ruby"}', "{"])
def test_a_file_that_is_none_of_ours_is_told(tmp_path: Path, held: str) -> None:
    chosen = settings(tmp_path)
    get_forms_file(chosen).write_text(held)
    with pytest.raises(UsageError, match="delete it"):
        read_forms(chosen)
