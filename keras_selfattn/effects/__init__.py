"""The effect of each word of a text on a classifier's answer."""
