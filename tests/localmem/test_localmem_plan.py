"""Which offsets and totals a plan has: the table of the specification, alignment, paths."""

import pytest

from societies.kerneltext.source import AmalgamatedText
from societies.localmem import plan

SEQUENCE = """
kernel void k(void) {
    local_malloc(40); local_free(40);
    local_malloc(40);
    local_malloc(40); local_malloc(20);
    local_free(20); local_free(40);
    local_malloc(40);
    local_free(40); local_free(40);
    local_malloc(80); local_free(80);
}
"""
LOOP = """
kernel void k(int n) {
    for (int i = 0; i < n; ++i) {
        if (i % 2) { local_malloc(20); local_free(20); }
        else { local_malloc(40); local_free(40); }
    }
}
"""
EXAMPLE = """
void total(__local int *values, __global int *result) {
    __local int *sum = local_malloc(sizeof(int));
    *result = values[*sum];
    local_free(sizeof(int));
}
kernel void k(global int *result) {
    __local int *values = local_malloc(256 * sizeof(int));
    total(values, result);
    local_free(256 * sizeof(int));
}
"""
TWICE = """
void f(void) { local_malloc(100); local_free(100); }
kernel void k(void) { f(); f(); }
"""
DEPTHS = """
#if WORDS < 65
#define COUNT 2
#else
#define COUNT 1
#endif
int leaf(int x) {
    __local float3 *s = local_malloc(8 * sizeof(float3));
    local_free(8 * sizeof(float3));
    return x;
}
void mid(int x) {
    local_malloc(COUNT * 32);
    leaf(leaf(x));
    local_free(COUNT * 32);
}
kernel void k1(void) { mid(1); }
kernel void k2(void) { local_malloc(10); mid(1); local_free(10); }
"""


@pytest.mark.parametrize(
    ("text", "requested", "reserved"),
    [
        (SEQUENCE, 100, 128),
        (LOOP, 40, 48),
        (EXAMPLE, 1028, 1040),
        (TWICE, 100, 112),
    ],
)
def test_known_totals(planned, text, requested, reserved):
    kernel = planned(text).kernels["k"]
    assert (kernel.requested, kernel.reserved, kernel.static) == (requested, reserved, 0)


def test_totals_depend_on_macros_and_on_who_calls(planned):
    small = planned("#define WORDS 64\n" + DEPTHS).kernels
    assert (small["k1"].requested, small["k1"].reserved) == (192, 192)
    assert (small["k2"].requested, small["k2"].reserved) == (202, 208)
    large = planned("#define WORDS 65\n" + DEPTHS).kernels
    assert (large["k1"].requested, large["k2"].requested) == (160, 170)


def test_memory_ends_with_its_function(planned):
    text = """
        int f(int n) { local_malloc(20); if (n) return 1; local_malloc(30); return 2; }
        kernel void k(void) { f(0); f(1); local_malloc(10); f(2); }
    """
    kernel = planned(text).kernels["k"]
    assert (kernel.requested, kernel.reserved) == (60, 80)  # 10 at 0, 20 at 16, 30 at 48


def test_a_function_may_leave_memory_to_its_caller(planned):
    text = "void f(void) { local_malloc(20); }\nkernel void k(void) { f(); f(); }"
    kernel = planned(text, leaks="inherit").kernels["k"]
    assert kernel.requested == 40
    assert kernel.reserved == 64  # 20 at 0, 20 at 32


def test_inherited_memory_is_freed_by_the_caller(planned):
    text = """
        __local int *f(void) { return local_malloc(20); }
        kernel void k(void) { f(); local_free(20); f(); local_free(20); }
    """
    assert planned(text, leaks="inherit").kernels["k"].requested == 20


def test_the_path_to_the_peak_names_calls_and_lines(planned):
    kernel = planned("#define WORDS 64\n" + DEPTHS).kernels["k2"]
    assert [step.function for step in kernel.path] == ["k2", "mid", "leaf"]
    assert [step.place.line for step in kernel.path] == [19, 15, 9]
    assert kernel.path[-1].place.file == "a.cl"


TYPES = [
    (f"{base}{width or ''}", size * (4 if width == 3 else width or 1))
    for base, size in [
        ("char", 1), ("uchar", 1), ("short", 2), ("ushort", 2), ("int", 4), ("uint", 4),
        ("float", 4), ("long", 8), ("ulong", 8), ("double", 8),
    ]
    for width in (None, 2, 3, 4, 8, 16)
]  # fmt: skip


@pytest.mark.parametrize(
    "form",
    [
        "__local {0} *p = local_malloc(sizeof({0}));",
        "__local {0} *p; p = local_malloc(sizeof({0}));",
        "__local void *p = (__local {0} *)local_malloc(sizeof({0}));",
        "use_{0}(local_malloc(sizeof({0})));",
        "__local {0} *p = n ? local_malloc(sizeof({0})) : (local_malloc(sizeof({0})));",
        "((__local {0} *)(local_malloc(sizeof({0}))))[0] = 0;",
    ],
)
def test_every_block_is_aligned_to_what_it_is_used_as(planned, form):
    rows = []
    for index, (name, _) in enumerate(TYPES):
        rows.append(f"void use_{name}(__local {name} *p) {{}}")
        rows.append(f"kernel void k{index}(int n) {{ __local char *c = local_malloc(1);")
        rows.append(form.format(name) + f" local_free(sizeof({name})); local_free(1); }}")
    kernels = planned("\n".join(rows)).kernels
    for index, (name, size) in enumerate(TYPES):
        kernel = kernels[f"k{index}"]
        assert [b.offset for b in kernel.blocks[1:]] == [size] * (len(kernel.blocks) - 1), name
        assert kernel.blocks[1].alignment == size
        assert kernel.alignment == max(16, size)
        assert kernel.reserved == -(-2 * size // 16) * 16


def test_structs_typedefs_and_arrays_have_their_own_alignment(planned):
    text = """
        typedef struct { float3 place; char kind; } body_t;
        typedef double real;
        kernel void k(void) {
            __local char *c = local_malloc(1);
            __local body_t *bodies = local_malloc(2 * sizeof(body_t));
            __local real *reals = local_malloc(sizeof(real));
            __local float (*rows)[3] = local_malloc(2 * sizeof(*rows));
            local_free(24); local_free(8); local_free(64); local_free(1);
        }
    """
    blocks = planned(text).kernels["k"].blocks
    assert [(b.bytes, b.alignment, b.offset) for b in blocks] == [
        (1, 1, 0),
        (64, 16, 16),
        (8, 8, 80),
        (24, 4, 88),
    ]


def test_a_callee_begins_where_its_own_types_allow(planned):
    text = """
        void wide(void) { __local double16 *w = local_malloc(128); local_free(128); }
        void both(void) { __local char *c = local_malloc(3); wide(); local_free(3); }
        kernel void k(void) { __local char *c = local_malloc(5); both(); local_free(5); }
    """
    made = planned(text)
    assert made.functions["both"].reserved == 256
    assert [b.offset for b in made.functions["both"].blocks] == [125]
    assert made.kernels["k"].reserved == 256
    assert made.kernels["k"].alignment == 128
    assert "both(societies_local_memory + 0)" in made.source.text
    assert "[256] __attribute__((aligned(128)))" in made.source.text


def test_a_typedef_may_ask_for_alignment(planned):
    text = """
        typedef float apart __attribute__((aligned(64)));
        typedef __local apart *apart_pointer;
        kernel void k(void) {
            __local char *c = local_malloc(1);
            __local apart *p = local_malloc(4);
            apart_pointer q = local_malloc(4);
            ((apart_pointer)local_malloc(4))[0] = 1.0f;
        }"""
    assert [b.alignment for b in planned(text).kernels["k"].blocks] == [1, 64, 64, 64]


def test_what_a_void_pointer_leads_to_is_aligned_to_16(planned):
    text = """kernel void k(void) {
        __local char *c = local_malloc(1);
        __local void *p = local_malloc(3);
        local_free(3); local_free(1);
    }"""
    assert [b.offset for b in planned(text).kernels["k"].blocks] == [0, 16]


@pytest.mark.parametrize(
    "body",
    [
        "if (n) { local_malloc(64); local_free(64); } else { local_malloc(32); local_free(32); }",
        "if (n) local_malloc(64); else local_malloc(64); local_free(64);",
        "__local int *p = n ? local_malloc(64) : local_malloc(64); local_free(64);",
        "int m = n ? f64() : f32();",
        "int m = n && f64();",
        "int m = n || f64() || f32();",
        "switch (n) { case 1: f32(); break; case 2: f64(); break; default: f32(); }",
        "switch (n) { case 1: case 2: local_malloc(64); local_free(64); case 3: break; }",
        "switch (n) { case 1: local_malloc(64); break; default: local_malloc(64); }\n"
        "local_free(64);",
        "for (int i = 0; i < n; ++i) { f32(); f64(); }",
        "for (int i = f64(); f32() > i; i += f32()) { if (i == 3) continue; if (i > 5) break; }",
        "for (;;) { f64(); if (n) break; }",
        "while (n--) f64();",
        "do { f64(); } while (n-- > f32());",
        "int m = f32() + f64() * f32();",
        "int m = g(g(f64()));",
        "local_malloc(64); if (n > 3) return; local_free(64);",
        "local_malloc(32); local_malloc(32); if (n) { local_free(32); local_free(32); return; } "
        "local_free(32); local_free(32);",
        "local_malloc(64);",  # a kernel need not free
        "{ { f64(); } ; }",
        "int values[2] = {f32(), f64()};",
        "int m = (f32(), f64());",
        "\n#pragma unroll\nfor (int i = 0; i < 4; ++i) f64();",
    ],
)
def test_paths_do_not_add_up(planned, body):
    text = f"""
        int f32(void) {{ local_malloc(32); local_free(32); return 1; }}
        int f64(void) {{ local_malloc(64); local_free(64); return 2; }}
        int g(int x) {{ local_malloc(16); local_free(16); return x; }}
        kernel void k(int n) {{ {body}\n }}
    """
    kernel = planned(text).kernels["k"]
    assert (kernel.requested, kernel.reserved) == (64, 64)


def test_memory_is_live_while_arguments_are_worked_out(planned):
    text = """
        int f(int x) { local_malloc(32); local_free(32); return x; }
        kernel void k(int n) {
            __local int *a = local_malloc(16); f(f(n) + f(a[0])); local_free(16);
        }
    """
    assert planned(text).kernels["k"].requested == 48


def test_function_like_macros_may_wrap_allocations(planned):
    text = """
#define SCRATCH(T, name, n) __local T *name = (__local T *)local_malloc((n) * sizeof(T))
#define DONE(T, n) local_free((n) * sizeof(T))
#define BOTH(f, g) \\
    f(1);          \\
    g(2)
        void a(int n) { SCRATCH(float, x, 5); DONE(float, 5); }
        void b(int n) { SCRATCH(double, x, 1 << 3); DONE(double, 8); }
        kernel void k(void) { SCRATCH(char, c, 2); BOTH(a,
                                                        b); DONE(char, 2); }
    """
    made = planned(text)
    assert made.kernels["k"].requested == 66
    assert made.kernels["k"].reserved == 80
    assert [step.place.line for step in made.kernels["k"].path] == [9, 8]


def test_pasted_names_are_planned(planned):
    text = """
        #define CAT(a, b) a##b
        kernel void k(void) { __local int *p = CAT(local_, malloc)(64); p[0] = 1; }
    """
    assert planned(text).kernels["k"].requested == 64


def test_sizes_may_be_any_constant(planned):
    text = """
        enum { COUNT = 3 };
        typedef struct { char c; int i; } pair_t;
        kernel void k(void) {
            const int eight = 8;
            double16 wide;
            local_malloc(eight); local_malloc(COUNT << 2); local_malloc(sizeof(pair_t) * 2);
            local_malloc(COUNT > 2 ? sizeof wide : 1);
            local_malloc(sizeof(float3)); local_malloc(0);
        }
    """
    blocks = planned(text).kernels["k"].blocks
    assert [b.bytes for b in blocks] == [8, 12, 16, 128, 16, 0]


def test_declarations_before_definitions_get_the_parameter_too(planned):
    text = """
        int f(int x);
        static void g(void);
        kernel void k(void) { f(1); g(); }
        static void g(void) { local_malloc(4); local_free(4); }
        __attribute__((always_inline)) int f(
            int x
        ) { g(); return x; }
    """
    source = planned(text).source.text
    assert "int f(int x, __local uchar *societies_local_memory);" in source
    assert "static void g(__local uchar *societies_local_memory);" in source
    assert source.count("__local uchar *societies_local_memory") == 4
    assert "f(1, societies_local_memory + 0); g(societies_local_memory + 0);" in source


def test_functions_that_do_not_allocate_are_left_alone(planned):
    text = """
        int twice(int x) { return 2 * x; }
        int f(int x) { local_malloc(4); local_free(4); return twice(x); }
        kernel void plain(__global int *x) { x[0] = twice(x[1]); }
        kernel void k(__global int *x) { x[0] = f(twice(3)); }
    """
    made = planned(text)
    assert "kernel void plain(__global int *x) { x[0] = twice(x[1]); }" in made.source.text
    assert "int twice(int x) { return 2 * x; }" in made.source.text
    assert list(made.functions) == ["f"]
    assert made.kernels["plain"].reserved == 0


@pytest.mark.parametrize(
    "text",
    [
        "kernel void k(__global int *x) { x[0] = 1; }\n",
        "// local_malloc(4)\n/* local_free(4) */\n#define X  1 // odd   spacing\n",
        'kernel void k(__global int *x) { printf("local_malloc"); }\n',
        "#define SCRATCH(n) local_malloc(n)\n#if 0\nlocal_malloc(3);\n#endif\n",
    ],
)
def test_texts_without_allocations_pass_through(text):
    source = AmalgamatedText()
    source.append("a.cl", text)
    made = plan(source)
    assert made.source.text == source.text
    assert not made.kernels


def test_variables_in_local_memory_are_counted_as_well(planned):
    text = """kernel void k(void) {
        __local char c, d[5]; __local double x[3];
        local_malloc(8); local_free(8);
    }"""
    kernel = planned(text).kernels["k"]
    assert (kernel.declared, kernel.static, kernel.total) == (8, 32, 40)


def test_lines_stay_where_they_are(planned):
    text = """#define N \\
    4
kernel void k(int n) {
    /* a comment
       of two lines */ local_malloc(
        N *
        2); int line = __LINE__;
    local_free(8);
}
"""
    source = planned(text).source
    rows = source.text.split("\n")
    assert len(rows) == len(text.split("\n")) + 1
    assert source.origin(rows.index("    ((void)0);") + 1) == ("a.cl", 8)
    assert rows[8].endswith("int line = __LINE__;") or rows[7].endswith("int line = __LINE__;")


def test_a_plan_is_cached_on_disk(planned, monkeypatch):
    first = planned(EXAMPLE)
    monkeypatch.setattr("societies.localmem.planner.make_plan", lambda *_: 1 / 0)
    again = planned(EXAMPLE)
    assert again.source.text == first.source.text
    assert (again.kernels, again.functions) == (first.kernels, first.functions)
    with pytest.raises(ZeroDivisionError):
        planned(EXAMPLE, leaks="inherit")
    with pytest.raises(ZeroDivisionError):
        planned("\n" + EXAMPLE)


def test_a_cached_plan_serves_other_comments_but_not_other_code(planned, monkeypatch):
    text = EXAMPLE.replace("    local_free(sizeof(int));", "    // free it\n    local_free(4);")
    first = planned(text)
    monkeypatch.setattr("societies.localmem.planner.make_plan", lambda *_: 1 / 0)
    again = planned(text.replace("free it", "give it back  "))
    assert (again.source.text, again.functions) == (first.source.text, first.functions)
    with pytest.raises(ZeroDivisionError):  # the comment continues on the next line
        planned(text.replace("free it", "free it \\"))


def test_an_unknown_rule_for_leaks(planned):
    with pytest.raises(ValueError, match="neither 'end' nor 'inherit'"):
        planned(EXAMPLE, leaks="ignore")
