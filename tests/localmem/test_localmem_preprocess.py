"""Macros are expanded as a C compiler would; nothing else changes, and columns are known."""

import re

import pytest

from societies.errors import BuildError
from societies.kerneltext.source import AmalgamatedText
from societies.localmem.preprocess import preprocess


def expanded(text, **predefined):
    source = AmalgamatedText()
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


WORDS = ", ".join(f"word_{i}" for i in range(40))
LISTS = f"""
#define LIST {WORDS}
#define PARAMETERS const int LIST
#define ALL(last) LIST, last
#define COUNT(first, second, ...) second
#define PASS(x) COUNT(x)
#define TEXT(x) #x
#define PASTE(x) x##word_0
#define CALL f(LIST)
#define LENGTH 1 + (2 + 3 - 1 * 2) + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1
int f(PARAMETERS); f(LIST, ALL(1), ALL(LIST)) -LIST+LIST;
PASS(LIST) PASS(ALL(2)) TEXT(LIST) PASTE(LIST) PASTE() CALL (CALL) x.LIST
#if LENGTH == 18 && (LENGTH) * 2 == 36
LENGTH
#endif
#define word_7 seven
#define word_8(x) eight x
LIST CALL ALL(LIST)(3)
#undef LIST
LIST CALL
#define LIST -1, 2
3-LIST CALL
"""


def test_a_long_macro_is_expanded_as_if_its_tokens_were_single_ones(monkeypatch):
    found = [expanded(LISTS)]
    for length in (2, 1 << 20):
        monkeypatch.setattr("societies.localmem.preprocess._LONG", length)
        found.append(expanded(LISTS))
    as_one, often_as_one, never = found
    for other in (as_one, often_as_one):
        assert other.text == never.text
        assert other.places._columns == never.places._columns
    assert f"f({WORDS}, {WORDS}, 1" in never.text
    assert f"f({WORDS.replace('word_7', 'seven')})" in never.text


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
#if UNKNOWN || unknown_as_well
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


@pytest.mark.parametrize(
    "condition",
    [
        "true", "!false", "-7 % 3 == -1", "7 % -3 == 1", "-7 / 2 == -3", "7 / -2 == -3",
        "0xFFFFFFFFFFFFFFFF > 0", "18446744073709551615u > 0", "-1 > 0u", "1u - 2 > 0",
        "-1 >> 1 == -1", "~0u >> 63 == 1", "~0 == -1", "1u << 63 > 0", "(2, 1) == 1",
        "010 == 8", "0x10 == 16", "'a' == 97", "'\\n' == 10", "'\\377' == -1", "100000000000 > 1",
        "!(0 && 1 / 0)", "1 || 1 / 0", "1 ? 2 : 1 / 0", "(0 ? 1 : 0 ? 2 : 3) == 3",
        "(1 ? -1 : 0u) > 0",
        "7 - 3 - 2 == 2", "!(5 > 3 > 2)", "1 | 2 ^ 2 & 3 == 3", "2147483647 + 1 > 0",
        "10ul == 0XAuL",
        "defined NAME && defined(NAME) && !defined OTHER", "NAME % 2 == -1", "TWICE(NAME) == -6",
    ],
)  # fmt: skip
def test_conditions_have_the_value_that_c_gives_them(condition):
    macros = "#define NAME (4 - 7)\n#define TWICE(x) (2 * (x))\n"
    assert last_line(f"{macros}#if {condition}\nyes\n#else\nno\n#endif") == "yes"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("#if FOO(", "1:5", "FOO is not a macro with arguments"),
        ("#if (1", "1:5", r"expected '\)'"),
        ("#if 1 +", "1:5", "an operand is missing"),
        ("#if 1 2", "1:5", "unexpected '2'"),
        ("#if", "1:2", "malformed directive"),
        ("#if 1.5", "1:5", "1.5 is not an integer"),
        ("#if 09", "1:5", "09 is not an integer"),
        ("#if 1 / 0", "1:5", "a division by 0"),
        ("#if 1 << 64", "1:5", "a shift by 64"),
        ("#if 1 << 63", "1:5", "does not fit into 64 bits"),
        ("#if defined", "1:5", "defined needs the name"),
        ("#if !defined (", "1:6", "malformed|defined needs the name"),
        ("#ifdef", "1:2", "#ifdef without a name"),
        ("\n#ifdef FOO", "2:1", "Unterminated #ifdef FOO"),
        ("#endif", "1:2", "Misplaced #endif"),
        ("#define F(x) x\n#if F(", "2:5", "F is not a macro"),
        ("#ifdef __clang__", "1:8", "__clang__ is a macro of the compiler"),
        ("#if 1\n# ifndef _MSC_VER", "2:10", "_MSC_VER is a macro of the compiler"),
        ("#if defined(__IMAGE_SUPPORT__)", "1:13", "__IMAGE_SUPPORT__ is a macro"),
        ("#ifdef CL_VERSION_2_0", "1:8", "CL_VERSION_2_0 is a macro"),
        ("#if __clang_major__ > 3", "1:5", "__clang_major__ is a macro"),
    ],
)
def test_conditions_that_cannot_be_decided(text, place, message):
    with pytest.raises(BuildError) as caught:
        expanded(text if "nterm" in message else f"{text}\n#endif")
    lines = str(caught.value).split("\n")
    assert re.match(rf"a\.cl:{place.split(':')[0]}:\d+: .*({message})", lines[0])
    assert len(lines) == 2


def test_names_that_the_text_defines_may_be_asked_for():
    guard = "#ifndef __PART_H__\n#define __PART_H__\nyes\n#endif"
    assert expanded(guard).text.split()[3:] == ["yes"]
    text = "#if 0\n#ifdef __clang__\n#endif\n#endif\n#ifdef __IMAGE_SUPPORT__\nno\n#endif\nyes"
    assert expanded(text, __IMAGE_SUPPORT__=None).text.split()[3:] == ["yes"]
    assert expanded(text, __IMAGE_SUPPORT__="1").text.split()[3:] == ["no", "yes"]


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
    source = AmalgamatedText()
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
