"""Which mistakes can be planted in a module, one at a time?

A mutant is one small change of the source: a comparison flipped, a constant one more or less, a
statement left out, one of two partners taken for the other. It is named by what is readable of it,
never by a line number, so that the list of survivors outlives edits elsewhere in the file.
"""

import ast
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).parents[2]
MODEL = "reference_py/economy"

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
}
FUNCTIONS = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
    "sorted": "list",
    "reversed": "list",
}
PARTNERS = [
    ("agent_a", "agent_b"),
    ("a", "b"),
    ("buyer", "seller"),
    ("buyers", "sellers"),
    ("first", "second"),
    ("give", "take"),
    ("given", "taken"),
    ("held_a", "held_b"),
    ("least", "most"),
    ("least_b", "most_a"),
    ("mine", "others"),
    ("paid", "received"),
    ("power_a", "power_b"),
    ("sell_a", "sell_b"),
    ("worth", "cost"),
]
SWAPPED = dict(PARTNERS) | {b: a for a, b in PARTNERS}

SILENT = ("notify", "report_utility", "progress", "warnings.warn", "warnings.simplefilter", "print")
"""Functions whose calls change no result."""

SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Break, ast.Continue)
READABLE = 100
"""Characters of context by which a mutant is named: the largest expression around it that fits."""


@dataclass(frozen=True)
class Mutant:
    """One planted mistake.

    Attributes
    ----------
    module : str, path of the file without its ending; of the economy's reference only its name
    function : str, the outermost function (or class and method), ``""`` on the level of the module
    before, after : str, source around the mistake without and with it
    nth : int, which of several mutants that read alike, from 0
    line : int, where it is now; no part of the name
    at_import : bool, whether the place is executed when the module is imported: on its level or
        that of a class, or the default of a parameter
    place : int, number of the place in the module, for `planted_code`
    statement : str, source of the statement, of a compound one its first line; no part of the name
    """

    module: str
    function: str
    before: str
    after: str
    nth: int
    line: int
    at_import: bool
    place: int
    statement: str

    @property
    def name(self) -> tuple[str, str, str, str, int]:
        """Return what it is called in the list of survivors."""
        return self.module, self.function, self.before, self.after, self.nth


def mutants(path: Path) -> list[Mutant]:
    """Return every mutant of a file, in the order of the source."""
    tree = ast.parse(path.read_text())
    result, seen, places = [], Counter(), set()
    for number, site in enumerate(_sites(tree)):
        before, text = site.context(), _header(site.within) or ""
        site.plant()
        after = site.context()
        name = (label(path), site.function, before, after)
        place = (site.place, before, after)
        if place not in places and before != after:
            mutant = Mutant(*name, seen[name], site.line, site.at_import, number, text)
            result.append(mutant)
            seen[name] += 1
            places.add(place)
        site.restore()
    return result


def label(path: Path) -> str:
    """Return the name of a module in the list of survivors."""
    name = path.relative_to(ROOT).with_suffix("").as_posix()
    return name.removeprefix(f"{MODEL}/")


def file_of(module: str) -> Path:
    """Return the file of a module by its name in the list of survivors."""
    return ROOT / f"{module if '/' in module else f'{MODEL}/{module}'}.py"


def planted_code(mutant: Mutant) -> CodeType:
    """Return the compiled module with the mistake."""
    path = file_of(mutant.module)
    tree = ast.parse(path.read_text())
    _sites(tree)[mutant.place].plant()
    return compile(ast.fix_missing_locations(tree), str(path), "exec")


def instrumented(path: Path) -> CodeType:
    """Return the module with a call of ``_covered(number)`` before every statement of a function.

    The file must not have two statements on a line.
    """
    tree = ast.parse(path.read_text())
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list) and not hasattr(node, f"_done_{field}"):
                    setattr(node, f"_done_{field}", True)
                    setattr(node, field, [one for s in block for one in (_note(s), s)])
    return compile(ast.fix_missing_locations(tree), str(path), "exec")


def _note(statement: ast.stmt) -> ast.stmt:
    call = ast.parse(f"_covered({statement.lineno})").body[0]
    for node in ast.walk(call):
        ast.copy_location(node, statement)
    return call


class _Site:
    """A place where one node can be replaced by another."""

    def __init__(self, walk, parent, field, index, new):
        self.function, self.at_import = walk.function, walk.at_import
        self._chain = [*walk.chain]
        self._parent, self._field, self._index, self._new = parent, field, index, new
        self._old = self._get()
        placed = next(n for n in (self._old, *reversed(self._chain)) if hasattr(n, "lineno"))
        self.place = placed.lineno, placed.col_offset
        self.line = placed.lineno if self.at_import else walk.statement.lineno
        self.within = walk.statement

    def _get(self):
        value = getattr(self._parent, self._field)
        return value if self._index is None else value[self._index]

    def _set(self, value):
        if self._index is None:
            setattr(self._parent, self._field, value)
        else:
            getattr(self._parent, self._field)[self._index] = value

    def plant(self):
        self._set(self._new)

    def restore(self):
        self._set(self._old)

    def context(self):
        """Return the source of the largest node around the site that is short enough to read."""
        text = ""
        inner = self._get()
        for node in [*([inner] if isinstance(inner, ast.AST) else []), *reversed(self._chain)]:
            if isinstance(node, (ast.operator, ast.cmpop, ast.boolop, ast.unaryop)):
                continue
            longer = _header(node)
            if longer is None or (text and len(longer) > READABLE):
                break
            text = longer
            if isinstance(node, ast.stmt):
                break
        return text


def source(node: ast.AST) -> str:
    """Return the source of a node, with one kind of quotes: which one depends on Python."""
    return plain(ast.unparse(node))


def plain(text: str) -> str:
    """Return a text as `source` has it."""
    return text.replace('"', "'")


def _header(node):
    """Return the source of a node, of a compound statement only its first line; None above it."""
    if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)):
        return None
    if isinstance(node, (ast.If, ast.While)):
        word = "if" if isinstance(node, ast.If) else "while"
        return f"{word} {source(node.test)}:"
    if isinstance(node, ast.For):
        return f"for {source(node.target)} in {source(node.iter)}:"
    if isinstance(node, ast.With):
        return f"with {', '.join(map(source, node.items))}:"
    return source(node)


class _Walk:
    """A walk over a module that knows the function, the statement and the nodes above."""

    def __init__(self):
        self.function, self.statement, self.chain, self.sites = "", None, [], []
        self._depth = 0

    @property
    def at_import(self):
        return self._depth == 0

    def visit(self, node):
        if self._left_alone(node):
            return
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            outer = self.function
            if self._depth == 0:
                self.function = f"{outer}.{node.name}" if outer else node.name
            if isinstance(node, ast.FunctionDef):
                self._defaults(node)
            self._depth += isinstance(node, ast.FunctionDef)
            for statement in node.body:
                self._within(node, statement)
            self._depth -= isinstance(node, ast.FunctionDef)
            self.function = outer
            return
        above = self.statement
        if isinstance(node, ast.stmt):
            self.statement = node
        self.chain.append(node)
        self._of_node(node)
        for child in ast.iter_child_nodes(node):
            if child is not getattr(node, "annotation", None):
                self.visit(child)
        self.chain.pop()
        self.statement = above

    def _defaults(self, function):
        """Visit the defaults of parameters, which belong to the statement that defines them."""
        above, self.statement = self.statement, self.statement or function
        self.chain += [function, function.args]
        for default in (*function.args.defaults, *function.args.kw_defaults):
            if default is not None:
                self.visit(default)
        del self.chain[-2:]
        self.statement = above

    def _within(self, node, statement):
        self.chain.append(node)
        self.visit(statement)
        self.chain.pop()

    def _left_alone(self, node):
        """Return whether a node changes no result.

        Left alone are imports, types, descriptions and the words of messages: docstrings, text with
        numbers in it (f-strings), what is raised, and how an object is shown; what a listener, a
        log or a progress bar receives; and what says what cannot be: assertions, `strict` of zip.
        """
        if isinstance(node, ast.keyword) and node.arg == "strict":
            return True
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Raise, ast.JoinedStr, ast.Assert)):
            return True
        if isinstance(node, ast.FunctionDef):
            return node.name in ("__repr__", "__str__")
        if isinstance(node, ast.If):
            test = ast.unparse(node.test)
            return test == "TYPE_CHECKING" or test.startswith("s.listener is not None")
        if not isinstance(node, ast.Expr):
            return False
        value = node.value
        return isinstance(value, ast.Constant) or (
            isinstance(value, ast.Call) and ast.unparse(value.func) in SILENT
        )

    def _add(self, field, new, index=None, parent=None):
        self.sites.append(_Site(self, parent or self.chain[-1], field, index, new))

    def _replace(self, new):
        """Replace the node itself in its parent."""
        node, parent = self.chain[-1], self.chain[-2]
        for field, value in ast.iter_fields(parent):
            if value is node:
                self.sites.append(_Site(self, parent, field, None, new))
            elif isinstance(value, list) and any(one is node for one in value):
                index = next(i for i, one in enumerate(value) if one is node)
                self.sites.append(_Site(self, parent, field, index, new))

    def _of_node(self, node):
        if isinstance(node, ast.Compare):
            for i, op in enumerate(node.ops):
                for other in COMPARISONS.get(type(op), ()):
                    self._add("ops", other(), i)
        elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in ARITHMETIC:
            self._add("op", ARITHMETIC[type(node.op)]())
        elif isinstance(node, ast.BoolOp):
            self._add("op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
            for value in node.values:
                rest = [other for other in node.values if other is not value]
                new = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
                self._replace(new)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
            self._replace(node.operand)
        elif isinstance(node, ast.Constant):
            for value in self._other_constants(node.value):
                self._replace(ast.copy_location(ast.Constant(value), node))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            other = SWAPPED.get(node.id)
            if other is not None and other in self._names():
                self._replace(ast.copy_location(ast.Name(other, ast.Load()), node))
        elif isinstance(node, ast.Call):
            self._of_call(node)
        elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
            self._of_condition(node)
        elif isinstance(node, ast.comprehension):
            for i in range(len(node.ifs)):
                self._add("ifs", ast.Constant(True), i)
        if isinstance(node, SIMPLE) and len(self.chain) > 1:
            self._of_statement(node)

    def _other_constants(self, value):
        if isinstance(value, bool):
            return [not value]
        if not isinstance(value, (int, float)):
            return []
        *_, above, minus, _ = self.chain
        called = ast.unparse(above.func) if isinstance(above, ast.Call) else ""
        if isinstance(minus, ast.UnaryOp) and called.endswith("reshape"):
            return [value - 1]  # NumPy takes any negative length for the one that it finds itself
        return [value + 1, value - 1]

    def _of_call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else None
        name = node.func.id if isinstance(node.func, ast.Name) else name
        if name in FUNCTIONS:
            new = FUNCTIONS[name]
            if isinstance(node.func, ast.Attribute):
                self._add("attr", new, parent=node.func)
            else:
                self._add("id", new, parent=node.func)
        elif name == "range" and len(node.args) == 1:
            (count,) = node.args
            self._add("args", ast.BinOp(count, ast.Sub(), ast.Constant(1)), 0)
            self._add("args", [ast.Constant(1), count])

    def _of_condition(self, node):
        if not isinstance(node.test, ast.Compare):  # flipped already
            self._add("test", ast.UnaryOp(ast.Not(), node.test))
        if not isinstance(node, ast.While):
            self._add("test", ast.Constant(True))
        self._add("test", ast.Constant(False))

    def _of_statement(self, node):
        if isinstance(node, ast.Return):
            if node.value is not None:
                self._add("value", ast.Constant(None))
        elif self._depth > 0 and getattr(node, "value", node) is not None:
            self._replace(ast.copy_location(ast.Pass(), node))

    def _names(self):
        outermost = next((n for n in self.chain if isinstance(n, ast.FunctionDef)), self.chain[0])
        return {n.id for n in ast.walk(outermost) if isinstance(n, ast.Name)} | {
            n.arg for n in ast.walk(outermost) if isinstance(n, ast.arg)
        }


def _sites(tree):
    walk = _Walk()
    walk.chain.append(tree)
    for statement in tree.body:
        walk.visit(statement)
    return walk.sites
