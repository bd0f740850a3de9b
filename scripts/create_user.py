"""Makes an account: the first administrator, or any other."""

import asyncio
import getpass
import os
import sys
from typing import Annotated, Any, Literal

import _environment as _environment  # first: it tells where the packages are missing
import typer
from orjson import dumps
from pydantic import TypeAdapter, ValidationError

from domain.errors import ConflictError, UnavailableError, UsageError
from domain.model import JsonObject
from server.auth.password_rules import check_password
from server.auth.passwords import Passwords
from server.json_words import said
from server.routes.texts import Password, UserName
from server.storage.accounts import Role, User
from server.storage.audit import AuditedAction
from server.storage.storage import open_storage
from wiring.settings import read_settings

VARIABLE = "NEW_USER_PASSWORD"


def main(
    name: Annotated[str, typer.Argument(help="The account's name.")],
    role: Annotated[
        Literal["user", "author", "admin"] | None,
        typer.Option(help="What it may do: user is the default; for the first account, admin.", show_default=False),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make the account NAME. The password is asked for; without a terminal it is the first line of standard input, or the variable NEW_USER_PASSWORD. Exit codes: 2 a name or password that cannot be used, 3 no database."""
    try:
        user = asyncio.run(_create(name, _password(), role))
    except (UsageError, ConflictError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3 if isinstance(error, UnavailableError) else 2) from error
    if json:
        print(dumps({"id": user.id, "name": user.name, "role": user.role}).decode())
    else:
        print(f"made {user.name}, {user.role}", file=sys.stderr)


def _password() -> str:
    """Never an argument: those are seen by everyone on the machine."""
    if given := os.environ.get(VARIABLE):
        return given
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != password:
        raise UsageError("the two passwords differ")
    return password


def _check(what: str, shape: TypeAdapter[Any], given: str) -> None:
    try:
        shape.validate_python(given)
    except ValidationError as error:
        _, why = said(error.errors(include_input=False)[0])
        raise UsageError(f"this {what} cannot be used: it {why}") from error


async def _create(name: str, password: str, role: Role | None) -> User:
    """``role`` None: one that may administer where nobody can yet, else a plain user."""
    _check("name", TypeAdapter(UserName), name)
    _check("password", TypeAdapter(Password), password)
    check_password(password, name, "password")
    async with open_storage(read_settings()) as storage:
        role = role or ("user" if await storage.users.has_admin() else "admin")
        made = await storage.users.add(name, await Passwords().hash(password), role)
        said: JsonObject = {"account": made.name, "role": made.role}
        await storage.audit_log.begin(
            AuditedAction(via="command", operation="create_user", about="Make an account", said=said), 201
        )
        return made


if __name__ == "__main__":
    typer.run(main)
