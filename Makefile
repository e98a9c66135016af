# Everything on a machine that has only Python and make. `make help` lists the targets.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo docs test test-slow check test-plain test-bounds test-compiled test-browser test-integrations clean

# The Python that the environment is made with: the first of these that is 3.11 to 3.13. Another: make test PYTHON=/path/to/python
ifndef PYTHON
PYTHON := $(shell for python in python3 python3.13 python3.12 python3.11 python; do \
	"$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1 \
	&& { echo "$$python"; break; }; done)
endif

# What pip is told to install as torch, before all else. Another: make test TORCH=torch==2.9.1, or TORCH=path/to/torch.whl
TORCH ?= torch==2.13.0

# Arguments for every run of pytest, such as PYTEST_ARGS="-x -k bergen".
PYTEST_ARGS ?= -n auto --maxprocesses=4 --dist=worksteal

VENV := .venv
BIN := $(VENV)/bin
VENVS := .venvs
# The engine's tests carry the marker `engine`; they run with the compiler off and with bounds checked as well.
PYTEST := $(BIN)/python -m pytest $(PYTEST_ARGS)

# ------------------------------------------------------------------------------------------------------------- targets

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

DEMO = runs/demo/bergen_ppo

demo: $(VENV)/.train ## train PPO on Bergen for about two minutes, then its table against random and greedy
	rm -rf $(DEMO)
	$(BIN)/python -m training train configs/bergen_ppo.yaml --set decisions=1500000 --run $(DEMO) --output $(DEMO).safetensors
	$(BIN)/python -m training evaluate --variant bergen $(DEMO).safetensors random greedy --deals 2000

# The whole suite comes last, so that its closing line is the last thing said.
test: check test-plain test-bounds test-compiled ## lint, types, import contracts and all tests but the slow ones

check: $(VENV)/.test ## ruff, mypy and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test-plain: $(VENV)/.test ## the engine's tests in plain Python
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m "engine and not slow"

test-bounds: $(VENV)/.test ## the engine's tests, compiled with bounds checked
	NUMBA_BOUNDSCHECK=1 $(PYTEST) -m "engine and not slow"

test-compiled: $(VENV)/.test ## all tests but the slow ones
	$(PYTEST)

test-browser: $(VENV)/.test ## the pages in Chromium alone; test-compiled runs these too where there is one
	$(PYTEST) -m browser tests/browser

test-slow: $(VENV)/.test ## the tests that take minutes
	$(PYTEST) -m slow --hypothesis-profile=slow

# A missing library fails here; `make test` skips it. AgileRL wants an older PettingZoo and Ray an older Gymnasium: each has an environment of its own.
IN_LIBRARIES = REQUIRE_LIBRARIES=1 OMP_NUM_THREADS=1
IN_SHARED = gymnasium_vector pufferlib rlcard shimmy supersuit tianshou torchrl

test-integrations: $(VENVS)/shared/.ready $(VENVS)/agilerl/.ready $(VENVS)/ray/.ready ## TorchRL, Tianshou, AgileRL, PufferLib, ... each where it can live
	$(IN_LIBRARIES) $(VENVS)/shared/bin/python -m pytest $(IN_SHARED:%=tests/integrations/test_%.py)
	$(IN_LIBRARIES) $(VENVS)/agilerl/bin/python -m pytest tests/integrations/test_agilerl.py
	$(IN_LIBRARIES) $(VENVS)/ray/bin/python -m pytest tests/integrations/test_rllib.py tests/integrations/test_ray_cluster.py

docs: $(VENV)/.docs ## build the site of the docs in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo 'site/index.html is the start page; for the search: $(BIN)/python -m http.server -d site'

clean: ## remove the environment, caches and builds; runs/ and the compiled kernels' cache stay
	rm -rf $(VENV) $(VENVS) build dist site .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# -------------------------------------------------------------------------------------------------------- installation

PIP_INSTALL = $(BIN)/python -m pip --disable-pip-version-check install -c $(VENV)/constraints.txt

# Written anew when PYTHON or TORCH name something else, so that the environment is made again.
CHOICE := $(PYTHON) $(TORCH)
ifneq ($(CHOICE),$(shell cat $(VENV)/.choice 2>/dev/null))
.PHONY: $(VENV)/.torch
endif

# torch comes first and alone: asked for by an open range, pip may take a build that is gigabytes larger.
$(VENV)/.torch: constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed: make PYTHON=/path/to/python ..." >&2; exit 2; }
	$(PYTHON) -m venv --clear $(VENV)
	grep -v '^torch==' constraints.txt > $(VENV)/constraints.txt
	$(PIP_INSTALL) $(TORCH)
	echo '$(CHOICE)' > $(VENV)/.choice
	touch $@

$(VENV)/.train: $(VENV)/.torch pyproject.toml
	$(PIP_INSTALL) -e ".[train]"
	touch $@

$(VENV)/.docs: $(VENV)/.torch pyproject.toml
	$(PIP_INSTALL) -e ".[docs]"
	touch $@

$(VENV)/.test: $(VENV)/.torch pyproject.toml
	$(PIP_INSTALL) -e ".[test]"
	touch $@

# Exact versions without dependencies of its own choice: pip would search for minutes. PufferLib's core asks for torch 2.9.0 and runs on others.
PINS = tests/integrations/constraints
IN_PIP = bin/python -m pip --disable-pip-version-check install

$(VENVS)/shared/.ready: $(PINS).txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/$(IN_PIP) $(TORCH)
	$(@D)/$(IN_PIP) --no-deps -r $(PINS).txt
	$(@D)/$(IN_PIP) --no-deps -e .
	touch $@

$(VENVS)/agilerl/.ready: $(PINS)-agilerl.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/$(IN_PIP) $(TORCH)
	$(@D)/$(IN_PIP) --no-deps -r $(PINS)-agilerl.txt
	$(@D)/$(IN_PIP) --no-deps -e .
	touch $@

$(VENVS)/ray/.ready: $(PINS)-ray.txt pyproject.toml
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/$(IN_PIP) $(TORCH)
	$(@D)/$(IN_PIP) --no-deps -r $(PINS)-ray.txt
	$(@D)/$(IN_PIP) --no-deps -e .
	touch $@
