# Stallmeter. One Makefile, not recursive; everything it makes lies under $(OUT).
#
#   make run      build, boot in QEMU/OVMF on the simulated machine, print the penalty table
#   make metal    the same application with the real hw backend, on a simulated machine behind QEMU's processor (MACHINE=, SUITE=)
#   make check    every test; closes with "N passed, N failed";  make check-quick  the layers and each short unit program
#   make image    a disk image to write to a USB stick;  make usb DEV=/dev/sdX writes it; with SIGN_KEY= and SIGN_CERT= signed
#   make usb-update DEV=/dev/sdX  only the application of a stick
#   make serve    servers for network boot, DHCP, TFTP and HTTP with uploads, in a network namespace; DIR=out/serve is their folder
#   make bench    all speeds, or PARTS="simulated ..." (tests/bench/bench.sh)
#   make host     only out/stallmeter, the host command;  make efi  only the UEFI application, and the loader for a PC BIOS
#   make install  PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR=: host command, manual pages, completion, disk image;  make uninstall
#   make release  reproducible artefacts in out/release;  make deb  Debian packages in out/deb

OUT     ?= out
SAN     ?=
MACHINE ?= $(shell cat tables/machines/default)
SUITE   ?= quick

CC      ?= gcc
ifeq ($(origin CC),default)
CC      := gcc
endif
NASM    := nasm
PYTHON  := python3

# The rooms below efi/ and runner/: freestanding, compiled once, linked into both.
# Lines and functions for valgrind and backtraces: a quarter less to compile than with variables, which DEBUG=-g has for a debugger.
DEBUG   ?= -g1
COMMON  := -std=gnu11 -O2 $(DEBUG) -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wshadow \
           -fno-strict-aliasing -ffile-prefix-map=$(CURDIR)=. -I. -I$(OUT)/gen -MMD -MP
FREE    := $(COMMON) -ffreestanding -fpic -fvisibility=hidden -fshort-wchar -fno-stack-protector \
           -fno-asynchronous-unwind-tables -mno-red-zone
EFI     := $(FREE) -DGNU_EFI_USE_MS_ABI -isystem /usr/include/efi -isystem /usr/include/efi/x86_64
# The second stage of the BIOS route: at fixed addresses, before anybody saves vector registers.
BIOS    := $(filter-out -fpic -O2 $(DEBUG),$(EFI)) -Os -fno-pic -mgeneral-regs-only
HOSTED  := $(COMMON) -fPIE -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS)
ifneq ($(SAN),)
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SANFLAGS += -Wno-array-bounds # gcc 12 takes a loop over the counters for one without a bound once its accesses are checked
endif

.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.PHONY: metal machine-format all host efi man install uninstall release deb image usb usb-update run check check-quick check-fast check-long serve unit judges libraries fuzz-short fuzz-long bench clean
all: host efi

# --- sources -----------------------------------------------------------------------------------
TABLE_TEXTS   := $(sort $(shell find tables/processors -type f) $(wildcard tables/*.py tables/*.csv))
SIM_SOURCES   := $(sort $(shell find pmu/sim -name '*.c'))
PMU_SOURCES   := $(filter-out $(SIM_SOURCES),$(sort $(shell find pmu -name '*.c')))
BENCH_SOURCES := $(sort $(shell find bench -name '*.c'))
LIB_SOURCES   := $(PMU_SOURCES) $(SIM_SOURCES) $(BENCH_SOURCES)
EFI_SOURCES   := $(filter-out efi/bios/%,$(sort $(shell find efi -name '*.c')))
EFI_ASM       := $(filter-out efi/bios/%,$(sort $(shell find efi -name '*.asm')))
HOST_SOURCES  := $(filter-out runner/shim/shim.c,$(sort $(shell find runner -name '*.c')))
UNIT_SOURCES  := $(wildcard tests/unit/*/test_*.c)
UNIT_SUPPORT  := $(filter-out $(UNIT_SOURCES),$(wildcard tests/unit/*/*.c tests/expect/*.c tests/reference/*.c))

PMU_OBJECTS   := $(PMU_SOURCES:%.c=$(OUT)/%.o) $(OUT)/asm/blob.o $(OUT)/gen/tables.o
SIM_OBJECTS   := $(SIM_SOURCES:%.c=$(OUT)/%.o) $(OUT)/gen/machines.o
BENCH_OBJECTS := $(BENCH_SOURCES:%.c=$(OUT)/%.o) $(OUT)/gen/font.o
LIB_OBJECTS   := $(PMU_OBJECTS) $(SIM_OBJECTS) $(BENCH_OBJECTS)
EFI_OBJECTS   := $(EFI_SOURCES:%.c=$(OUT)/%.o) $(EFI_ASM:%.asm=$(OUT)/%.asm.o)
HOST_OBJECTS  := $(HOST_SOURCES:%.c=$(OUT)/%.o)
HOST_LIBRARY  := $(filter-out $(OUT)/runner/commands/main.o,$(HOST_OBJECTS))
UNIT_PROGRAMS := $(UNIT_SOURCES:%.c=$(OUT)/%)

# --- generated tables --------------------------------------------------------------------------
# A file that is gone leaves no newer prerequisite: the lists of files are prerequisites, too.
listed = @mkdir -p $(@D); printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) >$@
$(OUT)/gen/tables.list: FORCE
	$(call listed,$(TABLE_TEXTS))
$(OUT)/gen/machines.list: FORCE
	$(call listed,$(MACHINE_FILES))
$(OUT)/gen/tables.c: $(TABLE_TEXTS) $(OUT)/gen/tables.list
	@mkdir -p $(@D)
	$(PYTHON) tables/generate.py tables $@
$(OUT)/gen/tables.o: $(OUT)/gen/tables.c
	$(CC) $(FREE) $(SANFLAGS) -c -o $@ $<

MACHINE_FILES := $(wildcard tables/machines/*.machine tables/machines/maps/*.map tables/machines/maps/uncore/*.map) tables/machines/default tables/machines/simulate
$(OUT)/gen/machines.c: tables/machines.py $(MACHINE_FILES) $(OUT)/gen/machines.list
	@mkdir -p $(@D)
	$(PYTHON) tables/machines.py embed $@ $(MACHINE_FILES)
$(OUT)/gen/machines.o: $(OUT)/gen/machines.c
	$(CC) $(FREE) $(SANFLAGS) -c -o $@ $<
# The screen's font.
$(OUT)/gen/font.c: tables/font.py tables/fonts/spleen-8x16.txt
	@mkdir -p $(@D)
	$(PYTHON) tables/font.py $@ tables/fonts/spleen-8x16.txt
$(OUT)/gen/font.o: $(OUT)/gen/font.c
	$(CC) $(FREE) $(SANFLAGS) -c -o $@ $<
# After a change of fields, classes, signals, conditions or units: rewrites the lists in tables/machines/FORMAT.md.
machine-format:
	$(PYTHON) tables/machines.py format pmu/sim/machine/machine.def pmu/sim/machine/machine_class.def pmu/sim/signals/signals.def \
	    pmu/sim/machine/event_map.h pmu/sim/machine/netburst_units.def pmu/sim/signals tables/machines/FORMAT.md

# The build id goes into every results file: the tag, if there is one, and the commit; "-dirty" when the tree differs from it.
# Sources without git have it in packaging/commit.txt, which git archive fills; git above this folder is not ours.
COMMIT   := $(shell sed -n 's/^\([0-9a-f]\{12\}\)[0-9a-f]*$$/\1/p' packaging/commit.txt)
BUILD_ID := $(shell GIT_CEILING_DIRECTORIES="$(abspath $(CURDIR)/..)" git describe --always --long --dirty --abbrev=12 2>/dev/null || echo $(or $(COMMIT),unknown))
# The version is that of the newest entry of the change log.
VERSION  := $(shell sed -n '/^\#\# [0-9]/{s/^\#\# \([0-9.]*\).*/\1/p;q}' CHANGELOG.md)
$(OUT)/gen/bench/build.h: FORCE
	@mkdir -p $(@D)
	@echo '#define BUILD_ID "$(BUILD_ID)"' | cmp -s - $@ || echo '#define BUILD_ID "$(BUILD_ID)"' >$@
$(OUT)/gen/runner/version.h: FORCE
	@mkdir -p $(@D)
	@printf '#define STALLMETER_VERSION "$(VERSION)"\n#define STALLMETER_BUILD "$(BUILD_ID)"\n' >$@.new
	@cmp -s $@.new $@ || cp $@.new $@
FORCE:
$(OUT)/bench/results/report.o: $(OUT)/gen/bench/build.h
$(OUT)/runner/commands/version.o $(OUT)/runner/commands/manual.o: $(OUT)/gen/runner/version.h

# --- objects -----------------------------------------------------------------------------------
$(LIB_SOURCES:%.c=$(OUT)/%.o): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(FREE) $(SANFLAGS) -c -o $@ $<
# What interprets and accounts each simulated instruction.
$(OUT)/pmu/sim/%.o: FREE += -O3 -fno-tree-slp-vectorize
$(EFI_SOURCES:%.c=$(OUT)/%.o): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(EFI) -c -o $@ $<
$(HOST_OBJECTS) $(UNIT_SUPPORT:%.c=$(OUT)/%.o): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOSTED) $(SANFLAGS) -c -o $@ $<
# Tests spend their time in the libraries: optimising their own code costs more than it saves. -O1 keeps the warnings about uninitialised variables.
$(OUT)/tests/unit/%.o: HOSTED := $(HOSTED:-O2=-O1)
$(OUT)/asm/blob.o: $(wildcard asm/*.asm asm/*.inc)
	@mkdir -p $(@D)
	$(NASM) -f elf64 -I. -o $@ asm/blob.asm
$(OUT)/efi/%.asm.o: efi/%.asm efi/processor/vectors.inc
	@mkdir -p $(@D)
	$(NASM) -f elf64 -I. -o $@ $<

# One library a layer, in the order in which a linker needs them. Thin: they name their objects, so making one costs nothing.
LAYERS  := $(OUT)/libbench.a $(OUT)/libsim.a $(OUT)/libpmu.a
RUNNER  := $(OUT)/librunner.a $(LAYERS)
SUPPORT := $(OUT)/libsupport.a
libraries: $(RUNNER)
$(OUT)/libpmu.a: $(PMU_OBJECTS)
$(OUT)/libsim.a: $(SIM_OBJECTS)
$(OUT)/libbench.a: $(BENCH_OBJECTS)
# The host command's rooms without its main.
$(OUT)/librunner.a: $(HOST_LIBRARY)
# What several tests use: rigs, closed forms of tests/expect, the reference of tests/reference.
$(OUT)/libsupport.a: $(UNIT_SUPPORT:%.c=$(OUT)/%.o)
$(RUNNER) $(SUPPORT):
	@rm -f $@
	ar rcsDT $@ $^

# --- the host command --------------------------------------------------------------------------
host: $(OUT)/stallmeter $(OUT)/libstallmeter_shim.so
$(OUT)/stallmeter: $(HOST_OBJECTS) $(LAYERS)
	$(CC) $(SANFLAGS) $(CFLAGS) $(LDFLAGS) -pie -o $@ $^ -ljansson -lm -lpthread

# What stallmeter simulate loads before a program.
$(OUT)/libstallmeter_shim.so: runner/shim/shim.c runner/shim/request.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(COMMON)) -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -shared $(LDFLAGS) -o $@ $< -ldl

# --- the library of the simulated machine ------------------------------------------------------
# One object, in which the names of its header alone are to be seen.
$(OUT)/libstallmeter_sim.a: $(OUT)/runner/library/stallmeter_sim.o $(SIM_OBJECTS) $(OUT)/pmu/text.o $(OUT)/asm/blob.o
	ld -r -o $(OUT)/stallmeter_sim.o $^
	objcopy --wildcard --keep-global-symbol='stallmeter_sim_*' $(OUT)/stallmeter_sim.o
	@rm -f $@
	ar rcsD $@ $(OUT)/stallmeter_sim.o
$(OUT)/stallmeter_sim.pc: FORCE
	@mkdir -p $(@D)
	@printf 'prefix=%s\nName: stallmeter_sim\nDescription: a simulated processor with its performance monitoring\nVersion: %s\nCflags: -I$${prefix}/include\nLibs: -L%s -lstallmeter_sim\n' '$(PREFIX)' '$(VERSION)' '$(LIBDIR:$(PREFIX)/%=$${prefix}/%)' >$@

# --- the UEFI application ----------------------------------------------------------------------
efi: $(OUT)/BOOTX64.EFI $(OUT)/bios.bin
$(OUT)/stallmeter.so: efi/app.lds $(EFI_OBJECTS) $(LIB_OBJECTS)
	ld -nostdlib -znocombreloc -znoexecstack -shared -Bsymbolic --no-undefined -T efi/app.lds \
	  /usr/lib/crt0-efi-x86_64.o $(EFI_OBJECTS) $(LIB_OBJECTS) -o $@ /usr/lib/libgnuefi.a
$(OUT)/BOOTX64.EFI: $(OUT)/stallmeter.so
	objcopy -S -j .text -j .reloc -j .data -j .sbat -j .dynamic -j .rela -j .dynsym --target efi-app-x86_64 --subsystem=10 $< $@.new
	@runner/nx.sh $@.new
	@mv $@.new $@

# --- the loader for a PC BIOS ------------------------------------------------------------------
# Boot sector and second stage in one file, with the second stage's length and checksum.
BIOS_SOURCES := $(wildcard efi/bios/*.c)
BIOS_OBJECTS := $(OUT)/efi/bios/start.o $(BIOS_SOURCES:%.c=$(OUT)/%.o) $(OUT)/efi/bios/shared/string.o $(OUT)/efi/bios/shared/text.o
$(BIOS_SOURCES:%.c=$(OUT)/%.o): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(BIOS) -c -o $@ $<
$(OUT)/efi/bios/shared/string.o: efi/firmware/string.c
	@mkdir -p $(@D)
	$(CC) $(BIOS) -c -o $@ $<
$(OUT)/efi/bios/shared/text.o: pmu/text.c
	@mkdir -p $(@D)
	$(CC) $(BIOS) -c -o $@ $<
$(OUT)/efi/bios/start.o: efi/bios/start.asm efi/processor/vectors.inc
	@mkdir -p $(@D)
	$(NASM) -f elf64 -I. -o $@ $<
$(OUT)/efi/bios/stage2.elf: efi/bios/bios.lds $(BIOS_OBJECTS)
	ld -nostdlib -static -znoexecstack --no-warn-rwx-segments -T efi/bios/bios.lds -o $@ $(BIOS_OBJECTS)
$(OUT)/bios.bin: efi/bios/boot.asm $(OUT)/efi/bios/stage2.elf
	objcopy -O binary $(OUT)/efi/bios/stage2.elf $(OUT)/efi/bios/stage2.bin
	set -- $$(cksum $(OUT)/efi/bios/stage2.bin); \
	$(NASM) -f bin -DSTAGE2='"$(OUT)/efi/bios/stage2.bin"' -DSTAGE2_CRC=$$1 -DSTAGE2_BYTES=$$2 -o $@ $<

# make image SIGN_KEY=KEY SIGN_CERT=CERT: signed for Secure Boot, in an image of its own.
SIGN_KEY  ?=
SIGN_CERT ?=
$(OUT)/signed/BOOTX64.EFI: $(OUT)/BOOTX64.EFI $(SIGN_KEY) $(SIGN_CERT)
	@mkdir -p $(@D)
	@runner/sign.sh "$(SIGN_KEY)" "$(SIGN_CERT)" $< $@

# --- the disk image ----------------------------------------------------------------------------
# What a user calls installs what is missing first, then comes back for the files; after other goals of the same
# command, which would make the same files beside it.
image usb usb-update run metal: | $(filter all host efi,$(MAKECMDGOALS))
# What firmware of 32 bits starts: it says why nothing runs.
$(OUT)/BOOTIA32.EFI: efi/bios/ia32.asm
	@mkdir -p $(@D)
	$(NASM) -f bin -o $@ $<
$(OUT)/stallmeter.img: $(OUT)/BOOTX64.EFI $(OUT)/BOOTIA32.EFI $(OUT)/bios.bin runner/stallmeter.ini runner/image.sh
	runner/image.sh $(OUT)/BOOTX64.EFI $(OUT)/bios.bin runner/stallmeter.ini $@ $(OUT)/BOOTIA32.EFI
$(OUT)/signed/stallmeter.img: $(OUT)/signed/BOOTX64.EFI $(OUT)/BOOTIA32.EFI $(OUT)/bios.bin runner/stallmeter.ini runner/image.sh
	runner/image.sh $< $(OUT)/bios.bin runner/stallmeter.ini $@ $(OUT)/BOOTIA32.EFI
IMAGE := $(OUT)/$(if $(SIGN_KEY)$(SIGN_CERT),signed/)stallmeter.img
image:
	@runner/setup.sh image $(if $(SIGN_KEY)$(SIGN_CERT),sign)
	@$(MAKE) --no-print-directory $(IMAGE)
	@echo "$(IMAGE): write it to a stick by make usb DEV=/dev/sdX"
usb:
	@runner/setup.sh image $(if $(SIGN_KEY)$(SIGN_CERT),sign)
	@$(MAKE) --no-print-directory $(IMAGE)
	@runner/usb.sh "$(DEV)" $(IMAGE)
# Only the application on a stick that make usb wrote before: settings and results stay.
usb-update:
	@runner/setup.sh image $(if $(SIGN_KEY)$(SIGN_CERT),sign)
	@$(MAKE) --no-print-directory $(IMAGE)
	@runner/usb.sh --update "$(DEV)" $(IMAGE)

# --- what is installed, and what is given away -------------------------------------------------
# Manual pages have the texts of --help.
COMMANDS  := $(shell sed -n 's/^COMMAND(\(.*\))$$/\1/p' runner/commands/commands.def)
MAN_PAGES := $(OUT)/man/stallmeter.1 $(COMMANDS:%=$(OUT)/man/stallmeter-%.1)
man: $(MAN_PAGES) $(OUT)/man/completion
$(OUT)/man/stallmeter.1: $(OUT)/stallmeter
	@mkdir -p $(@D)
	$< --man >$@
$(OUT)/man/stallmeter-%.1: $(OUT)/stallmeter
	@mkdir -p $(@D)
	$< --man $* >$@
$(OUT)/man/completion: $(OUT)/stallmeter
	@mkdir -p $(@D)
	$< --completion >$@

PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
DESTDIR ?=
INSTALLED_TEXTS := README.md CHANGELOG.md LICENSE docs/accounting.md docs/reading.md docs/replay.md docs/lint.md docs/library.c results/SCHEMA.md results/schema.json
install: $(OUT)/stallmeter $(OUT)/libstallmeter_shim.so $(OUT)/libstallmeter_sim.a $(OUT)/stallmeter_sim.pc $(MAN_PAGES) $(OUT)/man/completion $(OUT)/stallmeter.img
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/stallmeter $(DESTDIR)$(PREFIX)/share/man/man1 \
	  $(DESTDIR)$(PREFIX)/share/doc/stallmeter $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/man/man3 \
	  $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/lib/stallmeter
	install -m 644 $(OUT)/libstallmeter_sim.a $(DESTDIR)$(LIBDIR)/
	install -m 644 $(OUT)/libstallmeter_shim.so $(DESTDIR)$(PREFIX)/lib/stallmeter/
	install -m 644 $(OUT)/stallmeter_sim.pc $(DESTDIR)$(LIBDIR)/pkgconfig/
	install -m 644 runner/library/stallmeter_sim.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 runner/library/stallmeter_sim.3 $(DESTDIR)$(PREFIX)/share/man/man3/
	install -m 755 $(OUT)/stallmeter $(DESTDIR)$(PREFIX)/bin/stallmeter
	install -m 644 $(MAN_PAGES) $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 $(OUT)/man/completion $(DESTDIR)$(PREFIX)/share/bash-completion/completions/stallmeter
	install -m 644 $(INSTALLED_TEXTS) $(DESTDIR)$(PREFIX)/share/doc/stallmeter/
	cp --sparse=always $(OUT)/stallmeter.img $(DESTDIR)$(PREFIX)/share/stallmeter/stallmeter.img
	chmod 644 $(DESTDIR)$(PREFIX)/share/stallmeter/stallmeter.img
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/stallmeter $(patsubst $(OUT)/man/%,$(DESTDIR)$(PREFIX)/share/man/man1/%,$(MAN_PAGES)) \
	  $(DESTDIR)$(PREFIX)/share/bash-completion/completions/stallmeter
	rm -f $(DESTDIR)$(LIBDIR)/libstallmeter_sim.a $(DESTDIR)$(LIBDIR)/pkgconfig/stallmeter_sim.pc $(DESTDIR)$(PREFIX)/include/stallmeter_sim.h \
	  $(DESTDIR)$(PREFIX)/share/man/man3/stallmeter_sim.3
	rm -rf $(DESTDIR)$(PREFIX)/share/stallmeter $(DESTDIR)$(PREFIX)/share/doc/stallmeter $(DESTDIR)$(PREFIX)/lib/stallmeter

release: $(OUT)/stallmeter $(MAN_PAGES) $(OUT)/man/completion $(OUT)/stallmeter.img $(if $(SIGN_KEY)$(SIGN_CERT),$(OUT)/signed/stallmeter.img)
	@OUT=$(OUT) packaging/release.sh "$(VERSION)" "$(BUILD_ID)" $(if $(SIGN_KEY)$(SIGN_CERT),"$(SIGN_KEY)" "$(SIGN_CERT)")
deb:
	@OUT=$(OUT) packaging/deb.sh "$(VERSION)"

# --- from boot to results ----------------------------------------------------------------------
run:
	@runner/setup.sh run
	@$(MAKE) --no-print-directory host $(OUT)/stallmeter.img
	@OUT=$(OUT) BACKEND="$(BACKEND)" ACCEL="$(ACCEL)" runner/run.sh "$(MACHINE)" "$(SUITE)"

# What docs/fleet.md says of network boot, to be tried without a network.
DIR ?= $(OUT)/serve
serve:
	@runner/setup.sh serve
	@$(MAKE) --no-print-directory $(OUT)/BOOTX64.EFI
	@mkdir -p $(DIR)/boot
	@cp $(OUT)/BOOTX64.EFI $(DIR)/boot/
	@[ -e $(DIR)/boot/stallmeter.ini ] || printf 'upload = http://192.0.2.1/upload/\nend = shutdown\n' >$(DIR)/boot/stallmeter.ini
	@packaging/server/serve.sh $(DIR)

metal:
	@runner/setup.sh run
	@$(MAKE) --no-print-directory host $(OUT)/stallmeter.img $(OUT)/tests/metal/metal
	@OUT=$(OUT) tests/metal/run.sh "$(MACHINE)" "$(SUITE)"

# --- tests -------------------------------------------------------------------------------------
$(UNIT_SOURCES:%.c=$(OUT)/%.o): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOSTED) $(SANFLAGS) -c -o $@ $<
# A program is linked again when one of the objects that it took out of the libraries changes: the linker's trace names them.
$(UNIT_PROGRAMS): $(OUT)/%: $(OUT)/%.o | $(SUPPORT) $(RUNNER)
	$(CC) $(SANFLAGS) -pie -o $@ $< $(SUPPORT) $(RUNNER) -lcmocka -ljansson -lpfm -lm -lpthread $(LIBS_$(notdir $@)) -Wl,--trace >$@.trace
	@awk -v program=$@ 'index($$0, "$(OUT)/") == 1 && /\.o$$/ { print program ": " $$0 "\n" $$0 ":" }' $@.trace >$@.linked.d
LIBS_test_reference := -Wl,--wrap=signal_pulse_deliver,--wrap=signal_level_deliver
LIBS_test_reference_pair := $(LIBS_test_reference)
unit: $(UNIT_PROGRAMS)

# The firmware's tables, read on the host under the sanitizers.
$(OUT)/tests/acpi/tables: tests/acpi/tables.c efi/platform/acpi.c efi/platform/smbios.c pmu/text.c $(wildcard efi/*/*.h)
	@mkdir -p $(@D)
	$(CC) $(COMMON) -DGNU_EFI_USE_MS_ABI -fshort-wchar -isystem /usr/include/efi -isystem /usr/include/efi/x86_64 -include string.h -MF $@.d \
	  -fsanitize=address,undefined -fno-sanitize-recover=undefined -o $@ $(filter %.c,$^)

# Parts of efi/ that need no firmware, likewise.
$(OUT)/tests/firmware/parts: $(wildcard tests/firmware/*.c) efi/platform/clock_choose.c efi/processor/mtrr.c efi/network/address.c efi/network/origin.c \
  efi/processor/watchdog_chips.c efi/processor/watchdog_bmc.c efi/firmware/serial.c pmu/text.c $(OUT)/gen/tables.c $(wildcard efi/*/*.h tests/firmware/*.h)
	@mkdir -p $(@D)
	$(CC) $(COMMON) -DGNU_EFI_USE_MS_ABI -fshort-wchar -isystem /usr/include/efi -isystem /usr/include/efi/x86_64 -include string.h -MF $@.d \
	  -fsanitize=address,undefined -fno-sanitize-recover=undefined -o $@ $(filter %.c,$^)

# What the BIOS loader reads, likewise.
$(OUT)/tests/bios/loader: tests/bios/loader.c $(addprefix efi/bios/,memory.c partition.c fat.c volume.c image.c) pmu/text.c efi/bios/loader.h
	@mkdir -p $(@D)
	$(CC) $(COMMON) -D_GNU_SOURCE -DGNU_EFI_USE_MS_ABI -fshort-wchar -isystem /usr/include/efi -isystem /usr/include/efi/x86_64 -include string.h -MF $@.d \
	  -fsanitize=address,undefined -fno-sanitize-recover=undefined -o $@ $(filter %.c,$^)

# The judges of the simulated machine: the host's part, and a guest of its own for QEMU's icount.
$(OUT)/tests/judge/judge: tests/judge/judge.c tests/judge/ring.c $(OUT)/tests/unit/support/kernel_start.o $(RUNNER)
	@mkdir -p $(@D)
	$(CC) $(HOSTED) $(SANFLAGS) -o $@ $< tests/judge/ring.c $(OUT)/tests/unit/support/kernel_start.o $(RUNNER) -ljansson -lm -lpthread
$(OUT)/tests/judge/stream: tests/judge/stream.c tests/judge/ring.c $(LAYERS)
	@mkdir -p $(@D)
	$(CC) $(HOSTED) -o $@ tests/judge/stream.c tests/judge/ring.c $(LAYERS)
$(OUT)/tests/judge/guest.elf: tests/judge/guest.c tests/judge/start.asm tests/judge/judge.lds $(OUT)/asm/blob.o
	@mkdir -p $(@D)
	$(CC) $(COMMON) -ffreestanding -fno-pic -fno-stack-protector -fno-asynchronous-unwind-tables -mno-red-zone -mgeneral-regs-only \
	  -c -o $(OUT)/tests/judge/guest.o tests/judge/guest.c
	$(NASM) -f elf64 -I. -o $(OUT)/tests/judge/start.o tests/judge/start.asm
	ld -nostdlib -z noexecstack --no-warn-rwx-segments -T tests/judge/judge.lds -o $(OUT)/tests/judge/guest.64 $(OUT)/tests/judge/start.o \
	  $(OUT)/tests/judge/guest.o $(OUT)/asm/blob.o
	objcopy -O elf32-i386 $(OUT)/tests/judge/guest.64 $@
# Answers the guest's accesses to registers, on QEMU's gdb stub.
$(OUT)/tests/boot/registers/debugger: tests/boot/registers/debugger.c tests/metal/stub.c tests/metal/stub.h $(OUT)/asm/blob.o
	@mkdir -p $(@D)
	$(CC) $(HOSTED) -z noexecstack -o $@ tests/boot/registers/debugger.c tests/metal/stub.c $(OUT)/asm/blob.o
# A simulated processor behind the guest's hw backend, on the same stub.
METAL_SOURCES := $(wildcard tests/metal/*.c)
$(OUT)/tests/metal/metal: $(METAL_SOURCES) $(wildcard tests/metal/*.h) efi/processor/percpu.h $(RUNNER)
	@mkdir -p $(@D)
	$(CC) $(HOSTED) -z noexecstack -o $@ $(METAL_SOURCES) $(RUNNER) -ljansson -lm -lpthread
# Reads text and curves out of a dump of the guest's screen.
$(OUT)/tests/boot/firmware/picture: tests/boot/firmware/picture.c
	@mkdir -p $(@D)
	$(CC) $(HOSTED) -o $@ $<
# Each moment of a medium while it was written.
$(OUT)/tests/boot/medium/writes: tests/boot/medium/writes.c
	@mkdir -p $(@D)
	$(CC) $(HOSTED) -o $@ $<
# Firmware as it is met: started in place of the application, which it starts.
HOSTILE_OBJECTS := $(patsubst %.c,$(OUT)/%.o,$(wildcard tests/boot/firmware/hostile/*.c)) $(OUT)/efi/firmware/uefi.o $(OUT)/efi/firmware/string.o
$(filter $(OUT)/tests/boot/firmware/hostile/%,$(HOSTILE_OBJECTS)): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(EFI) -c -o $@ $<
$(OUT)/tests/boot/firmware/hostile.efi: efi/app.lds $(HOSTILE_OBJECTS)
	ld -nostdlib -znocombreloc -znoexecstack -shared -Bsymbolic --no-undefined -T efi/app.lds /usr/lib/crt0-efi-x86_64.o $(HOSTILE_OBJECTS) -o $@.so /usr/lib/libgnuefi.a
	objcopy -S -j .text -j .reloc -j .data -j .dynamic -j .rela -j .dynsym --target efi-app-x86_64 --subsystem=10 $@.so $@
# Errors planted in rows: what of the suite alone finds them.
$(OUT)/tests/judge/planted: tests/judge/planted.c $(SUPPORT) $(RUNNER)
	@mkdir -p $(@D)
	$(CC) $(HOSTED) $(SANFLAGS) -pie -o $@ $< $(SUPPORT) $(RUNNER) -lcmocka -ljansson -lm -lpthread
judges: $(OUT)/tests/judge/judge $(OUT)/tests/judge/stream $(OUT)/tests/judge/guest.elf $(OUT)/tests/judge/planted

# --- speeds ------------------------------------------------------------------------------------
$(OUT)/tests/bench/speed: tests/bench/speed.c $(RUNNER)
	@mkdir -p $(@D)
	$(CC) $(HOSTED) $(SANFLAGS) -o $@ $< $(RUNNER) -ljansson -lm -lpthread
# What the core-to-core matrix costs a simulated machine of many cores.
$(OUT)/tests/bench/matrix: tests/bench/matrix.c $(RUNNER)
	@mkdir -p $(@D)
	$(CC) $(HOSTED) $(SANFLAGS) -o $@ $< $(RUNNER) -ljansson -lm -lpthread
# What memory a suite takes on a simulated machine beside the rows' buffers.
$(OUT)/tests/bench/memory: tests/bench/memory.c $(RUNNER)
	@mkdir -p $(@D)
	$(CC) $(HOSTED) $(SANFLAGS) -o $@ $< $(RUNNER) -ljansson -lm -lpthread
# Built for the machine at hand, as a user of gcc would; nothing of it is shipped.
# race_avx: for hosts, or WIDEST=avx, without AVX-512.
$(OUT)/tests/bench/race $(OUT)/tests/bench/race_avx: tests/bench/race.c tests/bench/likwid.c tests/bench/likwid.h $(OUT)/asm/blob.o
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O3 -march=native $(if $(filter %_avx,$@),-mno-avx512f) -Wall -Wextra -Wshadow -Werror -D_GNU_SOURCE -I. -z noexecstack -o $@ $(filter %.c,$^) $(OUT)/asm/blob.o -lpthread
bench: host $(OUT)/tests/bench/speed $(OUT)/tests/bench/matrix $(OUT)/tests/bench/memory $(OUT)/tests/bench/race $(OUT)/tests/bench/race_avx
	@runner/setup.sh run
	@$(MAKE) --no-print-directory $(OUT)/stallmeter.img
	@OUT=$(OUT) tests/bench/bench.sh $(PARTS)

SLOW := $(shell sed -n 's/^\(test_[a-z0-9_]*\) .*/\1/p' tests/slow.txt)
check-quick: $(HOST_OBJECTS) $(foreach p,$(UNIT_PROGRAMS),$(if $(filter $(notdir $(p)),$(SLOW)),,$(p)))
check-fast: host unit
check-quick check-fast:
	OUT=$(OUT) tests/run.sh $(@:check-%=%)
check check-long:
	@runner/setup.sh test
	@$(MAKE) --no-print-directory host $(OUT)/stallmeter.img unit judges $(OUT)/tests/acpi/tables $(OUT)/tests/bios/loader $(OUT)/tests/firmware/parts $(OUT)/tests/boot/registers/debugger $(OUT)/tests/metal/metal $(OUT)/tests/boot/firmware/hostile.efi
	@OUT=$(OUT) tests/run.sh $(if $(filter check-long,$@),long,all)

# What each profile does to the registers, to be looked at before it goes in.
.PHONY: golden
golden: host
	OUT=$(OUT) tests/golden/record.sh tests/golden
	OUT=$(OUT) MACHINE=core2 tests/golden/record.sh tests/golden/core2
	OUT=$(OUT) MACHINE=pentium4 ROWS="$$(sed -n "s/^rows='\(.*\)'$$/\1/p" tests/shell/commands/golden.sh)" tests/golden/record.sh tests/golden/pentium4
	OUT=$(OUT) MACHINE=pentium4 tests/golden/record.sh tests/golden/pentium4/profiles
	@git --no-pager diff --stat -- tests/golden

# README's table of what is confirmed on hardware, from the descriptors.
.PHONY: readme
readme: host
	@$(OUT)/stallmeter list --confirmed results >$(OUT)/confirmed.md
	@sed -i -e '/^<!-- confirmed -->$$/,/^<!-- end -->$$/{//!d}' -e '/^<!-- confirmed -->$$/r $(OUT)/confirmed.md' README.md

# docs/penalties.md: measured against expected on five simulated machines; ROWS=NAME,... runs and renews the lines of those rows alone.
EXPECT_OBJECTS := $(patsubst %.c,$(OUT)/%.o,$(wildcard tests/expect/*.c))
$(OUT)/tests/penalties/expected: tests/penalties/expected.c $(EXPECT_OBJECTS) $(LAYERS)
	@mkdir -p $(@D)
	$(CC) $(HOSTED) $(SANFLAGS) -o $@ $< $(EXPECT_OBJECTS) $(LAYERS)
.PHONY: penalties
penalties: host $(OUT)/tests/penalties/expected
	OUT=$(OUT) ROWS=$(ROWS) tests/penalties/table.sh

# --- fuzzing -----------------------------------------------------------------------------------
# tests/fuzz/fuzz_X.c, with the sources that FUZZ_SOURCES_fuzz_X names; the corpus stays under $(OUT). Readers have seeds of
# every kind of text, and no tracing of comparisons, which takes half of the time.
FUZZ_PROGRAMS := $(patsubst tests/fuzz/%.c,$(OUT)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SOURCES_fuzz_decode := $(wildcard pmu/sim/isa/*.c)
FUZZ_SOURCES_fuzz_machine := pmu/text.c pmu/sim/machine/machine.c pmu/sim/machine/machine_check.c pmu/sim/machine/event_map.c pmu/sim/machine/map_text.c pmu/sim/machine/uncore_map.c $(OUT)/gen/machines.c
FUZZ_SOURCES_fuzz_ibs := pmu/amd/ibs.c pmu/text.c
FUZZ_SOURCES_fuzz_ibs_fetch := pmu/amd/ibs_fetch.c pmu/amd/ibs.c pmu/text.c
FUZZ_SOURCES_fuzz_pebs := pmu/counters/pebs.c $(LAYERS)
FUZZ_SOURCES_fuzz_box_table := pmu/backend/box_place.c pmu/backend/box_table.c pmu/backend/msr_guard_placed.c
FUZZ_SOURCES_fuzz_map := pmu/text.c pmu/sim/machine/event_map.c pmu/sim/machine/map_text.c
FUZZ_SOURCES_fuzz_trace := pmu/text.c runner/data/trace_text.c runner/data/trace_cpus.c
FUZZ_SOURCES_fuzz_request := runner/shim/serve.c runner/library/stallmeter_sim.c runner/data/trace_text.c pmu/text.c $(LAYERS)
FUZZ_SOURCES_fuzz_results := runner/data/reader.c runner/data/reader_check.c $(wildcard bench/report/html*.c) bench/results/document.c pmu/text.c $(RUNNER)
FUZZ_SOURCES_fuzz_journal := runner/data/reader.c runner/data/reader_check.c bench/results/document.c pmu/text.c $(RUNNER)
FUZZ_SOURCES_fuzz_resume := bench/results/journal.c bench/results/writer.c bench/results/writer_resume.c bench/results/document.c pmu/text.c $(LAYERS)
FUZZ_SOURCES_fuzz_counts := runner/data/counts.c runner/data/perf_event.c bench/report/user_account.c bench/workloads/stall_model.c bench/results/document.c pmu/text.c $(RUNNER)
FUZZ_SOURCES_fuzz_settings := efi/app/config.c efi/network/address.c pmu/text.c bench/suite/suite.c bench/measure/cpuset.c bench/workloads/profile.c $(LAYERS)
# exec.c alone takes clang half a minute with optimization and the sanitizers.
FUZZ_FLAGS_fuzz_decode   := -O0
FUZZ_FLAGS_fuzz_results  := -fno-sanitize-coverage=trace-cmp
FUZZ_FLAGS_fuzz_request  := $(FUZZ_FLAGS_fuzz_results)
FUZZ_FLAGS_fuzz_machine  := $(FUZZ_FLAGS_fuzz_results)
FUZZ_FLAGS_fuzz_map      := $(FUZZ_FLAGS_fuzz_results)
FUZZ_FLAGS_fuzz_journal  := $(FUZZ_FLAGS_fuzz_results)
FUZZ_FLAGS_fuzz_resume   := $(FUZZ_FLAGS_fuzz_results)
FUZZ_FLAGS_fuzz_counts   := $(FUZZ_FLAGS_fuzz_results)
FUZZ_FLAGS_fuzz_settings := $(FUZZ_FLAGS_fuzz_results) -DGNU_EFI_USE_MS_ABI -fshort-wchar -isystem /usr/include/efi -isystem /usr/include/efi/x86_64
FUZZ_SHORT    ?= 200000
FUZZ_LONG     ?= 10000000
.SECONDEXPANSION:
$(FUZZ_PROGRAMS): $(OUT)/fuzz/%: tests/fuzz/%.c $$(FUZZ_SOURCES_$$*)
	@mkdir -p $(@D)
	clang $(COMMON) -D_GNU_SOURCE $(FUZZ_FLAGS_$*) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -o $@ $(filter %.c %.a,$^) -ljansson -lm -lpthread
fuzz-short fuzz-long: $(FUZZ_PROGRAMS)
	OUT=$(OUT) tests/shell/house/fuzz.sh $(if $(filter fuzz-long,$@),$(FUZZ_LONG),$(FUZZ_SHORT))

clean:
	rm -rf $(OUT)

# A source that was moved, of which the dependencies of an earlier build still speak.
%.c: ;
-include $(shell find $(OUT) -name '*.d' 2>/dev/null)
