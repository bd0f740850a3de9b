"""Table of the commands of ``footpath``: name, script, line of help and help section."""

from typing import NamedTuple


class Command(NamedTuple):
    """A command of ``footpath``."""

    script: str
    """Module of ``scripts/`` that defines it, as ``main`` or ``app``."""
    help: str
    group: str
    """Section of the help that lists it."""


_USE, _STORE, _SERVE, _LEARN = "Use", "Stores", "Serve", "Measure and train"

COMMANDS: dict[str, Command] = {
    "ask": Command("ask", "Ask a question: tools are chosen and called, an answer is made.", _USE),
    "chat": Command("_chat", "Ask one question after the other, each with what came before.", _USE),
    "find": Command("find_tools", "Find the tools of a request, and why.", _USE),
    "show": Command("show_tool", "Show a tool: its document, its evidence, its neighbours.", _USE),
    "solutions": Command("solutions", "List, show, keep and judge what served requests.", _USE),
    "demo": Command("demo", "Show the whole of it on this machine, without a key or a model.", _USE),
    "build": Command("build_graph", "Build a store of tools, or add to it.", _STORE),
    "mine": Command("mine_solutions", "Make solutions of a store's tools before anybody has asked.", _STORE),
    "reindex": Command("reindex", "Change to another encoder.", _STORE),
    "verify": Command("verify_store", "Compare vectors and words with the graph.", _STORE),
    "export-program": Command(
        "export_program", "Write the program of a run or solution for Python, MCP or LangGraph.", _USE
    ),
    "export": Command("export_store", "Write a store as one file.", _STORE),
    "import": Command("import_store", "Read such a file into a store.", _STORE),
    "mark-tool": Command("mark_tool", "Say whether a tool changes something.", _STORE),
    "mark-edge": Command("mark_edge", "Say that one tool follows another, or does not.", _STORE),
    "mark-feed": Command("mark_feed", "Say what fills a parameter, or does not.", _STORE),
    "reset-tool": Command("reset_tool", "Forget what calls of a tool have taught.", _STORE),
    "up": Command("up", "Start the server and its page, over a store of yours or the playground.", _SERVE),
    "serve": Command("serve", "Start the server.", _SERVE),
    "page": Command("serve_page", "Start the chat page of a server that runs.", _SERVE),
    "mcp": Command("mcp_server", "Serve a store to agents that speak MCP, on standard input and output.", _SERVE),
    "create-user": Command("create_user", "Make an account.", _SERVE),
    "create-token": Command("create_token", "Make a token for a program of an account's.", _SERVE),
    "migrate": Command("migrate", "Bring the server's tables up to date.", _SERVE),
    "rotate-keys": Command("rotate_keys", "Make a new key for the server's vault.", _SERVE),
    "backup": Command("backup", "Back up all that a server has.", _SERVE),
    "restore": Command("restore", "Make a server of a backup.", _SERVE),
    "playground": Command("serve_playground", "Start the playground: small APIs to try things on.", _SERVE),
    "check-model": Command("check_model", "Find out what a language model can do.", _LEARN),
    "evaluate": Command("evaluate", "Score a store, answers, programs and more.", _LEARN),
    "hold-out": Command("hold_out", "Leave what is measured out of what is learnt from.", _LEARN),
    "tune-retrieval": Command("tune_retrieval", "Try parameters of the search.", _LEARN),
    "write-examples": Command("write_examples", "Write examples for a training.", _LEARN),
    "train-retriever": Command("train_retriever", "Train the encoder.", _LEARN),
    "train-reranker": Command("train_reranker", "Train the re-ranker.", _LEARN),
    "export-encoder": Command("export_encoder", "Write an encoder of yours as int8.", _LEARN),
}
"""Commands by the name that is typed after ``footpath``."""
