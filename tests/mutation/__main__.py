"""``make mutate``: how many deliberate faults in the modules of ``modules.toml`` their tests notice.

A run can be stopped by Ctrl-C and goes on where it was; after a change of a module or of its tests only what the change concerns is tried again.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from scripts._progress import progress_bars

ROOT = Path(__file__).parents[2]
WORK = ROOT / ".cache" / "mutation"
_MUTMUT = (sys.executable, "-c", "from mutmut.__main__ import cli; cli()")
_SHOW = """
import sys
from mutmut.mutation.diff_apply import get_diff_for_mutant
for name in sys.argv[2:]:
    print("#", name)
    print(get_diff_for_mutant(name, path=sys.argv[1]))
"""
_KILLED = {1, 3, 24, 36, 152, 255, -24}
"""Exit codes of pytest and, for what never ended, of mutmut's limits of time."""
_DECIDED = {*_KILLED, 0, 5, 33}
"""Any other comes from a process that was stopped from outside: the mutant is tried again."""
_SETTINGS = """
[tool.mutmut]
source_paths = [{package}]
only_mutate = [{module}]
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-p", "no:cacheprovider", "-m", "not outer", "-k", "not postgres", "--timeout=60"]
process_isolation = "forkserver"
timeout_constant = 2.0
timeout_multiplier = 10.0
use_git_change_detection = false
on_dependency_change = "ignore"
# Sentences are for people and no test holds them word for word: a line that is one is left as it is.
do_not_mutate_patterns = ['^\\s*(raise \\w+\\(|return )?f?"[^"]* [^"]* ']
"""


@dataclass(frozen=True)
class Module:
    """A line of ``modules.toml``."""

    subject: str
    path: str
    tests: list[str]

    @property
    def folder(self) -> Path:
        return WORK / self.path.removesuffix(".py").replace("/", ".")

    @property
    def results(self) -> Path:
        return self.folder / "mutants" / f"{self.path}.meta"

    def load(self) -> dict[str, int | None]:
        """Return each mutant's exit code, None for one that was not tried yet."""
        try:
            return json.loads(self.results.read_text(encoding="utf-8"))["exit_code_by_key"]
        except (FileNotFoundError, json.JSONDecodeError):  # not begun, or being written at this moment
            return {}


def prepare(module: Module) -> None:
    """Make a folder for mutmut: a copy of the mutated package is made there, and everything else is linked."""
    package = module.path.partition("/")[0]
    mutants = module.folder / "mutants"
    mutants.mkdir(parents=True, exist_ok=True)
    for entry in ROOT.iterdir():
        place = (module.folder if entry.name == package else mutants) / entry.name
        if entry.name not in {".git", ".cache", "pyproject.toml"} and not place.is_symlink():
            place.symlink_to(entry)
    given = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    added = _SETTINGS.format(
        package=json.dumps(package), module=json.dumps(module.path), tests=json.dumps(module.tests)
    )
    (module.folder / "pyproject.toml").write_text(given + added, encoding="utf-8")
    _forget_stale_results(module)


def _forget_stale_results(module: Module) -> None:
    """Have mutants tried again that were stopped half-way, and, after a change of the tests, those that nothing killed."""
    digest = hashlib.sha256(b"".join((ROOT / test).read_bytes() for test in module.tests)).hexdigest()
    seen = module.folder / "tests.sha256"
    same = seen.exists() and seen.read_text(encoding="utf-8") == digest
    if not same:
        (module.folder / "mutants" / "mutmut-stats.json").unlink(missing_ok=True)
    if module.results.exists():
        kept = json.loads(module.results.read_text(encoding="utf-8"))
        keep = _DECIDED if same else _KILLED
        codes: dict[str, int | None] = kept["exit_code_by_key"]
        kept["exit_code_by_key"] = {name: code if code in keep else None for name, code in codes.items()}
        module.results.write_text(json.dumps(kept), encoding="utf-8")
    seen.write_text(digest, encoding="utf-8")


def try_mutants(module: Module, jobs: int, advance: Callable[[str, int, int | None], None]) -> bool:
    """Run mutmut in the module's folder, and return whether it came to its end. What it says is in ``mutmut.log`` there."""
    prepare(module)
    command = [*_MUTMUT, "run", "--max-children", str(jobs)]
    with (module.folder / "mutmut.log").open("w", encoding="utf-8") as log:
        quick = os.environ | {"HYPOTHESIS_PROFILE": "mutation"}
        process = subprocess.Popen(command, cwd=module.folder, env=quick, stdout=log, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                codes = module.load()
                advance(module.path, sum(code is not None for code in codes.values()), len(codes) or None)
                time.sleep(1)
        except KeyboardInterrupt:
            process.wait()
            raise
    if process.returncode:
        print(f"mutmut failed on {module.path}: see {module.folder / 'mutmut.log'}", file=sys.stderr)
    return process.returncode == 0


def build_table(modules: list[Module]) -> Table:
    """Build the table of scores: of the mutants that were tried, the part that a test killed."""
    table = Table(box=box.SIMPLE)
    table.add_column("module", no_wrap=True)
    for name in ("mutants", "killed", "survived", "no tests", "not tried", "score"):
        table.add_column(name, justify="right", no_wrap=True)
    for module in modules:
        codes = list(module.load().values())
        killed, tried = sum(code in _KILLED for code in codes), sum(code is not None for code in codes)
        figures = (len(codes), killed, codes.count(0), codes.count(33) + codes.count(5), len(codes) - tried)
        table.add_row(module.path, *map(str, figures), f"{killed / tried:.0%}" if tried else "-")
    return table


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Paths or subjects of modules.toml; none: all.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 2,
    anew: Annotated[bool, typer.Option(help="Forget what earlier runs found.")] = False,
    survivors: Annotated[bool, typer.Option(help="Print what survived, as differences; try nothing.")] = False,
) -> None:
    """Mutate modules, and print what their tests notice."""
    text = Path(__file__).with_name("modules.toml").read_text(encoding="utf-8")
    listed = [Module(**fields) for fields in tomllib.loads(text)["modules"]]
    if unknown := {*(names or ())} - {name for one in listed for name in (one.path, one.subject)}:
        raise typer.BadParameter(f"not in tests/mutation/modules.toml: {', '.join(sorted(unknown))}")
    modules = [one for one in listed if not names or {one.path, one.subject} & {*names}]
    os.nice(15)
    complete = True
    try:
        with progress_bars() as advance:
            for module in [] if survivors else modules:
                if anew:
                    shutil.rmtree(module.folder, ignore_errors=True)
                complete &= try_mutants(module, jobs, advance)
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from here.", file=sys.stderr)
        complete = False
    Console(width=max(100, Console().width)).print(build_table(modules))
    for module in modules if survivors else []:
        if survived := [name for name, code in module.load().items() if code == 0]:
            subprocess.run([sys.executable, "-c", _SHOW, module.path, *survived], cwd=module.folder, check=True)
    if not complete:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
