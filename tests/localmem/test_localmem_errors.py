"""What cannot be planned is refused with the file, the line, the column and the line's text."""

import re

import pytest

from societies.errors import BuildError
from societies.opencl import Program

FUNCTIONS = """int take(int x) { local_malloc(8); local_free(8); return x; }
void keep(__global int *x) { x[0] = 1; }
"""

# (text of a kernel k(int n, __global int *x), line and column, what is said)
CASES = {
    "free without malloc": ("local_free(4);", "1:1", "nothing is allocated here"),
    "free of another size": (
        "local_malloc(4);\nlocal_malloc(8);\nlocal_free(4);",
        "3:1",
        r"local_free of 4 bytes, but the latest local_malloc is of 8 bytes \(a\.cl:6\)",
    ),
    "free twice": ("local_malloc(4);\nlocal_free(4);\n  local_free(4);", "3:3", "nothing"),
    "run-time size": (
        "  local_malloc(n * sizeof(int));",
        "1:3",
        "the size of local_malloc is not known at build time",
    ),
    "run-time size of free": ("local_malloc(8); local_free(n);", "1:18", "not known at build"),
    "variable size": ("int m = 8; m += n; local_malloc(m);", "1:20", "not known at build time"),
    "size read from memory": ("local_malloc(x[0]);", "1:1", "not known at build time"),
    "negative size": ("local_malloc(-4);", "1:1", "local_malloc of -4 bytes is out of range"),
    "size in overflow": ("local_malloc(1UL << 40);", "1:1", "1099511627776 bytes is out of range"),
    "branch": (
        "local_malloc(4);\nif (n) local_free(4);",
        "2:1",
        "one path ends here with nothing allocated and another with 4 bytes",
    ),
    "branches of different sizes": (
        "if (n) local_malloc(4); else local_malloc(8);",
        "1:1",
        "with 4 bytes allocated and another with 8 bytes",
    ),
    "conditional": ("n ? local_malloc(4) : 0;", "1:1", "every path must free"),
    "and": ("int m = n && local_malloc(4);", "1:14", "every path must free"),
    "or": ("int m = n || (local_malloc(4), 1);", "1:14", "every path must free"),
    "switch": (
        "switch (n) { case 1: local_malloc(4); break; default: ; }",
        "1:1",
        "every path must free",
    ),
    "fall through": (
        "switch (n) { case 1: local_malloc(4);\ncase 2: local_free(4); }",
        "2:1",
        "every path must free",
    ),
    "loop": (
        "for (int i = 0; i < n; ++i)\n  local_malloc(4);",
        "1:1",
        "a round of this loop starts with nothing allocated and ends with 4 bytes",
    ),
    "loop that frees": ("local_malloc(4); while (n--) local_free(4);", "1:18", "a round of this"),
    "do loop": ("do local_malloc(4); while (n--);", "1:1", "a round of this loop"),
    "break": (
        "for (; n < 5;) { local_malloc(4); if (n) break; local_free(4); }",
        "1:42",
        "this break leaves the loop with 4 bytes allocated, which began with nothing",
    ),
    "break out of an endless loop": (
        "for (;;) { local_malloc(4); if (n++) break; local_free(4); }",
        "1:38",
        "this break leaves the loop with 4 bytes allocated",
    ),
    "branches of different places": (
        "local_malloc(1); if (n) (__local float4 *)local_malloc(4); else\n"
        "(__local char *)local_malloc(4);",
        "1:18",
        r"1 \+ 4 bytes \(offsets 0, 16\) allocated and another with 1 \+ 4 bytes \(offsets 0, 1\)"
        ": allocate before the condition",
    ),
    "choice of different places": (
        "local_malloc(1); n ? (__local void *)(__local int *)local_malloc(4) : local_malloc(4);",
        "1:18",
        "allocate before the condition",
    ),
    "cases of different places": (
        "local_malloc(1); switch (n) { case 1: (__local int *)local_malloc(4); break;\n"
        "default: local_malloc(4); }",
        "1:18",
        "allocate before the condition",
    ),
    "a round that exchanges blocks": (
        "__local char *a = local_malloc(4); for (; n < 5; ++n) { local_free(4); local_malloc(4); }",
        "1:36",
        "ends with other blocks of 4 bytes than it starts with: allocate before the loop",
    ),
    "label in a do": (
        "switch (n) { case 0: local_malloc(4); do { ;\ncase 1: ; } while (n--); local_free(4); }",
        "2:1",
        "every path must free",
    ),
    "continue": (
        "for (int i = 0; i < n; ++i) { local_malloc(4); if (i) continue; local_free(4); }",
        "1:29",
        "every path must free",
    ),
    "address of local_malloc": ("x[0] = local_malloc != 0;", "1:8", "taking address of function"),
    "address of a function": ("x[0] = (long)&take;", "1:15", "taking address of function"),
    "a function as a value": ("x[0] = take != 0;", "1:8", "taking address of function"),
    "undeclared function": ("x[0] = missing(3);", "1:8", "undeclared.*'missing'"),
    "declaration in a body": (
        "{ int take(int); n = take(1); }",
        "1:3",
        "take allocates local memory: declare it outside of functions",
    ),
    "goto": ("again: local_malloc(4); local_free(4); if (n) goto again;", "1:47", "goto"),
    "syntax": ("local_malloc(4) x;", "1:16", "expected ';'"),
    "name of the planner": ("local_malloc();", "1:14", "too few arguments"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_be_planned(planned, name):
    body, place, message = CASES[name]
    head = FUNCTIONS + "kernel void k(int n, __global int *x) {\nif (n == 99) { take(3); }\n"
    if place:
        row, column = place.split(":")
        place = f"{int(row) + 4}:{column}"
        line = body.split("\n")[int(row) - 1]
        message = rf"^a\.cl:{place}: .*{message}.*\n    {re.escape(line.strip())}"
    with pytest.raises(BuildError, match=message) as caught:
        planned(head + body + "\n}")
    assert str(caught.value).startswith("a.cl:")


RETURNED = {
    "at once": ("__local void *f(int n) {     return local_malloc(20); }", "1:37"),
    "through a variable": (
        "__local int *f(int n) {\n  __local int *a = local_malloc(20);\n  return a + n; }",
        "2:20",
    ),
    "on one way": (
        "__local int *f(__local int *a, int n) {\n  if (n) return a;\n"
        "  a = local_malloc(20); return a; }",
        "3:7",
    ),
}


@pytest.mark.parametrize("case", RETURNED)
def test_memory_that_ends_with_a_function_is_not_returned(planned, case):
    text, place = RETURNED[case]
    message = rf"^a\.cl:{place}: f returns a pointer, and 20 bytes .* end with it: free them"
    with pytest.raises(BuildError, match=message) as caught:
        planned(text)
    assert 'leaks="inherit"' in str(caught.value)


def test_inherited_memory_must_be_the_same_on_all_ways_out(planned):
    text = "void f(int n) {\n  if (n) return;\n  local_malloc(20); }"
    with pytest.raises(
        BuildError, match=r"^a\.cl:2:10: f leaves nothing to its caller here and 20"
    ):
        planned(text, leaks="inherit")


def test_inherited_memory_lies_at_the_same_place_on_all_ways_out(planned):
    text = (
        "void f(int n) {\n  local_malloc(1);\n"
        "  if (n) { (__local int *)local_malloc(4); return; }\n"
        "  (__local char *)local_malloc(4); }"
    )
    with pytest.raises(BuildError, match=r"^a\.cl:3:44: f leaves 1 \+ 4 bytes \(offsets 0, 4\)"):
        planned(text, leaks="inherit")


@pytest.mark.parametrize(
    ("text", "cycle"),
    [
        ("void f(void) { local_malloc(4); f(); local_free(4); }", "f calls f"),
        (
            "void g(void);\nvoid f(void) { local_malloc(4); g(); local_free(4); }\n"
            "void h(void) { f(); }\nvoid g(void) { h(); }",
            "f calls g calls h calls f|g calls h calls f calls g|h calls f calls g calls h",
        ),
        (
            "int odd(int n);\nint even(int n) { return n == 0 || odd(n - 1); }\n"
            "int odd(int n) { return n != 0 && even(n - 1); }\n"
            "kernel void k(void) { local_malloc(4); }",
            "even calls odd calls even|odd calls even calls odd",
        ),
    ],
)
def test_recursion_names_the_cycle(planned, text, cycle):
    with pytest.raises(BuildError, match=rf"^a\.cl:\d+:\d+: recursion.*: ({cycle})\n"):
        planned(text)


def test_a_variable_with_the_name_of_a_function_is_no_recursion(planned):
    text = """
        int f(int g) { local_malloc(4); local_free(4); return g; }
        int g(int x) { return f(x); }
        kernel void k(void) { g(1); }
    """
    assert planned(text).kernels["k"].requested == 4


def test_a_kernel_that_allocates_is_not_called(planned):
    text = "kernel void a(void) { local_malloc(4); }\nkernel void b(void) { a(); }"
    with pytest.raises(BuildError, match=r"^a\.cl:2:23: kernel a allocates local memory"):
        planned(text)


def test_a_kernel_that_does_not_allocate_may_be_called(planned):
    text = """
        kernel void a(__global int *x) { x[0] = 1; }
        kernel void b(__global int *x) { local_malloc(4); a(x); }
    """
    assert planned(text).kernels["b"].reserved == 16


def test_the_planner_owns_its_names(planned):
    with pytest.raises(BuildError, match=r"a\.cl:1:15: local_malloc is the planner's"):
        planned("__local void *local_malloc(size_t n) { return 0; }")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#if 1\nkernel void k(void) { local_malloc(4); }", r"a\.cl:1:\d+: Unterminated"),
        ("kernel void k(void) { local_malloc(4); }\n#error no way", r"a\.cl:2:\d+: #error no way"),
        ("#define F(a, b) a\nint x = F(1); // local_malloc\nvoid f(void) { local_malloc(4); }",
         r"a\.cl:2:9: Macro F requires 2 arguments"),
        ("  #nonsense\nvoid f(void) { local_malloc(4); }", r"a\.cl:1:\d+: unknown directive"),
    ],
)  # fmt: skip
def test_errors_of_the_preprocessor_have_a_line(planned, text, message):
    with pytest.raises(BuildError, match=message):
        planned(text)


def test_errors_in_included_files_name_that_file(device, kernel_file):
    inner = kernel_file(
        "#define SCRATCH(T, n) local_malloc((n) * sizeof(T))\n\n"
        "void f(int n) {\n    __local int *x = SCRATCH(int, n);\n}\n",
        "parts/inner.cl",
    )
    path = kernel_file('\n#include "parts/inner.cl"\nkernel void k(void) { f(3); }\n')
    with pytest.raises(BuildError) as caught:
        Program(device, path)
    first, line = str(caught.value).split("\n")
    assert first.startswith(f"{inner}:4:22: the size of local_malloc is not known at build time")
    assert line == "    __local int *x = SCRATCH(int, n);"
    path.write_text('#include "parts/inner.cl"\n\n  kernel void k(void) { local_free(4); }\n')
    inner.write_text("void f(void) { local_malloc(4); local_free(4); }\n")
    with pytest.raises(BuildError, match=re.escape(f"{path}:3:25: local_free of 4 bytes")):
        Program(device, path)


def test_more_than_the_device_has(device, kernel_file):
    path = kernel_file(
        "void deep(void) {\n    local_malloc(20000); local_free(20000);\n}\n"
        "kernel void k(global int *o) {\n    __local int count[1000];\n    local_malloc(10000);\n"
        "    deep();\n}\n"
    )
    with pytest.raises(BuildError) as caught:
        Program(device, path)
    assert str(caught.value) == (
        f"{path}:4:13: kernel k needs 34000 bytes of local memory (30000 by local_malloc, 4000 in "
        "__local variables), more than the 32768 of the portable profile; "
        f"most is in use at k ({path}:7) > deep ({path}:2)\n"
        "    kernel void k(global int *o) {"
    )
    if device.local_memory > 34000:
        device.own_limits = True
        assert Program(device, path).local_memory["k"].total == 34000
