"""Model services, for administrators: which there are, how they stand, and what each is asked for."""

from collections.abc import Callable

import streamlit as st

from ui import places
from ui.client import Client
from ui.language import listing, moment, say
from ui.models import KINDS, PURPOSES, Models, Service, choose, models, put_on_line, remove, try_again
from ui.problems import ServerError
from ui.screens.model_form import SAVED, model_form
from ui.screens.model_test import in_a_line, laid_out
from ui.screens.telling import told
from ui.texts import unmarked

_USUAL = ""
_SAID = "models-said"
_TOP = """<script>document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);</script>"""
"""The form was longer: what was saved is told where the list begins."""


def all_models(client: Client) -> None:
    """All of them, or the form of one, which the address names."""
    found = models(client)
    if wanted := places.place("model"):
        model_form(client, found, next((one for one in found.services if one.id == wanted), None))
        return
    st.title(say("Models"))
    if st.session_state.pop(SAVED, False):
        st.success(say("Saved."))
        st.html(_TOP, unsafe_allow_javascript=True)
    st.caption(say("Language models and embedding services. A change counts from the next run on, without a restart."))
    if st.button(say("Add a model"), icon=":material/add:", type="primary", key="add-model"):
        places.go("models", model="new")
    if not found.services and found.settings is None:
        st.info(say("There is no model yet: rules decide. Add one to have requests served by a language model."))
    for one in found.services:
        _service(client, one)
    if found.settings is not None:
        _of_settings(found)
    if found.services or found.settings is not None:
        _purposes(client, found)


def _service(client: Client, one: Service) -> None:
    with st.container(border=True):
        st.subheader(unmarked(one.name))
        color, state = ("green", say("On line")) if one.online else ("gray", say("Off line"))
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.badge(state, color=color)
            st.badge(say(KINDS.get(one.kind, one.kind)), color="blue")
            if one.has_key:
                st.badge(say("A key is kept"), color="gray", icon=":material/key:")
        st.text(say("{model} at {address}", model=one.model, address=one.address))
        _tested(one)
        if one.purposes:
            names = listing([say(PURPOSES.get(purpose, purpose)) for purpose in one.purposes])
            st.caption(unmarked(say("Chosen for: {purposes}", purposes=names)))
        _actions(client, one)


def _tested(one: Service) -> None:
    if one.tested is None or one.tested_at is None:
        st.caption(say("It was never tested."))
        return
    at, found = moment(one.tested_at), in_a_line(one.tested)
    if one.tested.works:
        st.caption(unmarked(say("Worked at {time}: {what}", time=at, what=found)))
    else:
        st.warning(unmarked(say("Failed at {time}: {what}", time=at, what=found)), icon=":material/error:")
    with st.expander(say("The last test of {name}", name=unmarked(one.name))):
        laid_out(one.tested)


def _actions(client: Client, one: Service) -> None:
    with st.container(horizontal=True, gap="small"):
        if st.button(say("Change"), icon=":material/edit:", key=f"change-{one.id}"):
            places.go("models", model=one.id)
        if st.button(say("Test again"), icon=":material/network_check:", key=f"test-{one.id}"):
            with st.spinner(say("Asking some twenty small questions; a slow model takes minutes…"), show_time=True):
                _done(lambda: try_again(client, one.id))
        label = say("Take off line") if one.online else say("Put on line")
        if st.button(label, icon=":material/power_settings_new:", key=f"line-{one.id}"):
            _done(lambda: put_on_line(client, one.id, online=not one.online))
        with st.popover(say("Remove"), icon=":material/delete:"):
            st.write(_uses(one))
            if st.button(say("Remove {name} and its key", name=unmarked(one.name)), key=f"remove-{one.id}"):
                _done(lambda: remove(client, one.id))


def _uses(one: Service) -> str:
    """What loses it."""
    if not one.purposes:
        return say("It is chosen for nothing. Runs that ask it now end as they would.")
    names = listing([say(PURPOSES.get(purpose, purpose)) for purpose in one.purposes])
    return say("It is chosen for: {purposes}. The default is asked for these then.", purposes=names)


def _of_settings(found: Models) -> None:
    """Read only: whoever runs the server changes it there."""
    of = found.settings
    if of is None:
        return
    with st.container(border=True):
        st.subheader(say("From the settings"))
        st.text(say("{model} at {address}", model=", ".join(of.models), address=of.address))
        st.caption(
            say("The server's settings name it (FOOTPATH_MODEL_URL). It is asked where no other is chosen, and is changed there only.")
        )  # fmt: skip


def _purposes(client: Client, found: Models) -> None:
    st.subheader(say("What is asked for what"))
    if said := st.session_state.pop(_SAID, ""):
        st.error(unmarked(said))
    on_line = {one.id: one.name for one in found.services if one.kind == "chat" and one.online}
    names = on_line | {
        one.id: say("{name} (off line)", name=one.name) for one in found.services if one.purposes and not one.online
    }
    for one in found.purposes:
        usual = say("The usual one") if one.purpose == "default" else say("The default")
        now = say("{usual}: {name}", usual=usual, name=one.used) if one.used and not one.service_id else usual
        label = say(PURPOSES.get(one.purpose, one.purpose))
        options = [_USUAL, *names]
        key = f"purpose-{one.purpose}-{one.service_id}-{one.used}-{len(names)}"  # what it shows is kept by its key
        st.selectbox(
            label, options, options.index(one.service_id) if one.service_id in options else 0,
            format_func=lambda chosen, now=now: names.get(chosen, now), key=key,
            on_change=_chosen, args=(client, one.purpose, key),
        )  # fmt: skip
    if not any(one.used for one in found.purposes):
        st.caption(say("No language model is on line: rules decide."))


def _chosen(client: Client, purpose: str, key: str) -> None:
    """Before the page is drawn anew; what the server says against it is shown then."""
    try:
        choose(client, purpose, st.session_state[key])
    except ServerError as error:
        st.session_state[_SAID] = str(error)
    st.session_state.pop("choices", None)  # what a run may choose is another now


def _done(what: Callable[[], object]) -> None:
    if told(what):
        st.session_state.pop("choices", None)  # what a run may choose is another now
        st.rerun()
