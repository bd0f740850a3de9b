"""The command ``footpath``: all scripts under one name, completed and helped without importing what is not asked for."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from footpath.command import app, load_command
from footpath.command_table import COMMANDS
from tests.support.source_tree import ROOT

OF_DEVELOPERS = {
    "make_offer_requests", "make_playground_data", "make_program_requests", "make_secrets", "pin_images", "scan_advisories", "write_sbom",
}  # fmt: skip
ONLY_HERE = {"_chat"}
PROBE = """
import sys
from footpath.command import main
try:
    main()
except SystemExit:
    pass
print(sorted(name for name in sys.modules if name in ("wiring", "agent", "numpy", "footpath.library")), file=sys.stderr)
"""


def test_every_script_is_a_command_but_those_for_who_works_on_footpath() -> None:
    scripts = {path.stem for path in (ROOT / "scripts").glob("[a-z]*.py")}
    assert {command.script for command in COMMANDS.values()} == (scripts - OF_DEVELOPERS) | ONLY_HERE


@pytest.mark.parametrize("name", [*COMMANDS])
def test_a_command_is_its_script_with_its_options(name: str) -> None:
    command = load_command(name)
    assert command.help
    assert command.params or command.commands


def test_the_help_lists_all_and_a_wrong_name_is_met_with_the_near_one() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"})
    assert [name for name in COMMANDS if name not in shown.output] == []
    wrong = CliRunner().invoke(app, ["fnid"])
    assert (wrong.exit_code, "Did you mean" in wrong.output, "find" in wrong.output) == (2, True, True)


@pytest.mark.parametrize(
    ("typed", "at", "found"),
    [
        ("footpath b", 1, {"build", "backup"}),
        ("footpath find --ca", 2, {"--category"}),
        ("footpath solutions pro", 2, {"promote"}),
    ],
)
def test_words_are_completed(typed: str, at: int, found: set[str]) -> None:
    told = {"_FOOTPATH_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(at)}
    done = CliRunner().invoke(app, [], env=told, prog_name="footpath")
    assert set(done.output.split()) == found


def test_names_are_completed_without_importing_any_of_it() -> None:
    told = {
        "_FOOTPATH_COMPLETE": "complete_bash",
        "COMP_WORDS": "footpath f",
        "COMP_CWORD": "1",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run([sys.executable, "-c", PROBE], env=told, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["find"]
    assert done.stderr.strip() == "[]"
