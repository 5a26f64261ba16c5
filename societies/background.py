"""How is a function computed in the background, on another core, or on several?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")

THREADED_BYTES, THREADS = 1 << 24, 4
"""Smallest number of bytes that several threads write to a file, and the largest number of threads.
Python runs one of them at a time except while they copy, so more would wait for each other."""


def in_background(function: Callable[..., T], *arguments: Any, name: str = "") -> Future[T]:
    """Start a function in another thread and return a future of its result or exception.

    This is useful for functions that release the GIL, such as checksums and hashes of large arrays.
    Error messages name options as in the calling thread (`societies.errors.option`). The name of
    the thread begins with ``name``.
    """
    other, context = ThreadPoolExecutor(1, name), copy_context()
    try:
        result = other.submit(context.run, function, *arguments)
    except RuntimeError:  # the system has no thread left
        result = Future()
        try:
            result.set_result(function(*arguments))
        except Exception as error:
            result.set_exception(error)
    other.shutdown(wait=False)
    return result


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_for(nbytes: int) -> int:
    """Return how many threads write data to a file: at most half of the cores."""
    return max(1, min(THREADS, cores() // 2)) if nbytes >= THREADED_BYTES else 1


def for_each(function: Callable[[T], object], items: Iterable[T], *, threads: int) -> None:
    """Call a function with every item, in this thread and others, and wait until all have ended.

    Each thread takes the next item when it is done with one; ``function`` must release the GIL for
    several to be quicker than one. If calls fail, the exception of one of them is raised.
    """
    left = iter(list(items))

    def work() -> None:
        for item in left:
            function(item)

    others = [in_background(work) for _ in range(threads - 1)]
    try:
        work()
    finally:
        wait(others)
    for one in others:
        one.result()
