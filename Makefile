# The two commands: `make run` and `make test`. `make help` lists the rest.
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
RELEASE := build/release
PROGRAM := $(RELEASE)/rightsize

.PHONY: help setup build run test check bench fit validate fmt fmt-check tidy asan tsan coverage fuzz install deb clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

setup: ## install missing Debian packages for building and testing
	@tools/setup build test

build: ## install what is missing and build the release program
	@tools/setup build
	@tools/build release rightsize

run: build ## build, then the main job on the embedded example
	@echo "==> $(PROGRAM) recommend examples/recommend/fine-tune-7b.yaml"
	@$(PROGRAM) recommend examples/recommend/fine-tune-7b.yaml

test: ## build everything, then run every test
	@tools/setup build test
	@tools/build release
	@echo "==> testing"
	@ctest --test-dir $(RELEASE) --output-on-failure -j$(JOBS)

check: test ## every test, then what takes longer: 500 random requests, 200 killed imports on SQLite and PostgreSQL each, 50 services, the page's server under load
	@RIGHTSIZE_RANDOM_REQUESTS=500 $(RELEASE)/plan_test --gtest_filter='RandomRequests.*'
	@python3 tests/market/kill_test.py $(PROGRAM) 200
	@python3 tests/decisions/kill_test.py $(PROGRAM) 1000
	@python3 tests/service/truth_test.py $(PROGRAM) $(RELEASE)/tests/play_service --seeds 50
	@python3 tests/web/load_test.py $(PROGRAM) --minutes 10 || [ $$? -eq 77 ]

bench: ## the benchmarks of the hot paths
	@tools/setup build test
	@tools/build release
	@cmake --build $(RELEASE) --target benchmarks -j$(JOBS) -- --quiet
	@for b in $(RELEASE)/bench/*_bench; do $$b; done
	@python3 bench/startup_bench.py $(RELEASE)/rightsize

fit: build ## fit the constants of the speed model to data/measurements; rewrites data/efficiency.csv and stacks.csv
	@cmake --build $(RELEASE) --target fit -j$(JOBS) -- --quiet
	@$(RELEASE)/tools/fit/fit .

validate: build ## score the models on measured data, also with models and GPUs left out; rewrites docs/accuracy.md
	@cmake --build $(RELEASE) --target fit -j$(JOBS) -- --quiet
	@tools/validate $(PROGRAM) $(RELEASE)/tools/fit/fit

fmt: ## format every C++ file
	@tools/setup dev
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

fmt-check: ## fail if a C++ file is not formatted
	@tools/setup dev
	@git ls-files '*.h' '*.cc' | xargs clang-format --dry-run -Werror

tidy: ## clang-tidy over the whole tree, warnings are errors
	@tools/setup build test dev
	@tools/build tidy

asan: ## every test under the address and undefined-behaviour sanitizers
	@tools/setup build test
	@tools/build asan && ctest --test-dir build/asan --output-on-failure -j$(JOBS)

tsan: ## every test under the thread sanitizer
	@tools/setup build test
	@tools/build tsan && ctest --test-dir build/tsan --output-on-failure -j$(JOBS)

coverage: ## line coverage of the tests, as text
	@tools/setup build test dev
	@tools/build coverage && ctest --test-dir build/coverage -j$(JOBS)
	@gcovr -r . --filter src/ --exclude '.*_test.cc' build/coverage

fuzz: ## run every fuzz target for a minute each
	@tools/setup build test dev
	@tools/build fuzz && tools/fuzz 60

install: build ## install the program under PREFIX (default /usr/local)
	@cmake --install $(RELEASE) --prefix $(or $(PREFIX),/usr/local)

deb: build ## a Debian package in build/release
	@tools/setup dev
	@cd $(RELEASE) && cpack -G DEB

clean: ## remove every build
	rm -rf build
