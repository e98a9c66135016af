"""What holds for every test: one thread a process, no screen, and examples that are the same on every run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Set before torch and pygame are imported; a value from outside wins. Small networks are slower on many threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

# No deadline: the first example of a run compiles the kernels. A test's own @settings go before its profile.
settings.register_profile(
    "fast", derandomize=True, database=None, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("slow", parent=settings.get_profile("fast"), max_examples=2000)
settings.load_profile("fast")  # another one: pytest --hypothesis-profile=slow
