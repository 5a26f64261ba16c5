"""How does another core compute something meanwhile?"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")


def in_background(function: Callable[..., T], *arguments: Any) -> Future[T]:
    """Begin to compute something; its result, or what it raises, comes when it is asked for.

    It pays for what lets other threads run meanwhile: checksums and hashes of large arrays do. What
    it raises has the words that errors have here (`societies.errors.option`).
    """
    other, context = ThreadPoolExecutor(1), copy_context()
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
