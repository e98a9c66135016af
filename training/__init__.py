"""Training of agents: ``python -m training train configs/bergen_ppo.yaml``. Run from a clone; imports ``domino_env``, never the other way."""
