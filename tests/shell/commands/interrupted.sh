# tests/shell/commands/interrupted.sh: read by tests of Ctrl-C: the current row ends, the files are whole, exit status 4.
# interrupted ARGUMENT...: `stallmeter run` with these, into $work/stopped, interrupted once its first row has ended. bash starts background
# jobs of a script with SIGINT ignored, which `env` undoes.
interrupted() {
	env --default-signal=INT "$s" run "$@" --out "$work/stopped" >"$work/table" 2>&1 &
	local pid=$! rc=0 i
	for ((i = 0; i < 400; i++)); do grep -q '^load.l1' "$work/table" && break; sleep 0.05; done
	kill -INT "$pid"
	wait "$pid" || rc=$?
	cat "$work/table"
	[ "$rc" -eq 4 ] || { echo "exit status $rc, not 4"; return 1; }
}
