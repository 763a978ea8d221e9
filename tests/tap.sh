# TAP for shell tests: `. tests/tap.sh`, then check "what is claimed" COMMAND..., and tap_end last.
# Work goes to $work, which is removed at the end; what a command said is in $work/said.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tap_count=0 tap_failed=0
out=${OUT:-out}
export STALLMETER_FIRMWARE_STATES=${STALLMETER_FIRMWARE_STATES-$work/states} # boots begin where OVMF has loaded its drivers: runner/firmware_state.sh

export STALLMETER_SHARED=${STALLMETER_SHARED-$work/shared} # what several scripts use, made once a run of them all
# full_run: $full is a folder with a full run of the simulated nehalem-ep, in which nobody writes; it has this label
full_label='<b>bold</b> & "quoted" <script>x</script>'
full_run() {
	mkdir -p "$STALLMETER_SHARED" || return 1
	(
		flock 6
		[ -e "$STALLMETER_SHARED/full/status" ] || {
			rc=0
			"$out/stallmeter" run --backend sim --machine nehalem-ep --suite full --out "$STALLMETER_SHARED/full" --label "$full_label" >"$STALLMETER_SHARED/full.said" 2>&1 || rc=$?
			mkdir -p "$STALLMETER_SHARED/full" && echo $rc >"$STALLMETER_SHARED/full/status"
		}
	) 6>"$STALLMETER_SHARED/full.lock"
	cat "$STALLMETER_SHARED/full.said"
	full=$(echo "$STALLMETER_SHARED"/full/*/)
	full=${full%/}
	return "$(cat "$STALLMETER_SHARED/full/status")"
}

check() { # the command must succeed
	local what=$1; shift
	tap_count=$((tap_count + 1))
	if "$@" >"$work/said" 2>&1; then
		echo "ok $tap_count - $what"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_count - $what"
		tail -n 20 "$work/said" | sed 's/^/# /'
	fi
}
skip() { tap_count=$((tap_count + 1)); echo "ok $tap_count - $1 # SKIP $2"; }
# status N COMMAND...: it must end with this exit status
status() { local want=$1 rc=0; shift; "$@" || rc=$?; [ "$rc" -eq "$want" ] || { echo "exit status $rc, not $want"; return 1; }; }
# says N PATTERN COMMAND...: exit status N, and what it prints has the pattern (extended, grep's)
says() {
	local want=$1 pattern=$2 rc=0; shift 2
	"$@" >"$work/says" 2>&1 || rc=$?
	cat "$work/says"
	[ "$rc" -eq "$want" ] || { echo "exit status $rc, not $want"; return 1; }
	grep -qE -- "$pattern" "$work/says" || { echo "nothing matches: $pattern"; return 1; }
}
# refuses PATTERN COMMAND...: exit status 2 and exactly one line, which has the pattern
refuses() {
	local pattern=$1; shift
	says 2 "$pattern" "$@" || return 1
	[ "$(wc -l <"$work/says")" -eq 1 ] || { echo "more than one line"; return 1; }
}
# lanes FUNCTION...: at once, each with a $work of its own; what they checked comes one after the other
lanes() {
	local top=$work lane line
	for lane; do
		(work=$top/$lane tap_count=0 tap_failed=0; mkdir -p "$work"; "$lane") >"$top/$lane.tap" 2>&1 &
	done
	wait
	for lane; do
		while IFS= read -r line; do
			if [[ $line =~ ^(not )?ok\ [0-9]+(.*) ]]; then
				tap_count=$((tap_count + 1))
				[ -z "${BASH_REMATCH[1]}" ] || tap_failed=$((tap_failed + 1))
				line="${BASH_REMATCH[1]}ok $tap_count${BASH_REMATCH[2]}"
			fi
			printf '%s\n' "$line"
		done <"$top/$lane.tap"
	done
}
tap_end() { echo "1..$tap_count"; [ "$tap_failed" -eq 0 ]; }
