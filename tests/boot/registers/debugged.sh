# tests/boot/registers/debugged.sh: read by tests that put a debugger (tests/boot/registers/debugger.c) between the guest and its registers.
make -s OUT="$out" "$out/tests/boot/registers/debugger" "$out/stallmeter.img" >"$work/make" 2>&1 || { cat "$work/make"; exit 1; }
symbol() { nm "$out/stallmeter.so" | awk -v n="$1" '$3 == n { print $1 }'; }

# debugged OPTIONS-OF-THE-GUEST [DEBUGGER'S ARGUMENT]...: with $smp processors (8); $rc is the guest's exit status, $said what the debugger found
debugged() {
	local options=$1 log=$work/q/debugcon.log
	shift
	rm -rf "$work/q" "$work/gdb"
	rc=0
	mkdir "$work/q"
	mkfifo "$work/q/keys.in" "$work/q/keys.out"
	cat "$work/q/keys.out" >/dev/null &
	runner/qemu.sh --work "$work/q" --smp "${smp:-8}" --memory 1536 --keys "$work/q/keys" --test debugger --options "$options end=exit" --limit 300 \
		"$out/stallmeter.img" -- -gdb "unix:$work/gdb,server=on,wait=off" >"$work/qemu" 2>&1 &
	local guest=$!
	exec 9<>"$work/q/keys.in"
	for ((i = 0; i < 600; i++)); do
		grep -q 'waiting for a debugger' "$log" 2>/dev/null && break
		sleep 0.2
	done
	"$out/tests/boot/registers/debugger" --socket "$work/gdb" --wait "$(symbol debugger_wait)" --rdmsr "$(symbol site_rdmsr)" \
		--wrmsr "$(symbol site_wrmsr)" --cpuid "$(symbol site_cpuid)" "$@" >"$work/debugger" 2>&1 || found=$?
	wait $guest || rc=$?
	exec 9>&-
}
# replayed PROFILE: the guest's accesses are those of the golden trace
replayed() {
	found=0
	debugged "backend=hw profile=$1 suite=load.l1.latency repetitions=1" tests/golden/start.txt "tests/golden/$1.txt"
	cat "$work/debugger" "$work/qemu"
	tail -n 20 "$work/q/debugcon.log"
	[ "$found" -eq 0 ] && [ "$rc" -eq 0 ] && grep -q ' accesses as recorded' "$work/debugger" &&
		grep -q "^$1: load.l1.latency" "$work/q/debugcon.log" && ! grep -q 'refused\|could not be restored' "$work/q/debugcon.log"
}
