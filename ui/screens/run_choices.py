"""How the next run is made: the planner, who decides, which model, and whether it stops at its plan."""

import streamlit as st

from ui.client import Client
from ui.language import language, message, say
from ui.replies import PLANNERS, Choice, Choices, Chosen
from ui.texts import unmarked

POLICIES = {"offline": message("Rules"), "llm": message("A language model")}


_CHOSEN = "chosen-"
"""What was chosen is kept by its own name: a list is another one in another language."""


def choosing(client: Client) -> None:
    """In the side bar. What is chosen holds for this visit."""
    if "choices" not in st.session_state:
        st.session_state.choices = client.choices()
    choices: Choices = st.session_state.choices
    policy = (
        _one(say("Decided by"), choices.policies, POLICIES, "choose-Decided by")
        if len(choices.policies) > 1
        else "offline"
    )
    planner = _one(say("Planner"), _usual_first(choices.planners, policy), PLANNERS, key=f"choose-Planner-{policy}")
    model = ""
    if policy == "llm" and len(choices.models) > 1:
        usual = say("The usual one: {name}", name=choices.default_model)
        model = st.selectbox(
            say("Model"), ["", *choices.models], format_func=lambda name: str(name) or usual, key=f"model-{language()}"
        )
    stop = client.can("/runs/{run_id}/plan") and st.toggle(
        say("Stop at the plan"), key="stop_at_plan", help=say("See the plan first: change it, try it out, approve it.")
    )
    st.session_state.chosen = Chosen(planner=planner, policy=policy, model=model, stop_at_plan=stop)


def _usual_first(planners: list[Choice], policy: str) -> list[Choice]:
    """Programs come first; to choose among solutions takes a model."""
    usual = sorted(planners, key=lambda one: one.name != "program")
    return usual if policy == "llm" else [one for one in usual if one.name != "solution"]


def _one(label: str, choices: list[Choice], names: dict[str, str], key: str) -> str:
    about = {one.name: one.about for one in choices}
    options, chosen = list(about), st.session_state.get(_CHOSEN + key)
    name = st.selectbox(
        label, options, options.index(chosen) if chosen in options else 0,
        format_func=lambda one: say(names.get(str(one), str(one))), key=f"{key}-{language()}",
    )  # fmt: skip
    st.session_state[_CHOSEN + key] = name
    if told := about[name]:
        st.caption(unmarked(say(told)))
    return name
