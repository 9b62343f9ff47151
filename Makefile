# Paragon's front door. `make demo` builds everything and shows Paragon at work; `make test` passes the tests.
# Both install what is missing when run as root on Debian, and say what to install otherwise.

SHELL := /bin/bash
PREFIX ?= /usr/local
CARGO ?= cargo
export PATH := $(HOME)/.cargo/bin:$(PATH)
# The kernels' compile check needs NVIDIA's run-time compiler, which is a plain library: no GPU, no driver.
NVRTC_VERSION := 13.0.88
PARAGON_NVRTC ?= $(CURDIR)/.tools/nvrtc/nvidia/cu13/lib
export PARAGON_NVRTC

# bench_plot.py draws with it.
MATPLOTLIB_VERSION := 3.9.4

.PHONY: all demo test test-everything built suite crates python lint format deps nvrtc matplotlib mutations memory-checkers bench install put clean

# What is run beside other things has as many jobs of its own as there are processors, not a part of make's.
ALONE := env -u MAKEFLAGS -u MFLAGS

# Says what a phase took.
TIMED := scripts/timed

all: deps
	$(ALONE) $(TIMED) 'building Paragon' $(CARGO) build --release

demo: all
	./demo/run

# Beside each other is what would leave processors idle: a download, tests that wait for one compiler or one program, and files of which one
# takes as long as all others together. What runs beside the tests says what it has to say at its end.
test:
	$(MAKE) -j2 built nvrtc
	$(MAKE) -j2 --output-sync=target suite crates python

# Tests are a selection that covers; this is all there is, which takes hours.
test-everything: export PARAGON_TESTS_WHOLE := 1
test-everything: test
	$(MAKE) memory-checkers

# Paragon and its tests. All at once, so that what only tests need is compiled beside what takes one thread long: the compiler's own crate.
built: deps
	$(ALONE) $(TIMED) 'building Paragon and its tests' $(CARGO) build --release --workspace --all-targets

# The tests of this project's own code, two programs of them beside each other, each of which says what it has to say when it is over (that is the +).
suite: built nvrtc
	+$(ALONE) CARGO="$(CARGO)" $(TIMED) 'the tests of our own' scripts/tests

# Other people's C code, as their own builds compile it.
crates: all
	$(ALONE) $(TIMED) "other people's crates" c-tests/crates/run

python: all
	$(ALONE) $(TIMED) "an extension of Python's" c-tests/python/run

# .ci/run has the linter look at what it builds instead (scripts/lint-workspace).
lint: format
	$(ALONE) $(TIMED) 'the linter' $(CARGO) clippy --release --workspace --all-targets -- -D warnings

format: deps
	$(CARGO) fmt --all --check

deps:
	@./scripts/install-dependencies

nvrtc: deps
	@test -e $(PARAGON_NVRTC)/libnvrtc.so.13 || { mkdir -p .tools/nvrtc && \
	  python3 -m pip download --quiet --no-deps --dest .tools/nvrtc "nvidia-cuda-nvrtc==$(NVRTC_VERSION)" && \
	  cd .tools/nvrtc && python3 -m zipfile -e nvidia_cuda_nvrtc-*.whl . && rm -f nvidia_cuda_nvrtc-*.whl; }

# Takes each check out of the logs and sees that the tests notice (some minutes).
mutations: all
	c-tests/planted/mutations.sh
	c-tests/oracle/mutations.sh

# valgrind's memcheck, and the sanitizers where a nightly toolchain with rust-src has them; what is missing is left out, and said.
memory-checkers: all
	$(ALONE) CARGO="$(CARGO)" $(TIMED) 'memory checkers' scripts/memory-checkers

matplotlib: deps
	@test -e .tools/matplotlib/matplotlib || \
	  python3 -m pip install --quiet --no-warn-conflicts --target .tools/matplotlib "matplotlib==$(MATPLOTLIB_VERSION)" || \
	  echo "matplotlib could not be installed: bench.json and the tables come without plots"

# Every application against cc, OpenMP, automatic parallelizers and hand-written CUDA; results go to build/bench-results. What the machine
# lacks, a GPU or nvcc, is left out and said. On a GPU machine without Rust: benches/bench-prepare.py elsewhere, then benches/bench.py.
bench: all matplotlib
	benches/bench-prepare.py
	benches/bench.py
	benches/bench.py --breakdown --continue build/bench-results/bench.json
	benches/bench_plot.py

install: all
	$(MAKE) --no-print-directory put

# What install does once all is built, which may be elsewhere (BUILT).
BUILT ?= target/release
put:
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin lib/pkgconfig lib/cmake/paragon include/paragon/body)
	install $(BUILT)/paragon-cc $(BUILT)/paragon $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(BUILT)/libparagon_rt.so $(DESTDIR)$(PREFIX)/lib
	install -m 644 $(addprefix runtime/include/,paragon_rt.h paragon_body.h paragon_loop.h) $(DESTDIR)$(PREFIX)/include/paragon
	install -m 644 runtime/include/body/*.h $(DESTDIR)$(PREFIX)/include/paragon/body
	install -m 644 cmake/paragon-toolchain.cmake cmake/paragon-config.cmake $(DESTDIR)$(PREFIX)/lib/cmake/paragon
	sed -e 's|@PREFIX@|$(PREFIX)|' -e "s|@VERSION@|$$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)|" \
	  cmake/paragon.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/paragon.pc
	chmod 644 $(DESTDIR)$(PREFIX)/lib/pkgconfig/paragon.pc

clean:
	$(CARGO) clean
	rm -rf build
