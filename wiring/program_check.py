"""Check of how a model writes programs, on samples: as Python first, then as sentences of the grammar."""

import time

from agent.llm.client.chat import ChatModel
from agent.llm.policy import LlmPolicy
from agent.policy.protocol import Policy
from agent.programs.author_feedback import describe_complaints, describe_failure
from agent.programs.function_names import collect_defined_names
from agent.programs.program_checks import check_program
from agent.programs.program_types import (
    CellStop,
    LookRequest,
    PendingCalls,
    ProgramAttempt,
    ProgramError,
    ProgramForm,
    ProgramQuestion,
    ReturnedValue,
    Sandbox,
    SandboxLimits,
    SandboxSession,
)
from agent.programs.program_verdict import parse_claim
from agent.programs.sandbox import MontySandbox
from agent.programs.signatures import render_offer
from agent.programs.value_previews import preview_values
from domain.model import Model
from wiring.model_samples import PROGRAM_SAMPLES, SAMPLE_TODAY, SAMPLE_TOOLS, ProgramCheckSample, answer_call

SUFFICIENT_SHARE = 0.8
"""Share of samples that a form must serve, so that the next form is not tried."""
_MAX_TEXTS = 3
_OFFER = render_offer(SAMPLE_TOOLS)
_DOCS = {one.name: doc for one, doc in zip(_OFFER.signatures, SAMPLE_TOOLS, strict=True)}


class ProgramCheck(Model):
    """Result of one form. Tokens and seconds are of all samples together."""

    right: int
    """Number of samples that were served."""
    first: int
    """Number of samples that were served without a repair."""
    samples: int
    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    cost: float | None = None
    """Cost of one program, in the currency of the prices; None without prices."""
    unwritten: tuple[str, ...] = ()
    """Reasons why there was no program, each once."""


async def check_programs(model: ChatModel, prices: tuple[float, float] | None) -> dict[ProgramForm, ProgramCheck]:
    """Try the forms, the usual one first; the other one only where the first is not good enough.

    Raises:
        ModelUnavailableError: the model gave no answer.
    """
    sandbox = MontySandbox(SandboxLimits(workers=1))
    checks: dict[ProgramForm, ProgramCheck] = {}
    forms: tuple[ProgramForm, ...] = ("code", "grammar")
    try:
        for form in forms:
            checks[form] = await _try_program_form(model, form, sandbox, prices)
            if checks[form].right >= SUFFICIENT_SHARE * len(PROGRAM_SAMPLES):
                break
    finally:
        await sandbox.close()
    return checks


def choose_program_form(checks: dict[ProgramForm, ProgramCheck]) -> ProgramForm | None:
    """Return the form that serves more samples, the first one of equals; None where neither serves half of them."""
    usable_forms: list[ProgramForm] = [
        form for form, form_check in checks.items() if 2 * form_check.right >= form_check.samples
    ]
    best: ProgramForm | None = None
    for form in usable_forms:
        if best is None or checks[form].right > checks[best].right:
            best = form
    return best


async def _try_program_form(
    model: ChatModel, form: ProgramForm, sandbox: Sandbox, prices: tuple[float, float] | None
) -> ProgramCheck:
    right = first = calls = prompt = completion = 0
    began, unwritten = time.perf_counter(), dict[str, None]()
    for sample in PROGRAM_SAMPLES:
        policy = LlmPolicy(model, form=form)
        sample_trial = _SampleTrial(policy, sandbox, sample)
        tries = await sample_trial.serve()
        unwritten |= dict.fromkeys(filter(None, [sample_trial.unwritten]))
        right += tries > 0
        first += tries == 1
        calls += policy.cost.model_calls
        prompt += policy.cost.prompt_tokens
        completion += policy.cost.completion_tokens
    cost = (prompt * prices[0] + completion * prices[1]) / 1_000_000 / len(PROGRAM_SAMPLES) if prices else None
    return ProgramCheck(
        right=right, first=first, samples=len(PROGRAM_SAMPLES), model_calls=calls, prompt_tokens=prompt, completion_tokens=completion,
        seconds=time.perf_counter() - began, cost=cost, unwritten=tuple(unwritten),
    )  # fmt: skip


class _SampleTrial:
    """Trial of one sample: the model writes a program, which is checked and run on recorded answers, with feedback."""

    def __init__(self, policy: Policy, sandbox: Sandbox, sample: ProgramCheckSample) -> None:
        self._policy, self._sandbox, self._sample = policy, sandbox, sample
        self._attempts: list[ProgramAttempt] = []
        self.unwritten = ""

    async def serve(self) -> int:
        """Return the number of texts it took to serve the sample; 0 where it was not served."""
        async with self._sandbox.open_session() as session:
            for number in range(1, _MAX_TEXTS + 1):
                question = ProgramQuestion(self._sample.request, _OFFER, SAMPLE_TODAY, attempts=tuple(self._attempts))
                written = await self._policy.decide(question)
                if not written.text:
                    self.unwritten = written.why
                    return 0
                if await self._serves_sample(written.text, session):
                    return number
        return 0

    async def _serves_sample(self, text: str, session: SandboxSession) -> bool:
        """Return whether a text serves the sample; otherwise record the feedback for its author."""
        names = collect_defined_names(attempt.text for attempt in self._attempts if attempt.names_valid)
        assumed_types = dict.fromkeys(names, "Any")
        checked = await check_program(text, _OFFER, _DOCS, self._sandbox, assumed_types)
        if checked.complaints:
            self._attempts.append(ProgramAttempt(text, describe_complaints(checked.complaints)))
            return False
        stop = await _run_cell(session, checked.text)
        match stop:
            case ReturnedValue(value):
                return self._sample.is_right(parse_claim(value))
            case LookRequest(values):
                self._attempts.append(ProgramAttempt(text, preview_values(*values).text, names_valid=True))
            case ProgramError():
                self._attempts.append(ProgramAttempt(text, describe_failure(stop, checked.text, ()).text))
            case PendingCalls():
                raise RuntimeError("a program that waits has been answered")
        return False


async def _run_cell(session: SandboxSession, text: str) -> CellStop:
    """Run a cell to its end, with recorded answers to its calls."""
    stop = await session.start(text, {"today": SAMPLE_TODAY})
    while isinstance(stop, PendingCalls):
        stop = await session.resume({call.id: answer_call(call) for call in stop.calls})
    return stop
