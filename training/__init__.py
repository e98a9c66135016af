"""Training of agents: ``python -m training train CONFIG``. Run from a clone; imports ``domino_env``, never the other way."""
