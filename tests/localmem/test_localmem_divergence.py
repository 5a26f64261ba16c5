"""Allocations that not all work-items of a group would reach are refused, uniform ones are not."""

import re

import pytest

from societies.errors import BuildError

HEAD = """
typedef struct { int a; int values[4]; __private int *place; } record_t;
int same(int x) { return x + 1; }
int mine(void) { return (int)get_local_id(0); }
int ticket(__global int *x) { return atomic_inc(x); }
int first_only(int x) { if (get_local_id(0) == 0) return x; return 0; }
void set(int *to, int value) { *to = value; }
void set_some(int *to, int x) { if (mine() == x) *to = 3; }
void copy(int *to, const int *from) { for (int i = 0; i < 4; ++i) to[i] = from[i]; }
int from(const int *p, int i) { return p[i]; }
void set_array(int to[2]) { to[1] = mine(); }
void set_deep(int **to) { **to = mine(); }
void set_part(record_t by) { *by.place = mine(); }
void aim(int **to, int *at) { *to = at; }
int *place_of(record_t *of) { return of->place; }
int second(int *a, int *b) { *a = mine(); return *b; }
void scratch(void) { local_malloc(8); local_free(8); }
void deeper(int x) { if (x > 2) { scratch(); } }
kernel void k(int n, __global int *x, __global int4 *v, __constant int *c) {
    __local int shared, table[8];
    int i, j, numbers[4], *p;
    record_t r;
    float4 f;
"""

# bodies; @ stands before the allocation at which the error is
VARYING = [
    "if (get_local_id(0) == 0) { @local_malloc(4); local_free(4); }",
    "if (get_global_id(0) < n) { @scratch(); }",
    "if (n) ; else if (mine()) { @scratch(); }",
    "i = get_local_id(0); if (i > 3) { @scratch(); }",
    "i = n; i += get_global_id(0) % 4; if (i > 3) @scratch();",
    "i = x[get_local_id(0)]; if (i) @scratch();",
    "if (x[mine()]) @scratch();",
    "if ((x + mine())[0]) @scratch();",
    "__global int *q = x + get_global_id(0); if (*q) @scratch();",
    "__global int *q = &x[get_global_id(0)]; if (q[1]) @scratch();",
    "if (table[get_local_id(0)]) @scratch();",
    "if (c[get_local_id(0)]) @scratch();",
    "if (v[get_local_id(0)].x) @scratch();",
    "if (atomic_add(x, 1)) @scratch();",
    "if (ticket(x)) @scratch();",
    "if (first_only(n)) @scratch();",
    "i = 3; if (mine()) i = 4; if (i == 4) @scratch();",
    "i = mine() ? 1 : 2; if (i == 1) @scratch();",
    "i = 0; if (mine()) ++i; if (i) @scratch();",
    "numbers[2] = mine(); if (numbers[n]) @scratch();",
    "numbers[mine()] = 2; if (numbers[0]) @scratch();",
    "copy(numbers, numbers); if (numbers[get_local_id(0) % 4]) @scratch();",
    "int other[4] = {0, 1, 2, mine()}; copy(numbers, other); if (from(numbers, 0)) @scratch();",
    "set(&i, mine()); if (i) @scratch();",
    "i = 0; set_some(&i, n); if (i) @scratch();",
    "if (mine()) set(&i, 4); else set(&i, 5); if (i == 4) @scratch();",
    "p = &j; *p = mine(); if (j) @scratch();",
    "p = numbers; p[1] = mine(); if (numbers[1]) @scratch();",
    "p = &numbers[1]; numbers[0] = mine(); if (*p) @scratch();",
    "r.a = mine(); if (r.a) @scratch();",
    "r.values[1] = mine(); if (r.values[n]) @scratch();",
    "record_t *s = &r; s->a = mine(); if (r.a) @scratch();",
    "r.place = &j; *r.place = mine(); if (j) @scratch();",
    "f.y = mine(); if (f.x > 1.0f) @scratch();",
    "set_array(numbers); if (numbers[0]) @scratch();",
    "p = &i; i = 0; set_deep(&p); if (i) @scratch();",
    "p = &i; int **q = &p; i = 0; **q = mine(); if (i) @scratch();",
    "p = &i; int **q = &p; i = mine(); j = **q; if (j) @scratch();",
    "p = &i; int **q = &p; *q = &j; *p = mine(); j = j + 1; if (j) @scratch();",
    "int *list[2]; list[0] = &i; i = 0; *list[n] = mine(); if (i) @scratch();",
    "int *list[2] = {&i, &j}; i = mine(); if (*list[0]) @scratch();",
    "int *list[2] = {&i, &j}; i = 0; p = list[n]; *p = mine(); if (i) @scratch();",
    "i = 0; r.place = &i; set_part(r); if (i) @scratch();",
    "i = 0; r.place = &i; record_t t = r; *t.place = mine(); if (i) @scratch();",
    "i = 0; r.place = &i; p = place_of(&r); *p = mine(); if (i) @scratch();",
    "p = &i; j = 0; aim(&p, &j); *p = mine(); if (j) @scratch();",
    "if (second(&i, &i)) @scratch();",
    "float a; float b = fract((float)mine(), &a); if (a > 0.5f) @scratch();",
    "for (uint t = get_local_id(0); t < n; t += get_local_size(0)) @scratch();",
    "while (n-- > mine()) { @scratch(); }",
    "do { @scratch(); } while (mine() > n--);",
    "for (;;) { if (mine() == n++) break; @scratch(); }",
    "for (;;) { @scratch(); if (mine() == n++) break; }",
    "for (i = 0; i < n; ++i) { if (mine() == i) continue; @scratch(); }",
    "for (i = 0; i < n; ++i) { if (mine() == i) break; } if (i < n) @scratch();",
    "for (i = 0; i < n; ++i) { for (j = 0; j < mine(); ++j) if (j == n) @scratch(); }",
    "switch (mine()) { case 1: @scratch(); }",
    "switch (n) { case 1: if (mine()) break; @scratch(); }",
    "if (mine() && x) { if (n) @scratch(); }",
    "if (get_global_id(0) >= n) return; @scratch();",
    "if (n) { if (mine()) return; } @scratch();",
    "for (i = 0; i < n; ++i) { if (mine() == i) return; } @scratch();",
    "for (i = 0; i < n; ++i) { @scratch(); if (mine() == i) return; }",
    "mine() ? (@scratch(), 1) : 0;",
    "i = mine() && (@scratch(), 1);",
    "i = mine() || (@scratch(), 1);",
    "i = as_int(as_float(mine())); if (i) @scratch();",
    "if (same(mine())) @scratch();",
    "if (min(n, mine()) > 2) @scratch();",
    "if (n) i = 1; else i = mine(); if (i) @scratch();",
    "i = 0; for (j = 0; j < n; ++j) { if (i) @scratch(); i = mine(); }",
    "if (mine()) { local_malloc(4); }".replace("local_m", "@local_m").replace(
        "; }", "; local_free(4); }"
    ),
]
UNIFORM = [
    "if (n) scratch();",
    "if (get_group_id(0) < n) scratch();",
    "if (x[get_group_id(0)] == 0) return; scratch();",
    "local_malloc(64); if (x[get_group_id(0)] == 0) return; local_free(64);",
    "if (get_local_size(0) * get_num_groups(0) > n) scratch();",
    "i = get_local_id(0); i = 3; if (i) scratch();",
    "if (mine()) x[0] = 1; scratch();",
    "if (mine()) { i = 3; } i = n; if (i) scratch();",
    "for (uint t = get_local_id(0); t < n; t += get_local_size(0)) x[t] = 1; scratch();",
    "for (i = mine(); i < n; ++i) ; for (i = 0; i < n; ++i) scratch();",
    "for (i = 0; i < n; ++i) { if (mine() == i) continue; x[i] = 1; } scratch();",
    "for (i = 0; i < n; ++i) { for (j = 0; j < n; ++j) if (mine() == j) break; scratch(); }",
    "for (i = 0; i < n; ++i) { for (j = 0; j < n; ++j) if (mine() == j) continue; scratch(); }",
    "switch (n) { case 1: if (mine()) break; x[0] = 1; } scratch();",
    "if (n) { if (mine()) return; return; } scratch();",
    "if (mine()) { x[1] = 2; } else { for (;;) { if (n++ > 3) break; } } scratch();",
    "if (mine() == 0) shared = x[0]; barrier(CLK_LOCAL_MEM_FENCE); if (shared) scratch();",
    "do { table[mine()] = 0; barrier(CLK_LOCAL_MEM_FENCE); scratch(); } while (table[0]);",
    "if (mine() == 0) table[1] = x[0]; if (table[n] > x[1] && table[2]) scratch();",
    "copy(numbers, numbers); set(&i, n); if (i == from(numbers, n)) scratch();",
    "set(&j, mine()); set(&i, n); if (i) scratch();",
    "numbers[n] = 2; if (numbers[1]) scratch();",
    "p = &j; *p = n; i = mine(); if (j) scratch();",
    "i = mine(); numbers[0] = n; p = numbers + n; *p = 3; if (*p) scratch();",
    "if (c[n] > v[n].x) scratch();",
    "int *list[2] = {&i, &j}; i = j = 0; *list[n] = n; if (i) scratch();",
    "r.place = &i; i = 0; *r.place = n; j = mine(); if (i) scratch();",
    "i = 0; p = &i; set_deep(&p); j = n; if (n) scratch();",
    "j = n; if (second(&i, &j)) scratch();",
    "__global int *rows[2] = {x, x + n}; rows[1][mine()] = mine(); if (rows[0][n]) scratch();",
    "if (sizeof(mine()) == 4) scratch();",
    "if (first_only(n)) x[0] = 1; scratch();",
    "deeper(n); deeper(same(x[3]));",
    "__local int *q = local_malloc(16); q[mine()] = mine(); if (q[0]) scratch(); local_free(16);",
    "i = same(mine()); if (same(n)) scratch();",
    "event_t e = async_work_group_copy(table, x, 8, 0); wait_group_events(1, &e); scratch();",
    "n ? scratch() : scratch();",
]


@pytest.mark.parametrize("body", VARYING)
def test_an_allocation_that_some_would_not_reach(planned, body):
    column = body.index("@") + 5
    row = HEAD.count("\n") + 1
    with pytest.raises(BuildError) as caught:
        planned(f"{HEAD}    {body.replace('@', '')}\n}}")
    message = str(caught.value)
    assert re.match(
        rf"a\.cl:{row}:{column}: (local_malloc|scratch, which allocates,) is called", message
    )
    assert "under a condition that may differ between work-items (" in message
    assert message.endswith(body.replace("@", ""))


@pytest.mark.parametrize("body", UNIFORM)
def test_an_allocation_that_all_reach(planned, body):
    assert planned(f"{HEAD}    {body}\n}}").kernels["k"].reserved > 0


def test_a_work_item_alone_is_all_of_its_group(planned):
    body = f"{HEAD}    if (get_local_id(0) == 0) scratch();\n}}"
    alone = body.replace(
        "kernel void", "kernel __attribute__((reqd_work_group_size(1, 1, 1))) void"
    )
    assert alone != body
    assert planned(alone).kernels["k"].reserved > 0
    with pytest.raises(BuildError, match="a condition that may differ"):
        planned(alone.replace("(1, 1, 1)", "(2, 1, 1)"))


def test_a_build_does_not_look_for_them(planned):
    """The checks take as long as the plan, and do not change it."""
    text = HEAD + "if (get_local_id(0) == 0) { scratch(); } }"
    assert planned(text, checks=False).kernels["k"].reserved > 0


def test_the_condition_and_the_calls_are_named(planned):
    with pytest.raises(BuildError) as caught:
        planned(f"{HEAD}    deeper(n);\n    deeper(mine());\n}}")
    assert str(caught.value) == (
        "a.cl:18:35: scratch, which allocates, is called under a condition that may differ between "
        "work-items (x > 2, a.cl:18), when called by k > deeper\n"
        "    void deeper(int x) { if (x > 2) { scratch(); } }"
    )


def test_a_way_through_several_functions(planned):
    text = """
void leaf(int *flag) {
    if (*flag) { local_malloc(4); local_free(4); }
}
void mid(int *flag, int x) { flag[1] = x; leaf(flag); }
kernel void k(int n) {
    int flags[2] = {n, n};
    mid(flags, n);
    mid(flags, get_local_id(1));
}
"""
    with pytest.raises(
        BuildError, match=r"^a\.cl:3:18: local_malloc .*\(\*flag, a\.cl:3\)"
    ) as caught:
        planned(text)
    assert "when called by k > mid > leaf" in str(caught.value)
    assert planned(text.replace("get_local_id(1)", "3")).kernels["k"].reserved == 16
