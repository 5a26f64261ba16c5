"""Random programs that allocate, what they compute, and what memory they need at least.

A program is functions that call earlier ones, and a kernel. It is written out in two ways: with
`local_malloc`, and with every block declared separately in the kernel and passed to who needs it.
A block is filled when it is allocated and added up before it is freed; so whoever writes into the
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
    return Program(bodies)


class Program:
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
        """Return (bytes live at once, bytes in a stack of aligned frames) of the worst path."""
        self._frames = []  # of each function: bytes live, bytes in its frame, its alignment
        for body in self.bodies:
            self._frames.append((*self._most(body, 0, 0), max([1, *self._alignments(body)])))
        return self._frames[-1][:2]

    def _alignments(self, body):
        for item in body:
            if isinstance(item, Block):
                yield TYPES[item.type]
                yield from self._alignments(item.body)
            elif isinstance(item, Branch):
                yield from self._alignments(item.bodies())
            else:
                yield from (self._frames[index][2] for index in item.functions())

    def _most(self, body, live, top):
        found = [(live, top)]
        for item in body:
            if isinstance(item, Block):
                size = TYPES[item.type]
                start = -(-top // size) * size
                found.append(self._most(item.body, live + item.bytes, start + item.bytes))
            elif isinstance(item, Branch):
                found.append(self._most(item.bodies(), live, top))
            else:
                for index in item.functions():
                    inner, stack, size = self._frames[index]
                    end = -(-top // size) * size + stack if stack else top
                    found.append((live + inner, end))
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
