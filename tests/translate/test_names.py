"""May keys, fields, variables, functions and constants of rules have the names of OpenCL C?"""

import keyword
from types import ModuleType
from typing import Literal

import pytest
from pydantic import create_model
from random_rules import module_of

from societies.config.model import Section
from societies.errors import ConfigError
from societies.model import DailyConfig, Field, Model, Step, key
from societies.workload import Setup
from societies.workload.checking.verify import verify

C99 = """auto break case char const continue default do double else enum extern float for goto if
inline int long register restrict return short signed sizeof static struct switch typedef union
unsigned void volatile while bool complex imaginary asm typeof"""

QUALIFIERS = """kernel global local constant private generic pipe read_only write_only read_write
uniform __kernel __global __local __constant __private __attribute__ __read_only __inline"""

TYPES = """half size_t ptrdiff_t intptr_t uintptr_t uchar ushort uint ulong quad event_t sampler_t
image1d_t image1d_buffer_t image1d_array_t image2d_t image2d_array_t image2d_depth_t
image2d_array_depth_t image2d_msaa_t image3d_t queue_t ndrange_t clk_event_t reserve_id_t
cl_mem_fence_flags memory_order memory_scope atomic_int atomic_flag atomic_double float2x2
double16x16 longlong long2 real"""

VECTORS = [
    f"{base}{width}"
    for base in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half")
    for width in (2, 16)
] + [f"{base}{width}" for base in ("float", "double", "bool") for width in (2, 3, 4, 8, 16)]

FUNCTIONS = """get_global_id get_local_size get_sub_group_id barrier work_group_barrier mem_fence
work_group_reduce_add sub_group_all work_group_any async_work_group_copy prefetch printf
atomic_add atomic_fetch_add atom_cmpxchg convert_int convert_int_sat_rte as_float as_type
vload4 vstore_half3 vload_half shuffle2 vec_step select bitselect step mix clamp sign dot cross
length distance normalize native_sin half_recip fma mad24 mul_hi popcount rotate clz ctz hypot
exp10 log1p rootn sincos nan tgamma isordered to_global enqueue_kernel read_imagef write_imageui
get_pipe_num_packets upsample abs_diff add_sat max min floor sqrt round"""

MACROS = """NULL INFINITY NAN M_PI MAXFLOAT CLK_LOCAL_MEM_FENCE CL_VERSION_2_0 HUGE_VALF FLT_MAX
INT_MAX linux unix cl_khr_fp64 kernel_exec ATOMIC_VAR_INIT DEVICE_IS_CPU COLLECTIVE INLINED WHOLE"""

OURS = """day tick society agent config hour copy copies item entries stride fault scratch steps
result result_n value_table society_numbers payments payments_log payments_count payments_rows
state_day state_copies config_half config_copies table_half main rng_t use NOTHING t1 given_day
quarter number python_word begin_alone begin_kernel own_half fn values1 L F S row series_of"""

WORDS = [
    word
    for word in dict.fromkeys(
        " ".join((C99, QUALIFIERS, TYPES, *VECTORS, FUNCTIONS, MACROS, OURS)).split()
    )
    if not keyword.iskeyword(word)
]
IN_PHASE = 25

HEAD = """from math import floor as below
from societies.model import Rng


def begin(config, society, day):
    pass


"""


def chunks():
    return [WORDS[i : i + IN_PHASE] for i in range(0, len(WORDS), IN_PHASE)]


def text_of(kind):
    """Return rules in which words are names of something."""
    parts = [HEAD]
    given = {"config", "society", "day"}
    for number, words in enumerate(chunks()):
        lines = [f"def phase{number}(config, society, day):", "    whole, found = day, 0"]
        for word in words:
            other = f"{word} = 1 + found + whole"
            if kind == "functions" and word not in given:
                parts.append(f"def {word}(v, w=3):\n    return v * 2 + w\n\n\n")
                lines.append(f"    found += {word}(whole) % 7")
            if kind == "constants" and word not in given:
                parts.append(f"{word} = (3, 1, {number})\n\n\n")
                lines.append(f"    found += {word}[whole % 3]")
            if kind == "variables":
                key_ = f" + config.{word}" if word in KEYS else ""
                lines.append(f"    society.{word} += found{key_}")
                if word not in given:
                    lines += [f"    {other}", f"    found = ({word} + society.{word}) % 1000"]
                    lines += [f"    for {word} in range(2):", f"        found += {word}"]
        parts.append("\n".join([*lines, "    society.total[0] = found", "", "", ""]))
    return "".join(parts)


class WordsConfig(DailyConfig):
    """Further keys are made of the words."""

    workload: Literal["words"]


KEYS = {
    word: (int, key(number, "A number", "1", ge=0, le=1000))
    for number, word in enumerate(WORDS)
    if not word.startswith("_") and not hasattr(WordsConfig, word)
}


class Words(Model):
    """A model whose names are those of OpenCL C."""

    name, summary, config = "words", "names", WordsConfig
    start = ("begin",)

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.day = tuple(f"phase{number}" for number in range(len(chunks())))

    def rules(self):
        return {name: getattr(self.module, name) for name in (*self.start, *self.day)}

    def sizes(self, p):
        return {"half": 1}

    def fields(self, p):
        counted = {word: Field((), "int64", "1", "a word") for word in WORDS}
        return {**counted, "total": Field(("half",), "int64", "1", "a sum")}


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["variables", "functions", "constants"])
def test_words_of_opencl_name_anything(kind, tmp_path):
    module = module_of(text_of(kind), tmp_path)
    model = Words(module)
    config = create_model("AllWords", __base__=WordsConfig, **KEYS)(workload="words", days=2)
    assert not model.untranslated(config)
    report = verify(Setup(model, config), ticks=2)
    assert report.identical, str(report)


class Taken(Words):
    """A model with a field more."""

    def __init__(self, name, module):
        self.more, self.module, self.day = name, module, ()

    def fields(self, p):
        return {self.more: Field((), "int64", "1", "a word")}


@pytest.mark.parametrize("name", ["index", "series", "python_fault", "größe"])
def test_a_field_that_rules_cannot_name_is_refused(name, tmp_path):
    model = Taken(name, module_of(HEAD, tmp_path))
    config = WordsConfig(workload="words", days=2)
    line = Taken.fields.__code__.co_firstlineno
    said = f"test_names.py:{line}: the model words cannot have a field '{name}': "
    with pytest.raises(ConfigError, match=said):
        model.untranslated(config)


@pytest.mark.parametrize("name", ["half", "copies", "float4", "RATE"])
def test_an_argument_of_steps_that_is_a_word_of_kernels_is_refused(name, tmp_path):
    text = f"{HEAD}def later(config, society, day, {name}):\n    society.total[0] = {name}\n"
    model = Words(module_of(text, tmp_path))
    model.day, model.step_arguments = ("later",), (name,)
    (refused,) = model.untranslated(WordsConfig(workload="words", days=2)).values()
    assert refused.reason == f"the kernel cannot have an argument '{name}'"
    assert (
        refused.line
        == text.split("\n").index("def later(config, society, day, X):".replace("X", name)) + 1
    )


def test_an_argument_of_steps_may_be_a_function_of_opencl(tmp_path):
    text = f"{HEAD}def later(config, society, day, step):\n    society.total[0] = step + day\n"
    model = Words(module_of(text, tmp_path))
    model.day, model.step_arguments = ("later",), ("step",)
    model.schedule = lambda p, tick, seen: [Step("later", "", {"step": 7})] if tick else []
    report = verify(Setup(model, WordsConfig(workload="words", days=2)), ticks=2)
    assert report.identical, str(report)


def test_keys_whose_paths_look_alike_are_two(tmp_path):
    class Inner(Section):
        rate: int = key(3, "A number", "1", ge=0, le=9)

    class Alike(WordsConfig):
        tax: Inner = key(Inner(), "A section")
        tax_rate: int = key(5, "A number", "1", ge=0, le=9)

    text = f"{HEAD}def later(config, society, day):\n"
    text += "    society.total[0] = 10 * config.tax.rate + config.tax_rate\n"
    model = Words(module_of(text, tmp_path))
    model.day = ("later",)
    config = Alike(workload="words", days=1)
    report = verify(Setup(model, config), ticks=1)
    assert report.identical, str(report)
    assert sorted(model.unit(config).arguments.values()) == [3, 5]
