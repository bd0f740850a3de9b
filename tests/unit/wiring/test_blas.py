"""A process that serves multiplies on one thread."""

import subprocess
import sys

PROGRAM = """
import numpy
from threadpoolctl import threadpool_info
from wiring.container import limit_blas_threads

def threads():
    return [found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"]

assert threads(), "no BLAS was found"
limit_blas_threads()
print(threads())
"""


def test_numpy_multiplies_on_one_thread() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[1]", "")
