# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds hopcap: bpf/*.bpf.c -> objects -> skeletons -> user/ -> build/hopcap. `make help` lists the targets.
# Variables: V=1 shows commands; CC, CLANG, BPFTOOL, PKG_CONFIG, CFLAGS, LDFLAGS; PREFIX, DESTDIR for install.

VERSION    := 0.1.0
CC         := $(if $(filter default,$(origin CC)),gcc,$(CC))
CLANG      ?= clang
PKG_CONFIG ?= pkg-config
BPFTOOL    ?= $(firstword $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool 2>/dev/null) bpftool)
PREFIX     ?= /usr/local
B          := build

.DEFAULT_GOAL := $(B)/hopcap
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

# --- what is needed --------------------------------------------------------------------------------------------------

LIBRARIES := libxdp libbpf jansson libnl-3.0 libnl-genl-3.0 libpcap
WITHOUT_TOOLS := help clean check demo test

ifneq ($(filter-out $(WITHOUT_TOOLS),$(or $(MAKECMDGOALS),all)),)
missing := $(foreach tool,$(CC) $(CLANG) $(BPFTOOL) $(PKG_CONFIG),\
	     $(if $(shell command -v $(firstword $(tool)) 2>/dev/null),,$(tool)))
missing += $(if $(filter $(PKG_CONFIG),$(missing)),,$(foreach library,$(LIBRARIES) libelf zlib,\
	     $(if $(shell $(PKG_CONFIG) --exists $(library) 2>/dev/null && echo y),,the library $(library))))
ifneq ($(strip $(missing)),)
$(error missing: $(strip $(missing)). Install with tools/install-deps)
endif
endif

# --- flags -----------------------------------------------------------------------------------------------------------

# -D_GNU_SOURCE= (empty, as a plain #define has it) lets a file say so itself as well.
# Off: snprintf() and strncat() may cut on purpose, and gcc takes two fields of one struct for overlapping.
WARNINGS  := -Wall -Wextra -Werror -Wshadow -Wno-format-truncation -Wno-stringop-truncation -Wno-restrict
CPPFLAGS  += -Iuser -Iinclude -I$(B)/bpf -D_GNU_SOURCE= -DHOPCAP_VERSION='"$(VERSION)"' \
	     $(shell $(PKG_CONFIG) --cflags $(LIBRARIES) 2>/dev/null)
CFLAGS    ?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(WARNINGS) -pthread $(CFLAGS) -MMD -MP
ASAN      := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
LIBS       = -Wl,--as-needed $(shell $(PKG_CONFIG) --libs $(LIBRARIES) 2>/dev/null) -lm
# libpcap's archive can capture from D-Bus, whose own archive needs a libsystemd that is not to be had as one. hopcap only
# reads files: with these two names defined, that part of libpcap stays out.
LIBS_STATIC = -Wl,--defsym=dbus_create=0 -Wl,--defsym=dbus_findalldevs=0 $(filter-out -ldbus-1 -lsystemd,\
	      $(shell $(PKG_CONFIG) --libs --static $(LIBRARIES) libelf zlib 2>/dev/null)) -lm
LIBS_TEST  = $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null || echo -lcmocka)

# BPF programs see the kernel's UAPI headers only; those in the multiarch directory come last, for <asm/types.h>.
MULTIARCH  = $(shell $(CC) -print-multiarch 2>/dev/null)
BPF_CFLAGS = -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Werror -Iinclude -Ivmlinux-headers \
	     $(if $(MULTIARCH),-idirafter /usr/include/$(MULTIARCH)) -MMD -MP

# --- files -----------------------------------------------------------------------------------------------------------

SKELETONS := $(patsubst bpf/%.bpf.c,$(B)/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))
TEST_SKELETONS := $(patsubst tests/prog/%.bpf.c,$(B)/bpf/%.skel.h,$(wildcard tests/prog/*.bpf.c))
SOURCES   := user/main.c $(wildcard user/*/*.c)
OBJECTS   := $(SOURCES:%.c=$(B)/obj/%.o)
ASAN_OBJECTS := $(SOURCES:%.c=$(B)/asan/%.o)
# tests/TIER/test_NAME.c is the program TIER-NAME; a file with a header of its own is linked to all programs of the tier.
helpers    = $(wildcard $(patsubst %.h,%.c,$(wildcard tests/$(1)/*.h)))
TESTS     := $(foreach tier,unit prog,$(patsubst tests/$(tier)/test_%.c,$(B)/tests/$(tier)-%,\
	       $(filter-out $(call helpers,$(tier)),$(wildcard tests/$(tier)/test_*.c))))
TEST_LIBRARY := $(B)/asan/hopcap.a

# --- how it is shown -------------------------------------------------------------------------------------------------

Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(patsubst $(B)/%,%,$@)')

# --- programs --------------------------------------------------------------------------------------------------------

.PHONY: FORCE all debug static tests unit prog golden lab demo test bench bench-programs check install clean help
all: $(B)/hopcap
debug: $(B)/debug/hopcap
static: $(B)/hopcap.static

$(B)/hopcap: $(OBJECTS) $(B)/sources
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(OBJECTS) $(LIBS)

$(B)/debug/hopcap: $(ASAN_OBJECTS) $(B)/sources
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ASAN) $(LDFLAGS) -o $@ $(ASAN_OBJECTS) $(LIBS)

# The linker would warn of name lookups inside libnl, which hopcap never makes.
$(B)/hopcap.static: $(OBJECTS) $(B)/sources
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -static -s -Wl,--no-warnings -o $@ $(OBJECTS) $(LIBS_STATIC)

# When a source file comes or goes, everything is linked again.
$(B)/sources: FORCE
	@mkdir -p $(@D); echo '$(SOURCES)' | cmp -s - $@ || echo '$(SOURCES)' >$@
FORCE:

$(B)/obj/%.o: %.c Makefile | $(SKELETONS)
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(B)/asan/%.o: %.c Makefile | $(SKELETONS)
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ASAN) -c -o $@ $<

$(B)/bpf/%.bpf.o: bpf/%.bpf.c Makefile
	$(call say,CLANG)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

# Programs that only tests load.
$(B)/bpf/%.bpf.o: tests/prog/%.bpf.c Makefile
	$(call say,CLANG)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -Ibpf -c -o $@ $<

$(patsubst %.c,$(B)/asan/%.o,$(wildcard tests/prog/*.c)): | $(TEST_SKELETONS)

$(B)/bpf/%.skel.h: $(B)/bpf/%.bpf.o
	$(call say,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $< >$@

# --- tests -----------------------------------------------------------------------------------------------------------

tests: $(TESTS) $(B)/tests/plain-memory_pair

# Every test program can reach every object but main.o. Sanitized, the BPF tests too: the programs run in the kernel.
$(TEST_LIBRARY): $(filter-out %/user/main.o,$(ASAN_OBJECTS)) $(B)/sources
	$(call say,AR)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

define test_rule
$(B)/tests/$(1)-%: $(B)/asan/tests/$(1)/$(2)%.o $(patsubst %.c,$(B)/asan/%.o,$(call helpers,$(1))) $(TEST_LIBRARY)
	$$(call say,LD)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$(CC) $$(ALL_CFLAGS) $(ASAN) $$(LDFLAGS) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $$(LIBS_TEST) $$(LIBS)
endef
$(eval $(call test_rule,unit,test_))
$(eval $(call test_rule,prog,test_))
$(eval $(call test_rule,golden,)) # programs that write what golden tests read: built by name only

# The in-memory engine without sanitizers, for valgrind (tests/golden/valgrind.sh).
$(B)/tests/plain-memory_pair: tests/unit/test_memory_pair.c $(filter-out %/user/main.o,$(OBJECTS))
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_TEST) $(LIBS)

# --- fuzzing: build/fuzz/NAME of each tests/fuzz/fuzz_NAME.c, with libFuzzer; and all of them, bounded, in unit-fuzz -----------

FUZZ_NAMES   := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_CC      := $(CLANG) -std=gnu11 -Wall -Wextra -Wno-string-concatenation -g -O1 -fno-omit-frame-pointer -MMD -MP
FUZZ_FLAGS   := -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_OBJECTS := $(patsubst %.c,$(B)/fuzz/obj/%.o,$(wildcard $(patsubst %,user/%/*.c,base model doctor discover)) \
		user/domain/message.c user/domain/verbs.c)
SECONDS      ?= 60

$(B)/tests/unit-fuzz: $(patsubst %.c,$(B)/asan/%.o,$(filter-out %/driver.c,$(wildcard tests/fuzz/*.c)))

$(B)/fuzz/obj/%.o: %.c Makefile
	$(call say,FUZZ-CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<

$(B)/fuzz/%: tests/fuzz/fuzz_%.c tests/fuzz/driver.c tests/fuzz/promises.c $(FUZZ_OBJECTS)
	$(call say,FUZZ-LD)
	$(Q)$(FUZZ_CC) $(CPPFLAGS) -DFUZZ_TARGET=fuzz_$* $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS) || \
		{ echo 'Is libFuzzer missing? tools/install-deps --fuzz installs it.' >&2; exit 1; }

.PHONY: fuzz fuzz-run
fuzz: $(FUZZ_NAMES:%=$(B)/fuzz/%)
fuzz-run: fuzz
	$(Q)tools/fuzz-run '$(SECONDS)' $(FUZZ_NAMES)

unit: $(filter $(B)/tests/unit-%,$(TESTS))
prog: $(filter $(B)/tests/prog-%,$(TESTS))
golden lab: $(B)/hopcap
unit prog golden lab:
	$(Q)tests/run $@

demo:
	+$(Q)tools/demo
test:
	+$(Q)tools/test

check:
	$(Q)tools/check-layers
	$(Q)if command -v shellcheck >/dev/null; then \
		shellcheck $$(grep -lE '^#!.*(ba)?sh$$' tools/* tests/run tests/lib/* tests/golden/* tests/lab/* tests/guest/* .ci/run \
		2>/dev/null); else echo 'shellcheck is not installed: scripts are not checked'; fi

# --- what tools/bench compares with ----------------------------------------------------------------------------------

# Nothing of user/ goes in: a baseline must not share what it is the baseline of.
$(B)/bench/%.bpf.o: bench/%.bpf.c Makefile
	$(call say,CLANG)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

$(B)/bench/%.skel.h: $(B)/bench/%.bpf.o
	$(call say,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $< >$@

$(B)/bench/bare: bench/bare.c $(B)/bench/bare.skel.h Makefile
	$(call say,CC)
	$(Q)$(CC) -I$(B)/bench $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(LIBS)

bench-programs: $(B)/bench/bare
bench: $(B)/hopcap $(B)/bench/bare
	$(Q)tools/bench $(BENCH)

# --- the rest --------------------------------------------------------------------------------------------------------

# The manual's chapter of checks; tests/golden/doctor.sh says when it is old.
.PHONY: docs
docs: $(B)/hopcap
	$(Q)mkdir -p docs
	$(Q)$(B)/hopcap doctor --list --markdown >docs/checks.md

install: $(B)/hopcap
	install -D -m 755 $(B)/hopcap $(DESTDIR)$(PREFIX)/bin/hopcap

clean:
	rm -rf $(B)

help:
	@printf '%s\n' \
		'make              build/hopcap' \
		'make debug        build/debug/hopcap, with address and undefined-behaviour sanitizers' \
		'make static       build/hopcap.static: one file to copy into a guest' \
		'make demo         install what is missing, build, measure the lab' \
		'make test         install what is missing, build, run all tests' \
		'make unit prog golden lab   one tier of tests each' \
		'make bench        paired comparisons with other generators and sinks: a table and bench.json; BENCH="--rows live"' \
		'make docs         docs/checks.md, from the doctor'"'"'s tables' \
		'make fuzz         build/fuzz/NAME of each parser, with libFuzzer; make fuzz-run SECONDS=60 runs each' \
		'make check        layers, names and lengths of files; shellcheck' \
		'make install      to $$(DESTDIR)$$(PREFIX)/bin; PREFIX=$(PREFIX)' \
		'make clean        remove build/'

-include $(wildcard $(B)/bench/*.d)
-include $(patsubst %.o,%.d,$(OBJECTS) $(ASAN_OBJECTS)) $(SKELETONS:%.skel.h=%.bpf.d) $(TEST_SKELETONS:%.skel.h=%.bpf.d)
-include $(patsubst %.c,$(B)/asan/%.d,$(wildcard tests/*/*.c)) $(FUZZ_OBJECTS:%.o=%.d)
