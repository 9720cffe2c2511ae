"""What a page holds of the effects of words."""

from keras_selfattn.visualization import deciding
from keras_selfattn.visualization import shading

# The letter of a word without a shade; each level is one letter further.
PLAIN = ord("D")


def attributes(sentence):
    """Dictionary of a sentence's effects, as `page_effects.js` reads them."""
    data = {}
    for number, (method, effects) in enumerate(sentence.effects.items()):
        levels = deciding.levels(method, effects)
        data[f"effect{number}"] = "".join(chr(PLAIN + x) for x in levels)
        data[f"said{number}"] = "|".join(deciding.text(method, effects))
        data[f"told{number}"] = " ".join(deciding.notes(method, sentence))
    return data


def picker(methods):
    """Buttons to choose between the attention and each method's effects."""
    if not methods:
        return ""
    choices = [("", "Attention", "What the model looked at")]
    choices += [
        (number, deciding.SHORT[method].capitalize(), deciding.TITLES[method])
        for number, method in enumerate(methods)
    ]
    buttons = "".join(
        f'<button type="button" role="radio" data-shown="{value}" '
        f'title="{title}" aria-checked="{"false" if place else "true"}" '
        f'tabindex="{-1 if place else 0}">{name}</button>'
        for place, (value, name, title) in enumerate(choices)
    )
    return (
        '<div role="radiogroup" id="shown" aria-label="What is shown">'
        f"{buttons}</div>\n"
    )


def key(methods):
    """What the shades of effects stand for."""
    if not methods:
        return ""
    signs = "".join(
        f"<span>{name}</span>"
        + "".join(
            f'<i class="w s{level} {sign}">{step}</i>'
            for level, step in enumerate(shading.STEPS, start=1)
        )
        for sign, name in (("for", "for the answer"), ("against", "against it"))
    )
    return (
        f'\n<span class="scale" id="effects-scale" hidden>{signs}'
        f" or more {shading.UNIT}</span>"
    )


def hint(methods):
    """What a reader must know before the texts."""
    if not methods:
        return ""
    units = "; ".join(
        f"{deciding.SHORT[method]}, {deciding.UNITS[method]}"
        for method in methods
    )
    return (
        "Looking is not deciding: the switch also shows each word's effect on "
        f"the answer ({units}). Green words speak for the predicted label, "
        "pink ones against it; an even share is one of all effects."
    )
