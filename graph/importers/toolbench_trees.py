"""Import of ToolBench's answers: one search tree a file, ``answer/<group>/<query>_<method>.json``.

A tree's nodes alternate: ``Thought``, ``Action`` (the function's name), ``Action Input`` (its arguments, with the
observation and its code). Branches share their beginnings, so each call node is visited once.
"""

from collections.abc import Iterator
from os import scandir
from pathlib import Path
from typing import Any, NamedTuple

from domain.trajectory import Trajectory, TrajectoryCall, TrajectoryEnd
from graph.importers.records import Record, RecordError, ensure_list, ensure_object, get_optional_text
from graph.outcomes import classify_code

MAX_DEPTH = 1_000
"""Levels of a tree. ToolBench's trees have 2 to 40; a cycle would have no end."""
MAX_NODES = 200_000

_GIVE_ANSWER, _GIVE_UP = 3, 4

_Node = dict[str, Any]
_BranchLink = tuple[TrajectoryCall, Any] | None
"""Branch of calls as a linked list from its end, (call, earlier calls), so that branches share their beginnings."""


class _AnswerEnding(NamedTuple):
    """Node ``Finish`` that gives an answer, with its branch."""

    answer: str
    branch: _BranchLink


def find_answer_root(path: Path) -> Path:
    """Return the folder of groups: the path itself, or its ``answer``."""
    return path / "answer" if (path / "answer").is_dir() else path


def find_tree_files(path: Path) -> Iterator[Path]:
    """Yield the files of a folder of answers, at most one level of groups down, unordered and not held in memory.

    A path to a file yields that file.
    """
    if path.is_file():
        yield path
        return
    with scandir(find_answer_root(path)) as entries:
        for entry in entries:
            if entry.is_dir():
                with scandir(entry.path) as files:
                    yield from (Path(file.path) for file in files if file.name.endswith(".json"))
            elif entry.name.endswith(".json"):
                yield Path(entry.path)


def parse_trajectory(record: Record, name: str) -> Trajectory:
    """Parse a search tree, or a list of chains (``trys``), as a trajectory.

    ``attempts`` holds the calls of all branches, ``path`` those of the accepted branch: one that ends in a ``Finish``
    with an answer, in a tree that was won; of several, the one whose text is the tree's final answer.

    Raises:
        RecordError: it is not a search tree, has wrong types, or is a tree without an end.
    """
    generated = ensure_object(record.get("answer_generation") or {}, "'answer_generation'")
    walker = _TreeWalker()
    for root in _find_roots(record):
        walker.visit(root)
    accepted_ending = (
        None if record.get("win") is False else walker.find_accepted(get_optional_text(generated, "final_answer") or "")
    )
    return Trajectory(
        id=name,
        source="toolbench",
        query=get_optional_text(generated, "query") or "",
        finish="give_answer" if accepted_ending else _infer_finish(generated, walker.gave_up),
        path=() if accepted_ending is None else _collect_calls(accepted_ending.branch),
        attempts=tuple(walker.attempts),
    )


def _infer_finish(generated: Record, gave_up: bool) -> TrajectoryEnd:
    """Return how a tree without an accepted answer ended.

    ToolBench says so if its data is valid. Otherwise the tree counts as given up if any branch gave up.
    """
    if "valid_data" in generated:
        gave_up = generated["valid_data"] is True and generated.get("finish_type") == "give_up"
    return "give_up" if gave_up else "none"


def _collect_calls(link: _BranchLink) -> tuple[TrajectoryCall, ...]:
    calls: list[TrajectoryCall] = []
    while link is not None:
        calls.append(link[0])
        link = link[1]
    return tuple(reversed(calls))


def _find_roots(record: Record) -> list[Record]:
    """Return the tree, or each of the chains as a tree without branches."""
    if "tree" in record:
        return [ensure_object(ensure_object(record["tree"], "'tree'").get("tree"), "'tree.tree'")]
    if "trys" not in record:
        raise RecordError("no search tree: neither 'tree' nor 'trys' is there")
    attempts = (ensure_object(attempt, "an entry of 'trys'") for attempt in ensure_list(record["trys"], "'trys'"))
    return [_nest_chain(ensure_list(attempt.get("chain"), "'chain'")) for attempt in attempts]


def _nest_chain(chain: list[object]) -> Record:
    node: Record = {}
    for item in reversed(chain):
        node = {**ensure_object(item, "a node"), "children": [node]}
    return node


class _TreeWalker:
    """Collector of the calls and endings of a record's branches."""

    def __init__(self) -> None:
        self.attempts: list[TrajectoryCall] = []
        self.answers: list[_AnswerEnding] = []
        self.gave_up = False

    def visit(self, root: Record) -> None:
        """Visit a tree depth first, children in order, without recursion.

        This is the hot loop of the import, so it avoids function calls. A stack entry holds the node, its depth, the
        function whose input is still to come, and the branch of calls above it.
        """
        stack: list[tuple[_Node, int, str | None, _BranchLink]] = [(root, 0, None, None)]
        nodes, attempts, pop, push = 0, self.attempts, stack.pop, stack.append
        while stack:
            node, depth, action, branch = pop()
            nodes += 1
            kind = node.get("node_type")
            if kind == "Action":
                action = node.get("description")
                if not isinstance(action, str) or not action:
                    raise RecordError("'description' of an Action must name a function")
            elif kind == "Action Input" and action is not None:
                if action == "Finish":
                    self._record_ending(node, branch)
                else:
                    call = _build_call(action, node)
                    attempts.append(call)
                    branch = (call, branch)
                action = None
            children = node.get("children")
            if not children:
                continue
            depth += 1
            if depth > MAX_DEPTH or nodes > MAX_NODES:
                raise RecordError(f"a tree of over {MAX_DEPTH:,} levels or {MAX_NODES:,} nodes: it holds a cycle")
            if not isinstance(children, list):
                raise RecordError("'children' must be a list")
            for child in reversed(children):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
                if not isinstance(child, dict):
                    raise RecordError("an entry of 'children' must be a node, not a reference to one")
                push((child, depth, action, branch))  # pyright: ignore[reportUnknownArgumentType]

    def find_accepted(self, final: str) -> _AnswerEnding | None:
        """Return the ending with the final answer, else the first that gives an answer."""
        fitting = (ending for ending in self.answers if ending.answer == final)
        return next(fitting, self.answers[0] if self.answers else None)

    def _record_ending(self, node: _Node, branch: _BranchLink) -> None:
        answer, code = str(node.get("description") or ""), node.get("observation_code")
        if code == _GIVE_ANSWER or (code is None and '"give_answer"' in answer):
            self.answers.append(_AnswerEnding(answer, branch))
        elif code == _GIVE_UP or "give_up" in answer:
            self.gave_up = True


def _build_call(function: str, node: _Node) -> TrajectoryCall:
    arguments, observation = node.get("description"), node.get("observation")
    return TrajectoryCall(
        function,
        classify_code(node.get("observation_code")),
        None,
        None,
        arguments if isinstance(arguments, str) else None,
        observation if isinstance(observation, str) else None,
    )
