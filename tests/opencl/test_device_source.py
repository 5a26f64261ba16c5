"""From kernel files to one text, and from a build error back to file, line and column."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from societies.errors import BuildError, DeviceError
from societies.kerneltext.source import amalgamate, macro_text, without_comments
from societies.opencl import Program, build
from societies.opencl.build import parse_log, undefined_functions
from societies.opencl.debug import opencl
from societies.paths import data_directory

COPY = "kernel void copy(global int *a) { a[0] = value(); }\n"


def run_copy(device, path, macros=None, header=""):
    program = Program(device, path, macros, header)
    a = device.zeros(1, np.int32)
    program.copy(global_size=1, local_size=1, a=a)
    return int(a.get()[0])


def test_includes_are_found_next_to_the_file_and_expanded_once(device, kernel_file):
    kernel_file("int value(void) { return 42; }\n", "parts/value.cl")
    kernel_file('#include "value.cl"\n#include <value.cl>\n', "parts/twice.cl")
    path = kernel_file(
        '#include "parts/twice.cl"\n  #  include "parts/value.cl"  // again\n' + COPY
    )
    source = amalgamate([path])
    assert source.text.count("return 42") == 1
    assert "#include" not in source.text
    assert run_copy(device, path) == 42


def test_includes_are_found_in_the_kernels_folder(kernel_file):
    source = amalgamate([kernel_file('#include "primitives/real.cl"\n')])
    assert "typedef double real" in source.text
    assert '#line 1 "primitives/real.cl"' in source.text
    assert source.files["primitives/real.cl"] == data_directory("kernels") / "primitives/real.cl"


def test_files_that_include_each_other(device, kernel_file):
    kernel_file('#include "test.cl"\nint value(void) { return 1; }\n', "other.cl")
    assert run_copy(device, kernel_file('#include "other.cl"\n' + COPY)) == 1


def test_an_include_in_a_comment_or_string_is_none(device, kernel_file):
    text = """
        // #include "missing.cl"
        /*
        #include "missing.cl"
        */
        int value(void) { return 3; }
    """
    assert run_copy(device, kernel_file(text + COPY)) == 3


def test_an_unknown_include_names_file_and_line(kernel_file):
    kernel_file('\n\n#include "nowhere.cl"\n', "parts/bad.cl")
    path = kernel_file('#include "parts/bad.cl"\n')
    with pytest.raises(BuildError) as caught:
        amalgamate([path])
    assert f"{path.parent}/parts/bad.cl:3: include file 'nowhere.cl' not found" in str(caught.value)


def test_an_include_without_a_name_and_a_missing_source(device, kernel_file):
    with pytest.raises(BuildError, match=r"test\.cl:1: #include needs a file name"):
        amalgamate([kernel_file("#include FILE\n")])
    with pytest.raises(BuildError, match=r"kernel file 'no/such\.cl' not found"):
        Program(device, "no/such.cl")


def test_a_file_that_is_not_text(tmp_path):
    (tmp_path / "bad.cl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BuildError, match="is not UTF-8 text"):
        amalgamate([tmp_path / "bad.cl"])


def test_comments_are_blanked_in_place():
    text = 'a /* x\n y */ b // c\n"// no" \'"\' /* open\n'
    bare = without_comments(text, keep_strings=True)
    assert bare.count("\n") == text.count("\n") and len(bare) == len(text)
    assert bare.split() == ["a", "b", '"//', 'no"', "'\"'"]


def test_every_line_of_the_text_knows_where_it_came_from(kernel_file):
    kernel_file("one\ntwo\n", "inner.cl")
    path = kernel_file('zero\n#include "inner.cl"\nthree')
    source = amalgamate([path], {"N": 1}, "head\n")
    for number, row in enumerate(source.text.split("\n"), start=1):
        if row and not row.startswith("#line"):
            name, line = source.origin(number)
            assert source.lines[name][line - 1] == row


def test_macros_arrive_exactly(device, kernel_file):
    values = {
        "AN_INT": -7, "BIG": 2**63 + 1, "LOWEST": -(2**63), "YES": True, "NO": np.False_,
        "TENTH": 0.1, "TINY": 5e-324, "MINUS": -0.0, "NP": np.float64(1 / 3), "NAME": "AN_INT * 2",
    }  # fmt: skip
    path = kernel_file("""
        #pragma OPENCL EXTENSION cl_khr_fp64 : enable
        kernel void show(global long *i, global ulong *u, global double *d) {
            i[0] = AN_INT; i[1] = LOWEST; i[2] = YES; i[3] = NO; i[4] = NAME; i[5] = 1 - AN_INT;
            u[0] = BIG;
            d[0] = TENTH; d[1] = TINY; d[2] = MINUS; d[3] = NP;
        }
    """)
    i, u, d = device.zeros(6, "i8"), device.zeros(1, "u8"), device.zeros(4, "f8")
    Program(device, path, values).show(global_size=1, local_size=1, i=i, u=u, d=d)
    assert i.get().tolist() == [-7, -(2**63), 1, 0, -14, 8]
    assert u.get().tolist() == [2**63 + 1]
    assert d.get().tobytes() == np.array([0.1, 5e-324, -0.0, 1 / 3]).tobytes()


@pytest.mark.parametrize(
    "name, value", [("1A", 1), ("A B", 1), ("X", float("nan")), ("X", float("inf")),
                    ("X", 2**64), ("X", None), ("X", [1]), ("X", "a\nb")],
)  # fmt: skip
def test_bad_macros_are_refused(name, value):
    with pytest.raises(BuildError, match="macro"):
        macro_text({name: value})


def test_the_header_comes_after_the_macros(device, kernel_file):
    header = "int value(void) { return K; }"
    assert run_copy(device, kernel_file(COPY), {"K": 5}, header) == 5


def test_a_build_error_names_the_included_file_line_column_and_text(device, kernel_file):
    kernel_file("// fine\nint value(void) {\n  return lost;\n}\n", "parts/value.cl")
    path = kernel_file('#include "parts/value.cl"\n' + COPY)
    with pytest.raises(BuildError) as caught:
        Program(device, path, {"A": 1, "B": 2})
    first, second = str(caught.value).split("\n")[:2]
    assert first.startswith(f"{path.parent}/parts/value.cl:3:10: ")
    assert "lost" in first
    assert second.strip() == "return lost;"


def test_a_build_error_after_an_include_counts_on_in_the_including_file(device, kernel_file):
    kernel_file("int value(void) { return 1; }\n\n\n", "value.cl")
    path = kernel_file('#include "value.cl"\n\n' + COPY + "int broken( { }\n")
    with pytest.raises(BuildError, match=rf"{path}:4:\d+: "):
        Program(device, path)


def test_build_errors_in_macros_and_header_are_reported_as_such(device, kernel_file):
    path = kernel_file(COPY)
    with pytest.raises(BuildError, match=r"<header>:2:\d+: "):
        Program(device, path, header="\nint value(void) { return lost; }")
    with pytest.raises(BuildError, match=r"<macros>:1|test\.cl:1"):
        Program(device, path, {"value": "lost"})


def test_a_compiler_that_drops_file_names_is_handled(device, kernel_file, monkeypatch):
    """Its errors are counted in the text itself and mapped back by us."""

    def nameless(log):
        return [e._replace(file="<kernel>") for e in parse_log(log)]

    monkeypatch.setattr(build, "parse_log", nameless)
    kernel_file("int value(void) {\n  return lost;\n}\n", "value.cl")
    path = kernel_file('\n#include "value.cl"\n' + COPY)
    with pytest.raises(BuildError, match=rf"{path.parent}/value\.cl:2:10: .*lost"):
        Program(device, path)


@pytest.mark.parametrize(
    "row, expected",
    [
        ("error: /a b/k.cl:7:22: use of x", ("/a b/k.cl", 7, 22, "use of x")),
        ("/a/k.cl:7:22: error: use of x", ("/a/k.cl", 7, 22, "use of x")),
        ("<kernel>:3: error: nope", ("<kernel>", 3, None, "nope")),
        ('"k.cl", line 3: catastrophic error: nope', ("k.cl", 3, None, "nope")),
        (
            "error: /a/k.cl:4:12 <Spelling=/a/real.cl:1:13>: use of x",
            ("/a/k.cl", 4, 12, "use of x"),
        ),
        ("fatal error: k.cl:1:2: gone", ("k.cl", 1, 2, "gone")),
        (
            "<kernel>:3:35: warning: implicit declaration of function 'g' is invalid in OpenCL",
            ("<kernel>", 3, 35, "implicit declaration of function 'g' is invalid in OpenCL"),
        ),
    ],
)
def test_forms_of_build_logs(row, expected):
    assert [tuple(e) for e in parse_log(f"1 warning\n{row}\nnote: {row[:3]}\n")] == [expected]
    assert parse_log("k.cl:1:2: warning: error: of style") == []


@pytest.mark.parametrize(
    "log, names",
    [
        ("Error(s) while linking: \nCannot find symbol f in kernel library\n", ["f"]),
        ("ptxas fatal   : Unresolved extern function 'f'\n", ["f"]),
        ("ld.lld: error: undefined symbol: f\n>>> referenced by a\n", ["f"]),
        ("error: undefined reference to `f()'\nerror: undefined reference to `g()'\n", ["f", "g"]),
        ("JIT session error: Symbols not found: [ f ]\nFailed to materialize\n", ["f"]),
        ("Device x failed to build the program\n", []),
    ],
)
def test_functions_that_a_linker_misses(log, names):
    assert undefined_functions(log) == names


@pytest.mark.parametrize(
    "text, place, said, line",
    [
        ("#define BAD lost\nkernel void k(global int *o)\n{\n    o[0] = BAD;\n}\n",
         "4:12", "lost", "o[0] = BAD;"),
        ("#define TWICE(x) ((x) * 2)\nkernel void k(global int *o) { o[0] = TWICE(lost); }\n",
         "2:(39|45)", "lost", "kernel void k(global int *o) { o[0] = TWICE(lost); }"),
        ("// f\nint f(int x);\nkernel void k(global int *o) {\n    o[0] = f(o[1]);\n}\n",
         "2:5", "function f is declared or called, but defined nowhere", "int f(int x);"),
        ("kernel void k(global int *o) {\n    o[0] = one;\n    o[1] = two;\n    o[2] = six;\n}\n",
         r"2:12", "one.* (and 2 more errors)", "o[0] = one;"),
    ],
)  # fmt: skip
def test_a_build_error_is_a_place_and_its_line(text, place, said, line, device, kernel_file):
    path = kernel_file(text)
    with pytest.raises(BuildError) as caught:
        Program(device, path)
    first, second = str(caught.value).split("\n")
    assert re.match(rf"{re.escape(str(path))}:{place}: ", first)
    assert all(part in first for part in said.split(".*"))
    assert second == f"    {line}"


@pytest.mark.parametrize(
    "log, said",
    [
        ("", "gives no reason"),
        ("Device x failed to build the program\n\n", "gives no reason"),
        ("\nptxas: no registers left\nBuild failed\n", ": ptxas: no registers left"),
    ],
)
def test_a_build_log_without_a_place(log, said, device, kernel_file, monkeypatch):
    failure = SimpleNamespace(code=opencl().status_code.BUILD_PROGRAM_FAILURE)
    monkeypatch.setattr(build, "_try_build", lambda *_: (None, log, failure))
    with pytest.raises(BuildError) as caught:
        Program(device, kernel_file(f"// {said}\nkernel void never(global int *o) {{ }}\n"))
    assert said in str(caught.value)
    assert len(str(caught.value).split("\n")) <= 2
    assert ("disk" in str(caught.value)) == ("disk" in said)


def test_a_warning_of_the_compiler_is_not_seen(device, kernel_file):
    text = "int value(void) { int x; return 1 ? 8 : x; }\n#warning look\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert run_copy(device, kernel_file(text + COPY)) == 8
    assert caught == []


def test_options_that_change_results_are_refused(device, kernel_file, monkeypatch):
    with pytest.raises(DeviceError, match="changes results"):
        Program(device, kernel_file(COPY), options=["-cl-fast-relaxed-math"])
    monkeypatch.setenv("PYOPENCL_BUILD_OPTIONS", "-DVALUE=9")
    text = "#ifndef VALUE\n#define VALUE 1\n#endif\nint value(void) { return VALUE; }\n"
    assert run_copy(device, kernel_file(text + COPY)) == 1


def test_one_text_wherever_the_project_lies():
    """The installation's path is not in the text, so caches survive a move."""
    text = amalgamate(["primitives/real.cl"]).text
    assert str(data_directory("kernels")) not in text
