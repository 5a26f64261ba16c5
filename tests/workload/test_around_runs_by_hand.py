"""What may a run use, and what does it ask for? Programs, devices, files and rules; none is run."""

import hashlib
import sys
from concurrent.futures import Future
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tallies

import societies
from societies.config.files import SECTION
from societies.config.model import Section
from societies.errors import ConfigError, DamageWarning, DeviceError, SocietiesError
from societies.rule import WORD
from societies.workload import Setup
from societies.workload.checking.kernels import kernel_text
from societies.workload.declare import rules
from societies.workload.declare.fields import Field
from societies.workload.declare.optional import NamedProgram
from societies.workload.running import (
    devices,
    plugged,
    programs,
    provenance,
    registry,
    request,
    sources,
    verified,
)
from societies.workload.running import seen as seeing
from societies.workload.running.programs import allowed, allowing, require_allowed
from societies.workload.running.seen import SeenState
from societies.workload.running.state import hash_array

# -- programs -------------------------------------------------------------------------------------

PYTHON = sys.executable


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """Let the user's list have these lines; return its path."""
    monkeypatch.setattr(programs, "user_config_path", lambda name: tmp_path / name)
    path = tmp_path / "societies" / "programs.txt"
    path.parent.mkdir()

    def write(*lines):
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


@pytest.mark.parametrize(
    ("lines", "command", "options", "why"),
    [
        ((), PYTHON, (), "it is not in your list"),
        ((PYTHON,), PYTHON, (), ""),
        ((f"{PYTHON} a.py",), PYTHON, (), "it is not in your list"),
        ((PYTHON,), f"{PYTHON} a.py", (), "it is not in your list"),
        ((f"{PYTHON} a.py",), f"{PYTHON} b.py", (), "it is not in your list"),
        (("# mine", "", f"{PYTHON} 'a b.py'  # engine"), f'{PYTHON} "a b.py"', (), ""),
        (("/bin/true", PYTHON), PYTHON, (), ""),
        ((PYTHON,), PYTHON, (("Hash", "16"), ("Ponder", "true"), ("x", "-1.5")), ""),
        (
            (PYTHON,),
            PYTHON,
            (("Hash", "16"), ("Log", "a.txt")),
            "its option Log is not a number, true or false",
        ),
        ((PYTHON,), PYTHON, (("Log", "1 a"),), "its option Log is not a number, true or false"),
        (("/nowhere/engine x",), "/nowhere/engine x", (), ""),
    ],
)
def test_a_program_runs_if_the_list_has_its_very_words(listed, lines, command, options, why):
    listed(*lines)
    one = NamedProgram("players.0.path", command, options)
    assert programs.why_not(one) == why
    (line,) = programs.program_lines([one])
    sent = f" ({', '.join(f'{name} {value}' for name, value in options)})" if options else ""
    how = "in your list" if not why else f"runs only with allow_programs=True, {why}"
    assert line == f"players.0.path: {command}{sent}: {how}"
    if not why:
        assert require_allowed([one, one]) is None
        return
    with pytest.raises(ConfigError) as refused:
        require_allowed([NamedProgram("fine", PYTHON)] * (PYTHON in lines) + [one])
    first, last = str(refused.value).split("\n")
    assert first == f"{one}: is a program, which may not run: {why}"
    assert last == (
        "if you trust it, allow it with allow_programs=True, or list it as a line of "
        f"{listed(*lines)}"
    )
    with allowed(True):
        require_allowed([one])
        with allowed(False):  # what is allowed around it stays allowed
            require_allowed([one])
    with allowed(False), pytest.raises(ConfigError):
        require_allowed([one])
    with pytest.raises(ConfigError):
        require_allowed([one])


def test_a_program_is_known_by_its_real_path(listed, tmp_path, monkeypatch):
    (tmp_path / "engine").symlink_to("/bin/true")
    (tmp_path / "other").write_text("")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    listed(f"{tmp_path / 'engine'} fast")
    assert programs.why_not(NamedProgram("path", "true fast")) == ""
    assert programs.why_not(NamedProgram("path", "engine fast")) == ""
    assert programs.why_not(NamedProgram("path", "engine slow")) != ""
    assert programs.why_not(NamedProgram("path", "false fast")) != ""
    assert programs.why_not(NamedProgram("path", "")) != ""


def test_a_list_that_cannot_be_read_has_its_line(listed):
    one = [NamedProgram("path", "true")]
    for lines, said in (
        (("/bin/true", "true"), ":2: true: write the program's absolute path"),
        (("# a", "/bin/true 'a"), ":2: No closing quotation"),
        (("bin/true /bin",), ":1: bin/true: write the program's absolute path"),
    ):
        path = listed(*lines)
        with pytest.raises(ConfigError) as refused:
            programs.why_not(one[0])
        assert str(refused.value) == f"{path}{said}"
    path.write_bytes(b"\xff\xff")
    with pytest.raises(ConfigError, match="cannot be read: "):
        require_allowed(one)
    assert require_allowed([]) is None


def test_what_is_computed_later_is_allowed_as_well(listed):
    path = listed()

    def ask():
        yield programs._ALLOWED.get()
        yield programs._ALLOWED.get()

    for yes in (True, False):
        found = []
        for one in allowing(yes, ask()):
            found.append((one, programs._ALLOWED.get()))
        assert found == [(yes, False)] * 2
    assert path.name == "programs.txt" and programs.list_path() == path


# -- devices --------------------------------------------------------------------------------------


class Chosen(devices.Device):
    """A device that has only the given attributes."""

    name, platform, driver, version = "Card", "Maker", "1.2", "OpenCL 3.0"
    build_options, reason = ("-cl-x", "-D A"), ""

    def __init__(self, reason="", kind="gpu", index="0:0"):
        self.reason, self.kind, self.index, self.simulator = reason, kind, index, False

    def __str__(self):
        return "Card on Maker"


def test_the_reference_is_asked_for_by_its_name_or_the_environment(monkeypatch):
    for asked, environment, reference in (
        ("reference", "", True),
        (" Reference ", "gpu", True),
        ("auto", "reference", True),
        ("", " REFERENCE", True),
        ("auto", "", False),
        ("gpu", "reference", False),
        (Chosen(), "reference", False),
    ):
        monkeypatch.setenv("SOCIETIES_DEVICE", environment)
        assert devices.is_reference(asked) is reference
    monkeypatch.setenv("SOCIETIES_DEVICE", "0:0,0:1")
    assert devices.listed_devices("auto") == ["0:0", "0:1"] == devices.listed_devices("0:0 , 0:1")
    assert devices.listed_devices("gpu") == devices.listed_devices(Chosen()) == []


def test_a_chosen_device_says_what_it_is_and_why_it_was_chosen(monkeypatch):
    asked = []
    monkeypatch.setattr(
        devices, "choose_device", lambda *one, **more: asked.append((one, more)) or Chosen("why")
    )
    one = Chosen()
    facts = {
        "device": "Card (Maker)",
        "driver": "1.2; OpenCL 3.0",
        "build_options": "-cl-x -D A",
    }
    assert devices.chosen_device(one, profiling=True) == (one, "Card on Maker", facts)
    assert asked == []
    found, said, same = devices.chosen_device("gpu")
    assert (said, same, found.reason) == ("Card on Maker (why)", facts, "why")
    devices.chosen_device("0:1", profiling=True)
    assert asked == [(("gpu",), {"profiling": False}), (("0:1",), {"profiling": True})]
    found, said, facts = devices.chosen_device("reference")
    assert (found, said, facts["device"]) == (None, "reference", "reference")
    assert facts["driver"].startswith("Python 3.") and facts["build_options"] == ""


def test_all_gpus_like_the_chosen_one_take_part(monkeypatch):
    first, second, other = Chosen(), Chosen(index="0:1"), Chosen(index="1:0")
    other.name = "Another"
    simulated = Chosen(index="2:0")
    simulated.simulator = True
    gpus, chosen = [first, other, second, simulated], [first]
    monkeypatch.setattr(devices, "choose_device", lambda one: chosen[0])
    monkeypatch.setattr(devices, "list_devices", lambda: gpus)
    monkeypatch.delenv("SOCIETIES_DEVICE", raising=False)
    for asked in ("auto", "", " GPU "):
        assert devices.local_devices(asked) == ["0:0", "0:1"]
    assert devices.local_devices("0:0") == ["0:0"]
    assert devices.local_devices("reference") == ["reference"]
    assert devices.local_devices("0:0,0:0,0:1") == ["0:0", "0:0", "0:1"]
    gpus.remove(second)
    assert devices.local_devices("auto") == ["auto"]
    gpus.append(second)
    chosen[0] = Chosen(kind="cpu")
    assert devices.local_devices("auto") == ["auto"]
    chosen[0] = first

    def none():
        raise DeviceError("none")

    monkeypatch.setattr(devices, "list_devices", none)
    assert devices.local_devices("auto") == ["auto"]


# -- rules ----------------------------------------------------------------------------------------


def of_rules(digest):
    return Setup(SimpleNamespace(translated_sha256=lambda config: digest), None)


def test_rules_that_were_never_verified_are_reported_once(tmp_path, monkeypatch):
    monkeypatch.setattr(verified, "cache_directory", lambda: tmp_path / "deep" / "cache")
    assert [verified.never_verified(of_rules("a")) for _ in range(3)] == [True, False, False]
    assert verified.never_verified(of_rules("b"))  # the folder exists now
    verified.note_verified(of_rules("c"))
    verified.note_verified(of_rules("c"))
    assert not verified.never_verified(of_rules("c"))
    assert not verified.never_verified(of_rules(""))
    verified.note_verified(of_rules(""))
    files = sorted(one.name for one in (tmp_path / "deep" / "cache" / "rules").iterdir())
    assert files == ["a.shown", "b.shown", "c.verified"]
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(verified, "cache_directory", lambda: tmp_path / "file")
    assert verified.never_verified(of_rules("a"))  # without a folder it is said every time
    assert verified.never_verified(of_rules("a")) is True


class Named(rules.RulesSection):
    price: rules.RuleText("geometric", "inverse") = rules.rule_key("What a swap costs")
    other: rules.RuleText() = rules.rule_key("Another")


class Inner(Named):
    inner: Named = Named()


def test_a_rule_is_a_function_of_a_file_or_a_word():
    assert Named(price="rules.py:price").price == "rules.py:price"
    assert Named().model_dump() is None and Named().price is None
    assert Named(other="a/b.py:f").model_dump() == {"other": "a/b.py:f"}
    for key, value, said in (
        ("price", "geometri", "expected FILE.py:FUNCTION or one of geometric, inverse, got "),
        ("other", "geometric", "expected FILE.py:FUNCTION, got "),
    ):
        with pytest.raises(ValueError, match=said) as refused:
            Named(**{key: value})
        assert ("did you mean 'geometric'" in str(refused.value)) == (key == "price")
    section = Inner(other="a.py:f", inner=Named(price="b.py:g"))
    texts = [("other", "a.py:f"), ("inner.price", "b.py:g")]
    assert list(plugged.texts_of(section)) == texts
    assert list(plugged.texts_of(Inner())) == []
    assert Named.model_fields["price"].description == "What a swap costs: FILE.py:FUNCTION"


class OneRule:
    """What `load_plug_in` returns, as far as it is read."""

    def __init__(self, name, text, *, table=False):
        self.rule, self.text = SimpleNamespace(table=table, key="", parameters={}), text
        self.name = name
        self.function = SimpleNamespace(__name__=f"my_{name}")
        self.words = None

    def files(self):
        return {f"{self.name}.py": f"text of {self.name}", "shared.py": "shared"}

    def sha256(self):
        return f"sha of {self.name}"

    def called(self):
        return self.name.upper()

    def translated(self, words):
        self.words = words


def test_a_file_has_the_hash_and_the_text_of_its_rules(monkeypatch):
    price, score = OneRule("price", "x y.py:my_price"), OneRule("score", "y.py:f", table=True)
    both = plugged.Plugged({"score": score, "price": price})
    rows = "price sha of price\nscore sha of score"
    digest = hashlib.sha256(rows.encode()).hexdigest()
    assert both.sha256 == digest and bool(both) and not plugged.Plugged({})
    assert plugged.Plugged({}).sha256 == ""
    assert [*both.translated.functions] == ["price"]
    assert both.reference == {"score": "SCORE", "price": "PRICE"}
    assert both.described()[1] == "rule price: my_price of x y.py, whose Python is carried out"
    whole = (
        "# score is my_score\n# price is my_price\n# price.py\ntext of price\n"
        "# score.py\ntext of score\n# shared.py\nshared"
    )
    assert plugged.rule_attributes([both]) == {"rules_sha256": digest, "rules": whole}
    parts = [plugged.Plugged({name: one}) for name, one in both.functions.items()]
    assert plugged.rule_attributes(parts) == plugged.rule_attributes([both])
    assert plugged.rule_attributes([]) == plugged.rule_attributes([plugged.Plugged({})]) == {}
    for length, cut in ((len(whole), whole), (len(whole) - 1, f"{whole[:-1]}...")):
        monkeypatch.setattr(plugged, "LONGEST_TEXT", length)
        assert plugged.rule_attributes([both])["rules"] == cut


def test_rules_are_loaded_once_and_translated_at_once(monkeypatch):
    made = []

    def load(rule, text):
        made.append(OneRule(rule.name, text, table=rule.table))
        made[-1].rule = rule
        return made[-1]

    monkeypatch.setattr("societies.translate.plugins.load_plug_in", load)
    price = {"key": "market.kind", "parameters": {"kind": WORD, "x": "number"}}
    replaceable = {
        "price": SimpleNamespace(name="price", table=False, **price),
        "other": SimpleNamespace(name="other", table=True, **price),
    }
    config = type("Config", (), {})()
    config.market = SimpleNamespace(kind=3)
    assert not plugged.plugged(replaceable, config)
    setattr(config, SECTION, Section())
    assert not plugged.plugged(replaceable, config)
    setattr(config, SECTION, Named(price="a.py:f", other="b.py:g"))
    found = plugged.plugged(replaceable, config)
    assert [*found.functions] == ["price", "other"] and plugged.plugged(
        replaceable, config
    ) is found
    assert [(one.name, one.text, one.words) for one in made] == [
        ("price", "a.py:f", {"kind": "3"}),
        ("other", "b.py:g", None),  # of it the host makes a table
    ]
    plain = SimpleNamespace(key="", parameters={"kind": WORD})
    assert plugged.chosen_words(plain, "all of it") == {"kind": "all of it"}


# -- workloads ------------------------------------------------------------------------------------


def entries(monkeypatch, **found):
    made = {name: EntryPoint(name, value, registry.GROUP) for name, value in found.items()}
    monkeypatch.setattr(registry, "_entries", lambda: made)
    monkeypatch.setattr(registry, "_GIVEN", {})


def test_a_workload_is_found_by_its_entry_or_the_file_that_was_named(tmp_path, monkeypatch):
    entries(
        monkeypatch,
        laplace="societies.physics.laplace.workload:WORKLOAD",
        walk="walks.inner:WORKLOAD",
        wrong="tallies:LIMIT",
        tallies="tallies:WORKLOAD",
    )
    assert registry.workload_names() == ["laplace", "tallies", "walk", "wrong"]
    assert registry.foreign_packages() == {"walks", "tallies"}
    assert registry.workload("tallies") is tallies.WORKLOAD
    assert registry.installed(tallies.WORKLOAD)
    for name, said in (
        ("walk", r"workload 'walk' \(walks.inner:WORKLOAD\) cannot be loaded: No module"),
        ("wrong", r"cannot be loaded: tallies:LIMIT is not a societies.workload.Workload"),
        ("tally", r"unknown workload 'tally'.*\(known: laplace, tallies, walk, wrong\)"),
    ):
        with pytest.raises(ConfigError, match=said):
            registry.workload(name)
    entries(monkeypatch, own="societies.nothing:WORKLOAD")
    monkeypatch.setattr(registry, "_own", registry._entries)
    with pytest.raises(ModuleNotFoundError):  # an error of our own is shown as it is
        registry.workload("own")


def test_a_model_in_a_file_is_known_by_its_name_from_then_on(tmp_path, monkeypatch):
    entries(monkeypatch, laplace="societies.physics.laplace.workload:WORKLOAD")
    text = "from tallies import Tallies\nWORKLOAD = Tallies()\nWORKLOAD.name = 'NAME'\n"

    def write(name, called):
        (tmp_path / name).write_text(text.replace("NAME", called))
        return str(tmp_path / name)

    one = write("one.py", "walk")
    found = registry.workload_of_file(one)
    assert found.name == "walk" and registry.workload("walk") is found
    assert registry.MODELS.of_file(one) == "walk" and len(registry.MODELS) == 2
    assert registry.workload_names() == ["laplace", "walk"] and [*registry.MODELS][1] == "walk"
    assert registry.MODELS["walk"] is found.config
    assert not registry.installed(registry.workload("walk"))
    assert registry.foreign_packages() == {"tallies"}
    both = rf"two models of one name: .*two.py and {one} both have the workload 'walk'; give one"
    with pytest.raises(ConfigError, match=both):
        registry.workload_of_file(write("two.py", "walk"))
    with pytest.raises(
        ConfigError, match=r"so has the installed societies\.physics\.laplace\.workload;"
    ):
        registry.workload_of_file(write("three.py", "laplace"))
    wrong = "WORKLOAD.require_class = lambda: {}['what cannot be']\n"
    (tmp_path / "five.py").write_text(text.replace("NAME", "five") + wrong)
    with pytest.raises(KeyError, match="what cannot be"):
        registry.workload_of_file(str(tmp_path / "five.py"))
    (tmp_path / "class.py").write_text("from tallies import Tallies as WORKLOAD\n")
    with pytest.raises(ConfigError, match=r"WORKLOAD is a class; write WORKLOAD = Tallies\(\)"):
        registry.workload_of_file(str(tmp_path / "class.py"))
    few = "from societies.workload import Workload\nclass Few(Workload):\n    name = 'few'\n"
    (tmp_path / "few.py").write_text(f"{few}WORKLOAD = Few()\n")
    with pytest.raises(ConfigError, match=r"the class Few has no line summary = \.\.\."):
        registry.workload_of_file(str(tmp_path / "few.py"))
    (tmp_path / "other.py").write_text("class WORKLOAD:\n    pass\n")
    with pytest.raises(ConfigError, match=r"has no line WORKLOAD = \.\.\., which"):
        registry.workload_of_file(str(tmp_path / "other.py"))
    (tmp_path / "none.py").write_text("WORKLOAD = 3\n")
    with pytest.raises(ConfigError, match=r"has no line WORKLOAD = \.\.\., which"):
        registry.workload_of_file(str(tmp_path / "none.py"))
    # A file that is the installed one may be named, too.
    monkeypatch.syspath_prepend(str(tmp_path))
    entries(monkeypatch, fourth="four_of_them:WORKLOAD", other="none_of_them:WORKLOAD")
    assert registry.workload_of_file(write("four_of_them.py", "fourth")).name == "fourth"
    assert not registry._is_in(registry._entries()["other"], Path(one))
    assert not registry._is_in(registry._entries()["fourth"], Path(one))
    nowhere = EntryPoint("x", "nowhere.inner:WORKLOAD", registry.GROUP)
    assert registry._is_in(nowhere, Path(one)) is False


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("workload: tallies\n", "tallies"),
        ("# a\n'workload' : \"tallies\"\n", "tallies"),
        ("days: 3\nworkload: tallies # of it", "tallies"),
        ("workload: tally\n", None),
        (" workload: tallies\n", None),
        ("days: 3\n", None),
        ("", None),
    ],
)
def test_the_workload_that_a_text_names(tmp_path, monkeypatch, text, name):
    tallies.install(monkeypatch)
    assert registry.named_in(text) == name
    (tmp_path / "a.yaml").write_text(text)
    assert registry.named_workload(tmp_path / "a.yaml") == name
    assert registry.named_workload(tmp_path / "none.yaml") is None


def test_a_checkout_has_the_workloads_of_its_project(tmp_path, monkeypatch):
    own = registry._of_checkout()
    assert "economy" in own and own["economy"].value.startswith("societies.economy")
    package = tmp_path / "societies" / "workload" / "declare"
    package.mkdir(parents=True)
    monkeypatch.setattr(registry, "__file__", str(package / "registry.py"))
    project = tmp_path / "pyproject.toml"
    rest = f'[project.entry-points."{registry.GROUP}"]\nwalk = "walks:WORKLOAD"\n'
    cases = (
        (None, {}),
        (f'[project]\nname = "other"\n{rest}', {}),
        (f'[project]\nname = "societies"\n{rest}', {"walk": "walks:WORKLOAD"}),
    )
    for text, expected in cases:
        if text:
            project.write_text(text)
        registry._of_checkout.cache_clear()
        found = registry._of_checkout()
        assert {name: one.value for name, one in found.items()} == expected
    registry._of_checkout.cache_clear()
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "nowhere"), str(package)])
    places = registry._places()
    assert places == tuple((str(at), at.stat().st_mtime_ns) for at in (tmp_path, package))


# -- what is asked for ----------------------------------------------------------------------------


def asked(config, **more):
    usual = dict.fromkeys(("out", "table", "batch", "start", "tick", "values"))
    return request.request("run", config, {}, **{**usual, **more})


def test_what_a_run_is_asked_for(tmp_path, monkeypatch):
    tallies.install(monkeypatch)
    config = tallies.config(days=4)
    assert asked(config).path == Path("tallies.h5") and asked(config).batch is None
    assert asked(config, batch=1).batch == 1
    found = asked(config, out="a/b.hdf5", batch=3)
    assert (found.path, found.batch, found.start, found.tick) == (Path("a/b.hdf5"), 3, None, None)
    assert found.setup.config is config
    (tmp_path / "some.yaml").write_text("workload: tallies\n")
    named = str(tmp_path / "some.yaml")
    assert asked(named).path == Path("some.h5")
    assert asked(named, out="other.h5").path == Path("other.h5")
    setup = Setup(tallies.WORKLOAD, config)
    assert asked(setup).setup.config is config
    assert asked(config, table={"pace": [1, 2]}).setup.config.replicates == 2
    for more, said in (
        ({"batch": 0}, "(the argument batch|batch=0).*: at least 1 is needed"),
        ({"tick": 3}, "run: the argument tick is of a run that branches off .* the argument start"),
        ({"values": {"pace": 1}}, "run: the argument values is of a run that branches"),
        ({"values": {"pace": 1}, "tick": 2}, "run: the argument values is of a run that branches"),
        ({"fan": 3}, "run: the argument fan is of a run that branches"),
        ({"out": "a.csv"}, r"a.csv: a run writes an HDF5 file; .* a.h5\nfor tables, then: soc"),
        ({"out": "b.png"}, r"b.png: a run writes an HDF5 file; give it a name like b.h5$"),
    ):
        with pytest.raises(ConfigError, match=said):
            asked(config, **more)
    for wrong, hint in ((3, "int$"), ({"a": 1}, "dict; config_from_dict makes one of a dict")):
        with pytest.raises(ConfigError, match=f"run: expected a configuration, .*got {hint}"):
            asked(wrong)


def test_ticks_are_given_by_one_of_their_names():
    assert request.ticks_of("days", 3, {}) == 3 and request.ticks_of("days", None, {}) is None
    assert request.ticks_of("days", None, {"days": 4}) == 4
    assert request.ticks_of("days", 5, {"days": None}) == 5
    with pytest.raises(TypeError, match="unexpected keyword argument 'day'; ticks are days here"):
        request.ticks_of("days", None, {"day": 4})
    with pytest.raises(TypeError, match="ticks and days say the same"):
        request.ticks_of("days", 3, {"days": 3})


# -- kernels, states, sources ---------------------------------------------------------------------


def test_the_text_of_kernels_is_that_of_one_phase_or_of_each_once():
    texts = {"grow": "A", "rest": "", "note": "B", "again": "A"}
    setup = SimpleNamespace(
        phases=texts, p=7, workload=SimpleNamespace(kernel_text=lambda p, name: texts[name])
    )
    assert kernel_text(setup, None) == "A\nB"
    assert [kernel_text(setup, name) for name in texts] == ["A", "", "B", "A"]
    with pytest.raises(ConfigError, match=r"no phase 'gro'.*\(known: grow, rest, note, again\)"):
        kernel_text(setup, "gro")


def test_the_text_of_a_phase_is_that_of_its_own_files_alone():
    config = societies.config_from_dict({"workload": "economy", "agents": 4, "resources": 3})
    setup = Setup(registry.workload("economy"), config)
    text = kernel_text(setup, "extraction")
    assert "__kernel void extraction(" in text and "__kernel void trading(" not in text
    assert "#include" in text  # of files that are not shown


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("first", [False, True])
def test_a_state_is_copied_once_hashed_and_summed(saved, first):
    from zlib import crc32

    fields = {
        "a": Field(("x",), "int32", "", ""),
        "b": Field(("x",), "float64", "", "", checkpointed=False),
        "c": Field((), "float64", "", ""),
    }
    state = {
        "a": np.arange(6, dtype=np.int32).reshape(2, 3),
        "b": np.ones((2, 3)),
        "c": np.array([0.5, 2.0]),
    }
    copies = []

    class Engine:
        def state(self):
            copies.append("state")
            return dict(state)

        def each(self):
            copies.append("each")
            yield from state.items()

    expected = hashlib.sha256()
    for name in state:
        hash_array(expected, fields, name, state[name])
    seen, given_parts = SeenState(Engine(), fields, saved=saved), []
    if first:
        assert [*seen()] == [*state] and seen() is seen()
    seen.begin(lambda *given: given_parts.append(given)).result()
    assert len(given_parts) == saved and seen.begin() is seen.begin()
    read = seen.read()
    assert [*read.state] == [*state] and read.digest.result() == expected.hexdigest()
    if saved:
        sums = {name: crc32(state[name].tobytes()) for name in "ac"}
        assert read.sums.result() == sums
        (arrays, of_arrays) = given_parts[0]
        assert [*arrays.items()] == [(name, state[name]) for name in "ac"]
        assert of_arrays() == sums
    else:
        assert read.sums is None
    assert seen() is read.state and copies == (["state"] if first else ["each"])
    other = SeenState(Engine(), fields, saved=saved).read(hashed=False)
    assert other.digest is None and copies[-1] == "state"


def test_what_was_not_processed_yet_is_processed_at_the_end():
    seen = []
    chain = seeing._Chain(lambda name, array: seen.append((name, array)))
    assert chain._end(chain._running, [("a", 1), ("b", 2)], lambda: "all") == "all"
    assert seen == [("a", 1), ("b", 2)]
    chain._running = seeing.Future()
    chain._running.set_exception(KeyError("lost"))
    for call in (
        lambda: chain.add("c", 3),
        lambda: chain._end(chain._running, [], lambda: "all"),
    ):
        with pytest.raises(KeyError, match="lost"):
            call()


def test_sources_are_compared_by_their_hashes(recwarn):
    here = {f"{name}.py": "1" for name in "abcde"}
    text = sources.text_of(here)
    assert text.splitlines()[0] == "a.py 1"
    attributes = {sources.SOURCES: f"{text}\nbroken line of words", "git_commit": "f" * 40}
    assert sources.hashes_of(attributes) == here and sources.hashes_of({}) is None

    def said(stored, commit="f" * 40):
        recwarn.clear()
        sources.compare(Path("r.h5"), stored, here, commit, "this branch")
        return [str(one.message) for one in recwarn]

    assert said(attributes) == said({**attributes, "git_commit": "unknown"}) == []
    for names, listed in (
        ("a", "1 source file of the model changed since it was made, a.py ("),
        ("bc", "2 source files of the model changed since it was made, b.py, c.py ("),
        ("cde", "3 source files of the model changed since it was made, c.py, d.py, e.py ("),
        ("bcde", "4 source files of the model changed since it was made, b.py, c.py, d.py and 1 "),
    ):
        changed = sources.text_of({**here, **{f"{name}.py": "2" for name in names}})
        (one,) = said({**attributes, sources.SOURCES: changed}, "e" * 40)
        assert one.startswith(f"r.h5: {listed}")
        assert f"(it is of commit {'f' * 12}, this is {'e' * 12})" in one
        assert one.endswith("if that changed a rule, this branch mixes both")
    fewer = sources.text_of({"a.py": "1", "removed.py": "1"})
    assert said({**attributes, sources.SOURCES: fewer}) == []  # a file that is new or gone
    for made, commit, warned in (
        ("f" * 40, "f" * 40, False),
        ("f" * 40, "e" * 40, True),
        ("unknown", "unknown", True),
        (f"{'f' * 40}-modified", f"{'f' * 40}-modified", True),
    ):
        assert bool(said({"git_commit": made}, commit)) is warned
    assert "does not say by which rules it was made" in said({})[0]


def test_a_source_is_its_text_without_comments_and_empty_lines(tmp_path):
    def digest(name, text):
        (tmp_path / name).write_text(text)
        sources._digest_at.cache_clear()
        return sources._digest(tmp_path / name)

    plain = digest("a.py", "x = 1\ny = '#'\n")
    assert len(plain) == sources.DIGITS
    assert plain == hashlib.sha256(b"x = 1\ny = '#'").hexdigest()[: sources.DIGITS]
    assert digest("a.py", "# of it\nx = 1  \n\n   # more\ny = '#'") == plain
    assert digest("a.py", "x = 2\ny = '#'\n") != plain
    kernel = digest("a.cl", 'int a; // b\n/* c */\nchar* d = "//";\n')
    assert digest("a.cl", 'int a;\nchar* d = "//";') == kernel
    assert digest("a.cl", 'int a;\nchar* d = "/";') != kernel
    assert digest("a.cl", 'int a;\nchar* d = "--";') != kernel
    assert digest("a.cl", "# define A\n") != digest("a.cl", "\n")  # no comment of C
    inner = tmp_path / "package" / "inner"
    inner.mkdir(parents=True)
    for folder in (inner.parent, inner):
        (folder / "__init__.py").write_text("")
    assert sources._name(inner / "a.py") == "package/inner/a.py"
    assert sources._name(tmp_path / "a.py") == f"{tmp_path.name}/a.py"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import a.b, c as d\n", ["a.b", "c"]),
        ("from a.b import (\n  c,\n  d as e,\n)\n", ["a.b", "a.b.c", "a.b.d"]),
        ("from . import c\n", ["p.q", "p.q.c"]),
        ("from .c import d\n", ["p.q.c", "p.q.c.d"]),
        ("from ..c import d\n", ["p.c", "p.c.d"]),
        ("    from a import b  # c\n", ["a", "a.b"]),
        ("x = 'import a'\n", []),
    ],
)
def test_what_a_text_imports(text, names):
    assert list(sources._imported(text, "p.q")) == names


def test_the_sources_of_a_model_are_modules_of_the_reference_and_kernels(monkeypatch):
    """Of a workload of this package: what makes its parameters, and all of the reference."""
    tallies.install(monkeypatch)
    laplace = societies.config_from_dict({"workload": "laplace", "side": 8, "steps": 6})
    found = sources.sources_of(Setup(registry.workload("laplace"), laplace))
    assert [*found] == sorted(found) and all(len(one) == sources.DIGITS for one in found.values())
    own_modules = {name for name in found if name.startswith("societies/")}
    assert own_modules == {f"societies/physics/laplace/{name}.py" for name in ("config", "image")}
    modules = {name for name in found if name.endswith(".py")} - own_modules
    kernels = {name for name in found if name.endswith(".cl")}
    assert own_modules | modules | kernels == {*found} and len(modules) > 1 and len(kernels) > 1
    assert all(name.startswith("reference_py/") for name in modules)
    assert all(name.startswith("kernels/") for name in kernels)
    assert any("laplace" in name for name in modules) and any("laplace" in n for n in kernels)
    root = Path(societies.__file__).parents[1]
    assert all((root / name).is_file() for name in found)
    own = sources.sources_of(Setup(tallies.WORKLOAD, tallies.config()))
    assert [name for name in own if name.startswith("tests/") or "tallies" in name]
    both = sources.sources_of(
        Setup(tallies.WORKLOAD, tallies.config()), Setup(registry.workload("laplace"), laplace)
    )
    assert both == found | own


def test_modules_are_reached_from_the_same_package_and_the_reference(tmp_path, monkeypatch):
    package = tmp_path / "reached_by_hand"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "first.py").write_text(
        "import json\nfrom . import second\nimport numpy\nfrom reference_py import copies\n"
        "import societies.words\n"
    )
    (package / "second.py").write_text("from reached_by_hand.first import json\nimport other\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("reached_by_hand", "reached_by_hand.second"):
        module = SimpleNamespace(
            __file__=str(package / f"{name.partition('.')[2] or '__init__'}.py")
        )
        monkeypatch.setitem(sys.modules, name, module)
    first = SimpleNamespace(__file__=str(package / "first.py"))
    monkeypatch.setitem(sys.modules, "reached_by_hand.first", first)
    found = set()
    sources._reach("reached_by_hand.first", found)
    # What a package imports from itself counts, with the package; what others import does not.
    own = {"reached_by_hand", "reached_by_hand.first", "reached_by_hand.second"}
    assert own <= found and "reference_py.copies" in found
    assert {name.partition(".")[0] for name in found} == {"reached_by_hand", "reference_py"}
    assert sources._is_own("societies.words") and not sources._is_own("reference_py.societies")
    assert sources._file_of("not_imported_yet") is None and sources._file_of("sys") is None
    monkeypatch.delitem(sys.modules, "reference_py.copies", raising=False)
    assert sources._file_of("reference_py.copies").name == "copies.py"  # imported for it
    assert sources._file_of("reference_py.copies.Copy") is None
    assert sources._file_of("json").name == "__init__.py"
    names = ["reference_py.physics.laplace", "other.games.chess", "reference_py.nothing"]
    twins = sources._twins([*names, "reference_py.primitives.rng"])
    assert twins == sorted(twins) and all(name.endswith(".cl") for name in twins)
    assert "primitives/rng.cl" in twins and "nothing.cl" not in twins


# -- where a result comes from --------------------------------------------------------------------


def test_a_commit_is_that_of_the_package_or_of_the_checkout(tmp_path, monkeypatch):
    package = tmp_path / "societies"
    running = package / "workload" / "running"
    running.mkdir(parents=True)
    monkeypatch.setattr(provenance, "__file__", str(running / "provenance.py"))
    seen = []
    monkeypatch.setattr(provenance, "commit_of", lambda root: seen.append(root) or "abc")
    assert provenance.git_commit.__wrapped__() == "abc" and seen == [tmp_path]
    monkeypatch.setattr(provenance, "commit_of", lambda root: "")
    assert provenance.git_commit.__wrapped__() == "unknown"
    (package / "_data").mkdir()
    for text, commit in (("def \n", "def"), ("\n", "unknown")):
        (package / "_data" / "commit.txt").write_text(text)
        assert provenance.git_commit.__wrapped__() == commit


@pytest.mark.parametrize(
    ("code", "rows", "commit"),
    [
        (0, ["# branch.oid abc", "# branch.head main"], "abc"),
        (0, ["# branch.head main", "# branch.oid abc", "1 .M N... a.py"], "abc-modified"),
        (0, ["# branch.oid (initial)", "1 A. N... a.py"], ""),
        (128, ["# branch.oid abc"], ""),
        (0, [], ""),
    ],
)
def test_a_commit_is_what_git_says(tmp_path, monkeypatch, code, rows, commit):
    calls = []

    def run(words, **more):
        calls.append(words)
        assert more["check"] is False
        return SimpleNamespace(returncode=code, stdout="\n".join(rows))

    monkeypatch.setattr(provenance.subprocess, "run", run)
    monkeypatch.setattr(provenance.shutil, "which", lambda name: "/usr/bin/git")
    assert provenance.commit_of(tmp_path) == "" and not calls  # no checkout
    (tmp_path / ".git").mkdir()
    assert provenance.commit_of(tmp_path) == commit
    assert calls[0][:4] == ["/usr/bin/git", "--no-optional-locks", "-C", str(tmp_path)]
    monkeypatch.setattr(provenance.shutil, "which", lambda name: None)
    assert provenance.commit_of(tmp_path) == "" and len(calls) == 1


def test_differences_of_configurations_are_named_with_both_values(monkeypatch):
    tallies.install(monkeypatch)
    config = tallies.config(days=4, pace=2.0)
    text = societies.config.to_yaml(config)
    assert provenance._different_keys(text, config) == []
    other = text.replace("pace: 2.0", "pace: 3.5").replace("days: 4", "days: 9")
    found = provenance._different_keys(other, config)
    assert sorted(found) == [("days", "9", "4"), ("pace", "3.5", "2.0")]
    # A key that is newer than the file counts as its default.
    assert "cells: 2\n" in text
    assert provenance._different_keys(text.replace("cells: 2\n", ""), config) == []
    three = tallies.config(days=4, pace=2.0, cells=3)
    without = societies.config.to_yaml(three).replace("cells: 3\n", "")
    assert provenance._different_keys(without, three) == [("cells", "2", "3")]
    invalid = without.replace("days: 4", "days: -4")  # no defaults for what is not valid
    assert ("cells", "absent", "3") in provenance._different_keys(invalid, three)
    limit = provenance.LONGER_AT_MOST * len(text) + provenance.LONG
    for length, parsed in ((limit, True), (limit + 1, False)):
        long = f"{text}#{'x' * (length - len(text) - 1)}"
        found = provenance._different_keys(long, config)
        said = ("the configuration", f"{length} characters", f"{len(text)} characters")
        assert found == ([] if parsed else [said])
    for wrong in ("- 1\n", "a: 1\na: 2\n"):
        with pytest.raises(TypeError, match="no configuration"):
            provenance._different_keys(wrong, config)


def test_a_file_is_the_same_wherever_it_is_named_from(monkeypatch):
    tallies.install(monkeypatch)

    def different(before, now, files, hashed):
        texts = [f"label: {one}\n" for one in (before, now)]
        monkeypatch.setattr(provenance, "to_yaml", lambda config: texts[1])
        one = SimpleNamespace(files=lambda: [("label",)] * files, inputs=lambda: hashed)
        return provenance._different_keys(texts[0], one)

    here, read = Path("x.csv").absolute(), {"label": ""}
    for before, now, files, hashed, same in (
        ("/a/x.csv", "/b/x.csv", True, read, True),
        ("/a/x.csv", "/b/y.csv", True, read, False),
        ("/a/x.csv", "/b/x.csv", True, {}, False),
        ("/a/x.csv", "/b/x.csv", False, read, False),
        ("x.csv", here, True, {}, True),
        ("x.csv", here, False, {}, False),
        ("null", "x.csv", True, read, False),
        ("x.csv", "null", True, {}, False),
    ):
        shown = [("label", *(str(None if x == "null" else x) for x in (before, now)))]
        assert different(before, now, files, hashed) == ([] if same else shown)


def test_a_rule_may_be_in_another_file_and_a_key_of_that_name_may_not_differ(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "compare", lambda *_: None)

    def refused(stored, wanted):
        config = societies.config_from_dict(wanted)
        made = societies.config_from_dict(stored)
        attributes = {"workload": config.workload, "configuration": societies.config.to_yaml(made)}
        setup = Setup(registry.workload(config.workload), config)
        attributes["model_version"] = setup.workload.version_of(config)
        try:
            provenance.require_origin(tmp_path / "a.h5", attributes, setup)
        except SocietiesError as error:
            return str(error).partition("\n")[0]

    (tmp_path / "one.py").write_text("def score(value): return value\n")
    (tmp_path / "two.py").write_text("def score(value): return value\n")
    of = [
        {
            **{"workload": "economy", "agents": 4, "resources": 4},
            "rules": {"trading": {"score": f"{tmp_path}/{name}.py:score"}},
        }
        for name in ("one", "two")
    ]
    assert refused(*of) is None
    chess = {"workload": "chess"}
    assert refused(chess, chess) is None
    assert "rules is legal in the file and pseudo_legal here" in refused(
        chess, {**chess, "rules": "pseudo_legal"}
    )


def test_damages_of_a_file_that_is_continued_are_warnings(tmp_path, monkeypatch):
    (tmp_path / "a.h5").touch()
    file = SimpleNamespace(attributes={}, damages=["of x on day 3"])
    monkeypatch.setattr(provenance.ResultFile, "resume", lambda path: file)
    monkeypatch.setattr(provenance, "require_origin", lambda *_: None)
    monkeypatch.setattr(provenance, "contents_of", lambda setup: None)
    monkeypatch.setattr(provenance, "lacking", lambda file, contents: [])
    said = r"a.h5: damaged: of x on day 3; the run continues without it"
    with pytest.warns(DamageWarning, match=said):
        assert provenance.reopen(tmp_path / "a.h5", None) is file


def test_a_result_that_failed_is_passed_on():
    for failed in (None, ValueError("failed")):
        done, to = Future(), Future()
        if failed:
            done.set_exception(failed)
        else:
            done.set_result({"a": 1})
        seeing._passed(to, done)
        assert to.done() and to.exception() is failed
    assert to.exception() is failed


def test_twins_are_looked_for_among_modules_of_the_reference():
    found = sources._twins(["other.economy.trading", "reference_py.economy.matching"])
    assert found == ["economy/matching.cl"]


def test_a_file_is_of_the_same_table_and_the_same_inputs(tmp_path, monkeypatch):
    tallies.install(monkeypatch)
    table = SimpleNamespace(sha256="a")
    for stored, given, said in (
        (None, None, ""),
        ("a", table, ""),
        (None, table, "without a table of parameters, this is with one\ncontinue without"),
        ("a", None, "with a table of parameters, this is without one\ncontinue with its table"),
        ("b", table, "with another table of parameters: some .*\ncontinue with its table"),
    ):
        if not said:
            assert provenance._require_table(Path("r.h5"), stored, given, "continue") is None
            continue
        with pytest.raises(societies.SocietiesError, match=f"r.h5 was made {said}"):
            provenance._require_table(Path("r.h5"), stored, given, "continue")
    read = tmp_path / "atoms.xyz"
    read.write_bytes(b"abc")
    config = tallies.config()
    monkeypatch.setattr(tallies.TalliesConfig, "inputs", lambda self: {"atoms": str(read)})
    digest = hashlib.sha256(b"abc").hexdigest()
    assert provenance.digests(config) == {"atoms": digest}
    setup = Setup(tallies.WORKLOAD, config)
    made = provenance.origin(setup)
    assert made["atoms_sha256"] == digest and "label" not in made and "varied" not in made
    assert provenance.require_origin(Path("r.h5"), made, setup) is None
    with pytest.raises(societies.SocietiesError, match="was made with another file for atoms"):
        other = {**made, "atoms_sha256": "0"}
        provenance.require_origin(Path("r.h5"), other, setup)
    provenance.require_origin(Path("r.h5"), other, setup, ("atoms",))
    moved = {**made, "configuration": "model: other.py\n" + made["configuration"]}
    provenance.require_origin(Path("r.h5"), moved, setup)  # where the model's file is, is free
    labelled = tallies.config(label="mine")
    assert provenance.origin(Setup(tallies.WORKLOAD, labelled))["label"] == "mine"
    varied = request.with_table(config, {"pace": [1.0, 2.0]})
    facts = provenance.origin(Setup(tallies.WORKLOAD, varied))
    assert facts["varied"] == "pace" and facts["table_sha256"] == varied.table.sha256
    with pytest.raises(societies.SocietiesError, match="without a table of parameters"):
        provenance.require_origin(Path("r.h5"), made, Setup(tallies.WORKLOAD, varied))
    read.unlink()
    with pytest.raises(ConfigError, match=r"atoms: .*atoms.xyz cannot be read: No such file"):
        provenance.digests(config)


def test_texts_of_a_stranger_are_shown_short_and_printable():
    assert provenance._short("x" * 60) == "x" * 60
    assert provenance._short("x" * 61) != "x" * 61 and len(provenance._short("x" * 900)) < 200
    assert "\x1b" not in provenance._short("a\x1b[31m")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_hash_of_a_state_leaves_the_bits_of_nan_to_the_device(dtype):
    fields = {"x": Field((), dtype, "1", "x")}
    hashes = []
    for numbers in ([1.0, np.nan], [1.0, -np.nan], [1.0, np.inf], [0.0, 1.0], [-0.0, 1.0]):
        expected = hashlib.sha256()
        hash_array(expected, fields, "x", np.array(numbers, dtype))
        hashes.append(expected.hexdigest())
    assert hashes[0] == hashes[1] and len(set(hashes)) == 4
    for left_out in ({"checkpointed": False}, {"compared": False}):
        none = hashlib.sha256()
        hash_array(none, {"x": Field((), dtype, "1", "x", **left_out)}, "x", np.ones(1, dtype))
        assert none.hexdigest() == hashlib.sha256().hexdigest()
