"""Computes what requests of programs expect: runs the program of each line against a service that it starts, and writes the line anew.

A program's last expression is a dict with ``numbers``, ``texts`` and ``dates``, and, where these are worked out, ``evidence``: what responses hold.
``fits`` are the marks of the things that a request can mean which has to be asked about, the meant one first. The turns of a dialogue follow on one another.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import _environment as _environment  # first: it tells where the packages are missing
import httpx
import typer

from domain.errors import FootpathError, UsageError
from evaluation.evaluation_cases import (
    ClarificationNeed,
    EvaluationCase,
    EvaluationDialogue,
    ExpectedValues,
    ServiceChange,
    group_conversations,
    read_evaluation_cases,
)
from playground.child import running_playground
from playground.gold_programs import CallRefusedError, GoldService, value_of


def main(
    files: Annotated[list[Path], typer.Argument(help="Files of requests with programs; written in place.")],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 where a line would be another.")
    ] = False,
) -> None:
    """Fill in the expected values and changes. Of changes that a line has already, the arguments that it names are kept and no others."""
    try:
        asked = read_evaluation_cases(files)
        found = computed(asked)
    except FootpathError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2) from error
    if check:
        other = [line.id for line, one in zip(asked, found, strict=True) if line != one]
        print(f"{len(asked) - len(other)} of {len(asked)} lines expect what their programs find", *other, sep="\n")
        raise typer.Exit(bool(other))
    by_id = {one.id: one for one in found}
    for file in files:
        lines = group_conversations(by_id[line.id] for line in read_evaluation_cases([file]))
        file.write_text("".join(f"{line_of(talk)}\n" for talk in lines), encoding="utf-8")
    print(f"{len(found)} requests in {len(files)} files")


def computed(asked: list[EvaluationCase]) -> list[EvaluationCase]:
    """The requests with what their programs say, in order."""
    done = {one.id: one for one in asked if not one.program}
    for service in sorted({one.service for one in asked if one.program}):
        with (
            running_playground(workshop=service == "workshop") as address,
            httpx.Client(base_url=address, timeout=20, trust_env=False) as client,
        ):
            running = GoldService(client)
            for talk in group_conversations(one for one in asked if one.service == service):
                running.reset()
                names: dict[str, Any] = {**running.operations()}
                for one in talk:
                    if one.program:
                        done[one.id] = with_expectations(one, running, names)
    return [done[one.id] for one in asked]


def with_expectations(asked: EvaluationCase, service: GoldService, names: dict[str, Any]) -> EvaluationCase:
    """The request with what its program says: expected values and changes. Of the changes that a line has, it keeps the arguments that are there.
    ``names``: what its program can use: the operations, and what those of the turns before it have left.

    Raises:
        UsageError: its program breaks off, or says nothing that can be expected.
    """
    known = len(service.made())
    try:
        value = asyncio.run(value_of(asked.program, names))
        fits: Any = value.pop("fits", ())
        expected = ExpectedValues.model_validate({"computed": "evidence" in value, **value})
        ask = ClarificationNeed(answer=asked.ask.answer, fits=fits) if asked.ask else None
    except (
        CallRefusedError,
        ArithmeticError,
        AssertionError,
        LookupError,
        TypeError,
        ValueError,
        SyntaxError,
        NameError,
    ) as error:
        raise UsageError(f"the program of {asked.id} does not work: {type(error).__name__}: {error}") from error
    made = [ServiceChange(operation=operation, arguments=arguments) for operation, arguments in service.made()[known:]]
    if len(asked.changes) == len(made):
        made = [
            ServiceChange(
                operation=one.operation, arguments={name: one.arguments.get(name) for name in before.arguments}
            )
            for one, before in zip(made, asked.changes, strict=True)
        ]
    return asked.model_copy(update={"expect": expected, "changes": tuple(made), "alone": bool(made), "ask": ask})


def line_of(talk: Sequence[EvaluationCase]) -> str:
    """A line of the file: what is not as usual. The group is the file's name."""
    first = talk[0]
    if not first.turn:
        return first.model_dump_json(exclude_defaults=True, exclude={"group"})
    told = {"id", "group", "service", "dialogue", "turn"}  # by the line as a whole
    turns = tuple(one.model_dump(mode="json", exclude_defaults=True, exclude=told) for one in talk)
    return EvaluationDialogue(id=first.dialogue, service=first.service, turns=turns).model_dump_json(
        exclude_defaults=True
    )


if __name__ == "__main__":
    typer.run(main)
