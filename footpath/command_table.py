"""Table of the commands of ``footpath``: name, script, line of help and help section."""

from typing import NamedTuple


class CommandEntry(NamedTuple):
    """A command of ``footpath``."""

    script: str
    """Module of ``scripts/`` that defines it, as ``main`` or ``app``."""
    help: str
    group: str
    """Section of the help that lists it."""


_USE, _STORE, _SERVE, _LEARN = "Use", "Stores", "Serve", "Measure and train"

COMMANDS: dict[str, CommandEntry] = {
    "ask": CommandEntry("ask", "Ask a question: tools are chosen and called, an answer is made.", _USE),
    "chat": CommandEntry("_chat", "Ask one question after the other, each with what came before.", _USE),
    "find": CommandEntry("find_tools", "Find the tools of a request, and why.", _USE),
    "show": CommandEntry("show_tool", "Show a tool: its document, its evidence, its neighbours.", _USE),
    "solutions": CommandEntry("solutions", "List, show, keep and judge what served requests.", _USE),
    "demo": CommandEntry("demo", "Show the whole of it on this machine, without a key or a model.", _USE),
    "build": CommandEntry("build_graph", "Build a store of tools, or add to it.", _STORE),
    "mine": CommandEntry("mine_solutions", "Make solutions of a store's tools before anybody has asked.", _STORE),
    "reindex": CommandEntry("reindex", "Change to another encoder.", _STORE),
    "verify": CommandEntry("verify_store", "Compare vectors and words with the graph.", _STORE),
    "export-program": CommandEntry(
        "export_program", "Write the program of a run or solution for Python, MCP or LangGraph.", _USE
    ),
    "export": CommandEntry("export_store", "Write a store as one file.", _STORE),
    "import": CommandEntry("import_store", "Read such a file into a store.", _STORE),
    "mark-tool": CommandEntry("mark_tool", "Say whether a tool changes something.", _STORE),
    "mark-edge": CommandEntry("mark_edge", "Say that one tool follows another, or does not.", _STORE),
    "mark-feed": CommandEntry("mark_feed", "Say what fills a parameter, or does not.", _STORE),
    "reset-tool": CommandEntry("reset_tool", "Forget what calls of a tool have taught.", _STORE),
    "up": CommandEntry("up", "Start the server and its page, over a store of yours or the playground.", _SERVE),
    "serve": CommandEntry("serve", "Start the server.", _SERVE),
    "page": CommandEntry("serve_page", "Start the chat page of a server that runs.", _SERVE),
    "mcp": CommandEntry("mcp_server", "Serve a store to agents that speak MCP, on standard input and output.", _SERVE),
    "create-user": CommandEntry("create_user", "Make an account.", _SERVE),
    "create-token": CommandEntry("create_token", "Make a token for a program of an account's.", _SERVE),
    "migrate": CommandEntry("migrate", "Bring the server's tables up to date.", _SERVE),
    "rotate-keys": CommandEntry("rotate_keys", "Make a new key for the server's vault.", _SERVE),
    "backup": CommandEntry("backup", "Back up all that a server has.", _SERVE),
    "restore": CommandEntry("restore", "Make a server of a backup.", _SERVE),
    "playground": CommandEntry("serve_playground", "Start the playground: small APIs to try things on.", _SERVE),
    "check-model": CommandEntry("check_model", "Find out what a language model can do.", _LEARN),
    "evaluate": CommandEntry("evaluate", "Score a store, answers, programs and more.", _LEARN),
    "hold-out": CommandEntry("hold_out", "Leave what is measured out of what is learnt from.", _LEARN),
    "tune-retrieval": CommandEntry("tune_retrieval", "Try parameters of the search.", _LEARN),
    "write-examples": CommandEntry("write_examples", "Write examples for a training.", _LEARN),
    "train-retriever": CommandEntry("train_retriever", "Train the encoder.", _LEARN),
    "train-reranker": CommandEntry("train_reranker", "Train the re-ranker.", _LEARN),
    "export-encoder": CommandEntry("export_encoder", "Write an encoder of yours as int8.", _LEARN),
}
"""Commands by the name that is typed after ``footpath``."""
