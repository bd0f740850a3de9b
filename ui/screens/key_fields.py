"""Keys that are kept in one place: which there are, which are missing, and fields to keep one, as a value or by OAuth 2."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit
from zlib import crc32

import streamlit as st

from domain.model import JsonObject
from ui.client import Client
from ui.language import listing, message, say
from ui.problems import ServerError
from ui.screens.telling import told
from ui.source_words import when
from ui.texts import labelled, unmarked
from ui.tool_drafts import lines_of
from ui.tool_keys import Endpoints, Flow, Key, Vault, discover, named_in

_LACKS = (message("its name"), message("its value"), message("its host"))
_WAYS = (message("A key that I was given"), message("OAuth 2"))
_GRANTS = {
    "authorization_code": message("I log in there and agree"),
    "client_credentials": message("The client has an account of its own"),
}


def keeping(
    vault: Vault,
    key: str,
    wanted: Mapping[str, Sequence[Flow]],
    hosts: Sequence[str] = (),
    *,
    only: bool = False,
) -> None:
    """``wanted``: names that tools ask for, with the ways to obtain them that documents name; ``hosts``: where they would be sent. ``only``: no
    other keys are shown.
    """
    kept = vault.kept()
    shown = [one for one in kept if not only or one.name in wanted]
    for one in shown:
        _line(vault, key, one)
    if not shown:
        st.caption(say("No key is kept here."))
    missing = [name for name in wanted if name not in {one.name for one in kept}]
    if missing:
        st.warning(say("Missing: {missing}", missing=listing([labelled(one) for one in missing])))
    first = (missing or list(wanted) or [""])[0]
    named = named_in(wanted.get(first, ()))
    way = st.radio(
        say("How it is had"), _WAYS, int(named is not None), format_func=say, key=f"how-{key}-{first}", horizontal=True
    )
    if way == _WAYS[1]:
        _by_oauth(vault, key, first, hosts, named)
    else:
        _by_value(vault, key, first, hosts)


def _line(vault: Vault, key: str, one: Key) -> None:
    left, right = st.columns([5, 1], vertical_alignment="center")
    line = say(
        "**{name}** for {hosts} · kept {when}",
        name=labelled(one.name),
        hosts=unmarked(listing(one.hosts)),
        when=when(one.updated_at),
    )
    left.markdown(f"{line} · {say('renewed by OAuth 2')}" if one.grant else line)
    if one.lapsed:
        left.warning(unmarked(one.lapsed))
    if right.button(
        say("Forget {name}", name=labelled(one.name)), key=f"forget-{key}-{one.name}", type="tertiary"
    ) and told(lambda: vault.forget(one.name)):
        st.rerun()


def _by_value(vault: Vault, key: str, name: str, hosts: Sequence[str]) -> None:
    with st.form(f"key-{key}", clear_on_submit=False, border=True):
        named = st.text_input(say("Name of the key"), name, max_chars=200, key=f"key-name-{key}-{name}")
        value = st.text_input(say("Its value"), type="password", max_chars=10_000, key=f"key-value-{key}")
        allowed = st.text_area(
            say("Hosts that it may be sent to, one on each line"),
            "\n".join(hosts),
            key=f"key-hosts-{key}-{name}",
            help=say("As api.example.com, or host:port; http://host where it may be sent unencrypted."),
            height=80,
        )
        pressed = st.form_submit_button(say("Keep it"))
    if pressed and (
        lacking := [what for what, given in zip(_LACKS, (named, value, allowed), strict=True) if not given.strip()]
    ):
        st.error(say("Still needed: {missing}.", missing=listing([say(one) for one in lacking])))
    elif pressed and told(lambda: vault.keep(named.strip(), value, lines_of(allowed))):
        st.toast(say("Kept, sealed."))
        st.rerun()


def _by_oauth(vault: Vault, key: str, name: str, hosts: Sequence[str], named: Endpoints | None) -> None:
    """Where to log in is asked of the server, ``named`` by a document, or said by hand."""
    found = _discovered(vault.client, key) or named or Endpoints()
    for said in found.told:
        st.caption(unmarked(say(said)))
    with st.form(f"oauth-{key}", border=True):
        given = st.text_input(say("Name of the key"), name, max_chars=200, key=f"oauth-name-{key}-{name}").strip()
        how = _terms(found, key, hosts)
        pressed = st.form_submit_button(say("Go on"))
    asked = f"asked-{key}"
    if pressed and not given:
        st.error(say("Still needed: {missing}.", missing=say("its name")))
    elif pressed:
        _begin(vault, given, how, asked)
    if address := st.session_state.get(asked, ""):
        st.info(say("Log in there and agree; then come back."))
        st.link_button(say("Log in there"), address, icon=":material/open_in_new:")
        if st.button(say("I have agreed"), key=f"agreed-{key}"):
            st.session_state.pop(asked, None)
            st.rerun()


def _terms(found: Endpoints, key: str, hosts: Sequence[str]) -> JsonObject:
    """What is asked for, as the server takes it; what was found out stands in the fields at first."""
    of = f"{key}-{crc32(found.model_dump_json().encode())}"
    by_client = bool(found.token_url) and not found.authorize_url
    grant = st.selectbox(
        say("How"), list(_GRANTS), int(by_client), format_func=lambda one: say(_GRANTS[one]), key=f"grant-{of}"
    )
    authorize = st.text_input(
        say("Address to log in at"), found.authorize_url, max_chars=2000, key=f"authorize-{of}"
    ).strip()
    token = st.text_input(say("Address that gives tokens"), found.token_url, max_chars=2000, key=f"token-{of}")
    registers = say("Empty: it is registered there by itself") if found.registration_url else ""
    client_id = st.text_input(say("Client id"), max_chars=500, key=f"client-{of}", placeholder=registers)
    secret = st.text_input(say("Client secret, if it has one"), type="password", max_chars=2000, key=f"secret-{key}")
    scopes = st.text_input(
        say("Scopes, with spaces between"), " ".join(found.scopes), max_chars=2000, key=f"scopes-{of}"
    )
    allowed = st.text_area(
        say("Hosts that it may be sent to, one on each line"), "\n".join(hosts), key=f"oauth-hosts-{key}", height=80
    )
    return {
        "grant": grant,
        "authorize_url": authorize if grant == "authorization_code" else "",
        "token_url": token.strip(),
        "client_id": client_id.strip(),
        "scopes": [*scopes.split()],
        "hosts": [*lines_of(allowed)],
        **found.model_dump(include={"registration_url", "resource", "issuer", "issuer_told"}),
        **({"client_secret": secret} if secret else {}),
    }


def _begin(vault: Vault, name: str, how: JsonObject, asked: str) -> None:
    st.session_state.pop(asked, None)
    try:
        begun = vault.authorize(name, how)
    except ServerError as error:
        if error.logged_out:
            raise
        st.error(unmarked(str(error)))
        return
    if begun.authorize is None:
        st.toast(say("Kept, and renewed when it is needed."))
        st.rerun()
    elif urlsplit(begun.authorize).scheme not in ("http", "https"):
        st.error(say("The address to log in at is no web address; look at it again."))
    else:
        st.session_state[asked] = begun.authorize


def _discovered(client: Client, key: str) -> Endpoints | None:
    kept = f"discovered-{key}"
    address = st.text_input(
        say("Address of the API or server, to ask it where to log in"), max_chars=2000, key=f"discover-{key}"
    ).strip()
    if st.button(say("Ask it"), key=f"discover-now-{key}") and address:
        try:
            st.session_state[kept] = discover(client, address)
        except ServerError as error:
            if error.logged_out:
                raise
            st.error(unmarked(str(error)))
    return st.session_state.get(kept)
