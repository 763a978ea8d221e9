# jq -r -f contradictions.jq RESULTS.json: a line for each pair of values of a run that contradict each other without a mark, and for each value that
# cannot be. A mark is the noise verdict `noisy`, a point that is marked so, a reason that names the other row, or one that says that a penalty is
# not below 0. Two values agree if they miss their relation by at most 3 % of the larger, three times both spreads and half a unit
# (bench/suite/cross_check.h). The relations stand here once more, and do not come from the product. Each row has its own core clock, so clocks of
# different rows are not compared: turbo changes them.
def clock_part: 0.1;     # between a row's cycles per ns and its core_hz
def plateau_part: 0.12;  # between a chase and a point of the staircase deep in that level, whose pages may be smaller
def levels: ["l1", "l2", "l3", "dram"];

(.rows | map({(.name): .}) | add) as $rows
| (.machine.caches | map(select(.type != "I") | {("\(.level)"): .bytes}) | add) as $caches
| def value($n): $rows[$n] | if . and (.status | IN("ok", "noisy", "unproven")) then .value else null end;
  def marked($names): any($names[]; $rows[.] as $r | $r.noise == "noisy" or any($names[]; . as $o | $r.reason | contains("contradicts " + $o)));
  def comparable($names): all($names[]; value(.) != null) and (marked($names) | not);
  def slack($names): 0.03 * ([$names[] | value(.) | fabs] | max) + 3 * ([$names[] | $rows[.].spread] | add) + (if $rows[$names[0]].unit == "cycles" then 0.5 else 0 end);
  def at_most($low; $high): select(comparable([$low, $high]) and value($low) - value($high) > slack([$low, $high]))
    | "\($low) \(value($low)) is above \($high) \(value($high))";
  def difference($part; $whole; $less): select(comparable([$part, $whole, $less]) and
      (value($part) + value($less) - value($whole) | fabs) > slack([$part, $whole, $less]))
    | "\($part) \(value($part)) is not \($whole) \(value($whole)) less \($less) \(value($less))";
  def at_most_twice($whole; $part): select(comparable([$whole, $part]) and value($whole) - 2 * value($part) > slack([$whole, $part]))
    | "\($whole) \(value($whole)) is above twice \($part) \(value($part))";
  def relations:
    (["l1", "l2", "l3", "dram_local"] | map("load.\(.).latency")) as $loads
    | (range(4) as $i | range($i + 1; 4) as $k | at_most($loads[$i]; $loads[$k])),
      (("clean", "modified") | at_most_twice("core_to_core.\(.)_same_socket.latency"; "load.l3_\(.)_other_core.latency")),
      ($rows | keys[] as $name
       | ($name | index(".")) as $dot | $name[:$dot] as $what | $name[$dot + 1:] as $rest
       | (range(4) as $i | ("", "_all") as $all | select($rest == "\(levels[$i])\($all).bandwidth")
          | range($i) as $k | at_most($name; "\($what).\(levels[$k])\($all).bandwidth")),
         (select($name | endswith("_all.bandwidth")) | at_most($name | sub("_all\\."; "."); $name)),
         (select($rest | IN("node_local.bandwidth", "node_local_nt.bandwidth")) | at_most($name; $name | sub("node_local"; "dram") | sub("\\.bandwidth"; "_all.bandwidth"))),
         (select($name | endswith(".interval")) | at_most($name; $name | sub("\\.interval$"; ".latency"))),
         (select($name | endswith(".penalty")) | ($name | sub("\\.penalty$"; ".latency")) as $whole
          | at_most($name; $whole), (select($what == "load") | difference($name; $whole; "load.l1.latency"))));
  def single: $rows[] | select(.value != null) | . as $r
    | (select(.noise != "noisy" and (.reason | contains("is not below 0") | not) and .value < (if .kind == "penalty" then -3 * .spread - 0.5 else 0 end)) | "\(.name): \(.value)"),
      (select(.ns != null and .noise != "noisy")
       | if (.value > 0.001) != (.ns > 0) and (.ns | fabs) > 0.001 then "\(.name): \(.value) cycles in \(.ns) ns"
         elif (.core_hz // 0) > 0 and .value > 1 and (.value / .ns * 1e9 / .core_hz - 1 | fabs) > clock_part
         then "\(.name): \(.value) cycles in \(.ns) ns at \(.core_hz / 1e9) GHz" else empty end);
  def points: $rows[] | .name as $name | (.curve, .series, .matrix) | select(. != null) | ((.points // []) + (.cells // []))[]
    | select(any(.[]; . != null and . < 0)) | "\($name): point \(tojson)";
  def fewer_cores: $rows[] | select(.value != null and .noise != "noisy" and .series.columns == ["cores", "bytes_per_second"]) | .name as $name | .value as $all
    | .series.points[] | select(.[1] > 1.25 * $all) | "\($name): \($all) beside \(.[1]) of \(.[0]) cores";
  def staircase: ($rows["load.staircase.latency"].curve // {}) as $c | ($c.points // []) | to_entries[]
    | select(.key as $i | ($c.noisy // []) | index($i) | not) | .value as [$kib, $stride, $cycles]
    | ([1, "load.l1.latency"], [2, "load.l2.latency"]) as [$level, $name] | value($name) as $plateau
    | select($plateau != null and (marked([$name]) or ($rows[$name].reason | contains("contradicts load.staircase")) | not))
    | (2 * ($caches["\($level - 1)"] // 0) <= $kib * 1024 and $kib * 1024 <= (($caches["\($level)"] // 0) / 8 | floor) and $stride == 64) as $inside
    | select(($inside and ($cycles - $plateau | fabs) > plateau_part * $plateau + 0.5) or ($level == 1 and $cycles < $plateau * (1 - plateau_part) - 0.5))
    | "staircase, \($kib) KiB x \($stride): \($cycles) beside \($name) \($plateau)";
  relations, single, points, fewer_cores, staircase
