"""What somebody may have meant, below a run that found nothing: asked with that in its place by one button."""

import streamlit as st
from pydantic import TypeAdapter, ValidationError

from domain.model import JsonObject
from domain.tool import ToolId
from ui.client import Client
from ui.following import Following
from ui.language import say
from ui.library import recorded, tool
from ui.near_matches import NearMatch, near_matches, taken_before
from ui.problems import ServerError
from ui.run_state import RunState
from ui.texts import unmarked
from ui.values import choices_of, shown

_ARGUMENTS = TypeAdapter(JsonObject)


def did_you_mean(client: Client, run: str, story: RunState) -> str:
    """The request as it may have been meant, once that is pressed; else empty."""
    for place, one in enumerate(_near(client, run, story)):
        said = say("Did you mean **{meant}** rather than {said}?", meant=unmarked(one.meant), said=unmarked(one.said))
        if st.button(said, key=f"near-{place}-{run}", icon=":material/spellcheck:"):
            return one.request(story.request)
    return ""


def _near(client: Client, run: str, story: RunState) -> list[NearMatch]:
    """Worked out once: what is known of tools hardly changes while one looks."""
    kept: dict[str, list[NearMatch]] = st.session_state.setdefault("near", {})
    if run not in kept:
        following: dict[str, Following] = st.session_state.get("following", {})
        before = taken_before([one.story for key, one in following.items() if key != run])
        kept[run] = near_matches(story, lambda tool, name: [*before, *_known(client, tool, name)])
    return kept[run]


def _known(client: Client, called: ToolId, name: str) -> list[str]:
    """What a tool's document and the calls that were imported say; nothing where the server does not tell."""
    if not client.can("/tools/{tool}/about"):
        return []
    try:
        parameters = [one for one in tool(client, called).parameters if one.name == name]
        calls = recorded(client, called).calls
    except ServerError as error:
        if error.logged_out:
            raise
        return []
    known = [value for one in parameters for value in (one.example, one.default, *choices_of(one.takes))]
    return [shown(one) for one in known if isinstance(one, str)] + _given([one.arguments for one in calls], name)


def _given(arguments: list[str], name: str) -> list[str]:
    """The value of a parameter in recorded arguments, which were cut where they are long."""
    found: list[str] = []
    for one in arguments:
        try:
            value = _ARGUMENTS.validate_json(one).get(name)
        except ValidationError:
            continue
        found += [value] if isinstance(value, str) else []
    return found
