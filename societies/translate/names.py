"""Which names can variables and functions of rules not have in C?"""

from __future__ import annotations

import re
from functools import cache

from societies.kerneltext.source import amalgamate, without_comments

PRELUDE = "translate/python.cl"
"""Kernel file with Python's operators in C, which every translated text includes."""


_KEYWORDS = """auto break case char const continue default do double else enum extern float for goto
if inline int long register restrict return short signed sizeof static struct switch typedef union
unsigned void volatile while bool half uchar ushort uint ulong real size_t kernel global local
private constant image sampler event true false NULL copy item entries stride fault scratch copies
main rotate bitselect vload vstore popcount clz"""


_BUILTINS = """abs abs_diff add_sat hadd rhadd clamp mad mad_hi max min mul_hi sub_sat upsample
acos asin atan atan2 cbrt ceil copysign cos cosh cross degrees distance dot erf exp exp2 exp10 expm1
fabs fast_distance fast_length fast_normalize fdim floor fma fmax fmin fmod fract frexp hypot ilogb
ldexp length lgamma log log2 log10 log1p logb maxmag minmag mix modf nan nextafter normalize pow
pown powr radians remainder remquo rint rootn round rsqrt select sign sin sincos sinh smoothstep
sqrt step tan tanh tgamma trunc any all isequal isfinite isgreater isinf isless isnan isnormal
isordered isunordered signbit shuffle barrier mem_fence prefetch printf atom_add atomic_add as_int
as_long as_double convert_int convert_long get_global_id get_local_id get_group_id"""


@cache
def reserved_names() -> frozenset[str]:
    """Return the names that variables and functions of rules cannot have in C."""
    text = without_comments(amalgamate([PRELUDE], {"CHECKED": 1}).text)
    found = re.findall(r"^(?:static|INLINED|WHOLE)[^()]*?(\w+)\(", text, re.MULTILINE)
    found += re.findall(r"^\s*#define\s+(\w+)", text, re.MULTILINE)
    found += re.findall(r"\}\s*(\w+);", text)
    return frozenset([*found, *_KEYWORDS.split(), *_BUILTINS.split()])
