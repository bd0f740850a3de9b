"""Counts tools without documented responses, required keys and callable tools, for a user's first look at a store."""

from collections.abc import AsyncIterable, Callable, Iterable
from typing import Literal, TypedDict

from domain.tool import ToolDoc


class Responses(TypedDict):
    """Number of tools by the origin of what is known about their responses."""

    document: int
    """The tool's document describes them."""
    learnt: int
    """They were learnt from calls."""
    unknown: int
    """Nothing is known."""


class Survey(TypedDict):
    """Counts over all documents of a store."""

    responses: Responses
    secrets: dict[str, int]
    """Keys, and other values from settings, that calls need, each with the number of its tools."""
    callable: int
    """Tools that have an address."""


async def survey(
    documents: AsyncIterable[ToolDoc], secrets_wanted: Callable[[ToolDoc], Iterable[str]] = lambda _: ()
) -> Survey:
    """Read all documents once and count.

    ``secrets_wanted`` names the secrets that fill required parameters of a tool, in addition to its credentials.
    """
    responses = Responses(document=0, learnt=0, unknown=0)
    secrets: dict[str, int] = {}
    found = 0
    async for doc in documents:
        responses[_told_by(doc)] += 1
        found += bool(doc.url)
        needed = [credential.secret for credential in doc.credentials if credential.required]
        for name in dict.fromkeys([*needed, *secrets_wanted(doc)]):
            secrets[name] = secrets.get(name, 0) + 1
    return Survey(responses=responses, secrets=dict(sorted(secrets.items())), callable=found)


def _told_by(doc: ToolDoc) -> Literal["document", "learnt", "unknown"]:
    if doc.learnt_response:
        return "learnt"
    written = (doc.response_schema, doc.example_response)
    return "document" if any(text and text.strip() not in ("{}", "[]", "null") for text in written) else "unknown"
