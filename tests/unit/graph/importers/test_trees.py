from pathlib import Path
from typing import Any

import orjson
import pytest

from domain.trajectory import RecordedOutcome
from graph.importers import toolbench_trees
from graph.importers.records import RecordError

Node = dict[str, Any]


def action(name: str, *inputs: Node) -> Node:
    return {"node_type": "Action", "description": name, "children": list(inputs)}


def given(code: int | None, *children: Node, text: str = "{}") -> Node:
    return {
        "node_type": "Action Input",
        "description": text,
        "observation_code": code,
        "observation": "seen",
        "children": list(children),
    }


def thought(*children: Node) -> Node:
    return {"node_type": "Thought", "description": "hm", "children": list(children)}


def finish(text: str = '{"return_type": "give_answer"}', code: int = 3) -> Node:
    return action("Finish", given(code, text=text))


def record(*children: Node, win: bool = True, **generated: object) -> Node:
    root = {"node_type": "Action Input", "description": "", "children": list(children)}
    return {"win": win, "tree": {"tree": root}, "answer_generation": {"query": "q", **generated}}


def test_the_accepted_branch_and_every_attempt_once() -> None:
    tree = record(
        action(
            "a",
            given(
                0,
                thought(action("dead", given(12, finish('{"return_type": "give_up_and_restart"}', 4)))),
                action("b", given(11, action("c", given(0, finish())))),
            ),
        )
    )
    found = toolbench_trees.parse_trajectory(tree, "g/1.json")
    assert (found.finish, found.query, found.id) == ("give_answer", "q", "g/1.json")
    assert [(call.function, call.outcome) for call in found.path] == [
        ("a", RecordedOutcome.OK),
        ("b", RecordedOutcome.FAILED),
        ("c", RecordedOutcome.OK),
    ]
    assert [call.function for call in found.attempts] == ["a", "dead", "b", "c"]
    assert (found.path[0].arguments, found.path[0].observation) == ("{}", "seen")


def test_of_several_answers_the_one_that_was_given() -> None:
    tree = record(
        action("a", given(0, finish("first"))), action("b", given(0, finish("second"))), final_answer="second"
    )
    assert [call.function for call in toolbench_trees.parse_trajectory(tree, "x").path] == ["b"]


def test_a_lost_tree_has_no_path() -> None:
    tree = record(action("a", given(0, finish())), win=False)
    found = toolbench_trees.parse_trajectory(tree, "x")
    assert (found.finish, found.path, len(found.attempts)) == ("none", (), 1)


@pytest.mark.parametrize(
    ("generated", "ending"),
    [
        ({}, "give_up"),
        ({"valid_data": True, "finish_type": "give_up"}, "give_up"),
        ({"valid_data": False, "finish_type": "give_answer"}, "none"),
    ],
)
def test_how_a_tree_without_answer_ended(generated: dict[str, object], ending: str) -> None:
    tree = record(action("a", given(0, finish("{}", 4))), win=False, **generated)
    assert toolbench_trees.parse_trajectory(tree, "x").finish == ending


def test_chains_are_trees_without_branches() -> None:
    chain = [
        {"node_type": "Thought", "description": "hm"},
        {"node_type": "Action", "description": "a"},
        {"node_type": "Action Input", "description": "{}", "observation_code": 0, "observation": ""},
        {"node_type": "Action", "description": "Finish"},
        {"node_type": "Action Input", "description": '{"return_type": "give_answer"}', "observation_code": 3},
    ]
    found = toolbench_trees.parse_trajectory({"win": True, "trys": [{"chain": chain}]}, "x")
    assert (found.finish, [call.function for call in found.path]) == ("give_answer", ["a"])


def test_a_cycle_ends_in_a_message() -> None:
    node = action("a", given(0))
    node["children"][0]["children"] = [node]
    with pytest.raises(RecordError, match="it holds a cycle"):
        toolbench_trees.parse_trajectory(record(node), "x")


def test_shared_nodes_that_multiply_end_in_a_message() -> None:
    node = given(0)
    for _ in range(40):
        node = thought(node, node)
    with pytest.raises(RecordError, match="it holds a cycle"):
        toolbench_trees.parse_trajectory(record(node), "x")


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({}, "no search tree"),
        ({"tree": {"tree": []}}, "'tree.tree' must be an object, not a list"),
        (record(action("")), "must name a function"),
        (record({"children": ["node-7"]}), "not a reference to one"),
        (record({"children": {"a": 1}}), "'children' must be a list"),
        (record(final_answer=3), "'final_answer' must be a text"),
    ],
)
def test_what_is_no_tree(broken: Node, reason: str) -> None:
    with pytest.raises(RecordError) as caught:
        toolbench_trees.parse_trajectory(broken, "x")
    assert reason in str(caught.value)


def test_files_are_found_in_the_folder_its_parent_and_by_name(tmp_path: Path) -> None:
    file = tmp_path / "answer" / "G1_answer" / "1.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(orjson.dumps(record()))
    for path in (tmp_path, tmp_path / "answer", file.parent, file):
        assert list(toolbench_trees.find_tree_files(path)) == [file]
