#!/usr/bin/env python3
"""What `stallmeter list --events` has to print of the uncore, worked out from the vendor's lists: a line of uncore_lists.txt.

uncore_lists.py PROCESSOR UNIT,UNIT,... FILE.json...: of the boxes of these units every event that is not deprecated, not of a fixed counter and not counted
without being asked: name, select, counters. Not from the tables and not by their import: the select is put together here, of the unit mask's upper bits from bit 32 on or of
an IIO's ports from 36 on and completions from 48 on (a Skylake's: 44). FILE.json are of github.com/intel/perfmon.
"""
import hashlib
import json
import sys


def number(e, key):
    return int(str(e.get(key, 0) or 0).split(",")[0], 0)


def select(e):
    upper = number(e, "UMaskExt") << 32
    return number(e, "EventCode") & 0xFF | number(e, "UMask") << 8 | number(e, "ExtSel") << 21 | (upper or number(e, "PortMask") << 36 | number(e, "FCMask") << 48)


def counters(e):
    """An event that counts what counter 0 counts is for the others."""
    return sum(1 << int(n) for n in e["Counter"].split(",")) & ~("COUNTER0_OCCUPANCY" in e["EventName"])


def main(processor, units, files):
    lines = set()
    for file in files:
        with open(file, encoding="utf-8-sig") as f:
            for e in json.load(f)["Events"]:
                if e["Unit"] in units and not number(e, "Deprecated") and "FIXED" not in e["Counter"] and e["CounterType"] != "FREERUN":
                    lines.add("%s 0x%08X 0x%X" % (e["EventName"].strip().upper(), select(e), counters(e)))
    text = "".join(line + "\n" for line in sorted(lines))
    print(processor, len(lines), hashlib.sha256(text.encode()).hexdigest())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2].split(","), sys.argv[3:])
