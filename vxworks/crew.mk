# SPDX-License-Identifier: MIT OR Apache-2.0
# Crew for a VxWorks real-time process (RTP). Include this in the RTP's makefile and link
# $(CREW_LIB):
#
#     CREW_TARGET := armv7-wrs-vxworks-eabihf
#     CREW_CC := wr-cc -rtp
#     include .../crew/vxworks/crew.mk
#
#     ioc.vxe: ioc.o $(CREW_LIB)
#             wr-cc -rtp $^ -Wl,--gc-sections -o $@
#     ioc.o: CPPFLAGS += $(CREW_CPPFLAGS)
#
# Settings, before the include:
#   CREW_TARGET  the Rust compiler's name of the processor and system
#   CREW_THREADS c: threads in C, crew_boot_options.port = crew_port_posix() (default)
#                std: threads by Rust's std, crew_boot_options.port = NULL; not tried on powerpc
#   CREW_CC, CREW_AR, CREW_OBJCOPY  the compiler for RTPs, and its tools
#   CREW_OUT     where the output goes
# The Rust half needs what ci/build-std.sh looks for: a compiler with its own library's source.

CREW_TOP := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))..)
CREW_TARGET ?= x86_64-wrs-vxworks
CREW_THREADS ?= c
CREW_CC ?= wr-cc -rtp
CREW_AR ?= wr-ar
CREW_OBJCOPY ?= wr-objcopy
CREW_OUT ?= $(CREW_TOP)/build/vxworks

CREW_CPPFLAGS := -I$(CREW_TOP)/include
CREW_CFLAGS ?= -std=c99 -O2 -ffunction-sections -fdata-sections
CREW_DIR := $(CREW_OUT)/$(CREW_TARGET)/$(CREW_THREADS)
CREW_ARCHIVE := $(CREW_DIR)/libcrew_archive.a
CREW_LIB := $(CREW_DIR)/libcrew.a

# Without std's own backtraces, which cannot be read here; a panic says where it was.
CREW_CARGO_c := -Zbuild-std=core
CREW_CARGO_std := --features std -Zbuild-std=std,panic_abort -Zbuild-std-features=
CREW_HEADERS := $(wildcard $(CREW_TOP)/include/*.h $(CREW_TOP)/csrc/posix/*.h)
CREW_OBJECTS := $(if $(filter c,$(CREW_THREADS)),$(patsubst %,$(CREW_DIR)/%.o,worker port_posix fleet_acquire fleet_shm))

.PHONY: crew-lib crew-rust
crew-lib: $(CREW_LIB)

# Cargo decides whether it is up to date.
crew-rust:
	@mkdir -p $(CREW_DIR)
	$(CREW_TOP)/ci/build-std.sh build --quiet --release --locked --manifest-path $(CREW_TOP)/Cargo.toml \
		--package crew-archive --target $(CREW_TARGET) --target-dir $(CREW_OUT)/rust $(CREW_CARGO_$(CREW_THREADS))
	@cmp -s $(CREW_OUT)/rust/$(CREW_TARGET)/release/libcrew_archive.a $(CREW_ARCHIVE) || \
		cp $(CREW_OUT)/rust/$(CREW_TARGET)/release/libcrew_archive.a $(CREW_ARCHIVE)

$(CREW_ARCHIVE): crew-rust ;

# Without the Rust compiler's bitcode, which other linkers complain about.
$(CREW_LIB): $(CREW_ARCHIVE) $(CREW_OBJECTS)
	$(CREW_OBJCOPY) --remove-section .llvmbc --remove-section .llvmcmd $(CREW_ARCHIVE) $@.new
	$(if $(CREW_OBJECTS),$(CREW_AR) rs $@.new $(CREW_OBJECTS))
	mv $@.new $@

$(CREW_DIR)/%.o: $(CREW_TOP)/csrc/%.c $(CREW_HEADERS)
	@mkdir -p $(@D)
	$(CREW_CC) $(CREW_CFLAGS) $(CREW_CPPFLAGS) -c $< -o $@

$(CREW_DIR)/%.o: $(CREW_TOP)/csrc/posix/%.c $(CREW_HEADERS)
	@mkdir -p $(@D)
	$(CREW_CC) $(CREW_CFLAGS) $(CREW_CPPFLAGS) -c $< -o $@

# The makefile's own first goal stays its default.
ifeq ($(.DEFAULT_GOAL),crew-lib)
.DEFAULT_GOAL :=
endif
