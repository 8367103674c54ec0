# SPDX-License-Identifier: MIT OR Apache-2.0
# make ioc    sets up what is missing, builds, and runs the demonstration IOC with real CA clients
# make test   passes every check, as CI does
.PHONY: help ioc ioc-shell fleet-ioc test model soak fuzz miri tsan faults plan zynq rtems vxworks size bench lib header fmt clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile
	@echo 'make ioc-shell  the demonstration IOC, at its prompt'
	@echo 'make fleet-ioc  the two-IOC example: one leases threads of the other; both are killed and started again'
	@echo 'make faults     injected faults, and random calls against the reference, with their figures'
	@echo 'make plan ARGS="..."  how many sets fit on a target, and whose no comes first; without ARGS: how to ask'
	@echo 'make zynq       the self-test on a Cortex-A9 without an operating system, in QEMU'
	@echo 'make rtems      the application on RTEMS in QEMU; RTEMS_PREFIX says where RTEMS is'
	@echo 'make vxworks    the archives for VxWorks, and those for x86_64 run on Linux through a shim'
	@echo 'make size       code and table sizes on a Cortex-A9'
	@echo 'make bench      speed and size beside what people use today, on a quiet machine: tables, docs/performance.md'
	@echo 'make model      every interleaving of a few threads, and random schedules of many: four minutes after the build'
	@echo 'make soak       real threads and hostile clients, an hour each (SOAK_SECONDS=3600)'
	@echo 'make fuzz       hostile callers of the C interface for FUZZ_SECONDS (600), from a corpus and by coverage'
	@echo 'make miri       undefined behaviour looked for by Miri, where there is a nightly compiler'
	@echo 'make tsan       the Rust tests under the thread sanitizer, where there is a nightly compiler'
	@echo 'make lib        build/libcrew.a and include/crew.h, for C programs'
	@echo 'make header     include/crew.h again, after a change in src/ffi'

ioc:
	ci/ioc.sh

ioc-shell:
	ci/ioc-shell.sh

fleet-ioc:
	ci/fleet-ioc.sh

test:
	ci/all.sh

model:
	ci/models.sh --full

soak:
	ci/soak.sh

faults:
	ci/faults.sh

plan:
	@$(CARGO) run --quiet --locked --features plan --bin crew-plan -- $(if $(ARGS),$(ARGS),--help)

zynq:
	ci/zynq.sh

rtems:
	ci/rtems.sh

vxworks:
	ci/vxworks.sh

size:
	ci/size.sh

bench:
	ci/bench.sh

fuzz:
	ci/fuzz.sh

miri:
	ci/miri.sh

tsan:
	ci/tsan.sh

# --- the C library -------------------------------------------------------------------------------

CC ?= cc
CXX ?= c++
OBJCOPY ?= objcopy
CARGO ?= cargo
BUILD := build
# The two variables that move what cargo makes.
CARGO_OUT := $(or $(CARGO_TARGET_DIR),target)
RUST_ARCHIVE := $(CARGO_OUT)/$(addsuffix /,$(CARGO_BUILD_TARGET))release/libcrew_archive.a
C_WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
# Sections of their own, so that an image takes only what it calls.
C_FLAGS := -O2 -g -fPIC -ffunction-sections -fdata-sections $(C_WARNINGS)
C_OBJECTS := $(patsubst %,$(BUILD)/lib/%.o,worker port_posix call_cxx fleet_acquire fleet_shm)
C_HEADERS := $(wildcard include/*.h csrc/posix/*.h)

lib: $(BUILD)/libcrew.a

# Cargo decides whether the Rust half is up to date.
.PHONY: $(BUILD)/lib/libcrew_archive.a
$(BUILD)/lib/libcrew_archive.a:
	@mkdir -p $(@D)
	$(CARGO) build --quiet --release --locked --package crew-archive --target-dir $(CARGO_OUT)
	@cmp -s $(RUST_ARCHIVE) $@ || cp $(RUST_ARCHIVE) $@

$(BUILD)/libcrew.a: $(BUILD)/lib/libcrew_archive.a $(C_OBJECTS)
	@# The compiler's own library comes with bitcode, which other linkers' plugins complain about.
	@$(OBJCOPY) --remove-section .llvmbc --remove-section .llvmcmd $(BUILD)/lib/libcrew_archive.a $@.new
	$(AR) rs $@.new $(C_OBJECTS) >/dev/null 2>&1
	@mv $@.new $@

$(BUILD)/lib/%.o: csrc/%.c $(C_HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=c99 $(C_FLAGS) -Iinclude -c $< -o $@

$(BUILD)/lib/%.o: csrc/posix/%.c $(C_HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=c99 $(C_FLAGS) -Iinclude -c $< -o $@

$(BUILD)/lib/%.o: csrc/%.cpp $(C_HEADERS)
	@mkdir -p $(@D)
	$(CXX) -std=c++11 $(C_FLAGS) -Iinclude -c $< -o $@

header:
	ci/header.sh --write

fmt:
	$(CARGO) fmt --all

clean:
	rm -rf $(BUILD) target
