"""How is the text of OpenCL kernels translated to CUDA C++ for NVRTC?

CUDA C++ has almost all of OpenCL C; `opencl.cuh` adds built-in functions and vectors. The rest is
replaced here, token by token, after macros are expanded: address spaces, casts to vectors, and
names that have another meaning in C++. Line numbers do not change, so errors of NVRTC name the line
of the kernel file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from societies.errors import BuildError
from societies.kerneltext.source import AmalgamatedText
from societies.localmem.condition import value_of
from societies.localmem.preprocess import preprocess
from societies.opencl.signature import TypeNames

HEADER = Path(__file__).with_name("opencl.cuh")
LOCAL_PREFIX = "societies_at_"

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<word>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)"
    r'|(?P<text>"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')|(?P<other>.)'
)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)")
_VECTOR = re.compile(r"u?(?:char|short|int|long)(?:2|3|4|8|16)|(?:float|double)(?:2|3|4|8|16)")
_DROPPED = frozenset({"__global", "global", "__private", "private"})
_LOCAL = frozenset({"__local", "local"})
_CONSTANT = frozenset({"__constant", "constant"})
_KERNEL = frozenset({"__kernel", "kernel"})
_QUALIFIERS = _DROPPED | _LOCAL | _CONSTANT | {"const", "volatile"}
_WORDS = {"restrict": "__restrict__", "__restrict": "__restrict__", "__asm__": "asm"}
_IGNORED_ATTRIBUTES = frozenset({"overloadable", "__overloadable__", "vec_type_hint"})

_FUNCTIONS = """
    barrier mem_fence read_mem_fence write_mem_fence sqrt fabs floor ceil trunc rint round fma
    copysign fmin fmax isnan isfinite isinf signbit isequal isnotequal isless islessequal isgreater
    isgreaterequal any all select min max clamp popcount clz rotate mul_hi mul24 mad24 abs
    atomic_add atomic_sub atomic_inc atomic_dec atomic_min atomic_max atomic_and atomic_or
    atomic_xor atomic_xchg atomic_cmpxchg
"""
FUNCTIONS = frozenset(_FUNCTIONS.split())
"""Built-in functions of OpenCL C that the header has under the prefix ``cl_``."""

_SAME = {f"atom_{name}": f"atomic_{name}" for name in ("add", "sub", "inc", "dec", "min", "max")}
_SAME |= {f"atom_{name}": f"atomic_{name}" for name in ("and", "or", "xor", "xchg")}

_KEYWORDS = """
    alignas alignof and and_eq asm bitand bitor catch char8_t char16_t char32_t class compl
    concept consteval constexpr constinit const_cast co_await co_return co_yield decltype delete
    dynamic_cast explicit export friend mutable namespace new noexcept not not_eq nullptr operator
    or or_eq protected public register reinterpret_cast requires static_assert static_cast template
    this thread_local throw try typeid typename using virtual wchar_t xor xor_eq
    threadIdx blockIdx blockDim gridDim warpSize
"""
KEYWORDS = frozenset(_KEYWORDS.split())
"""Names that are allowed in kernels and reserved in C++ or CUDA; an underscore is added."""


@dataclass
class Translated:
    """A text for NVRTC.

    ``required`` has the required size of the workgroup by kernel (``reqd_work_group_size``);
    ``expanded`` is the OpenCL text without macros, from which signatures are read.
    """

    text: str
    expanded: str
    required: dict[str, tuple[int, int, int]] = field(default_factory=dict)


@cache
def header() -> str:
    """Return the header that precedes every text."""
    return HEADER.read_text(encoding="utf-8")


def translate(source: AmalgamatedText, predefined: Mapping[str, str | None]) -> Translated:
    """Return the text of a planned program as CUDA C++, with the same lines.

    Raises
    ------
    BuildError
        If its macros cannot be expanded, or a kernel's local pointers cannot be read.
    """
    expanded = preprocess(source, predefined).text
    result = _Translation(expanded).carried_out()
    return Translated(
        f'#line 1 "{HEADER.name}"\n{header()}{result.text}', expanded, result.required
    )


class _Translation:
    """The tokens of one text and the position reached in them."""

    def __init__(self, text: str):
        self._types = TypeNames(text)
        self._tokens = list(_tokens(text))
        # positions of the tokens that are not white space
        self._solid = [i for i, token in enumerate(self._tokens) if not token.isspace()]
        self._place = {i: n for n, i in enumerate(self._solid)}
        self._result = Translated("", text)

    def carried_out(self) -> Translated:
        """Return the result."""
        out = self._tokens
        braces = parentheses = 0
        i = 0
        while i < len(self._solid):
            at = self._solid[i]
            token = out[at]
            if token.startswith("#"):
                out[at] = _directive(token)
            elif token == "{":
                braces += 1
            elif token == "}":
                braces -= 1
            elif token == ")":
                parentheses -= 1
            elif token == "(":
                parentheses += 1
                if self._cast(i):
                    parentheses -= 1
                    i += 2
            elif token in _KERNEL:
                out[at] = 'extern "C" __global__'
                self._kernel(i)
            elif token == "__attribute__":
                self._attribute(i)
            elif token in _DROPPED:
                out[at] = ""
            elif token in _LOCAL:
                out[at] = "" if parentheses or self._is_pointer(i) else "__shared__"
            elif token in _CONSTANT:
                variable = not (braces or parentheses) and not self._is_pointer(i)
                out[at] = "__constant__" if variable else ""
            elif token[:1].isalpha() or token[:1] == "_":
                out[at] = self._word(i, token)
            i += 1
        self._result.text = "".join(out)
        return self._result

    def _token(self, i: int) -> str:
        return self._tokens[self._solid[i]] if 0 <= i < len(self._solid) else ""

    def _word(self, i: int, word: str) -> str:
        if word in _WORDS:
            return _WORDS[word]
        if _VECTOR.fullmatch(word):
            return f"cl_{word}"
        if word in KEYWORDS:
            return f"{word}_"
        name = _SAME.get(word, word)
        if (
            name in FUNCTIONS
            and self._token(i + 1) == "("
            and self._token(i - 1) not in (".", "->")
        ):
            return f"cl_{name}"
        return word

    def _cast(self, i: int) -> bool:
        """Turn ``(type)(`` of a vector and ``(type){`` into what C++ has; leave the rest."""
        if self._void_cast(i):
            return False
        name, closing, then = (self._token(i + n) for n in (1, 2, 3))
        if closing != ")" or not re.fullmatch(r"[A-Za-z_]\w*", name):
            return False
        before = self._token(i - 1)
        if before == ")" or (re.fullmatch(r"\w+", before) and before != "return"):
            return False  # the arguments of a call, or a condition
        kind = self._types.resolve(name)
        if not (then == "(" and kind is not None and kind.width > 1) and then != "{":
            return False
        self._tokens[self._solid[i]] = ""
        self._tokens[self._solid[i + 1]] = self._word(i + 1, name)
        self._tokens[self._solid[i + 2]] = ""
        return True

    def _void_cast(self, i: int) -> bool:
        """Let a cast to ``void *``, such as the planner writes, become any pointer, as in C."""
        end = i + 1
        while self._token(end) in _QUALIFIERS:
            end += 1
        if [self._token(end + n) for n in range(3)] != ["void", "*", ")"]:
            return False
        self._blank(i + 1, end + 1)
        self._tokens[self._solid[i + 1]] = "cl_pointer"
        return True

    def _is_pointer(self, i: int) -> bool:
        """Whether the declaration that the qualifier at ``i`` begins is one of pointers."""
        for n in range(i + 1, len(self._solid)):
            token = self._token(n)
            if token == "*":
                return True
            if token in (";", "=", ",", "[", "(", ")", "{"):
                return False
        return False

    def _attribute(self, i: int) -> None:
        """Leave out attributes that C++ has no use for."""
        end = self._closing(i + 1)
        words = {self._token(n) for n in range(i + 2, end)}
        if words & _IGNORED_ATTRIBUTES:
            rest = [w for w in words if w.strip("_") == "always_inline"]
            self._blank(i, end)
            self._tokens[self._solid[i]] = "__attribute__((always_inline))" if rest else ""

    def _kernel(self, i: int) -> None:
        """Find a kernel's workgroup, and give its local pointers their memory."""
        n, bounds = i + 1, None
        while self._token(n) not in ("(", ";", ""):
            if self._token(n) == "__attribute__":
                end = self._closing(n + 1)
                words = [self._token(k) for k in range(n, end + 1)]
                if "reqd_work_group_size" in words:
                    bounds = self._required(n + 2 + words[2:].index("reqd_work_group_size"))
                    self._blank(n, end)
                    size = bounds[0] * bounds[1] * bounds[2]
                    self._tokens[self._solid[n]] = f"__launch_bounds__({size})"
                n = end
            n += 1
        name, end = self._token(n - 1), self._closing(n)
        if bounds is not None:
            self._result.required[name] = bounds
        declared = []
        for first, last in self._parameters(n + 1, end):
            if not {self._token(k) for k in range(first, last)} & _LOCAL:
                continue
            declared.append(self._local_parameter(name, first, last))
        if declared and self._token(end + 1) == "{":
            self._tokens[self._solid[end + 1]] = "{ " + " ".join(declared)

    def _required(self, i: int) -> tuple[int, int, int]:
        """Return the size of the workgroup that the attribute at ``i`` requires."""
        sizes = self._parameters(i + 2, self._closing(i + 1))
        x, y, z = (value_of([self._token(k) for k in range(*one)]) for one in sizes)
        return x, y, z

    def _local_parameter(self, kernel: str, first: int, last: int) -> str:
        """Make a local pointer of a kernel a distance, and return the pointer's declaration."""
        words = [self._token(k) for k in range(first, last)]
        name, kind = words[-1], [w for w in words[:-1] if w not in _LOCAL]
        if "*" not in kind or not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise BuildError(f"kernel {kernel}: {' '.join(words)} is not a pointer to local memory")
        kind = ["" if w == "restrict" else f"cl_{w}" if _VECTOR.fullmatch(w) else w for w in kind]
        self._blank(first, last - 1)
        self._tokens[self._solid[first]] = f"uint {LOCAL_PREFIX}{name}"
        pointer = " ".join(kind)
        called = f"{name}_" if name in KEYWORDS else name
        return f"{pointer} {called} = ({pointer})(societies_dynamic + {LOCAL_PREFIX}{name});"

    def _parameters(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where each parameter begins and ends."""
        depth, start = 0, first
        for n in range(first, end):
            token = self._token(n)
            depth += token in "([" and token != ""
            depth -= token in ")]" and token != ""
            if token == "," and depth == 0:
                yield start, n
                start = n + 1
        if start < end:
            yield start, end

    def _closing(self, i: int) -> int:
        """Return where the parenthesis that opens at ``i`` closes."""
        depth = 0
        for n in range(i, len(self._solid)):
            depth += (self._token(n) == "(") - (self._token(n) == ")")
            if depth == 0:
                return n
        raise BuildError("a parenthesis of the kernels is never closed")

    def _blank(self, first: int, last: int) -> None:
        for n in range(first, last + 1):
            self._tokens[self._solid[n]] = ""


def _tokens(text: str) -> Iterator[str]:
    """Yield the tokens of a text; a directive is one."""
    for row in text.splitlines(keepends=True):
        if _DIRECTIVE.match(row):
            yield row.rstrip("\n").lstrip()
            yield "\n"
        else:
            yield from (match[0] for match in _TOKEN.finditer(row))


def _directive(row: str) -> str:
    """Return a directive that NVRTC knows; pragmas of OpenCL say what our options say."""
    words = row.lstrip("# \t").split()
    if words[:1] == ["pragma"] and words[1:2] == ["OPENCL"]:
        return ""
    return row
