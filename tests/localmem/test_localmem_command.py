"""`societies localmem`: the table, the rewritten text, macros, warnings, errors."""

import re
import subprocess
import sys

import numpy as np
import pytest

from societies.opencl import Program

TEXT = """#include "inner.cl"
#ifndef N
#define N 8
#endif
__kernel void k(__global int *x) {
    __local int count;
    __local float *a = local_malloc(N * sizeof(float));
    inner(x);
    local_free(N * sizeof(float));
}
__kernel void plain(__global int *x) { x[0] = DEVICE_IS_CPU; }
"""
INNER = """void inner(__global int *x) {
    __local double *s = local_malloc(sizeof(double));
    s[0] = 4.0;
    x[get_global_id(0)] = (int)s[0];
    local_free(sizeof(double));
}
"""
TABLE = """\
function  allocation  bytes  alignment  offset
inner     inner.cl:2      8          8       0
k         test.cl:7      32          4       0

function  requested  reserved  largest path
inner             8         8  inner (inner.cl:2)

kernel  requested  reserved  static  of 32 KiB  largest path
k              40        48       4      0.1 %  k (test.cl:8) > inner (inner.cl:2)
plain           0         0       0      0.0 %  -
"""


def write(kernel_file, monkeypatch):
    kernel_file(INNER, "inner.cl")
    path = kernel_file(TEXT)
    monkeypatch.chdir(path.parent)
    return path


def test_the_table(shell, kernel_file, monkeypatch):
    write(kernel_file, monkeypatch)
    assert shell("localmem", "test.cl") == (0, TABLE, "")


def test_macros_are_defined_on_the_command_line(shell, kernel_file, monkeypatch):
    write(kernel_file, monkeypatch)
    code, out, _ = shell("localmem", "test.cl", "-D", "N=100", "-DMORE")
    assert code == 0
    assert "k         test.cl:7     400          4       0\n" in out
    code, out, _ = shell("localmem", "test.cl", "--emit", "-D", "DEVICE_IS_CPU=0")
    assert "x[0] = 0;" in out


def test_the_rewritten_text_compiles_and_runs(shell, kernel_file, monkeypatch, device):
    path = write(kernel_file, monkeypatch)
    code, out, _ = shell("localmem", str(path), "--emit")
    assert code == 0
    assert "local_malloc" not in out
    program = Program(device, kernel_file(out, "emitted.cl"))
    x = device.zeros(2, np.int32)
    program.k(global_size=2, local_size=1, x=x)
    assert x.get().tolist() == [4, 4]
    program.plain(global_size=1, local_size=1, x=x)
    assert x.get()[0] == 1


def test_files_of_the_kernels_folder_and_texts_without_allocations(shell):
    code, out, err = shell("localmem", "primitives/real.cl")
    assert (code, err) == (0, "")
    assert out == "primitives/real.cl: no local_malloc, nothing to plan\n"


def test_errors_end_with_code_3(shell, kernel_file):
    path = kernel_file("kernel void k(int n) {\n    local_malloc(n);\n}\n")
    code, out, err = shell("localmem", str(path))
    assert (code, out) == (3, "")
    assert err.startswith(f"{path}:2:5: the size of local_malloc is not known at build time")
    assert err.endswith("\n    local_malloc(n);\n")
    code, _, err = shell("localmem", "missing.cl")
    assert code == 3
    assert err.startswith("missing.cl: no such file, neither in ")


def test_more_than_every_device_has_ends_with_code_3(shell, kernel_file, monkeypatch):
    path = kernel_file("kernel void k(void) {\n    local_malloc(40000);\n}\n")
    monkeypatch.chdir(path.parent)
    code, out, err = shell("localmem", "test.cl")
    assert code == 3
    assert "k 40000 40000 0 122.1 % k (test.cl:2)" in " ".join(out.split())
    assert err == (
        f"{path}:1:13: kernel k needs 40000 bytes of local memory (40000 by local_malloc, 0 in "
        "__local variables), more than the 32768 of the portable profile; "
        f"most is in use at k ({path}:2)\n    kernel void k(void) {{\n"
    )


def test_one_error_of_many_is_shown(shell, kernel_file):
    path = kernel_file("kernel void k(void) {\n    local_malloc(a + b);\n    c = 1;\n}\n")
    code, _, err = shell("localmem", str(path))
    assert code == 3
    first, line, rest = err.splitlines()
    assert first == f"{path}:2:18: use of undeclared identifier 'a'"
    assert (line, rest) == ("    local_malloc(a + b);", "and 2 more errors")


@pytest.mark.ci
def test_the_kernels_of_a_configuration(shell):
    assert shell("localmem", "--config", "economy/tools")[::2] == (0, "")
    code, out, err = shell("localmem", "--config", "economy/trade")
    assert (code, err) == (0, "")
    assert re.search(r"^trading +\d+ +\d+ +\d+ +\d", out, re.MULTILINE)
    code, out, _ = shell("localmem", "--config", "economy/trade", "--emit", "-D", "DEVICE_IS_CPU=0")
    assert code == 0
    assert "societies_local_memory" in out
    code, _, err = shell("localmem")
    assert (code, err) == (2, "localmem: give either a FILE or --config CONFIG\n")


def test_leaks_may_be_inherited(shell, kernel_file):
    path = kernel_file("void f(void) { local_malloc(20); }\nkernel void k(void) { f(); f(); }\n")
    code, out, _ = shell("localmem", str(path))
    assert code == 0
    assert "k 20 32 0 0.1 %" in " ".join(out.split())
    code, out, _ = shell("localmem", str(path), "--inherit")
    assert code == 0
    assert "k 40 64 0 0.2 %" in " ".join(out.split())


def test_shared_space_without_a_barrier_is_warned_of(shell, kernel_file, monkeypatch):
    path = kernel_file(
        "kernel void k(__global int *x) {\n"
        "    __local int *a = local_malloc(16); a[0] = x[0]; local_free(16);\n"
        "    __local int *b = local_malloc(16); b[0] = x[1]; local_free(16);\n}\n"
    )
    monkeypatch.chdir(path.parent)
    code, out, err = shell("localmem", "test.cl")
    assert code == 0
    assert err.startswith(
        f"warning: {path}:3:22: this may share its memory with the local_malloc at"
    )
    assert f"{path}:2: " in err
    assert "k 16 16 0 0.0 %" in " ".join(out.split())


@pytest.mark.ci
def test_no_device_is_touched(kernel_file):
    path = kernel_file("kernel void k(void) { local_malloc(20); }\n")
    command = (
        "import sys; from societies.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "assert 'pyopencl' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", command, "localmem", str(path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "k 20 32 0 0.1 %" in " ".join(done.stdout.split())
