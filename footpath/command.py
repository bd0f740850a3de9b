"""The command ``footpath``: all commands of ``scripts/`` under one name. Only the requested one is imported."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from footpath.commands import COMMANDS

_HERE = Path(__file__).parent


class _Commands(TyperGroup):
    """Command group that lists all commands, and imports one when it runs or completes its options."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, known in COMMANDS.items():
            self.add_command(TyperCommand(name, help=known.help, rich_help_panel=known.group))

    def resolve_command(self, ctx: Any, args: Sequence[str]) -> Any:
        """Return name and command with its options loaded, and the remaining arguments."""
        name, command, rest = super().resolve_command(ctx, [*args])
        return name, loaded(name) if name and command else command, rest


app = typer.Typer(cls=_Commands, no_args_is_help=True, pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"footpath {version('footpath')}")
        raise typer.Exit


@app.callback()
def footpath(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Plan and run multi-step API calls over thousands of tools."""


def loaded(name: str) -> Any:
    """Import a command from its script, with its options."""
    module = script(COMMANDS[name].script)
    whole = getattr(module, "app", None)
    if whole is None:
        whole = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        whole.command(name)(module.main)
    return typer.main.get_command(whole)


def script(name: str) -> Any:
    """Import a module of ``scripts/`` by its name.

    A wheel has the scripts below this package; in a checkout they lie beside it, and import each other by bare names.
    """
    if (_HERE / "scripts").is_dir():
        return import_module(f"{__package__}.scripts.{name}")
    beside = str(_HERE.parent / "scripts")
    if beside not in sys.path:
        sys.path.append(beside)
    return import_module(name)


def main() -> None:
    """Run the command line."""
    app(prog_name="footpath")
