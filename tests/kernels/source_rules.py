"""What every file of kernels/ keeps to, read from its text; each rule returns what breaks it."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from societies.kerneltext.source import without_comments
from societies.localmem.clang import Kind, TranslationUnit
from societies.localmem.divergence import Divergence
from societies.localmem.preprocess import Preprocessed

# what kernels may call besides their own functions and macros; all of it exact, or whole numbers
BUILTINS = frozenset(
    [
        *("sqrt", "isnan", "min", "max", "mul_hi", "popcount", "clz"),
        *("fabs", "floor", "rint", "select", "any", "convert_long_rte", "convert_int_rtz"),
        *("convert_double4", "convert_double8", "convert_float8"),
        *("as_double4", "as_float8", "as_int8", "as_long4", "as_long8"),
        *("as_uint8", "as_ulong4", "as_ulong8", "convert_float4"),
        *("convert_int8", "convert_long8", "convert_uint4", "convert_uint8"),  # of whole numbers
        *("as_float", "as_double", "as_long", "as_ulong", "as_uint", "as_int"),
        *("get_global_id", "get_local_id", "get_group_id"),
        *("get_local_size", "get_global_size", "get_num_groups"),
        *("__builtin_prefetch",),  # computes nothing
        *("ceil", "trunc", "__builtin_sqrt", "__builtin_fabs", "__builtin_floor"),
        *("__builtin_ceil", "__builtin_trunc", "__builtin_rint"),  # instructions of a CPU
        *("barrier", "mem_fence", "local_malloc", "local_free", "sizeof"),
        "__asm__",  # an instruction that reverses bits
        "reqd_work_group_size",  # says of how many work-items a workgroup is
    ]
)
ATOMICS = frozenset(
    f"atomic_{what}" for what in ("add", "sub", "inc", "dec", "min", "max", "and", "or", "xor")
)
# what kernels do not even name, for a macro may call it: rounded as each device likes
INEXACT_BUILTINS = frozenset(
    [
        *("acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atan2", "atan2pi"),
        *("atanh", "atanpi", "cbrt", "cos", "cosh", "cospi", "erf", "erfc", "exp", "exp2"),
        *("exp10", "expm1", "fma", "fmod", "hypot", "lgamma", "lgamma_r", "log", "log2"),
        *("log10", "log1p", "mad", "pow", "pown", "powr", "remainder", "remquo", "rootn"),
        *("rsqrt", "sin", "sincos", "sinh", "sinpi", "tan", "tanh", "tanpi", "tgamma"),
        *("dot", "cross", "distance", "normalize", "fast_distance", "fast_length"),
        *("fast_normalize", "mix", "smoothstep", "degrees", "radians"),
    ]
)
_TYPES = frozenset(
    f"{sign}{name}{width}"
    for sign, names in (
        ("u", ("char", "short", "int", "long")),
        ("", ("char", "short", "int", "long", "float", "double", "real", "num")),
    )
    for name in names
    for width in ("", 2, 3, 4, 8, 16)
) | {"bool", "size_t", "ptrdiff_t"}
_NOT_CALLS = frozenset(
    (
        "if",
        "for",
        "while",
        "switch",
        "return",
        "do",
        "else",
        "defined",
        "__attribute__",
        "aligned",
        "volatile",
    )
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+OPENCL[ \t]+FP_CONTRACT[ \t]+OFF", re.MULTILINE)
_SWITCHED_ON = re.compile(
    r"^[ \t]*#[ \t]*pragma[ \t]+(?:OPENCL|STDC)[ \t]+FP_CONTRACT[ \t]+(ON|DEFAULT)", re.MULTILINE
)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\s+|.", re.DOTALL)
_INEXACT = re.compile(
    r"\b(?:native_\w+|half_(?:cos|divide|exp|log|powr|recip|rsqrt|sin|sqrt|tan)(?:2|10)?)\b"
)
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_BRACKETED_CALL = re.compile(r"(\b\w+\s*)?\(\s*([A-Za-z_]\w*)\s*\)\s*\(")
_MACRO_HEAD = re.compile(r"#[ \t]*define[ \t]+\w+(?:\([^)]*\))?")
_WORD = re.compile(r"[A-Za-z_]\w*")
# not of interest: what is no code of a kernel
_SILENT_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?:pragma|if|elif|include|line)[^\n]*", re.MULTILINE)
_WRAPPER = re.compile(r"^#define (?:group_)?barrier\(fence\).*$", re.MULTILINE)
_BARRIER = re.compile(r"\b(?:group_)?barrier\s*\(")
_EMPTY_WORDS = frozenset(
    [
        *(
            "a",
            "all",
            "an",
            "and",
            "clk",
            "for",
            "global",
            "group",
            "here",
            "in",
            "is",
            "it",
            "local",
        ),
        *("items", "lanes", "mem", "memory", "of", "on", "s", "the", "this", "to", "until", "work"),
        *(
            "barrier",
            "barriers",
            "fence",
            "needed",
            "sync",
            "synchronise",
            "synchronize",
            "threads",
        ),
        *("todo", "wait", "workgroup"),
    ]
)


@cache
def blanked(text: str) -> str:
    """Return the code: comments and preprocessor lines blanked, every line in its place."""
    code = without_comments(text)
    return _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), code)


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(blanked(text)))


# ---------------------------------------------------------------- the text


FUSED = "kernels/primitives/fused.cl"
"""The one file that may call `fma` and switch contraction on."""


def contraction(amalgamated: str) -> list[str]:
    """The pragma that forbids fused multiplication stands before the first function."""
    code = without_comments(amalgamated)
    body = re.search(r"\)\s*\{", blanked(amalgamated))
    pragma = _PRAGMA.search(code)
    if body and (pragma is None or pragma.start() > body.start()):
        return ["contraction is not off: include primitives/real.cl before the first function"]
    return []


def switched_on(name: str, text: str) -> list[str]:
    """Contraction is switched on nowhere but in `FUSED`, there within a function alone."""
    code = without_comments(text)
    found = []
    for match in _SWITCHED_ON.finditer(code):
        inside = re.search(r"\)\s*\{\s*$", code[: match.start()])
        if name != FUSED or match[1] != "ON" or not inside:
            found.append(f"{_line(code, match.start())}: contraction is switched on")
    if re.search(r"\b_Pragma\b", code):
        found.append("_Pragma may switch contraction on; write #pragma")
    return found


def calls(text: str, own: Iterable[str]) -> list[str]:
    """Only exact built-in functions are called, and atomic functions of whole numbers."""
    known = {*own, *BUILTINS, *ATOMICS, *_NOT_CALLS}
    code = _SILENT_DIRECTIVE.sub(lambda match: " " * len(match[0]), without_comments(text))
    found = []
    for match in _CALL.finditer(code):
        name = match[1]
        if name not in known and not re.fullmatch(r"[A-Z_][A-Z_0-9]*", name):
            found.append((match.start(), f"{name}() is not on the list of exact functions"))
    headless = _MACRO_HEAD.sub(lambda match: " " * len(match[0]), code)
    for match in _BRACKETED_CALL.finditer(headless):
        condition = (match[1] or "").strip() in ("if", "while", "switch")
        if not condition and match[2] not in _TYPES and not match[2].endswith("_t"):
            found.append((match.start(), f"({match[2]})() hides a call, write it without ( )"))
    for match in _INEXACT.finditer(code):
        if match[0] not in known:
            found.append((match.start(), f"{match[0]} is not exact"))
    for match in _WORD.finditer(code):
        if match[0] in INEXACT_BUILTINS - known:
            found.append((match.start(), f"{match[0]} is the name of a function that is not exact"))
    return list(dict.fromkeys(f"{_line(code, at)}: {said}" for at, said in sorted(found)))


def comments(text: str) -> list[str]:
    """Every barrier says on its line, or on the one before, what it orders.

    That in the definition of `group_barrier` does not: its callers do.
    """
    rows, code = text.split("\n"), without_comments(text)
    problems, last = [], 0
    for match in _BARRIER.finditer(_WRAPPER.sub(lambda match: " " * len(match[0]), code)):
        number = _line(code, match.start())
        if number == last:
            problems.append(f"{number}: two barriers on one line, with one comment")
        last = number
        end = _line(code, code.find(";", match.end())) if ";" in code[match.end() :] else number
        after = " ".join(rows[number - 1 : end])
        before = rows[number - 2].strip() if number > 1 else ""
        spoken = [
            *re.findall(r"//(.*)", after),
            *re.findall(r"/\*(.*?)\*/", after),
            *re.findall(r"^//(.*)", before),
        ]
        if not any(map(_says_something, spoken)):
            problems.append(f"{number}: this barrier does not say what it orders")
    return problems


def local_pointers(text: str) -> list[str]:
    """Every function that is handed local memory is inlined; PoCL 3.0 gives it other memory.

    Macros that stand for such a parameter count, if the text itself defines them.
    """
    code = without_comments(text)
    macros = re.findall(r"^#define (\w+) [^\n]*__local\b", code, re.MULTILINE)
    local = re.compile("|".join([r"\b__local\b", *(rf"\b{name}\b" for name in macros)]))
    head = re.compile(r"^((?:static|inline)\b[\w \*]*?)\b(\w+)\(([^{;]*?)\)\s*\{", re.MULTILINE)
    return [
        f"{_line(code, match.start())}: {match[2]} takes local memory; declare it INLINED"
        for match in head.finditer(code)
        if local.search(match[3]) and "always_inline" not in match[1]
    ]


def _says_something(comment: str) -> bool:
    """Return whether a comment has two words or more that do not just name the barrier again."""
    return len([w for w in re.findall(r"[a-z]+", comment.lower()) if w not in _EMPTY_WORDS]) >= 2


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


# ---------------------------------------------------------------- functions and statements


@dataclass
class Body:
    """A function: what it calls, each with its line and the conditions around it."""

    name: str
    head: str
    line: int
    calls: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)

    @property
    def kernel(self) -> bool:
        return re.search(r"\b(?:__)?kernel\b", self.head) is not None

    @property
    def collective(self) -> bool:
        return "COLLECTIVE" in self.head


class _Reader:
    """Statements of C, as far as conditions and loops are concerned."""

    def __init__(self, code: str) -> None:
        self.tokens: list[tuple[str, int]] = []
        line = 1
        for match in _TOKEN.finditer(code):
            if not match[0].isspace():
                self.tokens.append((match[0], line))
            line += match[0].count("\n")
        self.at = 0

    def word(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def bodies(self) -> Iterator[Body]:
        head: list[str] = []
        while self.at < len(self.tokens):
            word, line = self.tokens[self.at]
            if word == "{" and head and head[-1] == ")":
                name = next((a for a, b in itertools.pairwise(head) if b == "("), "")
                text = " ".join(head)
                if "__attribute__" in head[:1]:
                    name = head[head.index("(") - 1]
                body = Body(name, text, line)
                self.statement(body, ())
                yield body
                head = []
            elif word == "{":
                self.matching("{", "}")
            elif word == ";":
                head = []
                self.at += 1
            else:
                head.append(word)
                self.at += 1

    def matching(self, left: str, right: str) -> str:
        """Skip to behind the closing mark; return the text between."""
        depth, start = 0, self.at
        while self.at < len(self.tokens):
            word = self.tokens[self.at][0]
            depth += (word == left) - (word == right)
            self.at += 1
            if depth == 0:
                break
        return " ".join(word for word, _ in self.tokens[start + 1 : self.at - 1])

    def statement(self, body: Body, under: tuple[str, ...]) -> None:
        word = self.word()
        if word == "{":
            self.at += 1
            while self.word() not in ("}", ""):
                self.statement(body, under)
            self.at += 1
        elif word in ("if", "for", "while", "switch"):
            self.at += 1
            start = self.at
            condition = f"{word} ({self.matching('(', ')')})"
            self.note(body, start, self.at, under)
            self.statement(body, (*under, condition))
            if word == "if" and self.word() == "else":
                self.at += 1
                self.statement(body, (*under, f"else of {condition}"))
        elif word == "else":  # its if is behind an #if
            self.at += 1
            self.statement(body, (*under, "else"))
        elif word == "do":
            self.at += 1
            self.statement(body, under)
            self.at += 1  # while
            start = self.at
            self.matching("(", ")")
            self.note(body, start, self.at, under)
            self.at += 1  # ;
        else:
            start, depth = self.at, 0
            while self.at < len(self.tokens):
                word = self.word()
                depth += (word in "([{") - (word in ")]}")
                if depth < 0:
                    break
                self.at += 1
                if word == ";" and depth == 0:
                    break
            self.note(body, start, self.at, under)

    def note(self, body: Body, start: int, end: int, under: tuple[str, ...]) -> None:
        inner = under
        for i in range(start, end):
            word, line = self.tokens[i]
            if word in ("?", "&", "|") and (word == "?" or self.tokens[i - 1][0] == word):
                inner = (*under, "an expression that may not be evaluated")
            following = self.tokens[i + 1][0] if i + 1 < len(self.tokens) else ""
            if following == "(" and re.match(r"[A-Za-z_]", word):
                body.calls.append((word, line, inner))


@cache
def bodies(text: str) -> list[Body]:
    """Return the functions of a text; every branch of ``#if`` counts."""
    return list(_Reader(blanked(text)).bodies())


def macros(text: str) -> list[tuple[str, str, int]]:
    """Return name, body and line of the macros with parameters; continued lines are joined."""
    code = without_comments(text)
    form = r"^[ \t]*#[ \t]*define[ \t]+(\w+)\([^)]*\)((?:[^\n\\]|\\.|\\\n)*)"
    return [
        (found[1], found[2].replace("\\\n", "\n"), code.count("\n", 0, found.start()) + 1)
        for found in re.finditer(form, code, re.MULTILINE)
    ]


def macro_bodies(text: str) -> list[Body]:
    """Return the macros that contain a barrier as if they were functions."""
    found = []
    for name, inside, line in macros(text):
        if _BARRIER.search(inside):
            for block, text_of_block, _ in macros(text):
                if text_of_block.strip().startswith("{"):  # stands without a semicolon
                    inside = re.sub(rf"\b{block}\s*\([^()]*\)", "{ }", inside)
            (body,) = _Reader(f"COLLECTIVE void {name}() {{ {inside}; }}").bodies()
            body.calls = [(call, line + at - 1, under) for call, at, under in body.calls]
            found.append(body)
    return found


def collective_names(texts: Iterable[str]) -> set[str]:
    """Return the functions declared COLLECTIVE in some texts, and macros that hold a barrier."""
    texts = list(texts)
    own = {body.name for text in texts for body in bodies(text) if body.collective}
    return own | {body.name for text in texts for body in macro_bodies(text)}


def barriers(text: str, collective: Iterable[str], allowed: Iterable[str] = ()) -> list[str]:
    """Barriers are in no condition or loop that might not run, and in COLLECTIVE functions."""
    held = macro_bodies(text)
    ordering = {"barrier", *collective, *(body.name for body in held)}
    problems = []
    for body in [*bodies(text), *held]:
        reached = [call for call in body.calls if call[0] in ordering]
        if reached and not (body.kernel or body.collective):
            problems.append(f"{body.line}: {body.name} has a barrier and is not COLLECTIVE")
        for name, line, under in reached:
            wrong = [condition for condition in under if condition not in allowed]
            if wrong:
                problems.append(f"{line}: {name}() is inside {wrong[-1]}")
    plain = r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]((?:[^\n\\]|\\.|\\\n)*)"
    for name, inside in re.findall(plain, without_comments(text), re.MULTILINE):
        if ordering & set(_WORD.findall(inside)):
            problems.append(f"{name} hides a barrier: a macro that holds one has parameters")
    return problems


# ---------------------------------------------------------------- who reaches a barrier


def missed_barriers(compiled: Preprocessed) -> list[str]:
    """Every work-item of a group comes to every barrier and to every allocation of local memory.

    It sees the text as it is compiled, from its kernels down. Of a text without kernels, such as a
    primitive, every function that has a barrier is looked at, for arguments that all share.
    """
    unit = TranslationUnit(compiled)
    functions = [f for f in unit.functions.values() if f.definition is not None]
    called = {
        function.name: {node.name for node in function.body.walk() if node.kind is Kind.CALL_EXPR}
        for function in functions
    }
    collective = {"barrier", "local_malloc", "local_free"}
    while more := {name for name, names in called.items() if names & collective} - collective:
        collective |= more
    divergence = Divergence(collective)
    kernels = [function for function in functions if function.is_kernel]
    return sorted(
        {
            f"{unit.places.at(finding.node.start).shown(unit.places.source)}: some work-items miss "
            f"{finding.node.name}(): {' '.join(finding.cause.text.split())}"
            for function in kernels or [f for f in functions if f.name in collective]
            for finding in divergence.findings(function)
        }
    )


# ---------------------------------------------------------------- twins


def twin_path(text: str) -> str | None:
    """Return the file that the header calls the twin, or None."""
    header = re.match(r"(?://[^\n]*\n)*", text)
    match = re.search(r"Twin:\s*(?://\s*)?(reference_py/[\w/]+\.py)", header[0] if header else "")
    return match[1] if match else None


def public_functions(name: str, texts: Mapping[str, str]) -> list[str]:
    """Return kernels, and functions that are called from other files or not in their own.

    Files of different workloads do not include each other, so a name that both have is no call.
    """
    own = bodies(texts[name])
    called = {call for body in own for call, _, _ in body.calls if call != body.name}
    called |= {word for _, inside, _ in macros(texts[name]) for word in _CALL.findall(inside)}
    folder = Path(name).parent
    others = set().union(
        *(
            _words(text)
            for other, text in texts.items()
            if other != name and (folder.name == "primitives" or Path(other).parent == folder)
        )
    )
    return sorted(
        {body.name for body in own if body.kernel or body.name not in called or body.name in others}
    )


def python_names(source: str) -> set[str]:
    """Return the names of all functions and methods of a Python text."""
    tree = ast.walk(ast.parse(source))
    return {node.name for node in tree if isinstance(node, ast.FunctionDef)}


def twin_names(name: str, file: str) -> set[str]:
    """Return what the twin of a function may be called: without space, who works, prefix."""
    plain = re.sub(r"_(?:local|global|unmasked|alone)(?=_|$)", "", name)
    stem = {"softmath": "soft"}.get(Path(file).stem, Path(file).stem)
    return {name, plain, plain.removeprefix(f"{stem}_")}


def is_named(name: str, texts: str) -> bool:
    """Return whether some tests name a function, also as ``f"tree_{what}"``."""
    made = re.findall(r'f"(\w*(?:\{\w+\}\w*)+)"', texts)
    forms = {re.sub(r"\{\w+\}", r"\\w+", text) for text in made} - {r"\w+"}
    return re.search(rf"\b{name}\b", texts) is not None or any(
        re.fullmatch(form, name) for form in forms
    )


# ---------------------------------------------------------------- Python

_KERNEL = re.compile(r"\b__kernel\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?void\s+(\w+)")


def kernel_names(texts: Iterable[str]) -> set[str]:
    """Return the names of the kernels of texts without comments."""
    return {name for text in texts for name in _KERNEL.findall(text)}


_KERNEL_TEXT = re.compile(
    r"\b(?:__)?kernel\s+(?:__attribute__\s*\(\(.*?\)\)\s*)*void\s+(?:__attribute__\s*\(|\w*)"
    r"|\bget_(?:global|local|group)_id\s*\(|\bbarrier\s*\(\s*CLK_",
    re.DOTALL,
)


def kernel_text(source: str) -> list[str]:
    """No string of a Python file holds kernel text; docstrings may speak of it."""
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    return [
        f"{node.lineno}: kernel text in a string: {found[0].strip()}"
        for node in ast.walk(tree)
        if id(node) not in docstrings
        for found in [_KERNEL_TEXT.search(_string(node))]
        if found
    ]


def _string(node: ast.AST) -> str:
    """Return the text of a string, with 0 for what an f-string puts in; empty if it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_string(part) or "0" for part in node.values)
    return ""
