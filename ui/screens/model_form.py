"""The form of a model service: a preset fills its address in, a test tells whether it works, and one that works can be put on line."""

from typing import Any

import streamlit as st

from domain.model import JsonObject
from domain.model_service import ServiceParameters, ServiceTest
from ui import places
from ui.client import Client
from ui.language import message, say
from ui.models import KINDS, Models, Preset, Service, keep, try_new
from ui.problems import ServerError
from ui.screens.model_test import laid_out
from ui.texts import unmarked

_STRUCTURED = {
    "auto": message("as far as it can"),
    "json_schema": message("by schema"),
    "json_object": message("JSON objects"),
    "text": message("not at all"),
}
SAVED = "model-saved"
"""That one was kept, told above the list."""
_PRESSED, _FOUND = "model-pressed", "model-found"
_TEST, _SAVE = "test", "save"


def model_form(client: Client, found: Models, one: Service | None) -> None:
    """Of a new one, where ``one`` is None. Buttons and what came of them stand before the fields that mostly stay as they are."""
    st.title(say("Change {name}", name=unmarked(one.name)) if one else say("Add a model"))
    if st.button(say("All models"), icon=":material/arrow_back:", type="tertiary", key="models-back"):
        _leave()
    at = one.id if one else "new"
    kind, preset = _kind(one, at), _preset(found, one, at)
    pressed: str = st.session_state.pop(_PRESSED, "")
    # A form takes each key that is typed: a password field alone loses what one leaves by Tab, for the button in it.
    with st.form(f"model-{at}", border=False, enter_to_submit=False):
        body = _asked(one, kind, preset, at)
        with st.container(horizontal=True, gap="small"):
            _button(_TEST, say("Test"), f"try-{at}", busy=bool(pressed), icon=":material/network_check:")
            _button(_SAVE, say("Save"), f"keep-{at}", busy=bool(pressed), type="primary")
        below = st.empty()
        body |= _further(one, kind, at)
    if pressed:
        with below.container():
            _sent(client, one, body, tests=pressed == _TEST)
    of, came = st.session_state.get(_FOUND, (None, None))
    if came is not None and of == body:
        with below.container():
            _came(came)


def _button(which: str, label: str, key: str, *, busy: bool, **looks: Any) -> None:
    """It waits while what was pressed before is done."""

    def press() -> None:
        st.session_state[_PRESSED] = which

    st.form_submit_button(label, key=key, disabled=busy, on_click=press, **looks)


def _sent(client: Client, one: Service | None, body: JsonObject, *, tests: bool) -> None:
    """Try it, or keep it, which is left when it is done."""
    st.session_state.pop(_FOUND, None)
    if not (body["address"] and body["model"]):
        came: ServiceTest | str = say("It needs an address and a model.")
    else:
        try:
            with st.spinner(say("Asking some twenty small questions; a slow model takes minutes…"), show_time=True):
                came = try_new(client, body, one.id if one else "") if tests else ""
                if not tests:
                    keep(client, body, one)
        except ServerError as error:
            came = str(error)
    if came == "":
        st.session_state.pop("choices", None)  # what a run may choose is another now
        st.session_state[SAVED] = True
        _leave()
    st.session_state[_FOUND] = (body, came)
    st.rerun()


def _came(came: ServiceTest | str) -> None:
    """What the test found, or what is wrong."""
    if isinstance(came, str):
        st.error(unmarked(came))
    else:
        laid_out(came)


def _leave() -> None:
    st.session_state.pop(_FOUND, None)
    places.go("models")


def _kind(one: Service | None, at: str) -> str:
    if one is not None:
        return one.kind
    return st.radio(
        say("What it is"), list(KINDS), format_func=lambda key: say(KINDS[key]), horizontal=True, key=f"kind-{at}"
    )


def _asked(one: Service | None, kind: str, preset: Preset, at: str) -> JsonObject:
    address = st.text_input(
        say("Address"), one.address if one else preset.address, max_chars=500, key=f"address-{at}-{preset.provider}",
        help=say("Of an OpenAI-compatible endpoint; it mostly ends in /v1."),
    ).strip()  # fmt: skip
    own = st.checkbox(
        say("It is on this machine or in our own network"),
        one.own_network if one else preset.own_network,
        key=f"own-{at}-{preset.provider}",
        help=say("Addresses that are not public are asked only where this is said."),
    )
    model = st.text_input(
        say("Model"), one.model if one else "", max_chars=100, key=f"model-{at}", help=say("As the endpoint lists it.")
    ).strip()
    name = st.text_input(
        say("Name"),
        one.name if one else "",
        max_chars=100,
        key=f"name-{at}",
        help=say("By which runs choose it. Empty: as the model is called."),
    ).strip()
    key = _key(one, preset, at)
    online = st.toggle(say("On line: runs may ask it"), one.online if one else True, key=f"online-{at}")
    return {
        "kind": kind,
        "name": name or model,
        "provider": preset.provider,
        "address": address,
        "own_network": own,
        "model": model,
        "key": key,
        "online": online,
    }


def _further(one: Service | None, kind: str, at: str) -> JsonObject:
    prompt, completion = _prices(one, at)
    return {"price_prompt": prompt, "price_completion": completion, "parameters": _advanced(one, kind, at)}


def _preset(found: Models, one: Service | None, at: str) -> Preset:
    names = {preset.provider: preset for preset in found.presets} or {"other": Preset(provider="other", name="")}
    usual = list(names).index(one.provider) if one and one.provider in names else 0
    chosen = st.selectbox(
        say("Provider"), list(names), usual, format_func=lambda key: say("Another that speaks OpenAI's protocol") if key == "other" else names[key].name, key=f"provider-{at}",
        help=say("It fills the address in, and nothing else."), disabled=one is not None,
    )  # fmt: skip
    return names[chosen]


def _key(one: Service | None, preset: Preset, at: str) -> str | None:
    """None: the kept one stays; empty: there is none."""
    kept = one is not None and one.has_key
    hint = say("A key is kept; leave this empty to keep it") if kept else ""
    needed = say("Key") if preset.needs_key else say("Key, where it wants one")
    key = st.text_input(
        needed, type="password", max_chars=10_000, placeholder=hint, key=f"key-{at}", autocomplete="off",
        help=say("It is kept encrypted, sent to this address alone, and shown to nobody."),
    ).strip()  # fmt: skip
    if kept and not key:
        return "" if st.checkbox(say("Remove the kept key"), key=f"no-key-{at}") else None
    return key


def _prices(one: Service | None, at: str) -> tuple[float | None, float | None]:
    left, right = st.columns(2, vertical_alignment="bottom")
    prompt = left.number_input(
        say("Price of a million tokens given to it"), 0.0, value=one.price_prompt if one else None, format="%.4f", key=f"price-in-{at}"
    )  # fmt: skip
    completion = right.number_input(
        say("Price of a million tokens of its answers"), 0.0, value=one.price_completion if one else None, format="%.4f", key=f"price-out-{at}"
    )  # fmt: skip
    return prompt, completion


def _advanced(one: Service | None, kind: str, at: str) -> JsonObject:
    was = ServiceParameters.model_validate(one.parameters if one else {})
    with st.expander(say("Further settings")):
        timeout = st.number_input(say("Seconds that an answer may take"), 1.0, 600.0, was.timeout, key=f"timeout-{at}")
        attempts = st.number_input(
            say("Attempts, where it is busy or not reached"), 1, 10, was.attempts, key=f"attempts-{at}"
        )
        of_kind = _of_embeddings(was, at) if kind == "embedding" else _of_language(was, at)
    return was.model_dump(mode="json") | {"timeout": timeout, "attempts": attempts} | of_kind


def _of_language(was: ServiceParameters, at: str) -> dict[str, Any]:
    forms = list(_STRUCTURED)
    return {
        "temperature": st.number_input(
            say("Temperature; empty: its own"), 0.0, 2.0, was.temperature, 0.1, key=f"temperature-{at}"
        ),
        "top_p": st.number_input(say("Top p; empty: its own"), 0.01, 1.0, was.top_p, 0.05, key=f"top-p-{at}"),
        "top_k": st.number_input(say("Top k; empty: its own"), 1, 1_000, was.top_k, key=f"top-k-{at}"),
        "max_tokens": st.number_input(
            say("Tokens of an answer, thoughts included"), 64, 1_000_000, was.max_tokens, 256, key=f"tokens-{at}"
        ),
        "structured": st.selectbox(
            say("Answers are kept in form"), forms, forms.index(was.structured), format_func=lambda key: say(_STRUCTURED[key]), key=f"form-{at}"
        ),
    }  # fmt: skip


def _of_embeddings(was: ServiceParameters, at: str) -> dict[str, Any]:
    return {
        "dimension": st.number_input(
            say("Numbers of a vector; empty: as it gives them"), 1, 16_384, was.dimension, key=f"dimension-{at}"
        ),
        "shorten": st.checkbox(say("Ask it for vectors of that length"), was.shorten, key=f"shorten-{at}"),
        "query_prefix": st.text_input(
            say("What it wants before a request"), was.query_prefix, max_chars=1_000, key=f"query-{at}"
        ),
        "document_prefix": st.text_input(
            say("What it wants before a tool's text"), was.document_prefix, max_chars=1_000, key=f"document-{at}"
        ),
        "batch": st.number_input(say("Texts at a time"), 1, 2_048, was.batch, key=f"batch-{at}"),
    }
