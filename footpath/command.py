"""The command ``footpath``: all commands of ``scripts/`` under one name. Only the requested one is imported."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from footpath.command_table import COMMANDS

_HERE = Path(__file__).parent


class LazyCommandGroup(TyperGroup):
    """Command group that lists all commands, and imports one when it runs or completes its options."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, command in COMMANDS.items():
            self.add_command(TyperCommand(name, help=command.help, rich_help_panel=command.group))

    def resolve_command(self, ctx: Any, args: Sequence[str]) -> Any:
        """Return name and command with its options loaded, and the remaining arguments."""
        name, command, rest = super().resolve_command(ctx, [*args])
        return name, load_command(name) if name and command else command, rest


app = typer.Typer(cls=LazyCommandGroup, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(requested: bool) -> None:
    if requested:
        print(f"footpath {version('footpath')}")
        raise typer.Exit


@app.callback()
def footpath(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Plan and run multi-step API calls over thousands of tools."""


def load_command(name: str) -> Any:
    """Import a command from its script, with its options."""
    module = import_script(COMMANDS[name].script)
    typer_app = getattr(module, "app", None)
    if typer_app is None:
        typer_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        typer_app.command(name)(module.main)
    return typer.main.get_command(typer_app)


def import_script(name: str) -> Any:
    """Import a module of ``scripts/`` by its name.

    A wheel has the scripts below this package; in a checkout they lie beside it, and import each other by bare names.
    """
    if (_HERE / "scripts").is_dir():
        return import_module(f"{__package__}.scripts.{name}")
    scripts_folder = str(_HERE.parent / "scripts")
    if scripts_folder not in sys.path:
        sys.path.append(scripts_folder)
    return import_module(name)


def main() -> None:
    """Run the command line."""
    app(prog_name="footpath")
