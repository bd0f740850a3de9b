"""Moving code below ``footpath/``: which imports and messages change, what is refused, and that all of ours can be moved."""

import ast

import pytest

from tests.support.source_tree import ROOT, packages, python_files
from wheel_build.archive import carried
from wheel_build.relocation import ABOVE, Relocation, RelocationError, statements

FILES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in python_files(*packages(), "scripts")}
OURS = Relocation.of(FILES)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from domain.tool import ToolId", "from footpath.domain.tool import ToolId"),
        ("from graph import store", "from footpath.graph import store"),
        ("import agent", "import footpath.agent as agent"),
        ("import ui.style as style, os", "import footpath.ui.style as style, os"),
        (
            "if x:\n    from  agent.run \\\n        import run",
            "if x:\n    from  footpath.agent.run \\\n        import run",
        ),
        ("'ä'; from domain.tool import ToolId", "'ä'; from footpath.domain.tool import ToolId"),
        ("from . import tool", "from . import tool"),
        ("from footpath.results import Answer", "from footpath.results import Answer"),
        ("from agents import x\nimport graphlib", "from agents import x\nimport graphlib"),
        ("told = 'run python scripts/find_tools.py'", "told = 'run footpath find'"),
        ("told = f'{x} ä scripts/build_graph.py --store {y}'", "told = f'{x} ä footpath build --store {y}'"),
        ("told = 'scripts/pin_images.py'", "told = 'scripts/pin_images.py'"),
        ("# from domain.tool import ToolId", "# from domain.tool import ToolId"),
        ("told = 'from domain.tool import ToolId'", "told = 'from domain.tool import ToolId'"),
    ],
)
def test_a_text_is_told_where_it_lies(before: str, after: str) -> None:
    assert OURS.text(before, "agent/some.py") == after


def test_scripts_import_each_other_by_name_and_nobody_else_does() -> None:
    text = "import _environment as _environment\nfrom _ask_view import AskView"
    moved = "import footpath.scripts._environment as _environment\nfrom footpath.scripts._ask_view import AskView"
    assert OURS.text(text, "scripts/some.py") == moved
    assert OURS.text(text, "agent/some.py") == text


@pytest.mark.parametrize(
    ("text", "why"),
    [("import domain.tool", "binds a name"), ("run('admission.reading_process')", "__package__")],
)
def test_what_cannot_be_told_is_refused(text: str, why: str) -> None:
    with pytest.raises(RelocationError, match=why):
        OURS.text(text, "agent/some.py")


def test_all_of_ours_can_be_moved_and_imports_nothing_by_its_old_name() -> None:
    left: list[str] = []
    for name, text in FILES.items():
        flat = OURS.flat if name.startswith("scripts/") else frozenset[str]()
        for node in statements(ast.parse(OURS.text(text, name))):
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                named = [node.module or ""]
            else:
                continue
            left += [f"{name}: {one}" for one in named if one.partition(".")[0] in OURS.packages | flat]
    assert left == []


def test_no_module_of_the_library_hides_a_package() -> None:
    own = {path.stem for path in (ROOT / ABOVE).iterdir()}
    assert own & OURS.packages == set()


def test_scripts_for_who_works_on_footpath_stay_here() -> None:
    assert carried("scripts/ask.py")
    assert carried("scripts/_terminal.py")
    assert not carried("scripts/pin_images.py")
    assert carried("agent/run.py")
