"""How do rules draw random numbers and call the primitives of the library?"""

from __future__ import annotations

import ast

from societies.translate import lists
from societies.translate.function import Function
from societies.translate.messages import FROM_CONFIG
from societies.translate.values import (
    BOOL,
    CALLED,
    INT,
    MAYBE,
    READ,
    REAL,
    WORD,
    List,
    Number,
    Stream,
    Value,
    as_real,
    bare,
    wide,
)


def alone(name: str, made: List, *before: str) -> str:
    """Return the call of a function in C of a whole list, for the space of memory it lies in."""
    stride = "stride" if made.space == "scratch" else "1"
    arguments = [*before, made.columns[0].pointer, made.length, stride]
    return f"{name}_{made.space}({', '.join(arguments)})"


DRAWS = {"below": 1, "uniform": 0, "next": 0, "bernoulli": 1, "binomial": 2, "pack": 0}
"""Methods of a stream, with the numbers of their arguments."""

INSTEAD = {
    "randint": "Write a + rng.below(b - a + 1).",
    "randrange": "Write rng.below(n).",
    "random": "Write rng.uniform().",
    "choice": "Write values[rng.below(len(values))].",
    "shuffle": "Write order = random_permutation(rng, n), and go through it.",
    "sample": "Write order = random_permutation(rng, n), and take the first ones.",
    "integers": "Write a + rng.below(b - a).",
}
"""What to write instead of methods that the streams of other libraries have."""


def draw(f: Function, rng: Stream, name: str, node: ast.Call) -> Value:
    """Translate a method of a stream."""
    if name not in DRAWS:
        hint = INSTEAD.get(name, f"It has {', '.join(DRAWS)}.")
        f.error(node, f"a stream has no .{name} here", hint)
    count = DRAWS[name]
    takes = f".{name} takes {count or 'no'} argument{'s' * (count != 1)}"
    instead = "|Write low + (high - low) * rng.uniform()." if name == "uniform" else ""
    f.arguments(node, count, count, takes + instead)
    hint = "A probability is a threshold out of 2**32: int(p * 4294967296.0)."
    if name == "below":
        hint = "rng.below(n) draws 0 to n - 1; rng.uniform() draws a real number from 0 to 1."
    values = [f.whole(one, node, f".{name} gets {{}}", hint) for one in f.ordered(node.args)]
    texts = [bare(wide(value)) for value in values]
    a = rng.address
    if name == "pack":
        return f.constant(Number(f"rng_pack({a[1:] if a.startswith('&') else f'*{a}'})", WORD))
    if name == "uniform":
        return f.constant(Number(f"rng_uniform({a})", REAL))
    if name == "next":
        return f.constant(Number(f"(long)rng_next({a})", INT, READ, 0, 2**32 - 1))
    if name == "bernoulli":
        return f.constant(Number(f"stream_bernoulli({a}, {texts[0]})", BOOL, READ, 0, 1))
    if name == "binomial":
        within = f"{texts[0]} >= 0 && {texts[0]} <= 2147483648L && {texts[1]} >= 0"
        f.require(within, node, "a number of trials or a threshold that is not allowed")
        text = f"stream_binomial({a}, {texts[0]}, {texts[1]})"
        return f.constant(Number(text, INT, READ, 0, values[0].high))
    too_much = "a draw below more than 2**32 - 1"
    if values[0].low is not None and values[0].low > 2**32 - 1:
        f.error(node, too_much, "Draw twice: rng.below(a) * b + rng.below(b) is below a * b.")
    if values[0].high is None or values[0].high > 2**32 - 1:
        f.require(f"{texts[0]} <= 4294967295L", node, too_much)
    high = None if values[0].high is None else max(values[0].high - 1, 0)
    return f.constant(Number(f"stream_below({a}, {texts[0]})", INT, READ, 0, high))


def load(f: Function, node: ast.Call, name: str) -> Value:
    """Translate ``Rng.load``."""
    _require_draws(f, node)
    f.arguments(node, 1, 1, "Rng.load takes the state of a stream")
    value = f.expression(node.args[0])
    if isinstance(value, List):
        hint = f"Write one of its entries: Rng.load({ast.unparse(node.args[0])}[i])."
        f.error(node, "Rng.load gets a list", hint, wrong=True)
    word = f.number(value, node)
    if word.kind != WORD:
        f.error(node, f"Rng.load gets {CALLED[word.kind]}", "Keep the state in a field of uint64.")
    f.require(f"{word.text} != 0", node, "the stream has never begun")
    return _stream(f, f"stream_load({word.text})", name)


def seed(f: Function, node: ast.Call, name: str) -> Value:
    """Translate ``Rng.seed``."""
    _require_draws(f, node)
    f.arguments(node, 3, 3, "Rng.seed takes base, gap and number of the stream")
    numbers = f.numbers(node.args, node)
    values = [one if one.kind == WORD else f.present(one, node) for one in numbers]
    if any(one.kind not in (INT, BOOL, WORD) for one in values):
        f.error(node, "Rng.seed gets a real number", "Write int(...).")
    texts = [one.text if one.kind == WORD else f"(ulong){wide(one)}" for one in values]
    return _stream(f, f"rng_seed({', '.join(texts)})", name)


def _require_draws(f: Function, node: ast.Call) -> None:
    """Raise an error in a rule, whose result follows from its arguments alone."""
    if f.unit.pure:
        f.error(node, f"{f.unit.pure} draws no random numbers",
                "Its result follows from its arguments alone.")  # fmt: skip


def _stream(f: Function, text: str, name: str) -> Stream:
    c = f.cname(name or "rng")
    f.declared[c] = "rng_t"
    f.emit(f"{c} = {text};")
    return Stream(f"&{c}")


def permutation(f: Function, node: ast.Call, name: str) -> Value:
    """Translate ``random_permutation``."""
    rng, n = _stream_and_number(f, node, "random_permutation")
    most = n.most
    if most is None:
        f.error(node, *FROM_CONFIG)
    made = lists.new(f, name or "order", (INT,), max(most, 0))
    f.require(f"{n.text} <= {made.most}", node, "the list is longer than was reckoned")
    f.emit(f"{made.counter} = most_long({bare(wide(n))}, 0);")
    f.emit(f"{alone('permute_alone', made, rng.address)};")
    return made


def matching(f: Function, node: ast.Call, name: str) -> Value:
    """Translate ``random_matching``."""
    order = permutation(f, node, "order")
    assert isinstance(order, List)
    made = lists.new(f, name or "partner", (MAYBE,), order.most)
    n, k = order.length, f.cname("k")
    f.emit(f"{made.counter} = {n};")
    first, second = lists.at(order, k), lists.at(order, f"{k} + 1")
    with f.block(f"for (long {k} = 0; {k} + 1 < {n}; {k} += 2)"):
        f.emit(f"{lists.at(made, first)} = {second};")
        f.emit(f"{lists.at(made, second)} = {first};")
    f.emit(f"if ({n} % 2 == 1) {lists.at(made, lists.at(order, f'{n} - 1'))} = NOTHING;")
    return made


def _stream_and_number(f: Function, node: ast.Call, what: str) -> tuple[Stream, Number]:
    f.arguments(node, 2, 2, f"{what} takes a stream and a number")
    rng, count = f.ordered(node.args)
    if not isinstance(rng, Stream):
        f.error(node, f"{what} takes a stream first", "Write rng = Rng.load(society.stream).")
    return rng, f.whole(count, node, f"{what} gets {{}}", "Write int(...).")


def soft(name: str, count: int) -> object:
    """Return what translates a function of softmath."""

    def made(f: Function, node: ast.Call, _: str) -> Value:
        f.arguments(node, count, count, f"{name} takes {count} number{'s' * (count != 1)}")
        values = [f.present(one, node) for one in f.numbers(node.args, node)]
        texts = ", ".join(bare(as_real(value)) for value in values)
        return Number(f"{name}({texts})", REAL, min(value.life for value in values))

    return made
