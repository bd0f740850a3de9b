"""Seals the keys of users, sources and model services with a new key of the vault."""

import asyncio
import sys
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from orjson import dumps

from domain.errors import FootpathError, UnavailableError
from server.storage.encryption import add_key, drop_keys
from server.storage.storage import get_key_file, open_storage
from wiring.settings import Settings, read_settings


def main(
    forget: Annotated[
        bool, typer.Option(help="Then forget the older keys: no running server may seal with one still.")
    ] = False,
    lost: Annotated[
        bool, typer.Option(help="Older keys are lost for good: remove what nobody can open, and seal the rest.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Add a key to the vault's file and seal everything with it; servers go on meanwhile. Where FOOTPATH_VAULT_KEYS holds the keys, put a new one there first. Exit codes: 2 keys that cannot be used, 3 no database."""
    try:
        result = asyncio.run(_rotate(read_settings(), forget=forget, lost=lost))
    except FootpathError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3 if isinstance(error, UnavailableError) else 2) from error
    if json:
        print(dumps(result).decode())
    else:
        print(f"{result['sealed']} keys are sealed anew, {result['forgotten']} old ones forgotten", file=sys.stderr)
        if lost:
            print(f"{result['removed']} keys that nobody can open were removed", file=sys.stderr)


async def _rotate(settings: Settings, *, forget: bool, lost: bool) -> dict[str, int]:
    file = None if settings.vault_keys.get_secret_value() else get_key_file(settings)
    if file is not None and file.exists():
        await asyncio.to_thread(add_key, file)
    removed = 0
    async with open_storage(settings, any_keys=lost) as storage:
        if lost:
            removed = await storage.vault_fingerprints.remove_lost()
            await storage.vault_fingerprints.check_and_note()
        shelves = (storage.tool_keys, storage.source_keys, storage.model_keys)
        sealed = sum([await shelf.reseal() for shelf in shelves])
        left = {version for shelf in shelves for version in await shelf.list_versions()}
        if forget and len(left) <= 1:
            await storage.vault_fingerprints.forget_older()
    forgotten = 0
    if forget and file is not None and len(left) <= 1:
        forgotten = await asyncio.to_thread(drop_keys, file)
    return {"sealed": sealed, "forgotten": forgotten} | ({"removed": removed} if lost else {})


if __name__ == "__main__":
    typer.run(main)
