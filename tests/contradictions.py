#!/usr/bin/env python3
"""contradictions.py RESULTS.json...: prints every pair of values of a run that contradict each other without a mark, and every value that cannot be.

A mark is the noise verdict `noisy`, a point that is marked so, or a reason that names the other row. Two values agree if they miss their relation
by at most 3 % of the larger, three times both spreads and half a unit (bench/suite/cross_check.h). The relations stand here once more, and do not
come from the product. Each row has its own core clock, so clocks of different rows are not compared: turbo changes them.
Exit status: 0 none, 1 some."""
import json
import sys

PART, SPREADS, UNIT = 0.03, 3, 0.5
CLOCK_PART = 0.1     # between a row's cycles per ns and its core_hz
PLATEAU_PART = 0.12  # between a chase and a point of the staircase deep in that level, whose pages may be smaller
LEVELS = ["l1", "l2", "l3", "dram"]


class Run:
    def __init__(self, document):
        self.rows = {r["name"]: r for r in document["rows"]}
        self.caches = {c["level"]: c["bytes"] for c in document["machine"]["caches"] if c["type"] != "I"}
        self.found = []

    def value(self, name):
        row = self.rows.get(name)
        return row["value"] if row and row["status"] in ("ok", "noisy", "unproven") else None

    def marked(self, names):
        return any(self.rows[n]["noise"] == "noisy" or any("contradicts " + other in self.rows[n]["reason"] for other in names) for n in names)

    def comparable(self, names):
        return all(self.value(n) is not None for n in names) and not self.marked(names)

    def slack(self, names):
        unit = UNIT if self.rows[names[0]]["unit"] == "cycles" else 0
        return PART * max(abs(self.value(n)) for n in names) + SPREADS * sum(self.rows[n]["spread"] for n in names) + unit

    def at_most(self, low, high):
        if self.comparable([low, high]) and self.value(low) - self.value(high) > self.slack([low, high]):
            self.found.append("%s %s is above %s %s" % (low, self.value(low), high, self.value(high)))

    def difference(self, part, whole, less):
        names = [part, whole, less]
        if self.comparable(names) and abs(self.value(part) + self.value(less) - self.value(whole)) > self.slack(names):
            self.found.append("%s %s is not %s %s less %s %s" % (part, self.value(part), whole, self.value(whole), less, self.value(less)))

    def relations(self):
        names = ["load.%s.latency" % n for n in ("l1", "l2", "l3", "dram_local")]
        for i, low in enumerate(names):
            for high in names[i + 1:]:
                self.at_most(low, high)
        for name in self.rows:
            what, _, rest = name.partition(".")
            for i, level in enumerate(LEVELS):
                for all_cores in ("", "_all"):
                    if rest == level + all_cores + ".bandwidth":
                        for nearer in LEVELS[:i]:
                            self.at_most(name, "%s.%s%s.bandwidth" % (what, nearer, all_cores))
            if name.endswith("_all.bandwidth"):
                self.at_most(name.replace("_all.", "."), name)
            if name.endswith(".interval"):
                self.at_most(name, name.replace(".interval", ".latency"))
            if name.endswith(".penalty"):
                self.at_most(name, name.replace(".penalty", ".latency"))
                if name.startswith("load."):
                    self.difference(name, name.replace(".penalty", ".latency"), "load.l1.latency")

    def one(self, name, row):
        value, ns, hz = row["value"], row["ns"], row["core_hz"]
        if value is None:
            return
        least = -SPREADS * row["spread"] - UNIT if row["kind"] == "penalty" else 0
        if value < least and row["noise"] != "noisy":
            self.found.append("%s: %s" % (name, value))
        if ns is None or row["noise"] == "noisy":
            return
        if (value > 0.001) != (ns > 0) and abs(ns) > 0.001:
            self.found.append("%s: %s cycles in %s ns" % (name, value, ns))
        elif hz and value > 1 and abs(value / ns * 1e9 / hz - 1) > CLOCK_PART:
            self.found.append("%s: %s cycles in %s ns at %.3f GHz" % (name, value, ns, hz / 1e9))

    def points(self, name, row):
        for kind in ("curve", "series", "matrix"):
            part = row.get(kind) or {}
            for point in part.get("points", []) + part.get("cells", []):
                if any(x is not None and x < 0 for x in point):
                    self.found.append("%s: point %s" % (name, point))

    def staircase(self):
        curve = self.rows.get("load.staircase.latency", {}).get("curve") or {}
        for i, (kib, stride, cycles) in enumerate(curve.get("points", [])):
            if i in curve.get("noisy", []):
                continue
            for level, name in ((1, "load.l1.latency"), (2, "load.l2.latency")):
                plateau, below = self.value(name), 2 * self.caches.get(level - 1, 0)
                if plateau is None or self.marked([name]):
                    continue
                inside = below <= kib * 1024 <= self.caches.get(level, 0) // 8 and stride == 64
                if inside and abs(cycles - plateau) > PLATEAU_PART * plateau + UNIT or cycles < plateau * (1 - PLATEAU_PART) - UNIT and level == 1:
                    self.found.append("staircase, %s KiB x %s: %s beside %s %s" % (kib, stride, cycles, name, plateau))

    def check(self):
        self.relations()
        for name, row in self.rows.items():
            self.one(name, row)
            self.points(name, row)
        self.staircase()
        return self.found


def main():
    some = False
    for path in sys.argv[1:]:
        with open(path) as f:
            found = Run(json.load(f)).check()
        some = some or bool(found)
        print("%s: %u contradictions" % (path, len(found)))
        for line in found:
            print("  " + line)
    return some


sys.exit(main())
