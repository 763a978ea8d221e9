#!/usr/bin/env python3
"""An event map of the simulated machine from the vendor's list of core events (github.com/intel/perfmon).

map.py LIST.json TITLE KNOWN... >maps/NAME.map

Names, codes, counters and whether an event is precise come from LIST.json; what an event counts comes from the first of KNOWN
that has its name: a map of maps/, or a table `name,flags,condition,signals`. What none has is known by name alone. Where several
events have one code (with a threshold, or a register's value), the one without is taken, and of aliases the one that is not deprecated; off-core
responses are one event a register.
The map is written from the list itself, not from events.csv: what the drivers know has another way.
"""
import json
import sys

FIXED = {0x00}
OFFCORE = {"0x1A6": "offcore_0", "0x1A7": "offcore_1"}


def known_rows(paths):
    rows = {}
    for path in paths:
        with open(path, encoding="ascii") as f:
            lines = [line.rstrip("\n") for line in f if not line.startswith("#")]
        head = lines[0].split(",")
        for line in lines[1:]:
            row = dict(zip(head, line.split(",")))
            if "unmodelled" not in row["flags"] or path.endswith(".csv"):
                rows.setdefault(row["name"], row)
    return rows


def number(text):
    return int(text or "0", 0)


def counters_of(text):
    return sum(1 << int(n) for n in text.split(",")) if text and "ixed" not in text else 0


def read(path):
    """code -> the event that stands for it; offcore codes -> flag"""
    with open(path, encoding="utf-8-sig") as f:
        data = json.load(f)
    codes, offcore = {}, {}
    for e in data["Events"] if isinstance(data, dict) else data:
        selects = [number(s) for s in e["EventCode"].split(",")]
        umasks = [number(s) | number(e.get("UMaskExt")) << 8 for s in e["UMask"].split(",")]
        counters = counters_of(e["Counter"])
        if not counters or selects[0] in FIXED:
            continue
        if "0X1A6" in e.get("MSRIndex", "").upper():
            pairs = [(s, u) for s in selects for u in umasks]
            for (select, umask), flag in zip(pairs, OFFCORE.values()):
                offcore[select, umask] = (flag, counters)
            continue
        plain = 2 * (not number(e.get("Deprecated"))) + 4 * (not (number(e.get("CounterMask")) or number(e.get("Invert")) or number(e.get("EdgeDetect")) or number(e.get("AnyThread"))))
        code, old = (selects[0], umasks[0]), codes.get((selects[0], umasks[0]))
        if not old or plain > old[0]:
            codes[code] = (plain, e, counters)
    return codes, offcore


def main(path, title, known_paths):
    known, (codes, offcore) = known_rows(known_paths), read(path)
    print("# Event codes of %s; names and counters from Intel perfmon %s." % (title, path.split("/")[-1]))
    print("select,umask,counters,flags,condition,name,signals")
    for code in sorted(set(codes) | set(offcore)):
        if code in offcore:
            flag, counters = offcore[code]
            print("0x%02X,0x%02X,0x%X,%s exact,,OFFCORE_RESPONSE_%s," % (*code, counters, flag, flag[-1]))
            continue
        _, e, counters = codes[code]
        name = e["EventName"].split("_GT_")[0] if "LOAD_LATENCY_GT_" in e["EventName"] else e["EventName"]
        precise = number(e.get("PEBS")) or number(e.get("Precise"))
        row = known.get(name, {"flags": "unmodelled", "condition": "", "signals": ""})
        flags = [f for f in row["flags"].split() if f != "precise"]
        if precise and not row["condition"]:
            flags.append("precise")
        condition = row["condition"] if precise or "retirement" in flags or "tagged" in flags else ""
        print("0x%02X,0x%02X,0x%X,%s,%s,%s,%s" % (*code, counters, " ".join(flags), condition, name, row["signals"]))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
