"""The compiled rules. Read ``step.py`` first: the order of a move's phases in one page.

No RL word, no variant name, no front end: a game is one row (``state.py``), the rules are one row of numbers
(``packed.py``), every kernel takes both. ``batch.py`` holds the loops that the outside calls.
"""
