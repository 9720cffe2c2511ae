"""All small changes of a source that this harness knows how to make."""

import ast
import dataclasses
import hashlib
import itertools

COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
WORDS = [
    ("maximum", "minimum"),
    ("max", "min"),
    ("reduce_max", "reduce_min"),
    ("reduce_sum", "reduce_mean"),
    ("sum", "mean"),
    ("all", "any"),
    ("zeros", "ones"),
    ("floor", "ceil"),
    ("argmax", "argmin"),
    ("relu", "tanh"),
    ("left", "right"),
    ("premise", "hypothesis"),
    ("forward", "backward"),
    ("startswith", "endswith"),
    ("lstrip", "rstrip"),
]
WORDS = {a: b for pair in WORDS for a, b in (pair, pair[::-1])}
# Said for safety: without them the same happens here.
SAFEGUARDS = ("strict", "encoding")


@dataclasses.dataclass(frozen=True)
class Change:
    """One change of one file.

    Attributes:
        path: The file, from the root of the repository.
        line: Number of the line where the changed piece begins.
        where: The function, with its classes, that holds the line.
        before: The changed lines, in one line.
        after: The same, changed.
        piece: First and last byte of the changed piece in the file.
        text: What takes its place.
    """

    path: str
    line: int
    where: str
    before: str
    after: str
    piece: tuple
    text: str

    @property
    def key(self):
        """What tells it apart, also when lines above it come and go."""
        return self.path, self.where, self.before, self.after

    def apply(self, source):
        """The changed source of the file."""
        first, last = self.piece
        source = source.encode()
        return (source[:first] + self.text.encode() + source[last:]).decode()


def changes_of(path, source):
    """A list of the changes of a file."""
    found = {}
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    starts = [0, *itertools.accumulate(map(len, lines))]
    for where, node, text in _replacements(_parse(source), ()):
        first, last = node.lineno - 1, node.end_lineno - 1
        head = lines[first][: node.col_offset].decode()
        tail = lines[last][node.end_col_offset :].decode()
        before = b" ".join(lines[first : last + 1]).decode()
        change = Change(
            path,
            node.lineno,
            ".".join(where),
            " ".join(before.split()),
            " ".join(f"{head}{text}{tail}".split()),
            (
                starts[first] + node.col_offset,
                starts[last] + node.end_col_offset,
            ),
            text,
        )
        if change.before != change.after:
            found.setdefault(change.key, change)
    return list(found.values())


def sample(changes, seed):
    """One change a line, in a random order that edits elsewhere don't alter."""

    def rank(change):
        return hashlib.sha256(repr((seed, *change.key)).encode()).digest()

    def rank_of_line(change):
        place = change.path, change.where, change.before
        return hashlib.sha256(repr((seed, *place)).encode()).digest()

    lines = {}
    for change in changes:
        lines.setdefault((change.path, change.line), []).append(change)
    chosen = [min(each, key=rank) for each in lines.values()]
    return sorted(chosen, key=rank_of_line)


def _parse(source):
    """The tree, in which the names of what is imported are marked."""
    tree = ast.parse(source)
    imported = {
        (name.asname or name.name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in imported:
            node.imported = True
    return tree


def _replacements(node, where):
    """Yields the enclosing names, a piece of the source, and its new text."""
    if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, ast.Raise):
        # Its text is for people.
        yield where, node, "pass"
        return
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        where = (*where, node.name)
    if isinstance(node, ast.FunctionDef):
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if isinstance(default, ast.Constant) and default.value is None:
                yield where, default, "0"
    if isinstance(node, ast.keyword) and node.arg in SAFEGUARDS:
        return
    for text in _texts(node):
        yield where, node, text
    for piece, text in _pieces(node):
        yield where, piece, text
    for name, value in ast.iter_fields(node):
        if name in ("decorator_list", "annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_docstring(child):
                yield from _replacements(child, where)


def _is_docstring(node):
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _pieces(node):
    """Changes of a part of a node that only the node knows the role of."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield node.test, f"(not {_text(node.test)})"
    if isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield test, f"(not {_text(test)})"
    if isinstance(node, ast.Slice):
        for bound in filter(None, (node.lower, node.upper)):
            yield bound, ""


def _texts(node):
    """New texts of a node."""
    kind = type(node).__name__.lower()
    return globals().get(f"_of_{kind}", lambda node: ())(node)


def _text(node):
    """Its text, in brackets where it needs them within a larger one."""
    text = ast.unparse(node)
    simple = (
        ast.Name,
        ast.Call,
        ast.Attribute,
        ast.Subscript,
        ast.List,
        ast.Tuple,
        ast.Dict,
    )
    return text if isinstance(node, simple) else f"({text})"


def _with(node, **fields):
    values = {name: getattr(node, name) for name in node._fields}
    return type(node)(**{**values, **fields})


def _of_expr(node):
    if isinstance(node.value, ast.Call):
        yield "pass"


def _of_augassign(node):
    yield "pass"


def _of_delete(node):
    yield "pass"


def _of_assign(node):
    names = {ast.unparse(target) for target in node.targets}
    inside = {ast.unparse(each) for each in ast.walk(node.value)}
    if names & inside:
        yield "pass"


def _of_return(node):
    if node.value is not None and ast.unparse(node.value) != "None":
        yield "return None"


def _of_continue(node):
    yield "break"


def _of_break(node):
    yield "continue"


def _of_compare(node):
    if len(node.ops) == 1:
        right = node.comparators[0]
        operator = COMPARISONS[type(node.ops[0])]
        yield f"({_text(node.left)} {operator} {_text(right)})"


def _of_boolop(node):
    other = ast.Or if isinstance(node.op, ast.And) else ast.And
    yield _text(_with(node, op=other()))
    yield _text(node.values[0])
    yield _text(node.values[-1])


def _of_binop(node):
    if any(
        isinstance(side, (ast.JoinedStr, ast.Constant))
        and isinstance(getattr(side, "value", ""), str)
        for side in (node.left, node.right)
    ):
        return
    other = ARITHMETIC.get(type(node.op))
    if other is not None:
        yield _text(_with(node, op=other()))
    if isinstance(node.op, ORDERED):
        yield _text(_with(node, left=node.right, right=node.left))


def _of_unaryop(node):
    yield _text(node.operand)


def _of_constant(node):
    value = node.value
    if isinstance(value, bool):
        yield repr(not value)
    elif isinstance(value, int):
        yield repr(value + 1)
        yield repr(value - 1) if value else "(-1)"
    elif isinstance(value, float):
        yield repr(value * 2 or 1.0)
    elif isinstance(value, str) and value in WORDS:
        yield repr(WORDS[value])


def _of_name(node):
    if isinstance(node.ctx, ast.Load) and node.id in WORDS:
        yield WORDS[node.id]


def _of_attribute(node):
    if isinstance(node.ctx, ast.Load) and node.attr in WORDS:
        yield ast.unparse(_with(node, attr=WORDS[node.attr]))


def _of_call(node):
    for keyword in node.keywords:
        if keyword.arg not in (None, *SAFEGUARDS):
            others = [each for each in node.keywords if each is not keyword]
            yield ast.unparse(_with(node, keywords=others))
    if len(node.args) > 1 and not any(
        isinstance(each, ast.Starred) for each in node.args[:2]
    ):
        first, second, *rest = node.args
        yield ast.unparse(_with(node, args=[second, first, *rest]))
    unwrapped = _unwrapped(node)
    if unwrapped is not None:
        yield _text(unwrapped)


def _unwrapped(call):
    """What a call works on, in its place: `x` for `abs(x)` and `x.lower()`."""
    owner = getattr(call.func, "value", None)
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    if ast.unparse(call.func).rsplit(".", 1)[-1][0].isupper():
        return None
    if owner is not None and not getattr(owner, "imported", False):
        return None if ast.unparse(owner) == "self" else call.func.value
    if not call.args or isinstance(call.args[0], ast.Starred):
        return None
    return call.args[0]


def _of_dict(node):
    for number, key in enumerate(node.keys):
        if key is not None:
            keys, values = list(node.keys), list(node.values)
            del keys[number], values[number]
            yield ast.unparse(_with(node, keys=keys, values=values))
