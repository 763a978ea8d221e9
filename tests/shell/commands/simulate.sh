#!/bin/bash
# stallmeter simulate: Debian's msr-tools, likwid and pcm run as they are on a simulated Haswell-EP, and count what it truly did within 1 %.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
PATH=$PATH:/usr/sbin:/sbin
s=$(realpath "$out")/stallmeter
on() { timeout 120 "$s" simulate --machine haswell-ep --trace "$work/trace" -- "$@" >"$work/ran" 2>&1 || { cat "$work/ran"; return 1; }; }
# near WANT GOT: within 1 %
near() { awk -v want="$1" -v got="$2" 'BEGIN { exit !(want > 0 && got >= want * 0.99 && got <= want * 1.01) }' || { cat "$work/ran"; echo "$2, not $1"; return 1; }; }
true_count() { sed -n 's/^\([0-9]*\) instructions, .*/\1/p' "$work/ran"; }
turn="$s simulate --run k_add_chain --instructions 5000000"
# skip_or NAME TOOL COMMAND...
skip_or() {
	local name=$1 tool=$2; shift 2
	if ! command -v "$tool" >/dev/null; then skip "$name" "no $tool: runner/setup.sh test installs it"; else check "$name" "$@"; fi
}
catches_cpuid() { grep -q cpuid_fault /proc/cpuinfo; }

check "simulate_exits_as_the_program_did" status 7 "$s" simulate -- sh -c 'exit 7'
check "simulate_wants_a_program" refuses 'a program is expected' "$s" simulate
check "simulate_runs_a_kernel_only_within" refuses 'only within a program' "$s" simulate --run k_add_chain
check "simulate_refuses_an_unknown_kernel" says 2 'no such kernel' "$s" simulate -- "$s" simulate --run k_nothing
check "simulate_refuses_an_unknown_machine" refuses 'no such machine' "$s" simulate --machine nothing -- true

msr_tools() {
	on sh -c "wrmsr -p 1 0x38d 0x2; wrmsr -p 1 0x38f 0x100000000; $turn --cpu 1; echo counted \$(rdmsr -p 1 -u 0x309); wrmsr -p 1 0x38f 0x100 || echo refused" || return 1
	grep -qx refused "$work/ran" && near "$(true_count)" "$(sed -n 's/^counted //p' "$work/ran")"
}
skip_or simulate_msr_tools_count rdmsr msr_tools
# What the programs do is a trace, which the lint takes.
traced() { grep -q '^wrmsr 1 0x38d 0x2$' "$work/trace" && grep -q '^wrmsr 1 0x38f 0x100 fault$' "$work/trace" && "$s" replay --machine haswell-ep --findings "$work/trace"; }
skip_or simulate_traces_what_msr_tools_do rdmsr traced
if catches_cpuid; then
	likwid() {
		on likwid-perfctr -M 0 -C 0 -g BRANCH $turn || return 1
		grep -q 'Haswell EN/EP/EX' "$work/ran" && near "$(true_count)" "$(sed -n 's/.*INSTR_RETIRED_ANY *| *FIXC0 *| *\([0-9]*\) .*/\1/p' "$work/ran")" &&
			near "$(($(true_count) / 18))" "$(sed -n 's/.*BR_INST_RETIRED_ALL_BRANCHES *| *PMC0 *| *\([0-9]*\) .*/\1/p' "$work/ran")"
	}
	skip_or simulate_likwid_counts likwid-perfctr likwid
	likwid_lint() { "$s" replay --machine haswell-ep --findings "$work/trace"; }
	skip_or simulate_likwid_has_no_finding likwid-perfctr likwid_lint
	pcm_() {
		on pcm-core -e cpu/umask=0x00,event=0xC4,name=B/ -- $turn || return 1
		near "$(($(true_count) / 1000))" "$(awk '$1 == "0" && $4 == "K" { print $3 }' "$work/ran")"
	}
	skip_or simulate_pcm_counts pcm-core pcm_
	pcm_msr() { on pcm-msr -c 0 0x345 && grep -q 'Read value 0x[0-9a-f]* from MSR 0x345' "$work/ran"; }
	skip_or simulate_pcm_msr_reads pcm-msr pcm_msr
else
	for name in likwid_counts likwid_has_no_finding pcm_counts pcm_msr_reads; do
		skip simulate_$name "this processor or kernel cannot make CPUID fault"
	done
fi
tap_end
