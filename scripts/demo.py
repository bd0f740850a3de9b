"""Shows the whole of Footpath on this machine: no key, no model, no network."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _ask_view import AskView
from _demo import ask_all, build_demo, demo_playground, host_of, opened
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from domain.errors import FootpathError
from playground.demo_check import Verdict

console = Console(highlight=False)


def main(
    store: Annotated[Path, typer.Option(help="Folder of the demo's store; built anew.")] = Path(".footpath/demo"),
) -> None:
    """Start the playground, build its graph, ask five requests and check the answers. Exit 0: all are right."""
    try:
        with demo_playground() as address:
            verdicts = asyncio.run(_demo(address, store))
    except FootpathError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3) from error
    except KeyboardInterrupt:
        print("stopped; the playground, too", file=sys.stderr)
        raise typer.Exit(130) from None
    _summary(verdicts)
    _next(address, store)
    raise typer.Exit(0 if all(verdict.right for verdict in verdicts) else 1)


async def _demo(address: str, store: Path) -> list[Verdict]:
    console.print(f"The playground runs at {address}")
    built = await build_demo(address, store)
    console.print(
        f"Its graph is built: {built['tools']} tools, {built['trajectories']['kept']} trajectories, "
        f"{built['transitions']} transitions, {built['seconds']['total']:.1f} s\n"
    )
    async with opened(address, store) as container:
        return await ask_all(container, lambda: AskView(console).show)


def _summary(verdicts: list[Verdict]) -> None:
    table = Table(title="\nChecked against the playground's own data", title_justify="left", show_lines=True)
    for title in ("request", "calls that answered", "expected", "verdict"):
        table.add_column(title, overflow="fold")
    for verdict in verdicts:
        request = verdict.request
        expected = ", ".join([*(f"{number:g}" for number in request.numbers), *request.texts])
        tolerance = f" (± {request.tolerance:g})" if request.tolerance else ""
        around = f"\n[yellow]around {', '.join(verdict.around)}[/yellow]" if verdict.around else ""
        around += f"\n[dim]{verdict.unmet}, which fails, was not on the way[/dim]" if verdict.unmet else ""
        told = "[green]right[/green]" if verdict.right else f"[red]wrong[/red]: {escape(verdict.problem)}"
        table.add_row(
            escape(request.request), escape(" → ".join(verdict.calls)) + around, escape(expected + tolerance), told
        )
    console.print(table)
    right = sum(verdict.right for verdict in verdicts)
    console.print(f"[bold]{right} of {len(verdicts)} right[/bold]")


def _next(address: str, store: Path) -> None:
    host, port = host_of(address).split(":")
    console.print("\nAsk your own: start the playground in one terminal,", soft_wrap=True)
    console.print(f"  {_typed('python scripts/serve_playground.py')} --port {port}", soft_wrap=True, markup=False)
    console.print("and ask in another:", soft_wrap=True)
    question = "Which public holidays does Caldera have in 2026?"
    console.print(
        f'  FOOTPATH_ALLOW_HOSTS={host}:{port} {_typed("python scripts/ask.py")} "{question}" --store {store}',
        soft_wrap=True,
        markup=False,
    )


def _typed(command: str) -> str:
    """A command as it can be typed here: with this interpreter, as short as it can be written; installed as a wheel it is one without."""
    return command.replace("python", _python(), 1) if command.startswith("python ") else command


def _python() -> str:
    here = Path(sys.executable)
    return str(here.relative_to(Path.cwd())) if here.is_relative_to(Path.cwd()) else str(here)


if __name__ == "__main__":
    typer.run(main)
