"""What each command of ``domino`` does; ``domino_env.cli`` reads the command line and calls these."""
