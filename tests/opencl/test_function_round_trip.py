"""Do values of every type, and structs of any layout, reach the device and come back unchanged?"""

import numpy as np
import pytest

from societies.errors import DeviceError
from societies.opencl import Program
from societies.opencl.argtypes import VECTOR_WIDTHS, ctype

SCALARS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double")
WIDTHS = (1, *VECTOR_WIDTHS)
MOST = 4  # elements behind a pointer


def named(base, width):
    return base if width == 1 else f"{base}{width}"


def by_every_way(base):
    """A function through which each width of a type passes by value and behind every pointer."""
    parameters, rows = [], []
    for w in WIDTHS:
        t = named(base, w)
        parameters += [
            f"{t} value_{w}, __global {t} *global_{w}, __constant {t} *constant_{w}",
            f"{t} *private_{w}, __local {t} *local_{w}, __global {t} *out_{w}",
        ]
        rows += [
            f"for (int i = 0; i < {MOST}; i++) {{",
            f"    out_{w}[i] = private_{w}[i];",
            f"    private_{w}[i] = constant_{w}[i];",
            "}",
            f"if (get_local_id(0) == 0) for (int i = 0; i < {MOST}; i++) {{",
            f"    {t} was = local_{w}[i];",
            f"    local_{w}[i] = global_{w}[i];",
            f"    global_{w}[i] = was;",
            "}",
        ]
    body = "\n".join(f"    {row}" for row in rows)
    return f"void pass({', '.join(parameters)})\n{{\n{body}\n}}\n"


def numbers(random, kind, *shape):
    """Random finite numbers over the whole range of the type; unused components are 0."""
    bits = random.integers(0, 256, (*shape, kind.itemsize), np.uint8).view(kind.dtype)
    if kind.width == 3:
        bits[..., 3] = 0
    finite = np.where(np.isfinite(bits), bits, 1.5).astype(kind.dtype)
    return finite if kind.width > 1 else finite[..., 0]


@pytest.mark.sample
@pytest.mark.parametrize("base", SCALARS)
def test_every_kind_of_parameter(device, kernel_file, base):
    program = Program(device, kernel_file(f'#include "primitives/real.cl"\n{by_every_way(base)}'))
    random = np.random.default_rng(SCALARS.index(base))
    given, expected = {}, {}
    for w in WIDTHS:
        kind = ctype(named(base, w))
        given[f"value_{w}"] = numbers(random, kind)
        for space in ("global", "constant", "private", "local", "out"):
            given[f"{space}_{w}"] = numbers(random, kind, MOST)
        for to, source in (
            ("out", "private"),
            ("private", "constant"),
            ("global", "local"),
            ("local", "global"),
            ("constant", "constant"),
        ):
            expected[f"{to}_{w}"] = given[f"{source}_{w}"].copy()
    private = {name: a[np.newaxis] for name, a in given.items() if name.startswith("private")}
    program.function("pass")(**{**given, **private}, local_size=1)
    for name, values in expected.items():
        assert given[name].tobytes() == values.tobytes(), name


@pytest.mark.sample
@pytest.mark.parametrize("width", WIDTHS)
def test_results_of_every_width(device, kernel_file, width):
    """By value and back, one call and many; the scalar types take turns."""
    base = SCALARS[(3 * width) % len(SCALARS)]
    kind = ctype(named(base, width))
    text = f'#include "primitives/real.cl"\n{kind.name} same({kind.name} x) {{ return x; }}\n'
    function = Program(device, kernel_file(text)).function("same")
    values = numbers(np.random.default_rng(width), kind, 70)
    returned = function(values)
    used = values if width == 1 else values[:, :width]
    assert returned.dtype == kind.dtype
    assert returned.tobytes() == used.tobytes()
    first = used[0].item() if width == 1 else tuple(used[0].tolist())
    assert function(values[0]) == first


# -- structs -------------------------------------------------------------------------------------

STRUCTS = 15


def random_members(random, depth):
    """Members of a random struct: (name, type, array shape), nested ones being lists."""
    members = []
    for i in range(int(random.integers(1, 6))):
        shape = [(), (), (), (2,), (2, 3)][random.integers(0, 5)]
        if depth and random.random() < 0.3:
            kind = random_members(random, depth - 1)
        elif random.random() < 0.1:
            kind = "bool"
        else:
            kind = named(random.choice(SCALARS), int(random.choice(WIDTHS)))
        members.append((f"m{i}", kind, shape))
    return members


def declared(members):
    rows = []
    for name, kind, shape in members:
        text = kind if isinstance(kind, str) else f"struct {{ {declared(kind)} }}"
        rows.append(f"{text} {name}{''.join(f'[{n}]' for n in shape)};")
    return " ".join(rows)


def leaves(members, path, view):
    """Every scalar of a struct: (place in C, view of it in NumPy, its type)."""
    for name, kind, shape in members:
        for index in np.ndindex(shape):
            place = f"{path}.{name}{''.join(f'[{n}]' for n in index)}"
            part = view[name] if not shape else view[name][(*index, ...)]
            if not isinstance(kind, str):
                yield from leaves(kind, place, part)
                continue
            known = ctype(kind)
            if known.width == 1:
                yield place, part, known
            else:
                for c in range(known.width):
                    yield f"{place}.s{c:x}", part[c, ...], known


@pytest.fixture(scope="module")
def structs(device, tmp_path_factory):
    """A program of many structs and a function that numbers all their scalars."""
    random = np.random.default_rng(5)
    found = [random_members(random, depth=1) for _ in range(STRUCTS)]
    text = '#include "primitives/real.cl"\n'
    for k, members in enumerate(found):
        packed = " __attribute__((packed))" if k % 5 == 4 else ""
        text += f"typedef struct{packed} {{ {declared(members)} }} s{k};\n"
    path = tmp_path_factory.mktemp("structs") / "structs.cl"
    path.write_text(text)
    program = Program(device, path)
    path.write_text(text + numbering(program, found))
    return Program(device, path), found


def numbering(program, found):
    """A function that adds 1, 2, 3 ... to the scalars of one element of every array of structs."""
    rows, number = [], 0
    for k, members in enumerate(found):
        for place, _, kind in leaves(members, f"a{k}[1]", np.zeros((), program.struct(f"s{k}"))):
            number += 1
            rows.append(f"    {place} = {'true' if kind.base == 'bool' else number % 127};")
    parameters = ", ".join(f"__global s{k} *a{k}" for k in range(len(found)))
    return f"void number({parameters})\n{{\n" + "\n".join(rows) + "\n}\n"


def test_offsets_are_those_of_the_device(structs):
    program, found = structs
    arrays = {f"a{k}": np.zeros(3, program.struct(f"s{k}")) for k in range(len(found))}
    program.function("number")(**arrays)
    number = 0
    for k, members in enumerate(found):
        array = arrays[f"a{k}"]
        for place, value, kind in leaves(members, f"s{k}", array[1:2].reshape(())):
            number += 1
            assert value.item() == (kind.base == "bool" or number % 127), place
            value[...] = 0
        assert not array.tobytes().strip(b"\0"), f"s{k}: something is written next to its members"


def test_a_dtype_with_other_offsets_is_refused(structs):
    program, found = structs
    right = {f"a{k}": np.zeros(3, program.struct(f"s{k}")) for k in range(len(found))}
    for name, array in right.items():
        moved = np.dtype(
            {
                "names": array.dtype.names,
                "formats": [array.dtype.fields[m][0] for m in array.dtype.names],
                "offsets": [array.dtype.fields[m][1] + 8 for m in array.dtype.names],
                "itemsize": array.dtype.itemsize + 8,
            }
        )
        with pytest.raises(DeviceError, match=rf'argument {name}: .*program.struct\("s{name[1:]}"'):
            program.function("number")(**{**right, name: np.zeros(3, moved)})
