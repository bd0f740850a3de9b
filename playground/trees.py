"""Search trees in the official ToolBench layout: ``Action`` and ``Action Input`` nodes, the final answer, the functions."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from domain.tool import ToolDoc

FINISH_CODE = 3
GIVE_UP_CODE = 4
_STATUS = {401: ("Unauthorized error...", 8), 403: ("Unsubscribed error...", 7), 404: ("API not working error...", 6),
           429: ("Too many requests error...", 9)}  # fmt: skip
_FINISH = {
    "name": "Finish",
    "description": "Call this function to give the final answer, or to give up.",
    "parameters": {
        "type": "object",
        "properties": {
            "return_type": {"type": "string", "enum": ["give_answer", "give_up_and_restart"]},
            "final_answer": {"type": "string", "description": "The final answer, with give_answer."},
        },
        "required": ["return_type"],
    },
}

Json = dict[str, Any]


@dataclass(slots=True)
class Node:
    """A node of the tree; the root is an empty ``Action Input``."""

    kind: str
    text: str
    depth: int
    parent: "Node | None" = None
    observation: str | None = None
    code: int | None = None
    pruned: bool = False
    finished: bool = False
    order: int = 0
    children: "list[Node]" = field(default_factory=list["Node"])

    def add(self, kind: str, text: str) -> "Node":
        """A new child."""
        child = Node(kind, text, self.depth + 1, self)
        self.children.append(child)
        return child

    def written(self) -> Json:
        """The node and all below it, as the layout writes them."""
        made: Json = {
            "is_terminal": False,
            "pruned": self.pruned,
            "finished": self.finished,
            "depth": self.depth,
            "node_type": self.kind,
            "description": self.text,
            "Elo": 1000.0,
        }
        if self.observation is not None:
            made |= {"observation": self.observation, "observation_code": self.code}
        made |= {"child_count": len(self.children), "expand_num": self.order}
        if self.kind == "Action Input":
            made["io_state"] = {}
        made["children"] = [child.written() for child in self.children]
        return made

    def size(self) -> int:
        """Number of nodes, this one included."""
        return 1 + sum(child.size() for child in self.children)

    def height(self) -> int:
        """Number of nodes on the longest branch."""
        return 1 + max((child.height() for child in self.children), default=0)


def observation(status: int, body: str) -> tuple[str, int]:
    """ToolBench's text and code for an HTTP answer; the body is cut as its server cut it."""
    if status < 400:
        error, code = "", 0
    elif status in _STATUS:
        error, code = _STATUS[status]
    elif status < 500:
        error, code = "Message error...", 11
    else:
        return dump({"error": f"request invalid, data error. status_code={status}", "response": body}), 12
    return dump({"error": error, "response": body[:1024]}), code


def document(root: Node, query: str, functions: list[ToolDoc], final: Json) -> Json:
    """The whole file of one search."""
    answered = final["return_type"] == "give_answer"
    return {
        "win": answered,
        "tree": {"size": root.size() - 1, "max_length": root.height(), "tree": root.written()},
        "forward_args": {"single_chain_max_step": 12, "tree_beam_size": 2, "max_query_count": 200, "answer": 1,
                         "with_filter": False},
        "compare_candidates": [],
        "answer_generation": {
            "valid_data": True,
            "query_count": sum(1 for _ in _inputs(root)),
            "total_tokens": 0,
            "final_answer": dump(final),
            "finish_type": "give_answer" if answered else "give_up",
            "function": [*map(_function, functions), _FINISH],
            "chain": [],
            "train_messages": [],
            "query": query,
        },
    }  # fmt: skip


def dump(value: object) -> str:
    """Compact JSON text."""
    return orjson.dumps(value).decode()


def _inputs(node: Node) -> "list[Node]":
    below = [found for child in node.children for found in _inputs(child)]
    return [node, *below] if node.kind == "Action Input" and node.parent else below


def _function(doc: ToolDoc) -> Json:
    properties = {
        p.name: {"type": p.type, "description": p.description, "example_value": p.example} for p in doc.parameters
    }
    return {
        "name": doc.function,
        "description": f'This is the subfunction for tool "{doc.toolset}". Its description is: "{doc.description}"',
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": [p.name for p in doc.parameters if p.required],
            "optional": [p.name for p in doc.parameters if not p.required],
        },
    }
