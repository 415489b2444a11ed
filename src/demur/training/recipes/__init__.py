"""From a recipe to a model folder: stages, search, and the card of what was made."""
