"""What is left of an amalgamated text when its macros are expanded, and where did each part stand?

The result has the same lines as the text it was made from: what a macro expands to stands on the
line of its use, directives become empty lines, and ``#line`` and the ``#pragma`` of compiled parts
stay. So `AmalgamatedText.origin` holds for both. pcpp does the work, but cuts no tokens: its own
lexer does not know all numbers of C99 (it would look for macros inside ``0x1.8p3``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass
from typing import Any, NoReturn

import pcpp

from societies.kerneltext.source import AmalgamatedText, lines_joined, without_comments
from societies.localmem.condition import value_of
from societies.localmem.places import Places, failure

_PUNCTUATORS = {
    "<<=": "LSHIFTEQUAL", ">>=": "RSHIFTEQUAL", "->": "DEREFERENCE", "++": "PLUSPLUS",
    "--": "MINUSMINUS", "<<": "LSHIFT", ">>": "RSHIFT", "<=": "LESSEQUAL", ">=": "GREATEREQUAL",
    "==": "EQUALITY", "!=": "INEQUALITY", "&&": "LOGICALAND", "||": "LOGICALOR",
    "+=": "PLUSEQUAL", "-=": "MINUSEQUAL", "*=": "MULTIPLYEQUAL", "/=": "DIVIDEEQUAL",
    "%=": "PERCENTEQUAL", "&=": "ANDEQUAL", "|=": "OREQUAL", "^=": "XOREQUAL", "##": "DPOUND",
    "#": "POUND", "+": "PLUS", "-": "MINUS", "*": "STAR", "/": "FSLASH", "%": "PERCENT",
    "|": "BAR", "&": "AMPERSAND", "~": "TILDE", "^": "HAT", "<": "LESS", ">": "GREATER",
    "=": "EQUAL", "!": "EXCLAMATION", "?": "QUESTION", "(": "LPAREN", ")": "RPAREN",
    "[": "LBRACKET", "]": "RBRACKET", "{": "LCURLY", "}": "RCURLY", ".": "DOT", ",": "COMMA",
    ";": "SEMICOLON", ":": "COLON", "\\": "BSLASH", "'": "SQUOTE", '"': "DQUOTE",
}  # fmt: skip
# The comments are for pcpp, which asks its lexer how it calls them; the text has none left.
_TOKEN = re.compile(
    r"(?P<CPP_WS>[ \t\r\f\v]+|\n)"
    r"|(?P<CPP_ID>[A-Za-z_$]\w*)"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)"
    r'|(?P<CPP_STRING>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<CPP_CHAR>'(?:[^'\\\n]|\\.)*')"
    r"|(?P<CPP_COMMENT1>/\*.*?\*/)|(?P<CPP_COMMENT2>//[^\n]*)"
    r"|(?P<CPP_LINECONT>\\[ \t]*\n)"
    rf"|(?P<punctuator>{'|'.join(re.escape(p) for p in _PUNCTUATORS)})"
    r"|(?P<CPP_OTHER>.)",
    re.DOTALL,
)
_INTEGER = re.compile(r"(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_LINE = re.compile(r"[ \t]*#[ \t]*line\b")
_PRAGMA = re.compile(r"[ \t]*#[ \t]*pragma\b[ \t]*(.*)")
_MARK = "societies_pragma_"
_MARKED = re.compile(rf"[ \t]*{_MARK}(\d+)[ \t]*(.*)", re.DOTALL)
_WORD_END, _WORD_START = re.compile(r"[\w.]$"), re.compile(r"[\w.]")
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_RESERVED = re.compile(r"_[_A-Z]\w*|CL_VERSION_\w+|FP_FAST_\w+|kernel_exec")
_MERGING = frozenset("+-*/%&|^<>=!#:.")
_LONG = 32  # from this many tokens on, a macro stays one token

# Object-like macros of the OpenCL standard that `#ifdef` may ask for. Their value is the
# compiler's business, so each stands for itself.
_STANDARD = """
    NULL INFINITY NAN HUGE_VAL HUGE_VALF MAXFLOAT
    FLT_DIG FLT_MANT_DIG FLT_MAX_10_EXP FLT_MAX_EXP FLT_MIN_10_EXP FLT_MIN_EXP FLT_RADIX FLT_MAX
    FLT_MIN FLT_EPSILON DBL_DIG DBL_MANT_DIG DBL_MAX_10_EXP DBL_MAX_EXP DBL_MIN_10_EXP DBL_MIN_EXP
    DBL_MAX DBL_MIN DBL_EPSILON
    M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2
    M_E_F M_LOG2E_F M_LOG10E_F M_LN2_F M_LN10_F M_PI_F M_PI_2_F M_PI_4_F M_1_PI_F M_2_PI_F
    M_2_SQRTPI_F M_SQRT2_F M_SQRT1_2_F CLK_LOCAL_MEM_FENCE CLK_GLOBAL_MEM_FENCE
"""
STANDARD_MACROS = {
    **{name: name for name in _STANDARD.split()},
    "__OPENCL_VERSION__": "120",
    "__OPENCL_C_VERSION__": "120",
    "CL_VERSION_1_0": "100",
    "CL_VERSION_1_1": "110",
    "CL_VERSION_1_2": "120",
    "__ENDIAN_LITTLE__": "1",
    "CHAR_BIT": "8",
    "SCHAR_MAX": "127",
    "CHAR_MAX": "127",
    "UCHAR_MAX": "255",
    "SHRT_MAX": "32767",
    "USHRT_MAX": "65535",
    "INT_MAX": "2147483647",
    "UINT_MAX": "0xffffffffU",
    "LONG_MAX": "0x7fffffffffffffffL",
    "ULONG_MAX": "0xffffffffffffffffUL",
    "SCHAR_MIN": "(-127 - 1)",
    "CHAR_MIN": "(-127 - 1)",
    "SHRT_MIN": "(-32767 - 1)",
    "INT_MIN": "(-2147483647 - 1)",
    "LONG_MIN": "(-0x7fffffffffffffffL - 1)",
}
"""Macros that every OpenCL C 1.2 compiler defines (little endian)."""


@dataclass
class Preprocessed:
    """A text without macros; `places` tells where its bytes stood."""

    text: str
    places: Places


def preprocess(source: AmalgamatedText, predefined: Mapping[str, str | None]) -> Preprocessed:
    """Expand the macros of an amalgamated text.

    ``predefined`` are macros besides those of the OpenCL standard; None: known not to be defined.

    Raises
    ------
    BuildError
        For a directive that is malformed, is an active ``#error`` or asks for a macro of the
        compiler that is not known here, with its line.
    """
    rows = lines_joined(source.text).split("\n")
    visible = without_comments("\n".join(rows), keep_strings=True).split("\n")
    pragmas: list[str] = []
    for number, row in enumerate(visible):
        if _LINE.match(row):
            visible[number] = ""
        elif pragma := _PRAGMA.match(row):
            words = pragma[1]
            # what the OpenCL standard says of pragmas is not expanded, #pragma unroll N is
            visible[number] = f"{_MARK}{len(pragmas)}" + (
                "" if words.startswith("OPENCL") else f" {words}"
            )
            pragmas.append(row.strip())
    macros = {**STANDARD_MACROS, **predefined}
    text = "\n".join(visible)
    processor = _Preprocessor(source, {*macros, *_DEFINED.findall(text)})
    for name, value in macros.items():
        if value is not None:
            processor.define(f"{name} {value}".rstrip())
    processor.parse(text)
    try:
        lines, columns = _lines(processor, len(rows))
    except (IndexError, AttributeError):  # pcpp assumes words that the line lacks
        processor.fail_at_directive("malformed directive")
    for number, row in enumerate(rows):
        if _LINE.match(row):
            lines[number] = row.strip()
        elif marked := _MARKED.fullmatch(lines[number]):
            whole = pragmas[int(marked[1])]
            lines[number] = f"#pragma {marked[2]}".rstrip() if marked[2] else whole
    text = "\n".join(lines)
    return Preprocessed(text, Places(source, text, columns))


def _lines(tokens: Iterator[_Token], count: int) -> tuple[list[str], list[list[tuple[int, int]]]]:
    """Put the tokens on their lines, apart where they would merge into another token."""
    lines = [""] * count
    columns: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    previous: _Token | None = None
    for token in tokens:
        made = bool(getattr(token, "expanded_from", None))
        value = token.value
        if token.type == "CPP_WS" and "\n" in value:
            if not made:
                previous = None
                continue
            value = " "
        row = token.lineno - 1
        line = lines[row]
        if (
            previous is not None
            and line
            and previous.lineno == token.lineno
            and (made or getattr(previous, "expanded_from", None))
            and _would_merge(line[-1], value)
        ):
            line += " "
        if token.type != "CPP_WS":
            column = getattr(token.lineno, "column", 1)
            columns[row] += [(len(line) + place, column) for place in token.places]
        lines[row] = line + value
        previous = token
    return [line.rstrip() for line in lines], columns


def _would_merge(end: str, value: str) -> bool:
    if _WORD_END.match(end):
        return bool(_WORD_START.match(value)) or value[0] in "\"'"
    return end in _MERGING and value[0] in _MERGING


class _Spot(int):
    """A line that remembers a column: pcpp hands lines on from a macro to its expansion."""

    column: int


class _Token:
    """The attributes of a token that pcpp reads, and the places in it where tokens begin."""

    places: Sequence[int] = (0,)
    expanded_from: list[str]

    def __init__(self, kind: str, value: str, lineno: int, lexpos: int):
        self.type, self.value, self.lineno, self.lexpos = kind, value, lineno, lexpos
        self.source = ""

    def __copy__(self) -> _Token:
        other = type(self).__new__(type(self))
        other.__dict__ = self.__dict__.copy()
        return other


class _List(_Token):
    """The tokens of a long macro as one, so that they are not copied one by one at every use."""

    def __init__(self, parts: Sequence[_Token]):
        text, places = "", []
        for part in parts:
            if text and _would_merge(text[-1], part.value):
                text += " "
            if part.type != "CPP_WS":
                places.append(len(text))
            text += part.value
        super().__init__("CPP_OTHER", text, parts[0].lineno, parts[0].lexpos)
        self.parts, self.places = parts, places

    def apart(self) -> list[_Token]:
        """Return copies of its tokens, as they are in an expansion of the macro."""
        parts = [copy(part) for part in self.parts]
        for part in parts:
            part.lineno, part.source = self.lineno, self.source
            part.expanded_from = list(getattr(self, "expanded_from", ()))
        return parts


def _apart(tokens: Sequence[_Token]) -> list[_Token]:
    """Return tokens with those of lists one by one."""
    return [
        part for token in tokens for part in (token.apart() if type(token) is _List else (token,))
    ]


class _Lexer:
    """The part of a ply lexer that pcpp uses."""

    def __init__(self) -> None:
        self.input("")

    def clone(self) -> _Lexer:
        return _Lexer()

    def input(self, text: str) -> None:
        self.lineno = 1
        self._matches = _TOKEN.finditer(text)
        self._line_start = 0

    def token(self) -> _Token | None:
        match = next(self._matches, None)
        if match is None:
            return None
        kind, value = str(match.lastgroup), match[0]
        spot = _Spot(self.lineno)
        spot.column = match.start() - self._line_start + 1
        if kind == "number":
            kind = "CPP_INTEGER" if _INTEGER.fullmatch(value) else "CPP_FLOAT"
        elif kind == "punctuator":
            kind = "CPP_" + _PUNCTUATORS[value]
        elif kind == "CPP_LINECONT":
            value = value[1:-1]
        elif value == "\n":
            self.lineno += 1
            self._line_start = match.end()
        return _Token(kind, value, spot, match.start())


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    """pcpp with errors that are exceptions, and lines that end at line feeds only."""

    def __init__(self, source: AmalgamatedText, known: Set[str]):
        self._lists: dict[str, tuple[Any, list[_Token]]] = {}  # the macros that stay one token
        self._listed: dict[str, set[str]] = {}  # by a word the lists that it is in
        super().__init__(_Lexer())
        self._known, self._directive = known, 1
        self._places = Places(source, "", [])
        self.macros.clear()  # time and date are no part of a kernel
        self.expand_linemacro = self.expand_filemacro = False  # the compiler sees #line

    def __iter__(self) -> Iterator[_Token]:
        return iter(self.parser)

    def define(self, tokens: Any) -> None:
        """Define a macro; a long one without arguments or other macros stays one token."""
        super().define(tokens)
        name = tokens.split()[0] if isinstance(tokens, str) else tokens[0].value
        name = name.partition("(")[0]
        self._take_apart(name)
        macro = self.macros.get(name)
        if macro is None or macro.arglist is not None or len(macro.value) < _LONG:
            return
        words = {token.value for token in macro.value if token.type == self.t_ID}
        if words.isdisjoint(self.macros):
            self._lists[name] = macro, macro.value
            for word in words:
                self._listed.setdefault(word, set()).add(name)
            macro.value = [_List(macro.value)]

    def undef(self, tokens: Any) -> None:
        """Forget a macro."""
        super().undef(tokens)
        self._lists.pop(tokens[0].value, None)

    def _take_apart(self, word: str) -> None:
        """Give the lists with a word that has become a macro their tokens back."""
        self._lists.pop(word, None)
        for name in self._listed.pop(word, ()):
            if name in self._lists:
                macro, parts = self._lists.pop(name)
                macro.value = parts

    def collect_args(self, tokens: list[_Token], ignore_errors: bool = False) -> Any:
        """Return how many tokens the arguments of a macro take, these, and where each begins.

        It is pcpp's, but for the commas in lists.
        """
        first = next((i for i, token in enumerate(tokens) if token.type not in self.t_WS), None)
        if first is None or tokens[first].value != "(":
            return super().collect_args(tokens, ignore_errors)
        arguments: list[list[_Token]] = [[]]
        positions, nesting = [first + 1], 1
        for place in range(first + 1, len(tokens)):
            whole = tokens[place]
            for token in whole.apart() if type(whole) is _List else (whole,):
                value = token.value
                nesting += (value == "(") - (value == ")")
                if nesting == 0:
                    positions.append(place)
                    return place + 1, [self.tokenstrip(one) for one in arguments], positions
                if value == "," and nesting == 1:
                    arguments.append([])
                    positions.append(place + 1)
                else:
                    arguments[-1].append(token)
        return super().collect_args(tokens, ignore_errors)

    def group_lines(self, text: str, source: Any) -> Iterator[list[_Token]]:
        """Yield the tokens of each line, with its end."""
        lexer = _Lexer()
        lexer.input(text if text.endswith("\n") else text + "\n")
        line: list[_Token] = []
        while (token := lexer.token()) is not None:
            line.append(token)
            if token.value == "\n":
                yield line
                line = []

    def _fail(self, line: int, message: str) -> NoReturn:
        place = self._places.of_line(int(line))
        place = place._replace(column=getattr(line, "column", 1))
        raise failure(self._places.source, place, message)

    def on_error(self, file: Any, line: int, message: str) -> NoReturn:
        """Stop at what pcpp does not understand."""
        self._fail(line, message.strip())

    def fail_at_directive(self, message: str) -> NoReturn:
        """Stop at the directive that came last."""
        self._fail(self._directive, message)

    def on_directive_handle(
        self, directive: Any, tokens: Any, passed: bool, before: Any
    ) -> bool | None:
        """Remember where a directive stands."""
        self._directive = directive.lineno
        if directive.value in ("ifdef", "ifndef") and not tokens:
            self._fail(directive.lineno, f"#{directive.value} without a name")
        return bool(super().on_directive_handle(directive, tokens, passed, before)) or None

    def on_unknown_macro_in_defined_expr(self, token: Any) -> bool:
        """Stop where the text asks for what only the compiler knows; else it is not defined."""
        self._ask(token)
        return False

    def _ask(self, token: Any) -> None:
        if _RESERVED.fullmatch(token.value) and token.value not in self._known:
            self._fail(
                token.lineno,
                f"{token.value} is a macro of the compiler, which is not known when local memory "
                "is planned: define one of your own with -D",
            )

    def evalexpr(self, tokens: list[Any]) -> tuple[int, None]:
        """Return the value of an ``#if``; pcpp's own arithmetic is not that of C."""
        line = tokens[0].lineno if tokens else self._directive
        expanded = _apart(self.expand_macros(self._defined(tokens)))
        words = self._defined(expanded)
        for token in words:
            if token.type == self.t_ID and token.value not in self.macros:
                self._ask(token)
        try:
            return value_of([t.value for t in words if t.type not in self.t_WS]), None
        except ValueError as error:
            self._fail(line, f"#if: {error}")

    def _defined(self, tokens: list[Any]) -> list[Any]:
        """Return the tokens with each ``defined`` and its name replaced by 0 or 1."""
        rest = [token for token in tokens if token.type not in self.t_WS]
        result = []
        while rest:
            token = rest.pop(0)
            if token.value == "defined":
                inside = bool(rest) and rest[0].value == "("
                needed = rest[1:3] if inside else rest[:1]
                if (
                    len(needed) < 1 + inside
                    or needed[0].type != self.t_ID
                    or (inside and needed[1].value != ")")
                ):
                    self._fail(token.lineno, "#if: defined needs the name of a macro")
                del rest[: 3 if inside else 1]
                if needed[0].value not in self.macros:
                    self._ask(needed[0])
                token = copy(token)
                token.type, token.value = "CPP_INTEGER", str(int(needed[0].value in self.macros))
            result.append(token)
        return result

    def on_directive_unknown(
        self, directive: Any, tokens: Any, passed: bool, before: Any
    ) -> bool | None:
        """Stop at ``#error``; leave ``#warning`` out."""
        if directive.value == "error":
            words = "".join(token.value for token in tokens).strip()
            self._fail(directive.lineno, f"#error {words}".rstrip())
        if directive.value == "warning":
            return True
        self._fail(directive.lineno, f"unknown directive #{directive.value}")
