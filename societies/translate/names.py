"""Which names can variables and functions of rules not have in C?"""

from __future__ import annotations

import re
from functools import cache

from societies.kerneltext.source import amalgamate, without_comments

PRELUDE = "translate/python.cl"
"""Kernel file with Python's operators in C, which every translated text includes."""


_OF_C = """alignas alignof asm auto bool break case char complex const constexpr continue default
do double else enum extern false float for fortran goto half if imaginary inline int long noreturn
nullptr quad register restrict return short signed sizeof static struct switch true typedef typeof
union unsigned void volatile while"""
"""Words of C, and those that OpenCL C reserves."""


_OF_OPENCL = """kernel global local constant private generic read_only write_only read_write pipe
uniform uchar ushort uint ulong real event sampler image vec_step kernel_exec cl linux unix i386
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t"""
"""Words of OpenCL C 1.2 to 3.0, and macros of its compilers."""


_OF_KERNELS = """NULL copy item entries stride fault scratch copies main value_table steps result
result_n tick first_item"""
"""Names of parameters and variables of the kernels themselves."""


_BUILTINS = """abs abs_diff add_sat hadd rhadd clamp clz ctz mad mad_hi max min mul_hi rotate
sub_sat upsample popcount bitselect mad24 mul24 mad_sat
acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh
cospi cross degrees distance dot erf erfc exp exp2 exp10 expm1 fabs fast_distance fast_length
fast_normalize fdim floor fma fmax fmin fmod fract frexp hypot ilogb ldexp length lgamma lgamma_r
log log2 log10 log1p logb maxmag minmag mix modf nan nextafter normalize pow pown powr radians
remainder remquo rint rootn round rsqrt select sign signbit sin sincos sinh sinpi smoothstep sqrt
step tan tanh tanpi tgamma trunc any all isequal isfinite isgreater isgreaterequal isinf isless
islessequal islessgreater isnan isnormal isnotequal isordered isunordered shuffle shuffle2 barrier
mem_fence read_mem_fence write_mem_fence prefetch printf wait_group_events ndrange enqueue_kernel
enqueue_marker is_valid_event retain_event release_event create_user_event set_user_event_status
capture_event_profiling_info reserve_read_pipe reserve_write_pipe commit_read_pipe
commit_write_pipe is_valid_reserve_id"""
"""Functions of OpenCL C, without those that `_PATTERN` describes."""


_PATTERN = re.compile(
    r"(bool|u?char|u?short|u?int|u?long|half|float|double|real)(2|3|4|8|16)?(x(2|3|4|8|16))?"
    r"|\w+_t|(vload|vstore|image)\w*"
    r"|(as|atom|atomic|async|cl|convert|get|intel|native|half|read|sub_group|to|work_group|write)_\w+"
)


@cache
def reserved_names() -> frozenset[str]:
    """Return the names that variables and functions of rules cannot have in C."""
    text = without_comments(amalgamate([PRELUDE], {"CHECKED": 1}).text)
    found = re.findall(r"^(?:static|INLINED|WHOLE)[^()]*?(\w+)\(", text, re.MULTILINE)
    found += re.findall(r"^\s*#define\s+(\w+)", text, re.MULTILINE)
    found += re.findall(r"\}\s*(\w+);", text)
    words = " ".join((_OF_C, _OF_OPENCL, _OF_KERNELS, _BUILTINS))
    return frozenset([*found, *words.split()])


@cache
def is_reserved(name: str) -> bool:
    """Return whether a variable of rules cannot have this name in C.

    Names that OpenCL C, its compilers or the parameters of kernels have, now or by their form.
    """
    formed = name.startswith(("state_", "config_", "table_", "_")) or name.endswith("_")
    return (
        formed
        or "__" in name
        or name.isupper()
        or name in reserved_names()
        or bool(_PATTERN.fullmatch(name))
    )


def word_of_opencl(name: str) -> bool:
    """Return whether not even a parameter of a kernel can have this name."""
    words = f"{_OF_C} {_OF_OPENCL} {_OF_KERNELS}".split()
    types = re.fullmatch(r"(u?char|u?short|u?int|u?long|half|float|double)(2|3|4|8|16)", name)
    return (name in words and name != "tick") or types is not None or name.isupper()


def in_c(name: str) -> str:
    """Return a name with the letters that C has; others may become the same."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)
