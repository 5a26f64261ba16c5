"""Is a file read by the rules of YAML 1.2, and is everything else refused at its place?"""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from societies import load_config
from societies.config.document import plain_scalar, read_text
from societies.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E3", 1000.0),
        ("+.5", 0.5),
        ("5.", 5.0),
        ("010", 10),
        ("0x1F", 31),
        ("0o17", 15),
        ("-7", -7),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("-.INF", -math.inf),
    ],
)
def test_core_schema(text, value):
    result = plain_scalar(text)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    "text", ["on", "off", "yes", "no", "y", "n", "1_000", "1:30", "2020-01-01", "nan", "<<", "0b1"]
)
def test_what_is_text_in_yaml_1_2(text):
    assert plain_scalar(text) == text


def test_nan_is_read_and_left_to_the_checks():
    assert math.isnan(plain_scalar(".nan"))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_as_python_writes_it(value):
    assert plain_scalar(repr(value)) == value


@given(st.integers())
def test_every_integer(value):
    assert plain_scalar(str(value)) == value


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused_in_one_clear_line(text):
    try:
        read_text(text, "file.yaml")
    except ConfigError as error:
        assert str(error).startswith("file.yaml:")
        assert "\n" not in str(error)


def test_positions_of_keys_and_values():
    text = "a: 1\nb:\n  - {c: 2}\n  - 'd'\n"
    document = read_text(text, "f")
    assert document.data == {"a": 1, "b": [{"c": 2}, "d"]}
    assert document.place(("a",), of_key=True).text == "f:1:1"
    assert document.place(("a",)).text == "f:1:4"
    assert document.place(("b", 0, "c")).text == "f:3:9"
    assert document.place(("b", 1)).text == "f:4:5"
    assert document.place(("b", 1, "nothing")).text == "f:4:5"


NOT_YAML = {
    "binary": (b"\x89PNG\x00\x01\xff", ":1:1  is not UTF-8 text (byte 0x89)"),
    "nul": (b"workload: eco\x00nomy\n", ":1:14  is not text: it has the character #x0000"),
    "latin-1": (b"workload: economy\n# caf\xe9\n", ":2:6  is not UTF-8 text (byte 0xe9)"),
    "utf-16": ("workload: economy".encode("utf-16"), ":1:1  is not UTF-8 text"),
    "tab": (b"trading:\n\trounds: 3\n", ":2:1  is not valid YAML: there is a tab"),
    "bracket": (b"a: [1, 2\nb: 3\n", "while parsing a flow sequence that starts on line 1"),
    "unclosed": (b"workload: economy\na: [1, 2\n", "expected ',' or ']'"),
    "no colon": (b"workload: economy\nagents\n", "is not valid YAML"),
    "empty": (b"", ":1:1  is empty"),
    "only comments": (b"# nothing\n\n", ":1:1  is empty"),
    "list": (b"- workload: economy\n", ":1:1  expected 'key: value' lines, got a list"),
    "word": (b"\neconomy\n", ":2:1  expected 'key: value' lines, got 'economy'"),
    "two documents": (b"workload: economy\n---\nagents: 3\n", ":2:1  a second document"),
    "anchor": (b"workload: economy\nagents: &a 3\n", ":2:9  anchor &a"),
    "alias": (b"workload: economy\nagents: *a\n", ":2:9  alias *a"),
    "tag": (b"a: !!python/object:os.system x\n", ":1:4  tag tag:yaml.org"),
    "deep flow": (b"a: " + b"[" * 50_000, "is nested more than 20 levels deep"),
    "deep block": (
        b"".join(b" " * i + b"a:\n" for i in range(200)),
        ":20:20  is nested more than 20 levels deep",
    ),
}


@pytest.mark.parametrize(("content", "message"), NOT_YAML.values(), ids=NOT_YAML.keys())
def test_what_is_no_configuration_at_all(tmp_path, content, message):
    file = tmp_path / "file.yaml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        load_config(file)
    assert str(raised.value).startswith(f"{file}:")
    assert message in str(raised.value)
    assert raised.value.exit_code == 2
    assert len(str(raised.value).splitlines()) == 1


def test_alias_bomb_is_refused_at_its_first_anchor(tmp_path):
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 60)]
    file = tmp_path / "bomb.yaml"
    file.write_text("\n".join(lines))
    with pytest.raises(ConfigError, match=r":1:5  anchor &a0"):
        load_config(file)


def test_byte_order_mark_is_no_part_of_the_first_key(tmp_path):
    file = tmp_path / "windows.yaml"
    file.write_bytes(b"\xef\xbb\xbfworkload: economy\r\nagents: 5\r\n")
    assert load_config(file).agents == 5


def test_missing_file_names_the_nearest(tmp_path):
    (tmp_path / "quickstart.yaml").write_text("workload: economy\n")
    with pytest.raises(
        ConfigError, match=r"quikstart.yaml: no such file, .*; did you mean '.*quickst"
    ):
        load_config(tmp_path / "quikstart.yaml")


def test_directory(tmp_path):
    with pytest.raises(ConfigError, match="is a directory"):
        load_config(tmp_path)


def test_file_name_that_cannot_be():
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config("a\0b")


def test_huge_file_is_not_parsed(tmp_path):
    file = tmp_path / "huge.yaml"
    file.write_bytes(b"#" * (5 * 2**20))
    with pytest.raises(ConfigError, match="larger than 4 MiB"):
        load_config(file)
