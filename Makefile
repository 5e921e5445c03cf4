# The two commands: `make run` and `make test`. `make help` lists the rest.
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
RELEASE := build/release
PROGRAM := $(RELEASE)/rightsize

.PHONY: help setup build run test check check-long check-fuzz bench fit validate openapi fmt fmt-check tidy asan tsan coverage fuzz install dist
.PHONY: dist-check clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

setup: ## install missing Debian packages for building and testing
	@tools/setup build test

build: ## install what is missing and build the release program
	@tools/setup build
	@tools/build release rightsize

run: build ## build, then recommend machines for fine-tuning a 7B model
	@echo "==> $(PROGRAM) recommend examples/recommend/fine-tune-7b.yaml"
	@$(PROGRAM) recommend examples/recommend/fine-tune-7b.yaml

test: ## build everything, then run every test
	@tools/setup build test
	@tools/build release
	@echo "==> testing"
	@ctest --test-dir $(RELEASE) --output-on-failure -j$$(($(JOBS) + 1))  # some tests mostly wait

check: ## all slow checks (several hours), recorded per commit in build/check and continued where they stopped: sanitizers, tidy, fuzzers, coverage, cross build, artifacts
	@tools/check

check-long: ## the tests at full length: 200 new cases of every property, 500 random requests, 40,000 random command lines, 200 killed imports on SQLite and PostgreSQL each, 50 services, the page under load, 10,000 damaged inputs per reader, the program under stress
	@for test in $(RELEASE)/*_test; do RC_PARAMS=max_success=200 $$test --gtest_brief=1 || exit 1; done
	@RIGHTSIZE_RANDOM_REQUESTS=500 $(RELEASE)/plan_test --gtest_filter='RandomRequests.*'
	@RIGHTSIZE_RANDOM_REQUESTS=60 $(RELEASE)/plan_test --gtest_filter='RandomRefusals.*:RankProperties.*'
	@python3 tests/command_lines_test.py $(PROGRAM) --count 40000
	@python3 tests/market/kill_test.py $(PROGRAM) 200
	@python3 tests/decisions/kill_test.py $(PROGRAM) 1000
	@python3 tests/service/truth_test.py $(PROGRAM) $(RELEASE)/tests/play_service --seeds 50
	@python3 tests/web/load_test.py $(PROGRAM) --minutes 10
	@for reader in tests/fuzz/corpus/*; do $(RELEASE)/tests/fuzz_replay $$(basename $$reader) $$reader 10000 || exit 1; done
	@RIGHTSIZE_LONG=1 python3 tests/stress/stress_test.py $(PROGRAM) $(RELEASE)/tests/libfake_nvml.so $(RELEASE)/tests/libjumping_clock.so

check-fuzz: ## 10 million executions over all fuzz targets; new inputs are kept in build/fuzz/corpus
	@tools/setup build test dev
	@tools/build fuzz && tools/fuzz --runs 10000000

dist: ## tarballs, Debian packages and wheels for x86-64 and arm64 in build/dist, with checksums and SPDX
	@tools/setup build dist
	@tools/dist

dist-check: ## unpack each artifact in an empty root and run its main command; the other architecture under qemu
	@tools/setup dist
	@python3 tests/dist/dist_check.py build/dist

bench: ## run the benchmarks of the hot paths
	@tools/setup build test
	@tools/build release
	@cmake --build $(RELEASE) --target benchmarks -j$(JOBS) -- --quiet
	@for b in $(RELEASE)/bench/*_bench; do $$b; done
	@python3 bench/startup_bench.py $(RELEASE)/rightsize
	@python3 bench/spread_bench.py $(RELEASE)/rightsize
	@node bench/drag_bench.mjs $(RELEASE)/rightsize

fit: build ## fit the constants of the speed model to data/measurements; rewrites data/efficiency.csv and stacks.csv
	@cmake --build $(RELEASE) --target fit -j$(JOBS) -- --quiet
	@$(RELEASE)/tools/fit/fit .

validate: build ## score the models on measured data, also with models and GPUs left out; rewrites docs/accuracy.md
	@cmake --build $(RELEASE) --target fit -j$(JOBS) -- --quiet
	@tools/validate $(PROGRAM) $(RELEASE)/tools/fit/fit

openapi: build ## write web/openapi.json, from which `npm run check` in web/ generates the types of the API
	@$(PROGRAM) serve --openapi --format json > web/openapi.json

fmt: ## format every C++ file
	@tools/setup dev
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

fmt-check: ## fail if a C++ file is not formatted
	@tools/setup dev
	@git ls-files '*.h' '*.cc' | xargs clang-format --dry-run -Werror

tidy: ## run clang-tidy on the whole tree; warnings are errors
	@tools/setup build test dev
	@cmake --preset tidy >/dev/null
	@tools/tidy

asan: ## run every test under the address and undefined-behaviour sanitizers (clang)
	@tools/setup build test dev
	@tools/build asan && tools/asan -j$(JOBS)

tsan: ## run every test under the thread sanitizer, except `stress`, which limits memory below what the sanitizer needs
	@tools/setup build test
	@tools/build tsan && ctest --test-dir build/tsan -E '^stress$$' --output-on-failure -j$(JOBS)

coverage: ## run every test and print the line coverage; fails below 85 %
	@tools/setup build test dev
	@tools/build coverage && rm -rf build/coverage/profiles
	@LLVM_PROFILE_FILE=$(CURDIR)/build/coverage/profiles/%m.profraw ctest --test-dir build/coverage --output-on-failure -j$(JOBS)
	@tools/coverage

fuzz: ## run every fuzz target for a minute each
	@tools/setup build test dev
	@tools/build fuzz && tools/fuzz 60

install: build ## install the program, manual pages, completions, the C++ library and the JSON schemas under PREFIX (default /usr/local)
	@cmake -DRIGHTSIZE_COMMIT=$$(git rev-parse --short=12 HEAD 2>/dev/null) $(RELEASE) >/dev/null
	@cmake --build $(RELEASE) --target rightsize rightsize_library rightsize_descriptions -j$(JOBS) -- --quiet
	@cmake --install $(RELEASE) --strip --prefix $(or $(PREFIX),/usr/local)
	@cmake -URIGHTSIZE_COMMIT $(RELEASE) >/dev/null

clean: ## remove every build
	rm -rf build
