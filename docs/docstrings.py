"""Has the reference understand the package: its faces and its docstrings.

Griffe, which reads the code without running it, loads this file.
"""

import ast
import re
import textwrap

import griffe


class Extension(griffe.Extension):
    def on_package(self, *, pkg, loader, **kwargs):
        for module in modules(pkg):
            for place, names in late_names(module):
                for name in names:
                    target = f"{module.path}.{place}.{name}"
                    module.set_member(
                        name, griffe.Alias(name, target, parent=module)
                    )

    def on_object(self, *, obj, loader, **kwargs):
        if obj.docstring:
            obj.docstring.value = as_google(obj.docstring.value)


def modules(module):
    """A module, and all below it."""
    yield module
    for each in list(module.modules.values()):
        if not each.is_alias:
            yield from modules(each)


def late_names(module):
    """What a module gives to `at_first_use`: each place with its names."""
    tree = ast.parse("\n".join(module.lines))
    for call in ast.walk(tree):
        if (
            isinstance(call, ast.Call)
            and getattr(call.func, "id", None) == "at_first_use"
            and len(call.args) > 1
        ):
            yield from ast.literal_eval(call.args[1]).items()


def as_google(text):
    """A docstring with Keras's sections as Google's, which griffe knows."""
    text = re.sub(
        r"^Call arguments:$", "Other args: Call arguments", text, flags=re.M
    )
    # Griffe would look for names in these.
    text = re.sub(
        r"^(Returns|Yields|References):\n((?:    .*\n?|\n)+)",
        lambda found: f"**{found[1]}:**\n\n{textwrap.dedent(found[2])}",
        text,
        flags=re.M,
    )
    # An example stands at the margin, up to the next section.
    return re.sub(
        r"^Example:\n+(.*?)(?=\n+[A-Z*][A-Za-z* ]*:(?:\*\*)?$|\Z)",
        lambda found: "Examples:\n" + textwrap.indent(found[1], "    "),
        text,
        flags=re.M | re.S,
    )
