"""What the documents of a store say of their tools: what a first user should know before the first request."""

from collections.abc import AsyncIterable, Callable, Iterable
from typing import Literal, TypedDict

from domain.tool import ToolDoc


class Responses(TypedDict):
    """Tools by what tells of their responses: their ``document``, answers that were ``learnt``, or nothing (``unknown``)."""

    document: int
    learnt: int
    unknown: int


class Survey(TypedDict):
    """``secrets``: the keys, and other values that a setting gives, that calls need, each with the number of its tools. ``callable``: tools
    that have an address.
    """

    responses: Responses
    secrets: dict[str, int]
    callable: int


async def survey(
    documents: AsyncIterable[ToolDoc], secrets_wanted: Callable[[ToolDoc], Iterable[str]] = lambda _: ()
) -> Survey:
    """Look through all documents once. ``secrets_wanted``: names of those that fill required parameters of a tool, beside its credentials."""
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
