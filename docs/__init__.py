"""The pages of the docs, and the command that writes their generated parts."""
