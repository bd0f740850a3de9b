"""How the next run is made: the planner, who decides, which model, and whether it stops at its plan."""

import streamlit as st

from ui.client import Client
from ui.replies import PLANNERS, Choice, Choices, Chosen
from ui.texts import unmarked

_POLICIES = {"offline": "Rules", "llm": "A language model"}


def choosing(client: Client) -> None:
    """In the side bar. What is chosen holds for this visit."""
    if "choices" not in st.session_state:
        st.session_state.choices = client.choices()
    choices: Choices = st.session_state.choices
    planner = _one("Planner", choices.planners, PLANNERS)
    policy = _one("Decided by", choices.policies, _POLICIES) if len(choices.policies) > 1 else "offline"
    model = ""
    if policy == "llm" and len(choices.models) > 1:
        model = st.selectbox("Model", choices.models, index=choices.models.index(choices.default_model), key="model")
    st.session_state.chosen = Chosen(planner=planner, policy=policy, model=model)


def _one(label: str, choices: list[Choice], names: dict[str, str]) -> str:
    about = {one.name: one.about for one in choices}
    name = st.selectbox(
        label, list(about), format_func=lambda one: names.get(str(one), str(one)), key=f"choose-{label}"
    )
    if told := about[name]:
        st.caption(unmarked(told))
    return name
