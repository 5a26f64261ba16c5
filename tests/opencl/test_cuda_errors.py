"""Is an error of NVRTC in a user's kernel reported with the file and the line of the OpenCL text?

The logs are NVRTC's own (13.0, sm_90) of such kernels; neither it nor a GPU is needed here.
"""

import pytest
from cuda_on_paper import device, nvrtc_or_skip

from societies.errors import BuildError
from societies.localmem.plan import plan_file
from societies.opencl import Program
from societies.opencl.cuda.compiler import message_of
from societies.opencl.cuda.translate import translate

HELPERS = """
/* a comment
   of two lines */
int lost(const int a);
int helped(const int a)
{
    return a + 1;
}
"""
USER = """#include "helpers.cl"
#define TWICE(x) \\
    (2 * (x))

__kernel __attribute__((reqd_work_group_size(8, 1, 1)))
void f(__global int *a, __global float4 *v, __local uint *first)
{
    __local int *scratch = local_malloc(8 * sizeof(int));
    scratch[get_local_id(0)] = TWICE(a[1]);
    v[0] = sqrt((float4)(v[1].xyz,
                         1.0f));
    a[0] = helped(clamp(a[0], 3, 5));
    local_free(8 * sizeof(int));
}
"""


@pytest.fixture
def source(tmp_path):
    """The planned text of a user's kernels, in two files."""
    (tmp_path / "helpers.cl").write_text(HELPERS)
    (tmp_path / "user.cl").write_text(USER)
    return plan_file(tmp_path / "user.cl", {"DEVICE_IS_CPU": "0"}).source


def line_of(text, words):
    return next(i for i, row in enumerate(text.split("\n"), start=1) if words in row)


def counted(text, words):
    """Return the file and line that a compiler finds for words of a text with ``#line``."""
    file, line = "", 0
    for row in text.split("\n"):
        if row.startswith("#line"):
            _, number, name = row.split(maxsplit=2)
            file, line = name.strip('"'), int(number)
            continue
        if words in row:
            return file, line
        line += 1
    raise AssertionError(words)


@pytest.mark.parametrize(
    ("name", "of", "opencl", "cuda"),
    [
        ("helpers.cl", HELPERS, "return a +", "return a +"),
        ("user.cl", USER, "void f(", "void f("),
        ("user.cl", USER, "TWICE(a[1])", "(2 * (a[1]))"),
        ("user.cl", USER, "sqrt((float4)", "cl_sqrt("),
        ("user.cl", USER, "1.0f));", "1.0f));"),
        ("user.cl", USER, "clamp(a[0]", "cl_clamp("),
    ],
    ids=["included", "kernel", "macro", "built-in", "second line", "call"],
)
def test_translated_text_counts_its_lines_as_the_users(source, name, of, opencl, cuda):
    """Includes, comments, long macros, local memory and local pointers shift no line."""
    text = translate(source, {}).text
    ours = text[text.rindex("#line", 0, text.index(f'{name}"')) :]  # the header has such words too
    file, line = counted(ours, cuda)
    assert file.endswith(name) and file in source.lines
    assert line == line_of(of, opencl)


def test_instructions_of_ptx_have_the_only_name_that_nvrtc_knows(tmp_path):
    """OpenCL C has ``__asm__``; NVRTC knows no such word."""
    (tmp_path / "reverse.cl").write_text(
        """
__kernel void reverse(__global uint *a)
{
    uint b;
    __asm__("brev.b32 %0, %1;" : "=r"(b) : "r"(a[0]));
    a[0] = b;
}
"""
    )
    text = translate(plan_file(tmp_path / "reverse.cl", {"DEVICE_IS_CPU": "0"}).source, {}).text
    assert ' asm("brev.b32 %0, %1;" : "=r"(b) : "r"(a[0]));' in text
    assert "__asm__" not in text


UNDEFINED = """\
FOLDER/user.cl(9): error: identifier "unknown" is undefined
      scratch[get_local_id(0)] = (2 * (unknown));
                                       ^

FOLDER/helpers.cl(7): error: identifier "missing" is undefined
      return a + missing;
                 ^

2 errors detected in the compilation of "kernels.cu".
"""
INCLUDED = """\
FOLDER/helpers.cl(7): error: identifier "missing" is undefined
      return a + missing;
                 ^

1 error detected in the compilation of "kernels.cu".
"""
BUILT_IN = """\
FOLDER/user.cl(12): error: no instance of overloaded function "cl_clamp" matches the argument list
            argument types are: (int *, int)
      a[0] = helped(lost(cl_clamp(a, 3)));
                         ^
opencl.cuh(552): note #3322-D: number of parameters of function "cl_clamp(double, double, double)" \
does not match the call
  CL_EXTREME(double)
  ^

1 error detected in the compilation of "kernels.cu".
"""
VECTOR = """\
FOLDER/user.cl(10): error: class "cl_vec<unsigned int, 4>" has no member "q"
      v[0].q = 1.0f;
           ^

1 error detected in the compilation of "kernels.cu".
"""
IN_HEADER = """\
opencl.cuh(406): error: more than one instance of overloaded function "cl_sqrt" matches the \
argument list:
            function "cl_sqrt(float)" (declared at line 406)
            function "cl_sqrt(double)" (declared at line 406)
            argument types are: (const int)
  CL_REAL(cl_sqrt, __fsqrt_rn, __dsqrt_rn)
  ^
opencl.cuh(406): note #3327-D: candidate function template "cl_sqrt(const cl_vec<T, N> &)" \
failed deduction
  CL_REAL(cl_sqrt, __fsqrt_rn, __dsqrt_rn)
  ^
          detected during instantiation of "auto cl_sqrt(const cl_vec<T, N> &) [with T=int, N=4]" \
at line 10 of FOLDER/user.cl

opencl.cuh(406): error: incomplete type "cl_vec<<error-type>, 4>" is not allowed
  CL_REAL(cl_sqrt, __fsqrt_rn, __dsqrt_rn)
  ^
          detected during instantiation of "auto cl_sqrt(const cl_vec<T, N> &) [with T=int, N=4]" \
at line 10 of FOLDER/user.cl

2 errors detected in the compilation of "kernels.cu".
"""
OPEN = """\
At end of source: error: expected a "}"
FOLDER/user.cl(7): note #3196-D: to match this "{"
  {
  ^

1 error detected in the compilation of "kernels.cu".
"""
UNRESOLVED = "ptxas fatal   : Unresolved extern function '_Z4losti'\n\0"
SHARED = (
    "ptxas error   : Entry function 'f' uses too much shared data (0x61a7c bytes, 0xc000 max)\n"
)


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (UNDEFINED, ('user.cl:9: identifier "unknown" is undefined (and 1 more error)', "TWICE")),
        (INCLUDED, ('helpers.cl:7: identifier "missing" is undefined', "return a + 1;")),
        (
            BUILT_IN,
            (
                'user.cl:12: no instance of overloaded function "clamp" matches the argument list',
                "",
            ),
        ),
        (VECTOR, ('user.cl:10: class "uint4" has no member "q"', "v[0] = sqrt((float4)")),
        (
            IN_HEADER,
            (
                'user.cl:10: more than one instance of overloaded function "sqrt" matches the '
                "argument list (and 1 more error)",
                "v[0] = sqrt((float4)",
            ),
        ),
        (OPEN, ('user.cl:7: expected a "}"', "{")),
        (
            UNRESOLVED,
            (
                "helpers.cl:4:5: function lost is declared or called, but defined nowhere",
                "int lost",
            ),
        ),
        (SHARED, ("user.cl:6: Entry function 'f' uses too much shared data", "void f(")),
    ],
    ids=["undefined", "included", "built-in", "vector", "header", "open", "unresolved", "shared"],
)
def test_a_log_becomes_file_and_line(source, tmp_path, log, expected):
    said = message_of(
        source, log.replace("FOLDER", str(tmp_path)), "NVRTC_ERROR_COMPILATION", "sm_90"
    )
    first, second = said.split("\n")
    message, shown = expected
    assert first.startswith(f"{tmp_path}/{message}") and shown in second


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("", "NVRTC_ERROR_COMPILATION"),
        ("opencl.cuh(3): error: expected a declaration\n", "opencl.cuh(3): error: expected a"),
        (
            "ptxas fatal   : Memory allocation failure\n",
            "ptxas fatal   : Memory allocation failure",
        ),
        ("other.cuh(5): catastrophic error: could not open\n", "other.cuh(5): catastrophic error"),
    ],
    ids=["nothing", "header", "ptxas", "other"],
)
def test_what_names_no_line_of_a_kernel_is_said_in_one_line(source, log, expected):
    said = message_of(source, log, "NVRTC_ERROR_COMPILATION", "sm_90")
    assert said.startswith(f"the kernels do not build for CUDA (sm_90): {expected}")
    assert "\n" not in said


ALONE = """#include "helpers.cl"
__kernel void f(__global int *a, __global float4 *v, __global int4 *w)
{
    a[0] = helped(
        HERE);
}
"""


def test_nvrtc_reports_it_itself(tmp_path, monkeypatch):
    """The logs above are still such as NVRTC writes; it needs no GPU to compile for one."""
    nvrtc_or_skip()
    monkeypatch.setenv("SOCIETIES_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "helpers.cl").write_text(HELPERS)
    for here, place, message in (
        ("unknown", "user.cl:5", 'identifier "unknown" is undefined'),
        ("clamp(a, 3)", "user.cl:5", 'no instance of overloaded function "clamp"'),
        ("v[0].q", "user.cl:5", 'class "float4" has no member "q"'),
        ("sqrt(w[0] * v[0]).x", "user.cl:5", "more than one instance of overloaded function"),
        ("lost(3)", "user.cl:5:9", "function lost is declared or called, but defined nowhere"),
        ("a[1]); if (a[2]) { a[3] = (2", "user.cl:3", 'expected a "}"'),
    ):
        (tmp_path / "user.cl").write_text(ALONE.replace("HERE", here))
        with pytest.raises(BuildError) as caught:
            Program(device(), tmp_path / "user.cl")
        assert str(caught.value).startswith(f"{tmp_path}/{place}: {message}"), here
