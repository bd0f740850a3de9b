"""A program: a server without a store and a page on it; says where both are and runs until it is told to stop."""

from contextlib import suppress

from scripts._processes import ROOT, Stopped, children
from scripts._streamlit import free_port, page_command, page_environment

if __name__ == "__main__":
    with suppress(Stopped), children() as started:
        server = started.announced("server", [str(ROOT / "scripts" / "serve.py"), "--port", "0"], {})
        port = free_port(0)
        page = f"http://127.0.0.1:{port}"
        started.answering("page", page_command(port), page_environment(server), f"{page}/_stcore/health")
        print(f"server: {server}", f"page: {page}", sep="\n", flush=True)
        started.watch()
