"""Makes a token for a program of an account's that cannot renew one, such as the client of an agent."""

import asyncio
import sys
from datetime import datetime, timedelta
from typing import Annotated, get_args

import _environment as _environment  # first: it tells where the packages are missing
import typer

from domain.errors import NotFoundError, UnavailableError, UsageError
from server.storage.audit import AuditedAction
from server.storage.storage import open_storage
from server.storage.tokens import DEFAULT_SCOPES, Scope
from wiring.settings import read_settings


def main(
    name: Annotated[str, typer.Argument(help="The account's name.")],
    days: Annotated[int, typer.Option(min=1, max=365, help="How long it counts.")] = 30,
    label: Annotated[str, typer.Option(help="What it is for; its owner sees it among their sessions.")] = "a program",
    scope: Annotated[
        list[str] | None,
        typer.Option(help="What it may do, again for each: ask, read, run_changes, administer. Default: ask and read."),
    ] = None,
) -> None:
    """Print a token that may do of what the account may what its scopes say. It is shown this once; its owner ends it as any session. Exit codes: 2 no such account, 3 no database."""
    try:
        token, until = asyncio.run(_create(name, days, label, _chosen(scope)))
    except (UsageError, NotFoundError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3 if isinstance(error, UnavailableError) else 2) from error
    print(token)
    print(f"counts until {until:%Y-%m-%d}; Authorization: Bearer …", file=sys.stderr)


def _chosen(scopes: list[str] | None) -> tuple[Scope, ...]:
    """Raises ``UsageError``."""
    known: tuple[Scope, ...] = get_args(Scope)
    if unknown := [one for one in scopes or () if one not in known]:
        raise UsageError(f"there is no scope {unknown[0][:200]!r}; choose of {', '.join(known)}")
    return tuple(one for one in known if one in scopes) if scopes else DEFAULT_SCOPES


async def _create(name: str, days: int, label: str, scopes: tuple[Scope, ...]) -> tuple[str, datetime]:
    async with open_storage(read_settings()) as storage:
        found = await storage.users.find_by_name(name)
        if found is None or found[0].disabled_at is not None:
            raise NotFoundError(
                f"there is no account {name[:200]!r} that counts; python scripts/create_user.py makes one"
            )
        made = await storage.tokens.open_program_session(found[0].id, label, timedelta(days=days), scopes)
        told = AuditedAction(
            via="command",
            operation="create_token",
            about="Make a token for a program",
            said={"account": found[0].name, "label": label, "days": days, "scopes": [*scopes]},
        )
        await storage.audit_log.begin(told, 201)
        return made


if __name__ == "__main__":
    typer.run(main)
