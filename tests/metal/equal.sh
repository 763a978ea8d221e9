#!/bin/bash
# Whether two tables say the same: tests/metal/equal.sh MACHINE SIMULATED/results.json METAL/results.json [DIFFERENCES]
#   The verdict of each row, its value within TOLERANCE per cent (and five hundredths of its unit) or the larger spread of the two, the verdict
#   of its latency event and of its uncore queue. What differs must stand in the reviewed list (tests/metal/differences.txt), and what stands there must differ; `value N`
#   there: within N per cent.
set -u
[ $# -ge 3 ] || { echo "usage: tests/metal/equal.sh MACHINE SIMULATED METAL [DIFFERENCES]" >&2; exit 2; }
jq -rn --arg machine "$1" --slurpfile a "$2" --slurpfile b "$3" --rawfile list "${4:-tests/metal/differences.txt}" --argjson tolerance "${TOLERANCE:-1}" '
def near($x; $y; $percent): if $x.value == null or $y.value == null then $x.value == $y.value
	else (($x.value - $y.value) | fabs) <= ([($x.value | fabs) * $percent / 100 + 0.05, $x.spread // 0, $y.spread // 0] | max) end;
def is($row; $name): $name | test("^" + ($row | gsub("\\."; "\\.") | gsub("\\*"; ".*")) + "$");
def index_of($rows): $rows | map({ key: .name, value: . }) | from_entries;
(index_of($a[0].rows)) as $sim | (index_of($b[0].rows)) as $metal
| [ $list | split("\n")[] | select(. != "" and startswith("#") == false) | split("|") | map(gsub("^ +| +$"; ""))
    | { machine: .[0], row: .[1], what: .[2], why: .[3], line: join(" | ") } | select(.machine == "*" or .machine == $machine) ] as $reviewed
| [ $reviewed[] | select(.what | startswith("value ")) | { row, percent: (.what[6:] | tonumber) } ] as $wide
| [ ($sim + $metal | keys_unsorted[]) as $name | $sim[$name] as $s | $metal[$name] as $m
    | if $s == null or $m == null then { name: $name, what: "row", from: ($s.status // "none"), to: ($m.status // "none") }
      else (
        (if $s.status != $m.status then { name: $name, what: "verdict", from: $s.status, to: "\($m.status): \($m.reason)" } else empty end),
        (if $s.status == "ok" and $m.status == "ok" and (near($s; $m; [ $wide[] | select(. as $w | is($w.row; $name)) | .percent ] + [$tolerance] | max) | not) then { name: $name, what: "value", from: $s.value, to: $m.value } else empty end),
        (if ($s.latency_event.verdict // "none") != ($m.latency_event.verdict // "none")
         then { name: $name, what: "latency event", from: ($s.latency_event.verdict // "none"), to: "\($m.latency_event.verdict // "none"): \($m.latency_event.reason // "")" } else empty end),
        (if ($s.uncore_queue.status // "none") != ($m.uncore_queue.status // "none")
         then { name: $name, what: "uncore queue", from: ($s.uncore_queue.status // "none"), to: ($m.uncore_queue.status // "none") } else empty end))
      end ] as $found
| ($found[] | . as $f | select([ $reviewed[] | select(. as $r | is($r.row; $f.name) and $r.what == $f.what) ] | length == 0)
   | "differs: \(.name): \(.what): \(.from) simulated, \(.to) behind hw"),
  ($reviewed[] | . as $r | select($r.what | startswith("value ") | not) | select(([ $sim + $metal | keys_unsorted[] | select(is($r.row; .)) ] | length) > 0 and ([ $found[] | select(is($r.row; .name) and .what == $r.what) ] | length) == 0)
   | "reviewed, but equal: \(.line)"),
  "\($sim | length) rows compared, \($found | length) differences"' | awk '{ print; last = $0 } /^differs|^reviewed/ { bad = 1 } END { exit bad || last !~ /^[1-9]/ }'
