# The front door. Everything else is in tools/ and CMakePresets.json.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test test-asan test-tsan build check bench chaos mutants fmt clean setup

# demo and test bring their own database; what the shell points at is not to be touched.
unexport DATABASE_URL
ifeq ($(HOME),)
export CCACHE_DIR := $(CURDIR)/build/ccache
endif

define test_preset
	cmake --preset $(1)
	cmake --build --preset $(1)
	ctest --preset $(1) $(if $(FILTER),-R '$(FILTER)')
endef

help:  ## Show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: build  ## Build, then watch documents being read and jobs of every kind run (KEEP=1 stays up)
	build/release/millrace demo $(if $(KEEP),--keep) $(ARGS)

test: setup build/release/build.ninja  ## Build and run all tests (FILTER=regex for some)
	cmake --build --preset release
	ctest --preset release $(if $(FILTER),-R '$(FILTER)')

test-asan: setup  ## The same under AddressSanitizer and UBSan
	$(call test_preset,asan)

test-tsan: setup  ## The same under ThreadSanitizer
	$(call test_preset,tsan)

build: setup build/release/build.ninja  ## Build build/release/millrace and what it needs
	cmake --build --preset release --target millrace millrace-document millrace-samples

check: setup build/release/build.ninja  ## Format, clang-tidy, layers, source rules
	tools/check --tidy

bench: build  ## Every measurement, with peers, in 25 minutes (FULL=1: longer, resumable, FRESH=1 from the start; ARGS="drain --jobs 100000": one row)
ifneq ($(ARGS),)
	build/release/millrace bench $(ARGS)
else
	cd bench && python3 -B -m harness --profile $(if $(FULL),full,quick) $(if $(FRESH),--fresh) $(if $(ONLY),--only '$(ONLY)')
endif

chaos: setup build/release/build.ninja  ## Faults of every kind, then a proof (PROFILE=short|long|release SEED=n ONLY=campaign,…)
	cmake --build --preset release
	tools/chaos "$(or $(PROFILE),long)" "$(SEED)" "$(ONLY)"

mutants: setup build/release/build.ninja  ## Show that a test notices each seeded fault (ONLY=regex for some)
	tools/mutants $(if $(ONLY),--only '$(ONLY)') $(ARGS)

fmt:  ## Format all C++ files
	git ls-files -co --exclude-standard '*.h' '*.cpp' | xargs -r clang-format-19 -i

clean:  ## Remove everything that was built
	rm -rf build

setup:  ## Install what is missing (apt; sudo when not root)
	@tools/setup

build/release/build.ninja:
	cmake --preset release
