"""How is a function computed in the background, on another core?"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")


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
