"""Is the tree of a function, which libclang tells at once, the one that its parts tell?"""

import pytest
from small import small

from societies.kerneltext.source import AmalgamatedText
from societies.localmem.clang import TranslationUnit
from societies.localmem.plan import COMMON_EXTENSIONS
from societies.localmem.preprocess import preprocess
from societies.workload import Setup
from societies.workload.running.engines import full_kernel_text
from societies.workload.running.registry import workload

STATEMENTS = """
typedef struct { int a; float4 b[3]; } pair;
int chosen(const int x, __global const int *all)
{
    switch (x) {
    case 0: return all[0];
    case (6 + 1): return all[x] + ((x > 3) ? 1 : sizeof(pair));
    case -2:
    default: break;
    }
    return ({ int y = x; y * 2; });
}
__kernel void work(__global int *out, __global const int *all)
{
    pair mine = {1, {(float4)(1.0f, 2.0f, 3.0f, 4.0f)}}, *same = &mine;
    int i, j = 3;
    for (;;) { if (j-- < 0) break; else continue; }
    for (i = 0, j = 1; i < 4 && j; i++) same->b[i % 3].xy += (float2)(i);
    do { out[i] = chosen((int)mine.b[0].x, all); } while (--i);
    while (j) { goto end; }
end:;
}
"""


def written():
    source = AmalgamatedText()
    source.append("a.cl", STATEMENTS)
    return source


def of_kalah():
    return full_kernel_text(Setup(workload("kalah"), small("kalah")), {"DEVICE_IS_CPU": "1"})


def differences(node, cursor):
    """Yield what a part of the tree and its cursor, which is requested its own parts, differ in."""
    parts = list(cursor.get_children())
    if node.kind is not cursor.kind or [p.kind for p in node.children] != [p.kind for p in parts]:
        yield node.text, cursor.kind
    if node.type != cursor.type.get_canonical():
        yield node.text, "type"
    if (node.declared and node.declared.hash) != (cursor.referenced and cursor.referenced.hash):
        yield node.text, "declared"
    for one, other in zip(node.children, parts, strict=False):
        yield from differences(one, other)


@pytest.mark.parametrize("source", [written, of_kalah])
def test_every_part_is_where_it_says(source):
    unit = TranslationUnit(preprocess(source(), dict.fromkeys(COMMON_EXTENSIONS, "1")))
    defined = [f for f in unit.functions.values() if f.definition is not None]
    assert len(defined) > 1
    for function in defined:
        body = list(function.definition.get_children())[-1]
        assert list(differences(function.body, body)) == []
        for node, cursor in zip(
            function.parameters, function.definition.get_arguments(), strict=True
        ):
            assert list(differences(node, cursor)) == []
