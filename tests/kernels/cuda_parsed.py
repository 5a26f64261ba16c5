"""What does Clang say of the CUDA C++ that a kernel file becomes?

Clang's parser (PyPI ``libclang``) reads CUDA, templates and address spaces included, and needs no
compiler of NVIDIA's. Its wheel has no headers: what CUDA's have is declared here, as far as
`opencl.cuh` and kernels use it.
"""

from functools import cache

import clang.cindex

from societies.localmem.plan import COMMON_EXTENSIONS, plan
from societies.opencl.cuda.translate import translate

_ARGUMENTS = (
    *("-x", "cuda", "-std=c++20", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc"),
    *("-nocudalib", "-nostdinc", "-nostdinc++", "-w", "-ferror-limit=0"),
    *("-target", "x86_64-unknown-linux-gnu"),
)

_OF_TWO = ("fmin", "fmax", "copysign")
_OF_ONE = ("fabs", "floor", "ceil", "trunc", "rint", "round")
_ATOMIC = ("Add", "Exch", "Min", "Max", "And", "Or", "Xor")
_CONVERTED = {"int": "int", "uint": "unsigned", "ll": "long long", "ull": "unsigned long long"}


def _function(result, name, *parameters):
    return f"__device__ {result} {name}({', '.join(parameters)});"


@cache
def prelude():
    """Return declarations of what CUDA's headers and the compiler define."""
    found = [
        # --device-as-default-execution-space: functions of kernels name none
        "#pragma clang force_cuda_host_device begin",
        "#define __device__ __attribute__((device))",
        "#define __global__ __attribute__((global))",
        "#define __shared__ __attribute__((shared))",
        "#define __constant__ __attribute__((constant))",
        "#define __host__ __attribute__((host))",
        "#define __launch_bounds__(n) __attribute__((launch_bounds(n)))",
        "#define __forceinline__ inline __attribute__((always_inline))",
        "#define __align__(n) __attribute__((aligned(n)))",
        "typedef unsigned long size_t; typedef unsigned long uintptr_t; typedef long ptrdiff_t;",
        "struct cuda_place { unsigned x, y, z; };",
        "extern __device__ const cuda_place threadIdx, blockIdx, blockDim, gridDim;",
        "__device__ void *memcpy(void *, const void *, size_t);",
        "__device__ int printf(const char *, ...);",
    ]
    found.append(_function("void", "__threadfence"))  # Clang has __syncthreads
    for kind, end in (("float", "f"), ("double", "")):
        found += [_function(kind, name + end, kind) for name in _OF_ONE]
        found += [_function(kind, name + end, kind, kind) for name in _OF_TWO]
        letter, word = kind[0], {"float": "float", "double": "double"}[kind]
        found += [_function(kind, f"__{letter}sqrt_rn", kind)]
        found += [_function(kind, f"__fma{end}_rn", kind, kind, kind)]
        found += [
            _function(result, f"__{word}2{name}_{mode}", kind)
            for name, result in _CONVERTED.items()
            for mode in ("rz", "rn", "ru", "rd")
        ]
    for result, name, *given in (
        ("float", "__int_as_float", "int"),
        ("int", "__float_as_int", "float"),
        ("double", "__longlong_as_double", "long long"),
        ("long long", "__double_as_longlong", "double"),
        ("int", "__popc", "unsigned"),
        ("int", "__popcll", "unsigned long long"),
        ("int", "__clz", "int"),
        ("int", "__clzll", "long long"),
        ("int", "__mulhi", "int", "int"),
        ("unsigned", "__umulhi", "unsigned", "unsigned"),
        ("long long", "__mul64hi", "long long", "long long"),
        ("unsigned long long", "__umul64hi", "unsigned long long", "unsigned long long"),
        ("int", "__mul24", "int", "int"),
        ("unsigned", "__umul24", "unsigned", "unsigned"),
    ):
        found.append(_function(result, name, *given))
    for kind in ("int", "unsigned", "unsigned long long"):
        found += [_function(kind, f"atomic{name}", f"{kind} *", kind) for name in _ATOMIC]
        found.append(_function(kind, "atomicCAS", f"{kind} *", kind, kind))
    for kind in ("float", "double"):
        found.append(_function(kind, "atomicAdd", f"{kind} *", kind))
    found.append(_function("float", "atomicExch", "float *", "float"))
    found += [_function("long long", f"atomic{name}", "long long *", "long long")
              for name in ("Min", "Max")]  # fmt: skip
    return "\n".join(found) + "\n"


def errors_in_cuda(source):
    """Return Clang's errors in the CUDA C++ of an amalgamated text, each with file and line."""
    macros = dict.fromkeys(COMMON_EXTENSIONS, "1")
    text = prelude() + translate(plan(source, macros, cached=False).source, macros).text
    unit = clang.cindex.Index.create().parse(
        "kernels.cu", args=_ARGUMENTS, unsaved_files=[("kernels.cu", text)]
    )
    rows = text.split("\n")
    return [
        f"{one.spelling}: {rows[one.location.line - 1].strip()[:100]}"
        for one in unit.diagnostics
        if one.severity >= clang.cindex.Diagnostic.Error
    ]
