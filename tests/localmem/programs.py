"""Random programs that allocate, what they compute, and what memory they need at least.

A program is functions that call earlier ones, and a kernel. It is written out in two ways: with
`local_malloc`, and with every block declared separately in the kernel and passed to who needs it.
A block is filled when it is allocated and added up before it is freed; so code that writes into the
block of another changes the result.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

TYPES = {"uchar": 1, "ushort": 2, "uint": 4, "uint4": 16, "ulong": 8, "ulong16": 128, "uint3": 16}
SCALAR = {"uint4": ".y", "ulong16": ".sb", "uint3": ".z"}


@dataclass
class Block:
    """Allocate, run the body, free; with ``leave`` return before that for some arguments."""

    type: str
    count: int
    body: list
    leave: int | None = None
    number: int = -1

    @property
    def bytes(self):
        return self.count * TYPES[self.type]


@dataclass
class Call:
    """Call one or two functions: f, f(g), f ? g, f && g."""

    form: str
    first: int
    second: int

    def functions(self):
        """Return the functions called, in the order of the text."""
        return [self.first] if self.form == "plain" else [self.first, self.second]


@dataclass
class Branch:
    """``if``, ``switch`` or a loop, on a bit of the argument."""

    form: str
    bit: int
    then: list
    other: list

    def bodies(self):
        """Return the statements of all its branches."""
        return [*self.then, *(self.other if self.form in ("else", "switch") else [])]


def statements(callees, depth=2):
    """Lists of statements of a function that may call those before it."""
    block = st.builds(
        Block,
        st.sampled_from(sorted(TYPES)),
        st.integers(1, 9),
        st.deferred(lambda: statements(callees, depth - 1)) if depth else st.just([]),
        st.none() | st.integers(0, 3),
    )
    choices = [block]
    if callees:
        index = st.integers(0, callees - 1)
        forms = st.sampled_from(["plain", "nested", "choice", "and", "sum"])
        choices.append(st.builds(Call, forms, index, index))
    if depth:
        inner = st.deferred(lambda: statements(callees, depth - 1))
        forms = st.sampled_from(["if", "else", "switch", "for", "while", "do"])
        choices.append(st.builds(Branch, forms, st.integers(0, 3), inner, inner))
    return st.lists(st.one_of(choices), max_size=2 if depth < 2 else 3)


@st.composite
def programs(draw, most=4):
    """Bodies of functions, the last one being the kernel's."""
    count = draw(st.integers(1, most))
    bodies = [draw(statements(index)) for index in range(count)]
    bodies[-1].append(Block("uint", 3, draw(statements(count - 1, 1))))
    return RandomBodies(bodies)


class RandomBodies:
    def __init__(self, bodies):
        self.bodies = bodies
        self.blocks = []
        for body in bodies:
            self._number(body)

    def __repr__(self):
        return self.text("p", planned=True)

    def _number(self, body):
        for item in body:
            if isinstance(item, Block):
                item.number = len(self.blocks)
                self.blocks.append(item)
                self._number(item.body)
            elif isinstance(item, Branch):
                self._number(item.then)
                self._number(item.other)

    # text ----------------------------------------------------------------------------------

    def text(self, prefix, planned):
        """Return OpenCL text; every allocation and every call is on a line of its own."""
        rows = []
        blocks = [f"__local {b.type} *b{b.number}" for b in self.blocks]
        parameters = ", ".join(["uint x", *([] if planned else blocks)])
        arguments = "".join(f", b{b.number}" for b in self.blocks) if not planned else ""
        writer = _Writer(prefix, planned, arguments)
        for index, body in enumerate(self.bodies):
            last = index == len(self.bodies) - 1
            if not last:
                rows.append(f"uint {prefix}_f{index}({parameters}) {{")
            else:
                rows.append(f"kernel void {prefix}(__global uint *out, const uint n) {{")
                if not planned:
                    rows += [f"__local {b.type} b{b.number}[{b.count}];" for b in self.blocks]
                rows.append("const uint x = n;")
            rows.append(f"uint s = x + {index}u;")
            rows += writer.body(body, "out[0] = s; return;" if last else "return s;")
            rows += ["out[0] = s;", "}"] if last else ["return s;", "}"]
        return "\n".join(rows) + "\n"

    # meaning -------------------------------------------------------------------------------

    def run(self, n):
        """Return what the kernel computes for an argument."""
        return self._call(len(self.bodies) - 1, n)

    def _call(self, index, x):
        state = [(x + index) & 0xFFFFFFFF]
        self._body(self.bodies[index], x, state)
        return state[0]

    def _body(self, body, x, state):
        """Run statements; return whether the function has ended."""
        for item in body:
            if isinstance(item, Block):
                values = [self._fill(item, state[0], i) for i in range(item.count)]
                if self._body(item.body, x, state):
                    return True
                if item.leave is not None and x >> item.leave & 1:
                    return True
                self._add(state, sum(v * (i + 1) for i, v in enumerate(values)))
            elif isinstance(item, Call):
                self._calls(item, state)
            elif self._branch(item, x, state):
                return True
        return False

    def _fill(self, block, s, i):
        width = {"uchar": 8, "ushort": 16}.get(block.type, 32)
        return (s * (i + 3) + block.number) & ((1 << width) - 1)

    def _add(self, state, value):
        state[0] = (state[0] * 5 + value) & 0xFFFFFFFF

    def _calls(self, item, state):
        f, g = item.first, item.second
        s = state[0]
        if item.form == "plain":
            value = self._call(f, s)
        elif item.form == "nested":
            value = self._call(f, self._call(g, s))
        elif item.form == "choice":
            value = self._call(f if s & 2 else g, s)
        elif item.form == "and":
            value = int(self._call(f, s) & 1 != 0 and self._call(g, s) & 2 != 0)
        else:
            value = self._call(f, s) + self._call(g, s)
        self._add(state, value)

    def _branch(self, item, x, state):
        bit = x >> item.bit & 1
        if item.form == "if":
            return bit and self._body(item.then, x, state)
        if item.form == "else":
            return self._body(item.then if bit else item.other, x, state)
        if item.form == "switch":
            return bool(
                (bit and self._body(item.then, x, state)) or self._body(item.other, x, state)
            )
        rounds = {"for": bit * 2, "while": bit + 1, "do": bit + 1}[item.form]
        return any(self._body(item.then, x, state) for _ in range(rounds))

    # memory --------------------------------------------------------------------------------

    def best(self):
        """Return what the worst path takes: bytes live at once, and bytes of the best stack.

        Every call is looked at for itself, at the very place where the stack ends; so no frame
        that a function has in all its calls can do with less. A frame begins at a multiple of its
        largest alignment: the third number is what that may cost, one alignment for each call.
        """
        return self._most(self.bodies[-1], 0, 0, 0)

    def _alignments(self, body):
        for item in body:
            if isinstance(item, Block):
                yield TYPES[item.type]
                yield from self._alignments(item.body)
            elif isinstance(item, Branch):
                yield from self._alignments(item.bodies())
            else:
                for index in item.functions():
                    yield from self._alignments(self.bodies[index])

    def _most(self, body, live, top, slack):
        found = [(live, top, slack)]
        for item in body:
            if isinstance(item, Block):
                size = TYPES[item.type]
                start = -(-top // size) * size
                found.append(self._most(item.body, live + item.bytes, start + item.bytes, slack))
            elif isinstance(item, Branch):
                found.append(self._most(item.bodies(), live, top, slack))
            else:
                for index in item.functions():
                    callee = self.bodies[index]
                    lost = max([1, *self._alignments(callee)]) - 1
                    found.append(self._most(callee, live, top, slack + lost))
        return tuple(max(values) for values in zip(*found, strict=True))


class _Writer:
    def __init__(self, prefix, planned, arguments):
        self.prefix, self.planned, self.arguments = prefix, planned, arguments

    def body(self, body, leave):
        rows = []
        for item in body:
            if isinstance(item, Block):
                rows += self._block(item, leave)
            elif isinstance(item, Call):
                rows += self._call(item)
            else:
                rows += self._branch(item, leave)
        return rows

    def _block(self, item, leave):
        b, kind, part = f"b{item.number}", item.type, SCALAR.get(item.type, "")
        rows = ["{"]
        if self.planned:
            rows.append(f"__local {kind} *{b} = local_malloc({item.count} * sizeof({kind}));")
        cast = kind if kind in ("uchar", "ushort") else "uint"
        rows.append(
            f"for (uint i = 0; i < {item.count}u; ++i) "
            f"{b}[i]{part} = ({cast})(s * (i + 3u) + {item.number}u);"
        )
        rows += self.body(item.body, leave)
        if item.leave is not None:
            rows.append(f"if (x >> {item.leave} & 1u) {{ {leave} }}")
        rows.append("uint t = 0;")
        rows.append(f"for (uint i = 0; i < {item.count}u; ++i) t += (uint){b}[i]{part} * (i + 1u);")
        rows.append("s = s * 5u + t;")
        if self.planned:
            rows.append(f"local_free({item.count} * sizeof({kind}));")
        return [*rows, "}"]

    def _call(self, item):
        f = f"{self.prefix}_f{item.first}("
        g = f"{self.prefix}_f{item.second}("
        end = f"{self.arguments})"
        values = {
            "plain": [f"{f}s{end}"],
            "nested": [f, f"{g}s{end}", end],
            "choice": ["(s & 2u ?", f"{f}s{end}", ":", f"{g}s{end}", ")"],
            "and": ["(uint)((", f"{f}s{end}", "& 1u) != 0 && (", f"{g}s{end}", "& 2u) != 0)"],
            "sum": [f"{f}s{end}", "+", f"{g}s{end}"],
        }
        return ["s = s * 5u +", *values[item.form], ";"]

    def _branch(self, item, leave):
        bit, then = f"(x >> {item.bit} & 1u)", self.body(item.then, leave)
        other = self.body(item.other, leave)
        if item.form == "if":
            return [f"if {bit} {{", *then, "}"]
        if item.form == "else":
            return [f"if {bit} {{", *then, "} else {", *other, "}"]
        if item.form == "switch":
            return [f"switch {bit} {{ case 1: {{", *then, "} default: {", *other, "} }"]
        if item.form == "for":
            return [f"for (uint k = 0; k < {bit} * 2u; ++k) {{", *then, "}"]
        if item.form == "while":
            return [f"{{ uint k = {bit} + 1u; while (k--) {{", *then, "} }"]
        return ["{", "uint k = 0;", "do {", *then, f"}} while (k++ < {bit}); }}"]


# Blocks that outlive the branch or loop in which they are allocated. ------------------------------

POINTERS = {"char": 1, "int": 4, "float4": 16, "double8": 64}
SIZES = (1, 4, 16, 40)


@dataclass(frozen=True)
class Allocate:
    type: str
    bytes: int
    number: int


@dataclass(frozen=True)
class Free:
    bytes: int


@dataclass(frozen=True)
class Leave:
    """``break``, ``continue`` or ``return``."""

    how: str


@dataclass(frozen=True)
class Ways:
    """``if`` (two parts), ``switch`` (any number, the last for ``default``) or a loop (one)."""

    form: str
    parts: tuple


@dataclass(frozen=True)
class Enter:
    function: int


@st.composite
def outliving(draw):
    """Bodies of functions that pair sizes on all paths, but not the types they are used as."""
    count = draw(st.integers(1, 2))
    maker = _Maker(draw)
    bodies = []
    for index in range(count):
        body, sizes = maker.body((), 2, (), index)
        if index < count - 1:
            body += maker.repaired(sizes, ())
        else:
            body.insert(0, maker.allocated(1))  # something to plan, which is never freed
        bodies.append(tuple(body))
    return Outliving(bodies)


class _Maker:
    """Draws statements along with the sizes that are live behind them."""

    def __init__(self, draw):
        self.draw, self.number = draw, 0

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def allocated(self, size):
        self.number += 1
        return Allocate(self.pick(*POINTERS), size, self.number)

    def repaired(self, sizes, wanted):
        """Return statements that lead from some live sizes to others."""
        common = 0
        while common < min(len(sizes), len(wanted)) and sizes[common] == wanted[common]:
            common += 1
        common -= self.pick(0, 0, 0, 1) if common else 0  # one more goes and comes again
        frees = [Free(size) for size in reversed(sizes[common:])]
        return frees + [self.allocated(size) for size in wanted[common:]]

    def body(self, sizes, depth, exits, callees):
        """Return statements and the sizes behind them; ``exits`` has what may be left, and how."""
        result = []
        for _ in range(self.pick(1, 2, 3)):
            forms = ["allocate", "allocate", *(["free"] if sizes else [])]
            forms += ["if", "switch", "loop", "leave"] if depth else []
            forms += ["call"] if callees else []
            form = self.pick(*forms)
            if form == "allocate":
                result.append(self.allocated(self.pick(*SIZES)))
                sizes = (*sizes, result[-1].bytes)
            elif form == "free":
                result.append(Free(sizes[-1]))
                sizes = sizes[:-1]
            elif form == "call":
                result.append(Enter(self.pick(*range(callees))))
            elif form == "leave":
                how, wanted = self.pick(("return", ()), *exits)
                steps = [*self.repaired(sizes, wanted), Leave(how)]
                result.append(Ways("if", (tuple(steps), ())))
            elif form == "loop":
                ways = (("break", sizes), ("continue", sizes))
                steps, end = self.body(sizes, depth - 1, ways, callees)
                steps += self.repaired(end, sizes)
                result.append(Ways(self.pick("for", "while", "do"), (tuple(steps),)))
            else:
                possible = tuple(way for way in exits if way[0] != "break" or form == "if")
                parts, before = [], sizes
                for index in range(2 if form == "if" else self.pick(1, 2, 3)):
                    steps, end = self.body(before, depth - 1, possible, callees)
                    if index:
                        steps += self.repaired(end, sizes)
                    else:
                        sizes = end
                    parts.append(tuple(steps))
                result.append(Ways(form, tuple(parts)))
        return result, sizes


class Outliving:
    """A program of such bodies, the last one being the kernel's."""

    def __init__(self, bodies):
        self.bodies = bodies

    def __repr__(self):
        return self.text()

    def text(self):
        """Return OpenCL text with every allocation and every call on a line of its own."""
        rows = []
        for index, body in enumerate(self.bodies):
            last = index == len(self.bodies) - 1
            head = "kernel void p" if last else f"void f{index}"
            rows += [f"{head}(const uint x) {{", "__local void *m;", *self._rows(body), "}"]
        return "\n".join(rows) + "\n"

    def _rows(self, body):
        rows = []
        for item in body:
            if isinstance(item, Allocate):
                rows.append(
                    f"m = (__local {item.type} *)local_malloc({item.bytes}); // {item.number}"
                )
            elif isinstance(item, Free):
                rows.append(f"local_free({item.bytes});")
            elif isinstance(item, Leave):
                rows.append(f"{item.how};")
            elif isinstance(item, Enter):
                rows.append(f"f{item.function}(x);")
            elif item.form == "if":
                rows += ["if (x & 1u) {", *self._rows(item.parts[0])]
                rows += ["} else {", *self._rows(item.parts[1]), "}"]
            elif item.form == "switch":
                rows.append("switch (x) {")
                for number, part in enumerate(item.parts[:-1]):
                    rows += [f"case {number}: {{", *self._rows(part), "} break;"]
                rows += ["default: {", *self._rows(item.parts[-1]), "} }"]
            else:
                head, tail = {
                    "for": ("for (uint i = 0; i < x; ++i) {", "}"),
                    "while": ("{ uint n = x; while (n--) {", "} }"),
                    "do": ("{ uint n = x; do {", "} while (n--); }"),
                }[item.form]
                rows += [head, *self._rows(item.parts[0]), tail]
        return rows
