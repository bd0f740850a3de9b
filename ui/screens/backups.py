"""Backups: made, checked, downloaded, uploaded, removed; and one of them restored at the next start."""

import streamlit as st

from ui.client import Client
from ui.data import (
    Backup,
    RestoreState,
    back_up,
    backups,
    call_off_restore,
    check_backup,
    download_backup,
    remove_backup,
    restore,
    restore_state,
    take_in,
    upload,
)
from ui.jobs import Job, jobs
from ui.language import say
from ui.screens.job import followed
from ui.screens.statistics import size
from ui.screens.telling import told
from ui.source_words import when
from ui.texts import unmarked

_KINDS = ("backup", "backup-check", "backup-upload", "restore")
_BY_PAGE = 200_000_000
"""Bytes of a backup that goes through the page; larger ones are fetched from the server itself."""


def backups_of(client: Client) -> None:
    """What waits first, then the job that goes on, then a row for each."""
    state = restore_state(client)
    _waiting(client, state)
    last = jobs(client, *_KINDS, limit=1)
    going_on = bool(last) and last[0].open
    st.caption(
        say(
            "Users, conversations, runs, the graph with all that was learnt: as they are at one moment, while everybody goes on. **The vault's keys are not in it**: without them nobody opens users' tool keys. Copy vault.keys on the server, and keep it elsewhere."
        )
    )
    with st.container(horizontal=True):
        if st.button(
            say("Back up now"), type="primary", icon=":material/backup:", key="back-up", disabled=going_on
        ) and told(lambda: back_up(client)):
            st.rerun()
    if last:
        _last(client, last[0])
    found = backups(client)
    if not found:
        st.info(say("There is no backup yet. They lie on the server's disk: download each, and keep it elsewhere."))
    for one in found:
        _backup(client, one, state, going_on=going_on)
    _uploading(client, going_on=going_on)


def _last(client: Client, one: Job) -> None:
    if one.open or one.state != "done":
        followed(client, one)


def _backup(client: Client, one: Backup, state: RestoreState, *, going_on: bool) -> None:
    with st.container(border=True):
        name = unmarked(one.name)
        st.markdown(f"**{when(one.at)}** · {size(one.bytes)}")
        st.caption(
            unmarked(
                say(
                    "{name} · tables of version {tables} · {checked}",
                    name=one.name,
                    tables=one.tables,
                    checked=_checked(one),
                )
            )
        )
        if one.checked and one.checked.trouble:
            st.error(unmarked(one.checked.trouble))
        with st.container(horizontal=True, gap="small"):
            if one.bytes <= _BY_PAGE:
                st.download_button(
                    say("Download"), lambda: download_backup(client, one.name), file_name=f"footpath-{one.name}.tar", mime="application/x-tar",
                    icon=":material/download:", key=f"download-{one.name}", on_click="ignore", help=say("Download {name}", name=name),
                )  # fmt: skip
            if st.button(
                say("Check"), key=f"check-{one.name}", disabled=going_on, help=say("Check {name}", name=name)
            ) and told(lambda: check_backup(client, one.name)):
                st.rerun()
            _removing(client, one)
            if not state.pending:
                _restoring(client, one, state, going_on=going_on)
        if one.bytes > _BY_PAGE:
            st.caption(say("It is too large to go through this page; with an administrator's token:"))
            st.code(
                f"curl -OJ -H 'Authorization: Bearer …' …/api/v1/data/backups/{one.name}/download",
                language=None,
                wrap_lines=True,
            )


def _checked(one: Backup) -> str:
    if one.checked is None:
        return say("not checked yet")
    return (
        say("not whole, checked {when}", when=when(one.checked.at))
        if one.checked.trouble
        else say("whole, checked {when}", when=when(one.checked.at))
    )


def _removing(client: Client, one: Backup) -> None:
    with st.popover(say("Delete"), help=say("Delete {name}", name=unmarked(one.name))):
        st.markdown(say("It cannot be had back. Have you downloaded it?"))
        if st.button(say("Delete it"), type="primary", key=f"delete-{one.name}") and told(
            lambda: remove_backup(client, one.name)
        ):
            st.rerun()


def _restoring(client: Client, one: Backup, state: RestoreState, *, going_on: bool) -> None:
    with st.popover(say("Restore"), help=say("Restore {name}", name=unmarked(one.name))):
        if state.refused:
            st.warning(unmarked(state.refused))
            return
        st.markdown(
            say(
                "**All that this server has is replaced** by what it had on {when}: users, conversations, runs, keys, tools, what was learnt. It is checked and made ready now, while all goes on; it takes place **at the next start of the server**. What is there now is set aside in folders of its own, and everybody logs in anew. What was revoked since is there again.",
                when=when(one.at),
            )
        )
        typed = st.text_input(
            say("Type the name of the store, {name}, to confirm", name=unmarked(state.confirm)),
            max_chars=200,
            key=f"confirm-{one.name}",
        )
        wrong = typed.strip() != state.confirm
        if st.button(say("Restore it"), type="primary", key=f"restore-{one.name}", disabled=wrong or going_on) and told(
            lambda: restore(client, one.name, typed.strip())
        ):
            st.rerun()


def _waiting(client: Client, state: RestoreState) -> None:
    if state.pending is not None:
        st.warning(
            say(
                "The backup of {when} takes the place of all that this server has **at its next start** (asked for by {who}; {tools:,} tools). Restart the server to let it.",
                when=when(state.pending.backup_at), who=unmarked(state.pending.by), tools=state.pending.tools,
            )
        )  # fmt: skip
        if st.button(say("Call it off"), key="call-off") and told(lambda: call_off_restore(client)):
            st.rerun()
    if state.set_aside:
        with st.expander(say("What was there before restores")):
            st.caption(say("Delete these folders on the server when nobody needs them any more:"))
            st.code("\n".join(state.set_aside), language=None, wrap_lines=True)


def _uploading(client: Client, *, going_on: bool) -> None:
    with st.expander(say("Upload a backup")):
        st.caption(say("A file that was downloaded from this server, or another one."))
        given = st.file_uploader(say("File"), type=["tar"], key="backup-file", max_upload_size=_BY_PAGE // 1_000_000)
        if (
            st.button(say("Take it in"), key="backup-take", disabled=given is None or going_on)
            and given is not None
            and told(lambda: take_in(client, upload(client, given.name, given.getvalue()).id))
        ):
            st.rerun()
