# Two commands are enough for a newcomer: `make serve` and `make test`. Each does all the set-up that it needs.
PORT ?= 8000
HOST ?= 127.0.0.1
PYTHON_FILES := comparators sandbox service trainer_client tests benchmarks deploy scripts
LOCKED := $(wildcard requirements/*.txt) pyproject.toml scripts/setup sandbox/harness/helper.c

# Of the sandbox's tests, those about what holds a program rather than about what it may say.
HOLDING := $(addprefix tests/sandbox/test_,isolation.py limits.py leftovers.py system_calls.py call_forgeries.py)

.PHONY: serve test test-docker test-trainers images lint type audit bench format lock clean help

help: ## list the verbs
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

serve: .venv/.service ## judge programs on http://HOST:PORT (embedded queue: no Redis, no Docker)
	@exec .venv/bin/microcoder serve --host $(HOST) --port $(PORT)

test: .venv/.dev ## run all tests
	.venv/bin/pytest -n 3 --dist loadscope --no-loadscope-reorder

images: ## build the images of the service and of --sandbox=docker
	docker build --target programs --tag microcoder-programs:0.1.0 .
	docker build --tag microcoder-evaluator:0.1.0 .

test-docker: .venv/.dev images ## run the sandbox's tests with programs in containers (needs a Docker engine)
	.venv/bin/pytest --sandbox docker $(HOLDING)

test-trainers: .venv/.trainers ## train with TRL against a real service, and test what needs torch (6 GB of disk)
	.venv/trainers/bin/pytest tests/trainers tests/grpo tests/train

lint: .venv/.dev ## check style
	.venv/bin/ruff check $(PYTHON_FILES)
	.venv/bin/ruff format --check $(PYTHON_FILES)

type: .venv/.dev ## check types
	.venv/bin/mypy

audit: .venv/.service ## measure accuracy on the built-in set; fails on any wrong verdict
	.venv/bin/microcoder audit --gate

bench: .venv/.dev ## measure speed on this machine, as ratios
	.venv/bin/python -m benchmarks.sandbox

format: .venv/.dev ## format the code
	.venv/bin/ruff check --fix $(PYTHON_FILES)
	.venv/bin/ruff format $(PYTHON_FILES)

lock: .venv/.dev ## resolve the dependencies anew into requirements/*.txt
	.venv/bin/python scripts/lock.py

clean: ## remove everything that set-up made
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/.service: $(LOCKED)
	scripts/setup service
	@touch $@

.venv/.dev: $(LOCKED)
	scripts/setup dev
	@touch $@ .venv/.service

.venv/.trainers: .venv/.dev
	scripts/setup trainers
	@touch $@
