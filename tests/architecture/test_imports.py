"""What a module may import, and what importing it costs. The layers themselves are import-linter's: ``make check``."""

import ast
import json
import subprocess
import sys
from importlib.metadata import packages_distributions

from tests.support.source_tree import ROOT, module_name, packages, parsed, python_files

ADAPTERS = (
    "graph.backends.",
    "retriever.backends.",
    "retriever.embedders.",
    "agent.execution.http",
    "agent.execution.mcp",
    "agent.llm.client.transport",
    "footpath.langchain",  # classes of LangChain, which deriving from them imports
    "retriever.training.training_loop",  # classes of the trainer, which deriving from them imports
    "retriever.training.training_loop",
    "playground",
    "server",
    "ui.",
)
HEAVY = [
    *("torch", "onnxruntime", "tokenizers", "qdrant_edge", "fastapi", "uvicorn", "bm25s", "httpx"),
    *("httpx2", "langchain_core", "langchain_openai", "langsmith", "openai"),
]

PROBE = """
import importlib, json, sys
modules, heavy = json.loads(sys.stdin.read())
acts = []

def audit(event, arguments):
    writes = event == "open" and isinstance(arguments[1], str) and arguments[1].strip("rbtU")
    if writes or event in ("socket.connect", "sqlite3.connect", "subprocess.Popen", "os.mkdir"):
        acts.append(f"{event} {arguments!r}")

sys.dont_write_bytecode = True
sys.addaudithook(audit)
brought, did = {}, {}
for module in modules:
    before = set(sys.modules)
    acts.clear()
    importlib.import_module(module)
    if found := [name for name in heavy if name in sys.modules and name not in before]:
        brought[module] = found
    if acts:
        did[module] = list(acts)
print(json.dumps([brought, did]))
"""


def test_the_domain_imports_pydantic_and_the_standard_library_only() -> None:
    allowed = sys.stdlib_module_names | {"domain", "pydantic"}
    found: set[tuple[str, str]] = set()
    for path in python_files("domain"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            found |= {(module_name(path), name) for name in names if name.partition(".")[0] not in allowed}
    assert found == set()


def test_syntax_trees_are_read_in_few_modules() -> None:
    """Everything else asks the one representation of a program (docs/adr/0029-one-representation-of-a-program.md)."""
    readers = {
        module_name(path)
        for path in python_files(*packages(), "scripts", "wheel_build")
        for node in ast.walk(parsed(path))
        if (isinstance(node, ast.Import) and any(alias.name == "ast" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "ast")
        or (isinstance(node, ast.ImportFrom) and any(alias.name == "ast" for alias in node.names))
        or (isinstance(node, ast.Call) and node.args and ast.unparse(node.args[0]) == "'ast'")
    }
    analysis = {name for name in readers if name.startswith("agent.programs.analysis.")}
    evaluation = {name for name in readers if name.startswith("evaluation.")}
    assert readers - analysis - evaluation == {"domain.python_source", "domain.source_text", "wheel_build.relocation"}
    assert len(readers) <= 15


def test_importing_is_cheap_and_does_nothing() -> None:
    """Engines load inside their adapters, when used: start-up time is a measured target."""
    modules = [m for m in map(module_name, python_files(*packages())) if not m.startswith(ADAPTERS)]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROBE],
        input=json.dumps([modules, HEAVY]),
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    brought, did = json.loads(done.stdout)
    assert brought == {}, "these modules load an engine when imported"
    assert did == {}, "these modules act when imported"


def test_no_other_distribution_claims_our_package_names() -> None:
    owners = packages_distributions()
    assert {name: set(owners.get(name, [])) - {"footpath"} for name in packages()} == {
        n: set[str]() for n in packages()
    }
    assert set(packages()) & sys.stdlib_module_names == set()


def test_no_script_shadows_a_package() -> None:
    """``python scripts/x.py`` puts ``scripts/`` first on the path: a script named like a package would hide it."""
    taken = set(packages()) | set(packages_distributions()) | sys.stdlib_module_names
    assert {path.stem for path in (ROOT / "scripts").glob("*.py")} & taken == set()
