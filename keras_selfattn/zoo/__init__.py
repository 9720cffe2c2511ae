"""The zoo: recipes, trained models that ship, and those of the Hub."""

from keras_selfattn.first_use import at_first_use

__getattr__, __dir__ = at_first_use(
    __name__,
    {
        "publishing": ["push_to_hub"],
        "recipes": ["RECIPES", "Recipe", "get_recipe", "list_recipes"],
        "shipped": ["ShippedModel", "get_shipped", "list_shipped"],
    },
)
