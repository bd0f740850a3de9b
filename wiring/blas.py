"""Number of threads that multiply matrices in a process that serves requests."""

from functools import lru_cache


@lru_cache
def one_blas_thread() -> None:
    """Multiply matrices with one thread, for the rest of the process.

    A search multiplies small matrices, and after each of them further threads of OpenBLAS would spin for a while on the
    cores that the encoder needs (docs/benchmarks.md).
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, user_api="blas")
