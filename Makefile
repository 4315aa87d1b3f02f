# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# make            programs and plugin into build/
# make help       all targets and variables

CC      ?= cc
AR      ?= ar
ifeq ($(origin CC),default)
CC      := gcc
endif
PREFIX  ?= /usr/local
SYSCONFDIR ?= /etc
BINDIR  ?= $(PREFIX)/bin
SBINDIR ?= $(PREFIX)/sbin
LIBDIR  ?= $(PREFIX)/lib
MANDIR  ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share/ibcc-tune
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
UDEVDIR ?= $(PREFIX)/lib/udev/rules.d
DESTDIR ?=
CFLAGS  ?= -O2 -g
SANITIZE ?=
V       ?=

# A build with another compiler or with sanitizers has its own folder, so that nothing is mixed.
comma   := ,
variant := $(strip $(if $(filter gcc cc,$(notdir $(CC))),,$(notdir $(CC))) \
	   $(if $(SANITIZE),$(subst $(comma),-,$(SANITIZE))))
empty   :=
space   := $(empty) $(empty)
B       := build$(if $(variant),/variant-$(subst $(space),-,$(variant)))

Q := $(if $(V),,@)
# By make itself: a process for each line costs more than it looks, with a thousand objects.
say = $(if $(V),,$(info   $(1)	$(2)))

WARN := -Wall -Wextra -Werror -Wformat=2 -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wpointer-arith -Wwrite-strings
# Where memory is overrun all the same. The checks of the C library need an optimizer, and those of
# sanitizers are better.
MACHINE := $(shell $(CC) -dumpmachine)
HARDEN := -fstack-protector-strong -fstack-clash-protection \
	  $(if $(filter x86_64-%,$(MACHINE)),-fcf-protection=full) \
	  $(if $(filter aarch64-%,$(MACHINE)),-mbranch-protection=standard) \
	  $(if $(SANITIZE),,$(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDEN_LD := -Wl,-z,relro,-z,now,-z,noexecstack
ALL_CPPFLAGS = -D_GNU_SOURCE -Iinclude -I. -DIBCC_SYSCONFDIR='"$(SYSCONFDIR)"' $(CPPFLAGS)
ALL_CFLAGS = -std=c11 -fPIC -fvisibility=hidden $(WARN) $(HARDEN) $(CFLAGS) $(SAN_CFLAGS)
ifneq ($(SANITIZE),)
SAN_CFLAGS := -DIBCC_SANITIZED -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
# Statically linked, so that umad2sim may be preloaded into the programs.
SAN_LDFLAGS := -fsanitize=$(SANITIZE)
ifeq ($(findstring clang,$(CC)),)
SAN_STATIC := $(if $(findstring address,$(SANITIZE)),-static-libasan) \
	      $(if $(findstring undefined,$(SANITIZE)),-static-libubsan)
else
SAN_SHARED := -shared-libsan
endif
endif
OSM_CPPFLAGS := -isystem /usr/include/infiniband
# _DEFAULT_SOURCE etc. come from _GNU_SOURCE; OpenSM's headers need nothing more.

CORE_LIBS   := -libmad -lm
IO_LIBS     := -libumad -lyaml -lsystemd
VERBS_LIBS  := -lrdmacm -libverbs -lcrypt
DAEMON_LIBS := -lmicrohttpd -ljansson -lsmartcols -lsqlite3 -lseccomp -losmcomp
LDLIBS_ALL  := -Wl,--as-needed $(DAEMON_LIBS) $(VERBS_LIBS) $(IO_LIBS) $(CORE_LIBS) -lpthread

# The folders of lib, each one after those that it uses; tests/build/check_folders.sh says which may use which.
lib_parts  := base codec topo counters ledger demand law whose engine agents text mad formats state cycle
$(foreach l,$(lib_parts),$(eval $(l)_src := $(wildcard lib/$(l)/*.c)))
daemon_src := $(wildcard daemon/*.c $(foreach d,bundle metrics predict report service,daemon/$(d)/*.c))
jobs_src   := $(wildcard daemon/jobs/*.c)
tune_src   := $(wildcard daemon/tune/*.c daemon/tune/page/*.c)
plugin_src := $(wildcard opensm-plugin/*.c)
sim_src    := $(wildcard sim/*.c)
bench_src  := $(wildcard perftest/bench/*.c perftest/mpa/*.c)
verbs_src  := $(wildcard perftest/verbs/*.c)
lab_src    := $(wildcard perftest/lab/*.c)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
lib = $(B)/lib/libibcc_$(1).a

# Archives leave main() out, so that tests can link them.
nomain = $(filter-out %/main.c,$(1))
LIBS := $(foreach l,daemon sim $(lib_parts),$(call lib,$(l)))

programs := $(if $(daemon_src),$(B)/ibcc-tuned) $(if $(tune_src),$(B)/ibcc-tune) $(if $(jobs_src),$(B)/ibcc-jobs) \
	    $(if $(sim_src),$(B)/ibcc-sim) $(if $(bench_src),$(B)/ibcc-bench) \
	    $(if $(verbs_src),$(B)/ibcc-perf) \
	    $(if $(lab_src),$(B)/ibcc-lab)
plugin   := $(if $(plugin_src),$(B)/libibcc_opensm.so)

unit_tests := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
sim_tests  := $(patsubst tests/sim/%.c,$(B)/tests/sim/%,$(wildcard tests/sim/test_*.c))
sys_helpers := $(patsubst tests/system/%.c,$(B)/tests/system/%,$(wildcard tests/system/*.c))
fuzz_tests := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
test_programs := $(unit_tests) $(sim_tests) $(fuzz_tests) $(sys_helpers) $(patsubst %,$(B)/tests/double/lib%-double.so,ibverbs clock file nss)

.DELETE_ON_ERROR:
.PHONY: all help deps check fuzz fuzzers check-kill check-confirm check-chaos check-soak check-verbs check-slurm check-load check-valgrind check-large check-unit check-sim check-fuzz check-build check-system tests size demo \
	bench fit-lustre install clean format

# Targets that promise to work on a fresh machine get the packages first.
ifneq ($(filter check check-load demo bench,$(MAKECMDGOALS)),)
check check-load demo bench: export IBCC_BUILD := $(CURDIR)/$(B)
endif

all: $(programs) $(plugin)

help:
	@printf '%s\n' \
	'make                 build programs and plugin into build/' \
	'make deps            install the Debian packages needed (as root or by sudo)' \
	'make demo            the whole loop on a simulated fabric, with a report in build/demo/' \
	'make check           all tests; check-unit, -sim, -fuzz, -build, -system: a part of them' \
	'make fuzz            hunts with libFuzzer, SECONDS=60 for each target, T=name; needs clang' \
	'make check-load      all tests beside LOAD busy loops, default one for each processor' \
	'make check-kill      kills daemon, opensm and fabric 50 times each in a push' \
	'make check-large     a fat tree with 2304 hosts of which 10, and a spine, are silent' \
	'make check-valgrind  the OpenSM plugin under memcheck and helgrind; needs valgrind' \
	'make check-confirm   kills the daemon 50 times around a trial (apply --confirm-within)' \
	'make check-chaos     attacks of all kinds in a drawn order, SEED=1 SECONDS=600' \
	'make check-soak      an hour of virtual time with AddressSanitizer, SEED=1 MINUTES=60' \
	'make bench           speed of the packet engine, of sweeps, decisions and polling' \
	'make fit-lustre      search the Lustre scenario'"'"'s free parameters again, into build/fit/' \
	'make doc             build/doc/index.html: the published experiments, with plots' \
	'make install         DESTDIR= PREFIX=/usr/local SYSCONFDIR= LIBDIR= ...' \
	'make uninstall       takes that away again, with the same variables' \
	'make deb             Debian packages in build/deb/; make rpm: RPMs in build/rpm/' \
	'make check-verbs     ibcc-perf on soft RoCE, in a virtual machine' \
	'make check-slurm     ibcc-jobs and sweeps with a real Slurm, whose nodes are processes on this machine' \
	'make check-boot      installs the packages into a container with systemd, and tries them there' \
	'make check-debian    make demo and make check on the other releases of Debian, by an ordinary user' \
	'make size            lines of code and comments, by folder' \
	'make format          clang-format over all sources' \
	'make clean           remove build/' \
	'' \
	'CC=clang             another compiler (built in build/variant-clang)' \
	'SANITIZE=address,undefined   with sanitizers (built in build/variant-...)' \
	'V=1                  show commands' \
	'T=name               check-unit, check-system...: only tests whose name contains it, or one of its words'

deps:
	@sh tests/build/deps.sh

# Sub-makes, so that the build begins after the packages are there.
check: deps
	+@$(MAKE) --no-print-directory all tests
	@bash tests/run.sh $(B) build unit fuzz sim system
# The tests among $(1) that tests/run.sh picks for T, so that one of them does not wait for all to be built.
picked = $(if $(strip $(T)),$(foreach t,$(1),$(if $(strip $(foreach w,$(T),$(findstring $(w),$(t:$(B)/tests/%=%)))),$(t))),$(1))
check-unit: $(call picked,$(unit_tests))
check-sim: $(call picked,$(sim_tests))
check-fuzz: $(call picked,$(fuzz_tests))
check-build check-system: tests
check-build check-unit check-fuzz check-sim check-system: check-%: all
	@bash tests/run.sh $(B) $*
check-load: deps
	+@$(MAKE) --no-print-directory all tests
	@bash tests/load.sh bash tests/run.sh $(B) build unit fuzz sim system
demo: deps
	+@$(MAKE) --no-print-directory all
	@$(B)/ibcc-lab demo --build $(B) --out build/demo
bench: deps
	+@$(MAKE) --no-print-directory all tests
	@sh perftest/lab/bench.sh $(B)
# With all of the library instrumented, so that the hunt sees where an input leads in it.
FUZZ_SANITIZE := address,undefined,fuzzer-no-link
SECONDS ?= 60
fuzz:
	+@$(MAKE) --no-print-directory CC=clang SANITIZE=$(FUZZ_SANITIZE) fuzzers
	@sh tests/fuzz/hunt.sh build/variant-clang-$(subst $(comma),-,$(FUZZ_SANITIZE)) $(SECONDS)
size:
	@sh tests/size.sh
fuzzers: $(patsubst tests/fuzz/%.c,$(B)/hunt/%,$(wildcard tests/fuzz/fuzz_*.c))
# The long form of tests/system/test_kill.sh, about half an hour.
check-kill: all tests
	@IBCC_BUILD=$(CURDIR)/$(B) IBCC_KILLS=$${IBCC_KILLS:-50} bash tests/system/test_kill.sh
	@IBCC_BUILD=$(CURDIR)/$(B) IBCC_KILLS=$${IBCC_KILLS:-50} bash tests/system/test_nvidia_kill.sh
# The large form of tests/system/test_silent_tree.sh, some minutes: at the daemon's default interval.
check-large: all $(B)/tests/system/tool $(B)/tests/system/plugin_client
	@IBCC_BUILD=$(CURDIR)/$(B) LEAVES=48 HOSTS=48 SPINES=32 SILENT=10 PASS_MS=10000 bash tests/system/test_silent_tree.sh
# The plugin inside stock opensm under memcheck and helgrind, some minutes for each; needs valgrind. One test at a time,
# as the plugin gives its clients no more time because of it.
check-valgrind: all tests
	@for tool in memcheck helgrind; do echo "$$tool:"; IBCC_VALGRIND=$$tool JOBS=1 \
		T="$${T:-test_plugin test_dead_man test_stopped_opensm test_failover}" bash tests/run.sh $(B) system || exit 1; done
# The long form of tests/system/test_confirm.sh, some minutes.
check-confirm: all tests
	@IBCC_BUILD=$(CURDIR)/$(B) IBCC_KILLS=$${IBCC_KILLS:-50} bash tests/system/test_confirm.sh
# The long form of tests/system/test_chaos.sh.
SEED ?= 1
check-chaos: SECONDS = 600
check-chaos: all tests
	@IBCC_BUILD=$(CURDIR)/$(B) IBCC_SEED=$(SEED) IBCC_CHAOS_SECONDS=$(SECONDS) bash tests/system/test_chaos.sh
# The long form of tests/sim/test_soak.c. What was freed is kept for little only, or it would look
# like growth.
MINUTES ?= 60
check-soak:
	+@$(MAKE) --no-print-directory SANITIZE=address build/variant-address/tests/sim/test_soak
	@ASAN_OPTIONS=quarantine_size_mb=4$${ASAN_OPTIONS:+:$$ASAN_OPTIONS} IBCC_SEED=$(SEED) \
		IBCC_SOAK_MINUTES=$(MINUTES) build/variant-address/tests/sim/test_soak
# ibcc-perf on soft RoCE, in a virtual machine: what a kernel's own verbs take and do.
check-verbs: deps
	+@$(MAKE) --no-print-directory $(B)/ibcc-perf
	@bash tests/verbs/verbs.sh $(B)
# ibcc-jobs and sweeps with Debian's Slurm on loopback.
check-slurm: deps
	+@$(MAKE) --no-print-directory all $(B)/tests/system/tool $(B)/tests/system/plugin_client
	@bash tests/slurm/slurm.sh $(B)
# A search that was ended goes on where it was; it begins again if the program or what it reads is newer.
fit-lustre: fit-%: $(B)/ibcc-lab
	$(Q)mkdir -p $(B)/fit
	$(Q)[ -z "$$(find $< perftest/lab/fits perftest/experiments perftest/scenarios \
		-newer $(B)/fit/$*.jsonl -print 2>&1)" ] || rm -f $(B)/fit/$*.jsonl $(B)/fit/$*-as-is.jsonl
	$(Q)$< sweep --fit perftest/lab/fits/$*.yaml --out $(B)/fit/$*.jsonl
	$(Q)$< sweep --fit perftest/lab/fits/$*.yaml --as-is --out $(B)/fit/$*-as-is.jsonl 2>/dev/null
	$(Q)$< best $(B)/fit/$*.jsonl --given $(B)/fit/$*-as-is.jsonl
tests: $(test_programs)

define compile
	$(call say,CC,$<)
	$(Q)[ -d $(@D) ] || mkdir -p $(@D); \
	$(CC) $(ALL_CPPFLAGS) $(EXTRA_CPPFLAGS) $(TEST_CPPFLAGS) $(ALL_CFLAGS) $(EXTRA_CFLAGS) -MMD -MP -c -o $@ $<
endef
$(B)/obj/%.o: %.c Makefile
	$(compile)
# Tests run for moments: to optimize them costs more than it brings, but for the second model of the fabric.
$(B)/obj/tests/%.o: EXTRA_CFLAGS := -O0 -U_FORTIFY_SOURCE
ref_model := $(addprefix $(B)/obj/tests/sim/, reference.o reference_host.o reference_limiter.o)
$(ref_model): EXTRA_CFLAGS :=
$(B)/obj/opensm-plugin/%.o $(B)/obj/daemon/service/%.o $(B)/obj/daemon/tune/%.o $(B)/obj/tests/%.o: EXTRA_CPPFLAGS := $(OSM_CPPFLAGS)

# How the members are called that OpenSM's releases differ in.
$(B)/gen/opensm_members.h: opensm-plugin/members.sh Makefile
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sh opensm-plugin/members.sh $(CC) -std=c11 -D_GNU_SOURCE $(CPPFLAGS) $(OSM_CPPFLAGS) >$@
$(B)/obj/opensm-plugin/fabric.o: $(B)/gen/opensm_members.h
$(B)/obj/opensm-plugin/fabric.o: EXTRA_CPPFLAGS += -I$(B)/gen

define archive
$(call lib,$(1)): $(call obj,$(call nomain,$($(1)_src)))
	$$(call say,AR,$$@)
	$$(Q)mkdir -p $$(@D) && rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach l,$(lib_parts) daemon jobs tune sim plugin bench verbs lab,$(eval $(call archive,$(l))))

link = $(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(SAN_STATIC) -pie $(HARDEN_LD) $(LDFLAGS) -o $@ $(filter %.o,$^) \
	-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LDLIBS_ALL) $(EXTRA_LIBS)

$(B)/ibcc-tuned: $(call obj,daemon/main.c) $(LIBS)
	$(call say,LD,$@)
	$(link)
$(B)/ibcc-tune: $(call obj,daemon/tune/main.c) $(call lib,tune) $(LIBS)
	$(call say,LD,$@)
	$(link)
$(B)/ibcc-jobs: $(call obj,daemon/jobs/main.c) $(call lib,jobs) $(LIBS)
	$(call say,LD,$@)
	$(link)
$(B)/ibcc-sim: $(call obj,sim/main.c) $(LIBS)
	$(call say,LD,$@)
	$(link)
$(B)/ibcc-bench: $(call obj,perftest/bench/main.c) $(call lib,bench) $(LIBS)
	$(call say,LD,$@)
	$(link)
$(B)/ibcc-perf: $(call obj,perftest/verbs/main.c) $(call lib,verbs) $(call lib,bench) $(LIBS)
	$(call say,LD,$@)
	$(link)
$(B)/ibcc-lab: $(call obj,perftest/lab/main.c) $(call lib,lab) $(call lib,bench) $(call lib,tune) $(LIBS)
	$(call say,LD,$@)
	$(link)
# All symbols are bound on loading: a missing one must not end OpenSM later.
$(B)/libibcc_opensm.so: $(call obj,$(plugin_src)) $(foreach l,mad ledger counters topo codec base,$(call lib,$(l)))
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(SAN_SHARED) $(HARDEN_LD) $(LDFLAGS) -shared -Wl,-soname,libibcc_opensm.so -o $@ \
		$(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
		-Wl,--exclude-libs,ALL $(if $(SANITIZE),,-Wl,-z,defs) \
		-Wl,--as-needed -lopensm -losmcomp -libumad $(CORE_LIBS) -lpthread

TEST_DEPS := $(call lib,plugin) $(call lib,tune) $(call lib,jobs) $(foreach l,lab verbs bench,$(if $($(l)_src),$(call lib,$(l)))) $(LIBS)
$(B)/tests/unit/% $(B)/tests/sim/%: EXTRA_LIBS := -lcmocka -Wl,--as-needed -lopensm -losmcomp
# Count allocations, and have them fail.
$(B)/tests/unit/test_steady $(B)/tests/unit/test_estimate_no_memory: EXTRA_LIBS += \
	$(foreach f,malloc calloc realloc reallocarray,-Wl$(comma)--wrap=$(f))
# Has groups of its own.
$(B)/tests/unit/test_plugin_options: EXTRA_LIBS += -Wl,--wrap=getgrnam_r -Wl,--wrap=fopen
# Has a name service of its own.
$(B)/tests/unit/test_names: EXTRA_LIBS += -Wl,--wrap=getgrnam_r -Wl,--wrap=getpwuid_r
# Waits on a clock of its own.
$(B)/tests/fuzz/fuzz_sa_client $(B)/hunt/fuzz_sa_client: EXTRA_LIBS += -Wl,--wrap=clock_gettime
# Sets the clock of the host.
$(B)/tests/unit/test_predictor_clock: EXTRA_LIBS += -Wl,--wrap=time
# Waits for a writer on a clock of its own.
$(B)/tests/unit/test_state_reader: EXTRA_LIBS += -Wl,--wrap=nanosleep -Wl,--wrap=clock_gettime
# Are on a host without ports.
$(B)/tests/sim/test_nvidia $(B)/tests/sim/test_nvidia_debts: EXTRA_LIBS += -Wl,--wrap=ibcc_umad_is_local
# Has a twin that simulates nothing.
$(B)/tests/unit/test_prediction_hops: EXTRA_LIBS += $(foreach f,new replay try free,-Wl$(comma)--wrap=ibcc_twin_$(f))
# Has a prediction that never ends.
$(B)/tests/sim/test_predict_beside: EXTRA_LIBS += -Wl,--wrap=ibcc_predict
# Verbs without a device; also to be preloaded.
verbs_double := $(patsubst %,$(B)/obj/tests/double/%.o,verbs device faults)
# What is preloaded has no sanitizer, as its runtime would come second to that in the program.
preloaded := $(B)/obj/$(if $(SANITIZE),preloaded/)tests/double
$(B)/obj/preloaded/%.o: SAN_CFLAGS :=
$(B)/obj/preloaded/%.o: %.c Makefile
	$(compile)
$(B)/tests/double/libibverbs-double.so: $(patsubst $(B)/obj/tests/double/%,$(preloaded)/%,$(verbs_double))
# A wall clock that a test sets.
$(B)/tests/double/libclock-double.so: $(preloaded)/clock.o
# A file server that falls silent.
$(B)/tests/double/libfile-double.so: $(preloaded)/file.o
# A name service that falls silent.
$(B)/tests/double/libnss-double.so: $(preloaded)/nss.o
$(B)/tests/double/lib%-double.so: SAN_CFLAGS :=
$(B)/tests/double/lib%-double.so:
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -o $@ $^ -lpthread

# The tests of a folder are one program (tests/entry.h), and those of ibcc-perf another, with the double of verbs. Alone
# are those with --wrap or a function of their own in place of a library's, which would hold for all, and those that
# read arguments.
unit_alone := $(patsubst %,$(B)/tests/unit/test_%,edit_full estimate_no_memory names netfile notices plugin_fabric plugin_options \
	      prediction_hops predictor_clock sa_client sim_pace state_reader state_sync steady umad_port)
sim_alone  := $(patsubst %,$(B)/tests/sim/test_%,bcn engine_conservation nvidia nvidia_debts predict_beside)
perf_tests := $(filter $(B)/tests/unit/test_perf_%,$(unit_tests))
unit_shared := $(filter-out $(unit_alone) $(perf_tests),$(unit_tests))
sim_shared := $(filter-out $(sim_alone),$(sim_tests))
test_obj = $(patsubst $(B)/%,$(B)/obj/%.o,$(1)) $(B)/obj/tests/main.o
$(filter-out %/main.o,$(call test_obj,$(unit_shared) $(perf_tests) $(sim_shared))): \
	TEST_CPPFLAGS = -include tests/entry.h -Dmain=main_of_$(basename $(@F))

$(B)/tests/unit/all: $(call test_obj,$(unit_shared)) $(TEST_DEPS)
	$(call say,LD,$@)
	$(link)
$(B)/tests/unit/perf: $(call test_obj,$(perf_tests)) $(verbs_double) $(B)/obj/tests/double/cm.o $(TEST_DEPS)
	$(call say,LD,$@)
	$(link)
# The model a second time, which the engine is compared with.
$(B)/tests/sim/all: $(call test_obj,$(sim_shared)) $(ref_model) $(B)/obj/tests/sim/reference_draw.o $(TEST_DEPS)
	$(call say,LD,$@)
	$(link)
$(unit_shared): $(B)/tests/unit/all
$(perf_tests): $(B)/tests/unit/perf
$(sim_shared): $(B)/tests/sim/all
$(unit_shared) $(perf_tests) $(sim_shared):
	$(Q)ln -sf $(<F) $@
$(unit_alone) $(sim_alone): $(B)/%: $(B)/obj/%.o $(TEST_DEPS)
	$(call say,LD,$@)
	$(link)
$(B)/tests/fuzz/%: $(B)/obj/tests/fuzz/%.o $(B)/obj/tests/fuzz/replay.o $(TEST_DEPS)
	$(call say,LD,$@)
	$(link)
$(B)/hunt/%: EXTRA_LIBS := -fsanitize=fuzzer
$(B)/hunt/%: $(B)/obj/tests/fuzz/%.o $(TEST_DEPS)
	$(call say,LD,$@)
	$(link)
$(B)/tests/system/%: $(B)/obj/tests/system/%.o $(LIBS)
	$(call say,LD,$@)
	$(link)
.PRECIOUS: $(B)/obj/%.o

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf build

-include systemd/install.mk
-include debian/debian.mk
-include doc/doc.mk
-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
