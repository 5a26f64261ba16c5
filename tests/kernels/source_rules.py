"""What every file of kernels/ keeps to, read from its text; each rule returns what breaks it."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from societies.device.source import without_comments

# what kernels may call besides their own functions and macros; all of it exact, or whole numbers
BUILTINS = frozenset(
    [
        *("sqrt", "isnan", "min", "max", "mul_hi", "popcount", "clz"),
        *("as_double", "as_long", "as_ulong", "as_uint", "as_int"),
        *("get_global_id", "get_local_id", "get_group_id"),
        *("get_local_size", "get_global_size", "get_num_groups"),
        *("barrier", "local_malloc", "local_free", "sizeof"),
    ]
)
ATOMICS = frozenset(
    f"atomic_{what}" for what in ("add", "sub", "inc", "dec", "min", "max", "and", "or", "xor")
)
_NOT_CALLS = frozenset(
    ("if", "for", "while", "switch", "return", "do", "else", "defined", "__attribute__")
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+OPENCL[ \t]+FP_CONTRACT[ \t]+OFF", re.MULTILINE)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\s+|.", re.DOTALL)
_INEXACT = re.compile(
    r"\b(?:native_\w+|half_(?:cos|divide|exp|log|powr|recip|rsqrt|sin|sqrt|tan)(?:2|10)?)\b"
)
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_BARRIER = re.compile(r"\bbarrier\s*\(")


def blanked(text: str) -> str:
    """Return the code: comments and preprocessor lines blanked, every line in its place."""
    code = without_comments(text)
    return _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), code)


# ---------------------------------------------------------------- the text


def contraction(amalgamated: str) -> list[str]:
    """The pragma that forbids fused multiplication stands before the first function."""
    code = without_comments(amalgamated)
    body = re.search(r"\)\s*\{", blanked(amalgamated))
    pragma = _PRAGMA.search(code)
    if body and (pragma is None or pragma.start() > body.start()):
        return ["contraction is not off: include primitives/real.cl before the first function"]
    if re.search(r"FP_CONTRACT[ \t]+(?:ON|DEFAULT)", code):
        return ["contraction is switched on again"]
    return []


def calls(text: str, own: Iterable[str]) -> list[str]:
    """Only exact built-in functions are called, and atomic functions of whole numbers."""
    known = {*own, *BUILTINS, *ATOMICS, *_NOT_CALLS}
    problems = []
    for number, row in enumerate(without_comments(text).split("\n"), start=1):
        if re.match(r"[ \t]*#[ \t]*(?:pragma|if|elif|include|line)", row):
            continue
        for name in _CALL.findall(row):
            if name not in known and not re.fullmatch(r"[A-Z_][A-Z_0-9]*", name):
                problems.append(f"{number}: {name}() is not on the list of exact functions")
        for name in _INEXACT.findall(row):
            problems.append(f"{number}: {name} is not exact")
    return list(dict.fromkeys(problems))


def comments(text: str) -> list[str]:
    """Every barrier says on its line, or on the one before, what it orders."""
    rows, code = text.split("\n"), without_comments(text).split("\n")
    problems = []
    for number, row in enumerate(rows):
        if not _BARRIER.search(code[number]):
            continue
        after = "".join(re.findall(r"//(.*)|/\*(.*)\*/", row)[0] if "/" in row else ())
        before = rows[number - 1].strip() if number else ""
        if not re.search(r"\w", after) and not re.match(r"//.*\w", before):
            problems.append(f"{number + 1}: this barrier does not say what it orders")
    return problems


# ---------------------------------------------------------------- functions and statements


@dataclass
class Body:
    """A function: what it calls, and under which conditions."""

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
            self.matching("(", ")")
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
    hidden = r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t][^\n]*\bbarrier\s*\("
    for name in re.findall(hidden, without_comments(text), re.MULTILINE):
        problems.append(f"{name} hides a barrier: a macro that holds one has parameters")
    return problems


# ---------------------------------------------------------------- twins


def twin_path(text: str) -> str | None:
    """Return the file that the header calls the twin, or None."""
    header = re.match(r"(?://[^\n]*\n)*", text)
    match = re.search(r"Twin:\s*(?://\s*)?(reference_py/[\w/]+\.py)", header[0] if header else "")
    return match[1] if match else None


def public_functions(name: str, texts: Mapping[str, str]) -> list[str]:
    """Return kernels, and functions that are called from other files or not in their own."""
    own = bodies(texts[name])
    called = {call for body in own for call, _, _ in body.calls if call != body.name}
    called |= {word for _, inside, _ in macros(texts[name]) for word in _CALL.findall(inside)}
    others = " ".join(blanked(text) for other, text in texts.items() if other != name)
    return sorted(
        {
            body.name
            for body in own
            if body.kernel or body.name not in called or re.search(rf"\b{body.name}\b", others)
        }
    )


def python_names(source: str) -> set[str]:
    """Return the names of all functions and methods of a Python text."""
    tree = ast.walk(ast.parse(source))
    return {node.name for node in tree if isinstance(node, ast.FunctionDef)}


def twin_names(name: str, file: str) -> set[str]:
    """Return what the twin of a function may be called: without memory space and prefix."""
    plain = re.sub(r"_(?:local|global|unmasked)(?=_|$)", "", name)
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

_KERNEL_TEXT = re.compile(
    r"\b(?:__)?kernel\s+void\s+\w*|\bget_(?:global|local|group)_id\s*\(|\bbarrier\s*\(\s*CLK_"
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
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in docstrings
        for found in [_KERNEL_TEXT.search(node.value)]
        if found
    ]
