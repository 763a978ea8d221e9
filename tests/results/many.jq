# 1,000 runs out of one: two products by turns, values with normal noise of 0.4 % as if measured. $altered: those of which up to four rows are off;
# of the second product these have other firmware, too. A run a line.
def next: (. * 48271) % 2147483647; # MINSTD: Park and Miller 1988, multiplier of 1993
def gauss: reduce range(12) as $_ ([., -6]; (.[0] | next) as $n | [$n, .[1] + $n / 2147483647]); # [state, a value of nearly the normal distribution]
def milli: (. * 1000 | round) / 1000;
. as $one | [$one.rows | to_entries[] | select(.value.status == "ok" and .value.value != null and .value.value > 0) | .key] as $measured |
foreach range(1000) as $i ({state: 37};
	.run = ($one | .simulated = false | .backend = "hw" | .rows[].simulated = false |
		.environment.product = (if $i % 2 == 1 then "Two-socket A" else "Two-socket B" end) | .environment.firmware_version = "1.0" | .machine.microcode = "0x1d" |
		.environment.started = "2026-11-\(1 + ($i / 40 | floor) | tostring | if length < 2 then "0" + . else . end)T\($i % 24 | tostring | if length < 2 then "0" + . else . end):00:00Z") |
	reduce $measured[] as $k (.; (.state | gauss) as [$state, $z] | .state = $state |
		.run.rows[$k].value |= (. * (if $i % 2 == 1 then 1.02 else 1 end) * (1 + 0.004 * $z) | milli)) |
	if $altered | index($i) then
		reduce range(1 + $i % 4) as $n (.; .run.rows[$measured[($i + 5 * $n) % ($measured | length)]].value |= (. * [0.9, 1.08, 1.1, 1.3][($i + $n) % 4] | milli)) |
		if $i % 2 == 1 then .run.environment.firmware_version = "0.9" else . end
	else . end; .run)
