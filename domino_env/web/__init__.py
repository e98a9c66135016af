"""A table in the browser: a small server on this machine, where a person plays against policies.

``serve`` needs the extra ``web``. Hidden tiles never leave the server: what a page is sent is made by ``seen`` alone.
"""
