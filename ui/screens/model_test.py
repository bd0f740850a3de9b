"""What the test of a model service found: in a line, and laid out."""

import streamlit as st

from domain.model_service import ServiceTest
from ui.language import message, number, say, say_count
from ui.screens.tables import table
from ui.texts import unmarked

_DECISIONS = {
    "choose": message("Choosing a step"),
    "arguments": message("Filling in a call"),
    "answer": message("Saying the answer"),
}
_FORMS = {"code": message("Python"), "grammar": message("the grammar")}


def in_a_line(test: ServiceTest) -> str:
    """The figures that matter, for a list."""
    if not test.works:
        return test.error
    parts = [] if test.seconds is None else [say("{seconds:.2f} s an answer", seconds=test.seconds)]
    if test.program_form:
        parts.append(say("programs in {form}", form=say(_FORMS[test.program_form])))
    if test.decision_cost is not None:
        parts.append(say("{cost} a decision", cost=_money(test.decision_cost)))
    if test.dimension is not None:
        parts.append(say_count("1 number a vector", "{count} numbers a vector", test.dimension))
    return " · ".join(parts)


def laid_out(test: ServiceTest) -> None:
    """All that was found, the verdict first."""
    if test.works:
        st.success(say("It works."), icon=":material/check_circle:")
    else:
        st.error(unmarked(say("It cannot be used: {why}", why=test.error)), icon=":material/error:")
    for advice in test.advice:
        st.caption(unmarked(advice))
    facts = _facts(test)
    if facts:
        table([{say("What"): what, say("Found"): found} for what, found in facts])
    rows = [
        {
            say("Decision"): say(_DECISIONS.get(kind, kind)),
            say("Answer"): say("right") if one.right else say("valid, but wrong") if one.valid else say("not valid"),
            say("Tokens"): f"{number(one.prompt_tokens)} + {number(one.completion_tokens)}",
            say("Seconds"): say("{seconds:.2f}", seconds=one.seconds),
        }
        for kind, one in test.decisions.items()
    ]
    if rows:
        table(rows)


def _facts(test: ServiceTest) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if test.seconds is not None:
        found.append((say("One short answer"), say("{seconds:.2f} s", seconds=test.seconds)))
    if test.streams is not None:
        first = say("yes, the first piece after {seconds:.2f} s", seconds=test.first_seconds or 0.0)
        found.append((say("Streams its answers"), first if test.streams else say("no, in one piece")))
    if test.forms:
        taken = [name for name, one in test.forms.items() if one]
        found.append((say("Keeps to a form"), ", ".join(taken) or say("no, answers are checked all the same")))
    if test.counts_tokens is not None:
        found.append((say("Counts tokens"), say("yes") if test.counts_tokens else say("no, they are estimated")))
    for form, one in test.programs.items():
        served = say("{right} of {samples} samples", right=one.right, samples=one.samples)
        found.append((say("Programs in {form}", form=say(_FORMS.get(form, form))), served))
    if test.run_tokens:
        cost = "" if test.run_cost is None else say(", costs {cost}", cost=_money(test.run_cost))
        found.append((say("A run of two calls"), say("{tokens:,} tokens{cost}", tokens=test.run_tokens, cost=cost)))
    if test.decision_cost is not None:
        found.append((say("A decision costs"), _money(test.decision_cost)))
    if test.dimension is not None:
        found.append((say("Numbers of a vector"), number(test.dimension)))
    if test.texts_a_second is not None:
        found.append((say("Texts a second"), number(round(test.texts_a_second))))
    return found


def _money(amount: float) -> str:
    return f"{amount:.6f}".rstrip("0").rstrip(".") if amount < 0.01 else f"{amount:,.2f}"
