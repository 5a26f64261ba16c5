"""Macros are expanded as a C compiler would; nothing else changes, and columns are known."""

import re

import pytest

from societies.device.source import Source
from societies.localmem.preprocess import preprocess


def expanded(text, **predefined):
    source = Source()
    source.append("a.cl", text)
    return preprocess(source, predefined)


def last_line(text, **predefined):
    return expanded(text, **predefined).text.rstrip("\n").split("\n")[-1]


@pytest.mark.parametrize(
    "row",
    [
        "double x = 0x1.8p3 + 0x1.8p-3 + 0X.8P+1 + 1.5e3f + 1e+5F + .5f + 1.f + 2.;",
        "ulong y = 0xffffffffUL + 10u + 7L + 077 + 0x7fffffffffffffffUL;",
        "x ^= 3; x <<= 2; x >>= 1; x->y; x++ + ++x; a ? b : c; a && b || !c; x %= 2; ~x;",
        "char c = '\"', d = '\\'', e = 'p'; constant char *s = \"p F(1) // no /* comment\";",
        "float4 f = (float4)(1.0f).xyzw; f.s0 = f.lo.x;",
        "int i = a+++b; int j = a---b; i = -(-i); i = - -i;",
        "int f8 = 8, p3 = 3, e5 = 5, UL = 1;",
    ],
)
def test_what_is_no_macro_is_not_touched(row):
    macros = "".join(f"#define {name} wrong\n" for name in ("p", "p3x", "f", "e", "E5", "x8p3"))
    macros = macros.replace("#define p wrong", "#define pp wrong").replace(" f ", " ff ")
    macros = macros.replace(" e ", " ee ")
    assert last_line(macros + row) == row


def test_numbers_are_not_searched_for_macros():
    macros = (
        "#define p3 wrong\n#define p wrong\n#define f wrong\n#define e5 wrong\n#define UL wrong\n"
    )
    row = "double x = 0x1.8p3 + 0x1.8p-3 + .5f + 1.f + 1e5 + 0xffUL;"
    assert last_line(macros + row) == row


@pytest.mark.parametrize(
    ("macro", "use", "result"),
    [
        ("N 3", "N+N", "3+3"),
        ("NEG -1", "x-NEG", "x- -1"),
        ("NEG -1", "NEG-NEG", "-1- -1"),
        ("PLUS +", "+PLUS x", "+ + x"),
        ("LESS <", "LESS<x", "< <x"),
        ("A a", "A A", "a a"),
        ("CAT(a, b) a##b", "CAT(x, 1) CAT(1, 2)", "x1 12"),
        ("STR(x) #x", 'STR(a  "b")', '"a \\"b\\""'),
        ("F(x, ...) f(x, __VA_ARGS__)", "F(1, 2, 3)", "f(1,  2, 3)"),
        ("F(x) (x)", "F (F(2)) F", "((2)) F"),
        ("f(x) f(x + 1)", "f(f(1))", "f(f(1 + 1) + 1)"),
        ("EMPTY", "a EMPTY b", "a  b"),
        ("held(a, r) state[(a) * 9 + (r)]", "held(b, held(c, 1))", None),
    ],
)
def test_macros(macro, use, result):
    if result is None:
        result = "state[(b) * 9 + (state[(c) * 9 + (1)])]"
    assert last_line(f"#define {macro}\n{use}") == result


def test_conditions():
    text = """
#if defined(A) && A > 2 || (B == 'b' && 0x10 == 16u)
yes1
#elif 1
no1
#endif
#ifndef M_PI
no2
#elif CL_VERSION_1_2 > 110
yes2
#endif
#if UNKNOWN || __has_thing
no3
#else
yes3
#endif
#undef A
#ifdef A
don't
#endif
"""
    rows = expanded(text, A="3").text.split()
    assert [row for row in rows if row.startswith(("yes", "no", "don"))] == ["yes1", "yes2", "yes3"]


def test_pragmas_stay_where_they_are_compiled():
    text = """#define N 4
  #  pragma   OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#if 0
#pragma OPENCL FP_CONTRACT ON
#endif
#pragma unroll N
#define OPENCL no"""
    rows = expanded(text).text.split("\n")
    assert [row for row in rows if row][1:] == [
        "#  pragma   OPENCL EXTENSION cl_khr_fp64 : enable",
        "#pragma OPENCL FP_CONTRACT OFF",
        "#pragma unroll 4",
    ]


def test_every_line_stays_on_its_line():
    text = """#define F(a, b) a + \\
    b
one
/* a
 b */ two F(1,
   2) three
#if 0
zero
#line 77 "other.cl"
#endif
four \\
five
six"""
    made = expanded(text)
    source = Source()
    source.append("a.cl", text)
    assert made.text.count("\n") == source.text.count("\n")
    rows = made.text.split("\n")
    where = {}
    for number, row in enumerate(rows, 1):
        for word in re.findall(r"[a-z]{3,}", row):
            where[word] = source.origin(number)
    assert where["two"] == ("a.cl", 5)
    assert where["three"] == ("a.cl", 6)
    assert where["four"] == where["five"] == ("other.cl", 78)
    assert where["six"] == ("other.cl", 80)


def test_positions_are_those_of_the_file():
    text = "#define LONG a + b + c + d\n/* c */ int x = LONG; LONG; end; // é\n  é_not, last;"
    made = expanded(text)
    data = made.text.encode()

    def place(word):
        found = made.places.at(data.index(word.encode()))
        return found.line, found.column

    assert place("int x") == (2, 9)
    assert place("a + b") == (2, 17)
    assert place("d; a") == (2, 17)
    assert place("end") == (2, 29)
    assert place("last")[0] == 3


def test_line_and_file_are_left_to_the_compiler():
    assert last_line("int a = __LINE__; x = __FILE__ __DATE__;") == (
        "int a = __LINE__; x = __FILE__ __DATE__;"
    )
