#!/bin/bash
# runner/qemu.sh --accel kvm: what is missing is one line and status 3; what is there is used. QEMU is a program of the test's own
# that prints how it was called, /sys and /dev are folders.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
mkdir -p "$work/bin" "$work/dev" "$work/sys/module/kvm/parameters" "$work/sys/bus/event_source/devices/cpu" "$work/sys/kernel/mm/hugepages/hugepages-2048kB"
printf '#!/bin/sh\necho "$*" >"%s/called"\nexit 33\n' "$work" >"$work/bin/qemu-system-x86_64"
chmod +x "$work/bin/qemu-system-x86_64"
: >"$work/image"
export PATH=$work/bin:$PATH STALLMETER_SYS=$work/sys STALLMETER_DEV=$work/dev
boot() { rm -f "$work/called"; runner/qemu.sh --work "$work/q" --accel kvm "$@" "$work/image"; }
missing() { # missing PATTERN: status 3, one line, nothing started
	says 3 "$1" boot && [ "$(wc -l <"$work/says")" -eq 1 ] && [ ! -e "$work/called" ]
}
check "kvm_missing_is_told" missing "dev/kvm is missing: load kvm_intel or kvm_amd"
: >"$work/dev/kvm"
echo N >"$work/sys/module/kvm/parameters/enable_pmu"
check "kvm_without_counters_is_told" missing "KVM gives guests no performance counters .*load kvm with enable_pmu=1"
echo Y >"$work/sys/module/kvm/parameters/enable_pmu"
rmdir "$work/sys/bus/event_source/devices/cpu"
check "kvm_host_without_counters_is_told" missing "this host has no performance counters itself"
mkdir "$work/sys/bus/event_source/devices/cpu_core" # a hybrid processor has this name instead
check "kvm_starts" status 0 boot
check "kvm_is_the_hosts_processor_with_counters" grep -E -- '-machine q35,accel=kvm .*-cpu host,pmu=on,migratable=off' "$work/called"
check "kvm_no_huge_pages_no_option" sh -c '! grep mem-path "$1"' - "$work/called"
mkdir "$work/dev/hugepages"
echo 512 >"$work/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"
used() { boot "$@" && grep -E -- "accel=kvm,memory-backend=ram .*size=1024M,mem-path=$work/dev/hugepages,prealloc=on" "$work/called"; }
check "kvm_huge_pages_are_used" used
check "kvm_too_few_huge_pages_are_not" status 1 used --memory 1100
# make run's script hands both on
check "kvm_run_says_the_same" says 3 "none/kvm is missing" env STALLMETER_DEV="$work/none" BACKEND=hw ACCEL=kvm OUT="$out" runner/run.sh nehalem-ep quick
check "kvm_other_accelerators_are_refused" refuses '"xen": unknown; allowed: tcg kvm' runner/qemu.sh --work "$work/q" --accel xen "$work/image"
tap_end
