"""Can a YAML file name the file of its model, with nothing installed, and are mistakes clear?"""

import re

import pytest

import societies
from societies.cli import main
from societies.config.files import FILES, FOLDER, anywhere, as_saved, file_attributes
from societies.errors import ConfigError
from societies.output import open_results
from societies.paths import data_directory
from societies.view.controls import Playing
from societies.view.file_view import FileView
from societies.workload.running import registry

SOURCE = '''"""A model for a test."""

from typing import Literal

from societies.model import DailyConfig, Field, Model, Series, key


class WalkConfig(DailyConfig):
    workload: Literal["NAME"]
    step: int = key(1, "How far in a day", "steps", ge=1, le=9)


def walk(config, society, day):
    """Continue."""
    society.place += config.step
    society.series = {"place": float(society.place)}


class Walk(Model):
    name, summary, config = "NAME", "a walk", WalkConfig
    day = ("walk",)

    def sizes(self, p):
        return {}

    def fields(self, p):
        return {"place": Field((), "int32", "steps", "where it is", recorded=True)}

    def series(self, p):
        return {"place": Series("steps", "where it is")}


WORKLOAD = Walk()
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with a model and its YAML file, the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_GIVEN", {})
    (tmp_path / "walk.py").write_text(SOURCE.replace("NAME", "walk_alone"))
    (tmp_path / "walk.yaml").write_text("model: walk.py\ndays: 3\n")
    return tmp_path


def shell(*words):
    with pytest.raises(SystemExit) as end:
        main(list(map(str, words)))
    return end.value.code


ON = ("--device", "reference")


def test_a_model_that_is_not_installed_is_named_by_its_file(folder, capsys):
    """What a newcomer types after `societies new`, before `pip install`."""
    (folder / "walk.yaml").write_text("workload: walk_alone\ndays: 3\n")
    assert shell("check", "walk.yaml") == 2
    said = capsys.readouterr().err
    assert "walk.yaml:1:11  workload: unknown workload 'walk_alone' (known: " in said
    assert "pip install -e FOLDER" in said and "write model: walk_alone.py" in said


def test_a_model_next_to_its_yaml_runs_and_is_resumed(folder, capsys):
    assert shell("check", "walk.yaml") == 0
    said = "model walk_alone: walk.py, whose Python is carried out"
    assert said in capsys.readouterr().out
    assert shell("run", "walk.yaml", "--days", 2, "--set", "step=4", *ON) == 0
    assert said in capsys.readouterr().err
    assert shell("run", "walk.yaml", "--days", 2, "--set", "step=4", "--resume", *ON) == 0
    with open_results("walk.h5") as results:
        assert results["place"].values.tolist()[0] == [4.0, 8.0]
        assert SOURCE.replace("NAME", "walk_alone") in results.attrs["rules"]
    (folder / "walk.py").write_text(SOURCE.replace("NAME", "walk_alone").replace("+=", "-="))
    assert shell("run", "walk.yaml", "--days", 2, "--set", "step=4", "--resume", *ON) == 4
    (folder / "walk.py").write_text("raise SystemExit('executed')\n")
    capsys.readouterr()
    assert shell("info", "walk.h5") == 0  # reading a file of results executes nothing


@pytest.mark.parametrize("device", [(), ON])
def test_plain_python_writes_what_fits_its_fields(folder, capsys, device):
    line = "society.place = int(str(2**40))"  # a text: not translated
    text = SOURCE.replace("NAME", "walk_alone").replace("society.place += config.step", line)
    (folder / "walk.py").write_text(text)
    assert shell("run", "walk.yaml", *device) == 1
    said = "walk.py:15: the field 'place' (int32) cannot hold what was written: 1099511627776"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("society.state += 1", "the society has no field 'state'"),
        ("society.place += config.stepp", "no key 'stepp'; did you mean 'step'?"),
        ("society.place = walk(config)", "walk takes (config, society, day), and the argument"),
        ("society.place = steps", "'steps' is not known here"),
        ("while True:\n        society.place += 1", "this loop never ends"),
    ],
)
def test_what_plain_python_cannot_carry_out_either_is_an_error(folder, capsys, line, said):
    text = SOURCE.replace("NAME", "walk_alone").replace("society.place += config.step", line)
    (folder / "walk.py").write_text(text)
    for words in (("run", "walk.yaml", *ON), ("check", "walk.yaml")):
        assert shell(*words) == 2
        error = capsys.readouterr().err
        assert said in error and "walk.py:15: " in error
        assert "plain Python" not in error and "Traceback" not in error


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def walk(config, society, day)", "def walk(config)", "walk.py:13: a phase has two"),
        ("def walk", "async def walk", "walk.py:13: walk is written with async def: a rule waits"),
        (", society, day)", ", society, dya)", "walk.py:13: the phase walk is given no 'dya'; did"),
        ('("walk",)', '("wolk",)', "walk.py:19: the model walk_alone names the phase 'wolk', and "
         "the file has no such function; did you mean 'walk'?"),
    ],
)  # fmt: skip
def test_check_finds_phases_that_cannot_be_called(folder, capsys, old, new, said):
    """It called them valid, and a run ended with an internal error."""
    (folder / "walk.py").write_text(SOURCE.replace("NAME", "walk_alone").replace(old, new))
    for words in (("run", "walk.yaml", *ON), ("check", "walk.yaml")):
        assert shell(*words) == 2
        assert said in capsys.readouterr().err


FIELD = 'Field((), "int32", "steps", "where it is", recorded=True)'
SERIES = 'return {"place": Series("steps", "where it is")}'
STEP = 'step: int = key(1, "How far in a day", "steps", ge=1, le=9)'
PER_VALUE = "True, initial=lambda p: p.step * 10**6"
CONFIG = 'config = "NAME", "a walk", WalkConfig'
SIZES = "    def sizes"


def events(made):
    """Return the place of `sizes` with events before it."""
    return f"    def events(self, p):\n        return {made}\n\n    def sizes"


def field(*arguments):
    """Return a field with these arguments after its dimensions."""
    return f"Field((), {', '.join(arguments)})"


DECLARED_WRONG = {
    SERIES: (
        ('return {"place": ("steps", "where it is")}', "has no Series(unit, meaning)"),
        ("pass", "returns no dictionary from series: None"),
        ('yield "place", 3', "returns no dictionary from series: a generator"),
        ('return {"place": Series("1")}', "walk.py:30: series of the model walk_alone: TypeError"),
        ('return {"place": Series("steps", "where it is", ("agent",))}',
         "gives the series 'place' the dimension 'agent', of which sizes says no length"),
        ('return {"the place": Series("steps", "")}', "cannot have a series 'the place': names"),
        ('return {"day": Series("steps", "")}', "a series 'day', which files have"),
        ('return {"place": Series("steps", "", log="x")}', "no field 'x' with logged=True"),
        ('return {"place": Seris("steps", "")}', "walk.py:30: series of the model walk_alone: N"),
    ),
    FIELD: (
        ('("int32", "steps")', "has no Field(...) as its field 'place'"),
        ('Field(("agent"), "int32", "steps", "where it is")',
         "has 'agent' as the dimensions of the field 'place': write a tuple, such as ('agent',)"),
        ('Field(("agent",), "int32", "steps", "where it is")',
         "gives the field 'place' the dimension 'agent', of which sizes says no length"),
        ('Field(("seris",), "int32", "steps", "where it is")',
         "the dimension 'seris', of which sizes says no length; did you mean 'series'?"),
        (field('"int33"', '"1"', '"1"'),
         "has 'int33' as the type of the field 'place': it is one of int8 to int64"),
        (field('"int"', '"1"', '"1"'), "has 'int' as the type of the field 'place': write 'int64'"),
        (field('"bool"', '"1"', '"1"'), "write 'int8'"),
        (field('"float32"', '"1"', '"1"'), "write 'float64'"),
        (field("float", '"1"', '"1"'), "has <class 'float'> as the type of the field 'place': wr"),
        (field('"int32"', '"1"'), "walk.py:27: fields of the model walk_alone: TypeError: Field"),
        (field('"int32"', '"1"', '"1"', "initial='x'"),
         "cannot have this initial value of the field 'place' (int32): 'x'"),
        (field('"int32"', '"1"', '"1"', "initial=0.5"), "(int32): 0.5: write int(...)"),
        (field('"int8"', '"1"', '"1"', "initial=300"), "(int8): 300"),
        (field('"int8"', '"1"', '"1"', "initial=lambda p: p.stepp"), "object has no attribute 's"),
        (field('"int8"', '"1"', '"1"', "within=0"), "has 0 as limits of the field 'place': write"),
        (field('"int8"', '"1"', '"1"', "within=(0, 'x')"), "has 'x' as a limit of the field 'plac"),
        (field('"int8"', '"1"', '"1"', "within=(0, 'last stat')"),
         "it is a number, None, or one of 'last state'; did you mean 'last state'?"),
        (field('"int8"', '"1"', '"1"', "final=True"), "has a field and a series 'place' in files"),
        (FIELD + ', "the place": ' + FIELD, "cannot have a field 'the place': names have"),
        (FIELD + ', "class": ' + FIELD, "cannot have a field 'class', a word of Python"),
        (FIELD + ', "day": ' + FIELD, "cannot have a field 'day', which files have"),
        (FIELD + ', "ended": ' + field('"int32"', '"1"', '"1"'),
         "has a field 'ended', the day at which one ended: write Field((), \"int32\", UNIT"),
        (FIELD + ', "ended": ' + field('"float64"', '"1"', '"1"', "initial=-1"), "'ended', the da"),
    ),
    "return {}": (
        ('return {"agent": 0.5}', "has 0.5 as the length of 'agent': write an int from 1 on"),
        ('return {"agent": 0}', "walk.py:23: the model walk_alone has 0 as the length of 'agent'"),
        ('return {"agent": -1}', "has -1 as the length of 'agent'"),
        ('return {"agent": True}', "has True as the length of 'agent'"),
        ('return ["agent"]', "returns no dictionary from sizes: ['agent']"),
        ('return {"agent"}', "returns no dictionary from sizes: {'agent'}"),
        ('return {"an agent": 3}', "cannot have a dimension 'an agent': names have the letters"),
        ('return {"society": 3}', "cannot have a dimension 'society', which files have"),
        ('return {"place": 3}', "has a dimension and a field 'place'"),
        ('return {"agent": p.stp}', "walk.py:24: sizes of the model walk_alone: Attribute"),
    ),
    SIZES: (
        (events("{'deals': 3}"), "has no Events(columns, rows) as its events 'deals'"),
        (events("[3]"), "returns no dictionary from events: [3]"),
        (events("{'deals': __import__('societies.model').model.Events(0, 5)}"),
         "has events 'deals' with 0 columns: Events(columns, rows) has whole numbers from 1"),
        (events("{'index': __import__('societies.model').model.Events(1, 5)}"),
         "cannot have events 'index': it is the number of the society"),
        (events("{'deals': __import__('societies.model').model.Events(3, 5, {'x': ('', 'x')})}"),
         "has events 'deals' of 3 columns and 1 names: the day is the first column; each"),
        (events("{'deals': __import__('societies.model').model.Events(2, 5, {'day': ('', 'x')})}"),
         "cannot have a column of 'deals' 'day', which files have: choose another name"),
        ("    step_arguments = ('part')\n\n    def sizes", "write step_arguments = ('part',)"),
        ("    version = 2\n\n    def sizes", "has 2 as its version, which is a text: write"),
        ("    clock = 'week'\n\n    def sizes", "has the words week and society, and its keys Walk"
         'Config have day and society: write clock, copies = "day", "society"'),
        ("    copies = 'town'\n\n    def sizes", "has the words day and town, and its keys Walk"),
        ("    def schedule(self, p, tick):\n        return ()\n\n    def sizes",
         "walk.py:23: schedule of the model walk_alone has (self, p, tick): write def schedul"),
        ("    by_hand = {'wolk': 'walk.cl'}\n\n    def sizes", "there is no phase 'wolk'"),
    ),
    "def fields(self, p)": (
        ("def fields(self)", "walk.py:26: fields of the model walk_alone has (self): write def"),
        ("def feilds(self, p)", "has no fields: write def fields(self, p); did you mean 'feilds'?"),
    ),
    'day = ("walk",)': (
        ('day = ("walk")', "is one text: write day = ('walk',)"),
        ('day = ["walk"]', "has ['walk'] as day: write day = ('walk',)"),
        ("day = (walk,)", "has a tuple as day: write day = ('walk',)"),
        ("day = None", "has None as day: write day = ()"),
    ),
    "WalkConfig(DailyConfig)": (
        ("WalkConfig", "has no class of keys as its config: write class WalkConfig(DailyConfig)"),
        ("WalkConfig(__import__('societies.model').model.QuarterlyConfig)",
         'and its keys WalkConfig have quarter and economy: write clock, copies = "quarter"'),
        ("WalkConfig(__import__('societies.config.model').config.model.WorkloadConfig)",
         "has no key days: write class WalkConfig(DailyConfig)"),
    ),
    'Literal["NAME"]': (
        ('Literal["walk"]', "walk.py:8: workload is 'walk', and the model has the name 'walk_alone'"
         ": write workload: Literal['walk_alone']"),
    ),
    STEP: (
        (STEP.replace("int", "list[int]", 1).replace("1", "[1]", 1),
         "the key 'step' has limits, which only numbers have: leave ge, le, gt and lt"),
        ('step: str = __import__("societies.model").model.value("a", "How far")',
         "the key 'step' may differ between societies, and is no number: write key(...)"),
    ),
    "WORKLOAD = Walk()": (("WORKLOAD = Walk", "WORKLOAD is a class; write WORKLOAD = Walk()"),),
    f"name, summary, {CONFIG}": (
        ('name, config = "NAME", WalkConfig', "the class Walk has no line summary = ..."),
        ('name, summary = "NAME", "a walk"', "the class Walk has no line config = ..."),
        ('summary, config = "a walk", WalkConfig', "the class Walk has no line name = ..."),
        (f"name, summary, {CONFIG}(workload='NAME')", "an object as its config: write config = W"),
        ('name, summary, config = 3, "a walk", WalkConfig', "has 3 as its name: write name = '"),
    ),
}  # fmt: skip
"""Mistakes of what a model declares, by what stands in their place."""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [(old, *one) for old, several in DECLARED_WRONG.items() for one in several],
)
def test_mistakes_of_a_declaration_have_their_place(folder, capsys, old, new, said):
    """Most were internal errors."""
    assert SOURCE.count(old) == 1
    (folder / "walk.py").write_text(SOURCE.replace(old, new).replace("NAME", "walk_alone"))
    for words in (("check", "walk.yaml"), ("run", "walk.yaml", *ON)):
        assert shell(*words) == 2
        error = capsys.readouterr().err
        assert said in error and "walk.py:" in error and "internal" not in error


@pytest.mark.parametrize(
    ("member", "instead"),
    [
        ("def contents(self, setup): pass", "write contents_class = 'MODULE:CLASS'"),
        ("def report(self, *of): pass", "write report_class = 'MODULE:CLASS'"),
        ("clock_plural = 'days'", "leave it out"),
        ("copies_plural = 'societies'", "leave it out"),
    ],
)
def test_members_that_nothing_reads_are_refused(folder, capsys, member, instead):
    """Such a class was run with the default."""
    text = SOURCE.replace("NAME", "walk_alone").replace(
        "    def sizes", f"    {member}\n\n    def sizes"
    )
    (folder / "walk.py").write_text(text)
    assert shell("check", "walk.yaml") == 2
    name = member.removeprefix("def ").partition("(")[0].partition(" ")[0]
    assert f"Walk.{name} is no member of workloads: {instead}" in capsys.readouterr().err


def test_a_step_without_an_argument_of_its_phase_is_an_error(folder, capsys):
    """A device carried the phase out with the argument of another step, or with 0."""
    schedule = """step_arguments = ("part",)

    def schedule(self, p, tick, seen):
        return [Step("walk", {"part": 3})] if tick else []
"""
    text = SOURCE.replace("NAME", "walk_alone").replace("Series, key", "Series, Step, key")
    text = text.replace("society, day)", "society, day, part)").replace('day = ("walk",)', schedule)
    (folder / "walk.py").write_text(
        text.replace("WalkConfig\n", "WalkConfig\n    day = ('walk',)\n")
    )
    for device in ((), ON):
        assert shell("run", "walk.yaml", *device) == 2
        said = (
            "the step 'walk' of the model walk_alone lacks the argument 'part': write Step('walk'"
        )
        assert said in capsys.readouterr().err
    given = (folder / "walk.py").read_text()
    (folder / "walk.py").write_text(given.replace('Step("walk", {"part": 3})', '"walk"'))
    assert shell("run", "walk.yaml", *ON) == 2
    said = "walk.py:24: schedule of the model walk_alone gives 'walk': write Step('walk')"
    assert said in capsys.readouterr().err
    right = given.replace('"walk", {', '"walk", arguments={')
    for wrong in ("2.5", "2**31", "None"):
        (folder / "walk.py").write_text(right.replace('"part": 3', f'"part": {wrong}'))
        assert shell("run", "walk.yaml", *ON) == 2
        said = "as its argument 'part', which is a whole number of 32 bits"
        assert said in capsys.readouterr().err
    (folder / "walk.py").write_text(right.replace("+= config.step", "+= part"))
    assert shell("run", "walk.yaml", "--overwrite") == 0
    with open_results("walk.h5") as results:
        assert results["place"].values.tolist()[0] == [3.0, 6.0, 9.0]


def test_check_says_what_plain_python_carries_out(folder, capsys):
    text = SOURCE.replace("NAME", "walk_alone").replace("society.place +=", "print(3)\n    x =")
    (folder / "walk.py").write_text(text)
    assert shell("run", "walk.yaml", *ON) == 0
    assert "carried out by plain" not in capsys.readouterr().err  # in it all phases are
    assert shell("check", "walk.yaml") == 0
    said = "the phase walk is carried out by plain Python, which is slow:\nwalk.py:15: print has no"
    assert said in capsys.readouterr().err


def test_there_is_no_kernel_of_a_phase_in_plain_python(folder, capsys):
    """Capture said that the host writes between launches, and bench that no phase is worth it."""
    text = SOURCE.replace("NAME", "walk_alone").replace("config.step", "int(str(config.step))", 1)
    (folder / "walk.py").write_text(text)
    assert shell("capture", "walk.yaml", "--phase", "walk") == 2
    said = "--phase walk: plain Python carries it out, and there is no kernel to capture"
    assert said in capsys.readouterr().err
    assert shell("bench", "walk.yaml", "--phases", "--days", 1, "--device", "cpu") == 0
    assert "carried out by plain Python: walk; write what" in capsys.readouterr().out


def test_a_sweep_of_a_model_in_a_file(folder):
    text = "base: walk.yaml\nset: {days: 1}\nvary: {grid: {step: [1, 3]}}\n"
    (folder / "study.yaml").write_text(text)
    assert shell("sweep", "study.yaml", "-q", *ON) == 0
    with open_results("study.h5") as study:
        assert study["place"].values.ravel().tolist() == [1.0, 3.0]


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_values_differ_between_copies_of_phases_in_plain_python(folder, device):
    """It was refused, in the reference, too."""
    text = SOURCE.replace("NAME", "walk_alone").replace(
        "+= config.step", "+= int(str(config.step))"
    )
    text = text.replace("= key(1", "= value(1").replace("Series, key", "Series, value")
    (folder / "walk.py").write_text(text)
    changed = "replicates: 2\ninterventions: [{day: 2, societies: [1], set: {step: 5}}]\n"
    (folder / "walk.yaml").write_text("model: walk.py\ndays: 3\n" + changed)
    (folder / "study.yaml").write_text("base: walk.yaml\nvary: {grid: {step: [1, 3]}}\n")
    assert shell("sweep", "study.yaml", "-q", "--device", device) == 0
    with open_results("study.h5") as study:
        found = study["place"].values.reshape(4, 3).tolist()
    assert found == [[1, 2, 3], [1, 2, 7], [3, 6, 9], [3, 6, 11]]


def test_a_list_may_begin_with_a_value_that_differs_between_copies(folder, capsys):
    """It was an internal error; a number that did not fit was cut off."""
    text = SOURCE.replace("NAME", "walk_alone").replace("Series, key", "Series, value")
    text = text.replace('key(1, "How far in a day", "steps", ge=1, le=9)', 'value(1, "How far")')
    text = text.replace(FIELD, FIELD.replace("()", '("agent",)').replace("True", PER_VALUE))
    text = text.replace("place += config.step", "place[0] += 1").replace(".place)", ".place[1])")
    (folder / "walk.py").write_text(text.replace("return {}", 'return {"agent": 2}'))
    (folder / "walk.yaml").write_text("model: walk.py\ndays: 1\nreplicates: 2\n")
    for steps, code in (((3, 4), 0), ((3, 3000), 1)):
        (folder / "steps.csv").write_text("step\n{}\n{}\n".format(*steps))
        assert shell("run", "walk.yaml", "--table", "steps.csv", "--overwrite", *ON) == code
    said = "the field 'place' (int32) cannot hold what was written: 3000000000 at [1, 0]"
    assert said in capsys.readouterr().err
    with open_results("walk.h5") as results:
        assert results["place"].values.ravel().tolist() == [3e6, 4e6]


def test_a_changed_file_is_imported_again(folder):
    assert societies.load_config("walk.yaml").step == 1
    changed = SOURCE.replace("NAME", "walk_alone").replace("key(1,", "key(25 // 10,")
    (folder / "walk.py").write_text(changed)
    assert societies.load_config("walk.yaml").step == 2


UNBOUNDED = SOURCE.replace("NAME", "walk_alone").replace(", ge=1, le=9", "")


def final(capsys):
    """Return the hash of the state that `societies run` has printed."""
    return re.findall(r"state sha256 +(\w{64})", capsys.readouterr().out)[-1]


def test_a_saved_configuration_runs_from_any_folder(folder, tmp_path_factory, monkeypatch, capsys):
    """It named the model as seen from the folder of the run, and was read in its own folder."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (folder / "mine").mkdir()
    (folder / "walk.py").rename(folder / "mine" / "walk.py")
    (folder / "walk.yaml").rename(folder / "mine" / "walk.yaml")
    assert shell("run", "mine/walk.yaml", *ON) == 0
    wanted = final(capsys)
    assert shell("info", "--config", "walk.h5") == 0
    of_file = capsys.readouterr().out
    assert FileView(folder / "walk.h5").configuration(None) == of_file
    assert shell("check", "-v", "mine/walk.yaml") == 0
    printed = capsys.readouterr().out
    (folder / "study.yaml").write_text("base: mine/walk.yaml\nvary: {grid: {step: [1, 3]}}\n")
    assert shell("sweep", "study.yaml", "-q", *ON) == 0
    monkeypatch.chdir(elsewhere)
    for text in (of_file, printed):
        (elsewhere / "saved.yaml").write_text(text)
        assert shell("run", "saved.yaml", "--overwrite", *ON) == 0
        assert final(capsys) == wanted
    assert shell("info", "--config", folder / "study.h5") == 0
    (elsewhere / "study.yaml").write_text(capsys.readouterr().out)
    assert shell("sweep", "study.yaml", "-q", *ON) == 0
    capsys.readouterr()
    monkeypatch.chdir(folder.parent)  # a project that was moved as a whole
    assert shell("info", "--config", folder / "walk.h5") == 0
    assert capsys.readouterr().out == of_file
    monkeypatch.setenv("SOCIETIES_CACHE_DIR", str(folder / "another machine"))
    assert shell("run", elsewhere / "saved.yaml", "--overwrite", *ON) == 2
    assert "walk.py: is not in the folder of this file, and was never" in capsys.readouterr().err
    page = FileView(folder / "walk.h5")  # the page of a file does not execute it either
    (shot,) = page.frames(Playing())
    lacks = "shown without what the model declares: "
    said = f"{lacks}{folder / 'mine' / 'walk.py'} was never carried out on this machine"
    assert shot.panes[0].facts["warnings"] == [said]
    named = ("--set", f"model={folder / 'mine' / 'walk.py'}", "--out", folder / "again.h5")
    assert shell("run", elsewhere / "saved.yaml", *named, *ON) == 0
    assert final(capsys) == wanted


def test_paths_in_a_configuration_are_those_of_files_that_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("rule.py", "plate.png", "matrix.h5", "engine"):
        (tmp_path / name).touch()
    data = {
        "base": {"model": "rule.py", "a": "matrix.h5:entries", "b": "random"},
        "players": [{"path": "./engine --fast"}, {"path": "gone"}],
        "image": ["plate.png", "other.png"],
        "label": "engine",
        "rules": {"trading": {"price": "rule.py:price", "score": "built_in"}},
        "vary": {"grid": {"rules.trading.price": ["rule.py:price", "geometric"]}},
    }
    keys = [
        ("base", "a"),
        ("base", "b"),
        ("players", 0, "path"),
        ("players", 1, "path"),
        ("image",),
    ]
    found = anywhere(data, keys)
    assert found == {
        "base": {
            "model": f"{tmp_path}/rule.py", "a": f"{tmp_path}/matrix.h5:entries", "b": "random",
        },
        "players": [{"path": f"{tmp_path}/engine --fast"}, {"path": "gone"}],
        "image": [f"{tmp_path}/plate.png", "other.png"],
        "label": "engine",
        "rules": {"trading": {"price": f"{tmp_path}/rule.py:price", "score": "built_in"}},
        "vary": {"grid": {"rules.trading.price": [f"{tmp_path}/rule.py:price", "geometric"]}},
    }  # fmt: skip
    attributes = file_attributes(tmp_path / "out" / "run.h5", data, keys)
    assert attributes[FOLDER] == ".."
    monkeypatch.chdir("/")
    assert as_saved(data, attributes, tmp_path / "out" / "run.h5") == found
    assert as_saved(data, {FOLDER: ".", FILES: "none.7 players.9.path"}, tmp_path / "run.h5")
    assert file_attributes(tmp_path / "run.h5", {"label": "engine"}, []) == {}


BAD = {
    "missing": (
        {"walk.yaml": "model: walc.py\n"},
        r"walk.yaml:1:8  model: walc.py: no such file.*'walk.py'",
    ),
    "outside": (
        {"walk.yaml": "model: ../walk.py\n"},
        r"walk.yaml:1:8  model: \.\./walk.py: is not in",
    ),
    "other workload": (
        {"walk.yaml": "workload: economy\nmodel: walk.py\n"},
        r"walk.yaml:1:11  workload: walk.py has the workload 'walk_alone', not 'economy'; write",
    ),
    "does not import": (
        {"walk.py": "import societies\n\nnothing()\n"},
        r"walk.yaml:1:8  model: walk.py:3: does not import: NameError",
    ),
    "no model": ({"walk.py": "x = 1\n"}, r"walk.yaml:1:8  model: walk.py: has no line WORKLOAD = "),
    "an installed name": (
        {"walk.py": SOURCE.replace("NAME", "laplace")},
        r"model: two models of one name: walk.py has the workload 'laplace', and so has the inst",
    ),
    "twice": (
        {"walk.yaml": "model: walk.py\n", "again/walk.py": SOURCE.replace("NAME", "walk_alone")},
        r"two models of one name",
    ),
    "unknown key": (
        {"walk.yaml": "model: walk.py\nsteps: 3\n"},
        r"walk.yaml:2:1  steps: unknown key; did you mean 'step'\?",
    ),
    "default": (
        {"walk.py": SOURCE.replace("NAME", "walk_alone").replace("key(1,", "key(10,")},
        r"walk.yaml:1:1  step: its default in walk.py must be at most 9, got 10",
    ),
    "no type": (
        {"walk.py": SOURCE.replace("step: int", "step")},
        r"walk.py:10: the key step has no type: write step: int = .*\n    step = key\(1",
    ),
    "no type of a constant": (
        {"walk.py": SOURCE.replace("    step: int", "    pace = 0.5\n    step: int")},
        r"walk.py:10: the key pace has no type: write pace: int = .*\n    pace = 0.5",
    ),
    "more than 64 bits": (
        {"walk.py": UNBOUNDED, "walk.yaml": f"model: walk.py\nstep: {10**20}\n"},
        r"walk.yaml:2:7  step: must be at most 64 bits in size, got 1000",
    ),
    "more than 53 bits": (
        {
            "walk.py": UNBOUNDED.replace("key(1", "value(1").replace("key\n", "value\n"),
            "walk.yaml": "interventions: [{day: 2, set: {step: 9999999999999999}}]\nmodel: walk.py",
        },
        r"walk.yaml:1:.*interventions.0: step: must be at most 2\*\*53 in size, got 9999",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_mistakes_have_their_place(folder, case):
    files, said = BAD[case]
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    if case == "twice":
        assert societies.load_config("walk.yaml").workload == "walk_alone"
        (folder / "again" / "walk.yaml").write_text("model: walk.py\n")
    with pytest.raises(ConfigError, match=said):
        societies.load_config("again/walk.yaml" if case == "twice" else "walk.yaml")


def test_shipped_configurations_name_no_files_of_python():
    for path in data_directory("configs").rglob("*.yaml"):
        assert not re.search(r"^(model|rules): .*\.py", path.read_text(), re.M), path
