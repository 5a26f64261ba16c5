"""Is what users name read in bounded time, or refused in a clear line: files, tables, numbers?"""

import os
import re
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
import typer

import societies
from societies import load_config, numbers
from societies.config.document import LONG_TEXT, MOST_VALUES, read_text
from societies.config.model import accepts
from societies.economy.config import EconomyConfig
from societies.errors import (
    BuildError,
    ConfigError,
    OutputError,
    SocietiesError,
    option,
    printable,
    shell_words,
)
from societies.localmem import plan_file
from societies.output.layout import LAYOUT_ATTRIBUTE, STUDY_ATTRIBUTE
from societies.output.study_layout import STUDY_VERSION
from societies.physics.matmul.config import MatmulConfig
from societies.sweep import load_sweep
from societies.translate.files import load_module
from societies.workload.checking.windows import ticks_to_verify
from societies.workload.running.engines import ReferenceEngine
from societies.workload.running.registry import workload, workload_of_file
from societies.workload.running.tables import table_of

HEAD = "workload: economy\n"
SWEEP = "base: economy/quickstart\nset: {replicates: 1}\n"


def refused(tmp_path, content, *, name="a.yaml"):
    """Return what is said of a configuration, which takes less than a second to say."""
    path = tmp_path / name
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    began = time.process_time()
    with pytest.raises(ConfigError) as raised:
        load_config(path) if name == "a.yaml" else load_sweep(path)
    assert time.process_time() - began < 3.0  # on a slow machine; it was ten and more
    return str(raised.value).replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (r'"\UFFFFFFFF"', r"a.yaml:2:10  is not valid YAML: found no character of this number"),
        (r'"\U00110000"', r"a.yaml:2:10  is not valid YAML: found no character of this number"),
        (r'"\ud800"', r"a.yaml:2:7  seed: has half of a character"),
        ("'\ud800'", r"a.yaml:2:8  is not UTF-8 text"),
        (r'"a\0b"', r"a.yaml:2:7  seed: has the character \0, which no text may have"),
    ],
)
def test_characters_that_do_not_exist_are_refused_with_their_place(tmp_path, value, said):
    assert refused(tmp_path, f"{HEAD}seed: {value}\n").startswith(said)


def test_a_key_with_half_of_a_character_is_refused_with_its_place(tmp_path):
    said = refused(tmp_path, HEAD + '"\\ud800": 3\n')
    assert said.startswith("a.yaml:2:1  a key has half of a character")


@pytest.mark.parametrize("form", ["x: [{}]", "x:\n- {}"])
def test_a_long_list_is_refused_with_the_limit(tmp_path, form):
    values = (", " if "[" in form else "\n- ").join(map(str, range(100_000)))
    said = refused(tmp_path, HEAD + form.format(values))
    assert f"has more than {MOST_VALUES:,} values" in said and "\n" not in said


def test_of_very_many_mistakes_the_first_are_reported(tmp_path):
    said = refused(tmp_path, HEAD + "".join(f"k{i}: 3\n" for i in range(20_000))).splitlines()
    assert said[0] == "a.yaml:2:1  k0: unknown key"
    assert said[-1] == "and 19950 more problems" and len(said) == 51


def test_a_long_text_has_the_same_values_and_places_as_a_short_one():
    """Another parser reads it."""
    text = 'a: [1, "2", 3.5, {b: no}]\nc:\n- d: |\n    e\n- ~\n'
    short, long = read_text(text, "t"), read_text(text + "#" + " " * LONG_TEXT, "t")
    assert short == long
    wrong = "a: [1,\nb: &x 3\n"
    for more in ("", "#" + "x" * LONG_TEXT):
        with pytest.raises(ConfigError, match=r"^t:2:\d  "):
            read_text(wrong + more, "t")


def test_a_link_that_leads_nowhere_is_not_suggested_for_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.symlink("nowhere", "link")
    with pytest.raises(ConfigError, match=r"^link: is a link to nowhere, which does not exist$"):
        load_config("link")


def test_what_is_no_file_is_refused_wherever_it_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    os.symlink("loop", "loop")
    (tmp_path / "huge").touch()
    os.truncate("huge", 2**40)
    said = {
        "/dev/zero": "is a device, not a file",
        "pipe": "is a pipe, not a file",
        "loop": "cannot be read|no such file",
        ".": "directory|folder",
        "huge": "is larger than",
        "a\0b": "null character|no such file|not found|has the character",
        "a" * 5000: r"a\.\.\.a.*(name too long|no such file)",
        "a\nb": r"'a\\nb': ",
    }
    for name, message in said.items():
        quoted = name.replace("\0", "\\0").replace("\n", "\\n")
        (tmp_path / "s.yaml").write_text(f'{SWEEP}vary: {{points: "{quoted}"}}\n')
        (tmp_path / "b.yaml").write_text(f'base: "{quoted}"\nvary: {{grid: {{seed: [1, 2]}}}}\n')
        for read in (
            partial(load_config, name),
            partial(load_sweep, "s.yaml"),
            partial(load_sweep, "b.yaml"),
            partial(table_of, name),
            partial(plan_file, name),
        ):
            with pytest.raises((ConfigError, BuildError), match=message) as raised:
                read()
            assert len(str(raised.value)) < 600


def test_files_of_python_may_be_links(tmp_path, monkeypatch):
    """A store of files may name them without .py; links that lead to each other are no file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stored").write_text("VALUE = 7\n")
    os.symlink("stored", "rules.py")
    assert load_module(Path("rules.py")).VALUE == 7
    os.symlink("loop.py", "loop.py")
    (tmp_path / "c.yaml").write_text("model: loop.py\n")
    for read in (
        partial(load_module, Path("loop.py")),
        partial(load_config, "c.yaml"),
        partial(workload_of_file, "loop.py"),
    ):
        with pytest.raises(SocietiesError, match=r"loop\.py: no such file"):
            read()


TABLES = {
    "semicolons": "day_length;trading.rounds\n1.5;2\n",
    "tabs": "day_length\ttrading.rounds\n1.5\t2\n",
    "a byte-order mark": "\ufeffday_length,trading.rounds\n1.5,2\n",
    "spaces": " day_length , trading.rounds \n 1.5 , 2 \n",
    "quotation marks": '"day_length", "trading.rounds"\n"1.5", "2"\n',
    "empty lines": "\nday_length,trading.rounds\n\n1.5,2\n\n \n",
    "rows and columns without values": "day_length,trading.rounds,,\n1.5,2,,\n,,,\n,,,\n",
    "another system's lines": "day_length,trading.rounds\r1.5,2\r",
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_other_programs_are_read(tmp_path, name):
    path = tmp_path / "t.csv"
    path.write_text(TABLES[name], newline="")
    columns = table_of(path).columns
    assert {key: column.tolist() for key, column in columns.items()} == {
        "day_length": [1.5],
        "trading.rounds": [2.0],
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,\n", "t.csv:2  b: has no value in this row"),
        ("a,b\n,\n1,2\n", "t.csv:2  has no values; delete the row, or fill it in"),
        ("a;b\n1,5;2\n", "t.csv:2  a: expected a number, got '1,5'; write a point before decimals"),
        ('a,b\n"1,5",2\n', "t.csv:2  a: expected a number, got '1,5'; write a point"),
        ("a,b\n1,5,2\n", "t.csv:2  has 3 entries for 2 keys"),
        ("a,a\n1,2\n", "t.csv:1  a: appears twice, in columns 1 and 2"),
        ("a,,b\n1,2,3\n", "t.csv:1  column 2 has no key"),
        ("a,b,\n1,2,3\n", "t.csv:2  has 3 entries for 2 keys"),
        ("a\n1_000\n", "t.csv:2  a: expected a number, got '1_000'"),
        ("a\n\uff13\n", "t.csv:2  a: expected a number, got '\uff13'"),
        ("a\n9007199254740993\n", "t.csv:2  a: must be at most 9007199254740992 in size"),
        ("a\n" + "9" * 5000 + "\n", "t.csv:2  a: a number of 5000 digits is too long"),
        ('a,b\n"1,2\n', "t.csv:2  cannot be read as CSV (a quotation mark is never closed)"),
        ("a\n\x00\n", "t.csv:2  is not text: it has the character #x0000"),
        ("x" * 5000 + "\ny\n", "t.csv:2  'xxx"),
    ],
)
def test_what_a_table_leaves_open_is_refused_with_line_and_column(tmp_path, text, said):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        table_of(path)
    message = str(raised.value).replace(f"{tmp_path}/", "")
    assert message.startswith(said) and len(message) < 300


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        ("grid: {seed: {low: 1, high: 2, steps: 1000000000}}", "from 2 to 1,000,000"),
        ("zip: {seed: {low: 1, high: 2, steps: 1000000000}}", "from 2 to 1,000,000"),
        ("sobol: {points: 1000000000, keys: {seed: {low: 1, high: 2}}}", "at most 10,000,000"),
        (f"sobol: {{points: {'9' * 390}, keys: {{seed: {{low: 1, high: 2}}}}}}", "at most 1844"),
        (
            "morris: {trajectories: 4, levels: 1000000000, keys: {seed: {low: 1, high: 2}}}",
            "at most 1000",
        ),
        (
            "grid: {seed: {low: 1, high: 9000, steps: 9000}, days: {low: 1, high: 9000, "
            "steps: 9000}}",
            "has 81000000 points, a study has at most 10,000,000",
        ),
        (f"grid: {{day_length: {{low: 1, high: {'9' * 350}, steps: 3}}}}", "a number, got a num"),
        ("grid: {day_length: {low: -1e308, high: 1e308, steps: 3}}", "too wide"),
        (f"sobol: {{points: 4, keys: {{seed: {{low: 1, high: {'9' * 350}}}}}}}", "a number, got"),
        ("grid: {groups.\xb2.count: [1, 2]}", "groups has no entry"),
    ],
)
def test_designs_without_bounds_are_refused_with_the_limit(tmp_path, vary, said):
    message = refused(tmp_path, f"{SWEEP}vary: {{{vary}}}\n", name="s.yaml")
    assert said in message and message.startswith("s.yaml:3:")


@pytest.mark.parametrize("read", [numbers.whole, numbers.from_0, numbers.from_1, numbers.workers])
@pytest.mark.parametrize("text", ["9" * 5000, "9" * 30, "1_0", "\uff11", "\xb2", "1e5", "nan", ""])
def test_numbers_of_options_are_bounded_and_of_ten_digits(read, text):
    with pytest.raises(typer.BadParameter) as raised:
        read(text)
    assert len(str(raised.value)) < 130


def test_ordinary_numbers_of_options_are_read():
    assert [numbers.whole(text) for text in ("-3", "+3", " 7 ", str(2**64 - 1))] == [
        -3,
        3,
        7,
        2**64 - 1,
    ]


def test_messages_show_the_beginning_of_long_words_and_count_what_is_repeated():
    with shell_words():
        assert option("moves", "9" * 5000) == f"--moves {'9' * 197}..."
    assert printable("a" + "\x00" * 1000 + "\x1b[2J") == r"a\x00(and 999 more)\x1b[2J"


def test_an_advice_is_a_value_that_the_key_takes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("none.npy", np.zeros((0, 3)))
    np.save("some.npy", np.zeros((3, 5)))
    messages = {}
    for name in ("none", "some"):
        with pytest.raises(ConfigError) as raised:
            load_config("physics/matmul/quickstart", [f"a={name}.npy"])
        messages[name] = str(raised.value)
    assert "override" not in messages["none"].partition("entries")[2]
    advised = re.findall(r"override (\w+=\d+)", messages["some"].partition("entries")[2])
    assert load_config("physics/matmul/quickstart", ["a=some.npy", *advised]).rows == 3
    assert not accepts(MatmulConfig, "rows", 0) and accepts(MatmulConfig, "inner", 0)
    assert not accepts(EconomyConfig, "days", 10**18)
    possible = partial(accepts, EconomyConfig, "days")
    for asked, advice in ((200, "; raise it with override days=200"), (10**18, "")):
        with pytest.raises(ConfigError, match=f"has 100{advice}$"):
            ticks_to_verify("day", asked, 100, 0, "days", possible)


@pytest.mark.parametrize("of_study", [True, False])
def test_a_dataset_without_values_is_no_result(tmp_path, of_study):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.attrs[STUDY_ATTRIBUTE if of_study else LAYOUT_ATTRIBUTE] = (
            STUDY_VERSION if of_study else 1
        )
        file.attrs["variables"], file.attrs["coordinates"] = "[]", ""
        names = ("status", "error", "run", "point", "days_committed", "ticks_committed")
        for name in names:
            file[name] = h5py.Empty("i8")
    with pytest.raises(OutputError, match=re.escape(str(path))):
        societies.open_results(path)


def test_a_copy_by_another_program_is_called_one(tmp_path):
    path = tmp_path / "a.nc"
    with h5py.File(path, "w") as file:
        file.attrs[LAYOUT_ATTRIBUTE] = np.array([2])
    with pytest.raises(OutputError, match="a copy that another program made"):
        societies.open_results(path)


@pytest.mark.sample
@pytest.mark.parametrize("backend", ["nosuch", "module://matplotlib_inline.backend_inline"])
def test_figures_need_no_backend(backend):
    code = "from societies.analysis.plot import _require_matplotlib as it; it(); import os; "
    done = subprocess.run(
        [sys.executable, "-c", code + "print(os.environ['MPLBACKEND'])"],
        env={**os.environ, "MPLBACKEND": backend},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stdout.strip() == backend, done.stderr


def test_a_kernel_file_that_is_missing_is_reported_with_the_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BuildError, match=rf"^nofile.cl: no such file, .*{tmp_path} nor in .*kern"):
        plan_file("nofile.cl")


def test_a_series_that_the_reference_leaves_out_is_named_with_its_function(monkeypatch):
    chosen = workload("economy")
    config = load_config("economy/quickstart", ["days=1", "agents=2", "resources=2"])
    functions = dict(chosen.reference(chosen.parameters(config)))
    last = functions["society_statistics"]

    def forgetful(p, copy, tick, **arguments):
        last(p, copy, tick, **arguments)
        copy.series = {name: one for name, one in copy.series.items() if name != "deals"}

    def run():
        ReferenceEngine(chosen, chosen.parameters(config)).run_ticks(0, 1)

    functions["society_statistics"] = forgetful
    monkeypatch.setattr(type(chosen), "reference", lambda self, p: functions)
    with pytest.raises(SocietiesError, match=r"\.forgetful sets no value of the series deals, wh"):
        run()
    del functions["society_statistics"]
    with pytest.raises(SocietiesError, match="no function for the phase 'society_statistics'"):
        run()
