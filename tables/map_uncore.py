#!/usr/bin/env python3
"""An uncore map of the simulated machine from the vendor's lists of uncore events (github.com/intel/perfmon).

map_uncore.py [--wide] TITLE KNOWN.csv BOX=UNIT,... LIST.json... >maps/uncore/NAME-uncore.map

Names, codes, unit masks and counters come from the lists; what an event counts comes from KNOWN.csv, `name,flags,signals,why`: the first row whose
name is the event's or, with * at its end, begins as it. Unit masks that are not known stand together as one row of their code. Masks of
more than 8 bits (ports, opcodes) are not told apart without --wide; with it those of known events are, and those of events that never happen.
The map is written from the lists themselves, not from uncore-events.csv: what the drivers know has another way.
"""
import csv
import json
import sys


def known_rows(path):
    with open(path, encoding="ascii") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def known_of(known, name):
    for row in known:
        if row["name"] == name or (row["name"].endswith("*") and name.startswith(row["name"][:-1])):
            return row
    sys.exit("%s: no row of the known ones" % name)


def counters_of(text):
    return sum(1 << int(n) for n in text.split(","))


def main(wide_too, title, known_path, boxes, paths):
    known, units = known_rows(known_path), dict(b.split("=")[::-1] for b in boxes.split(","))
    codes = {}
    for path in paths:
        with open(path, encoding="utf-8-sig") as f:
            for e in json.load(f)["Events"]:
                if e["Unit"] not in units or int(e.get("Deprecated") or "0", 0) or "FIXED" in e["Counter"].upper() or (wide_too and e.get("CounterType") == "FREERUN"):
                    continue
                wide = int(e.get("UMaskExt") or "0", 0) or int(e.get("PortMask") or "0", 0)
                high = int(e.get("UMaskExt") or "0", 0) << 8 if wide_too else 0
                key = (units[e["Unit"]], int(e["EventCode"].split(",")[0], 0) & 0xFF)
                codes.setdefault(key, []).append((high | int(e["UMask"].split(",")[0], 0), wide and not wide_too, counters_of(e["Counter"]), e["EventName"], known_of(known, e["EventName"])))
    print("# Event codes of %s; names and counters from Intel perfmon %s." % (title, ", ".join(p.split("/")[-1] for p in paths)))
    print("box,code,umask,counters,flags,name,signals,why")
    order = [b.split("=")[0] for b in boxes.split(",")]
    for box, code in sorted(codes, key=lambda k: (order.index(k[0]), k[1])):
        rest, seen = None, set()
        for umask, wide, counters, name, row in sorted(codes[box, code], key=lambda r: (r[0], r[3])):
            if (row["why"] and not (wide_too and row["flags"] == "never")) or wide:
                rest = rest or (counters, name, row)
                continue
            if umask in seen:
                continue
            seen.add(umask)
            alone = len({u for u, *_ in codes[box, code]}) == 1 and umask == 0
            print("%s,0x%02X,%s,0x%X,%s,%s,%s,%s" % (box, code, "any" if alone else "0x%02X" % umask, counters, row["flags"], name, row["signals"], row["why"]))
        if rest and not (len(seen) and all(not r[4]["why"] for r in codes[box, code])):
            counters, name, row = rest
            print("%s,0x%02X,any,0x%X,%s,%s,,%s" % (box, code, counters, row["flags"], name.split(".")[0] if len(codes[box, code]) > 1 else name, row["why"]))


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--wide"]
    if len(arguments) < 4:
        sys.exit(__doc__)
    main(len(arguments) < len(sys.argv) - 1, arguments[0], arguments[1], arguments[2], arguments[3:])
