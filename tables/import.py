#!/usr/bin/env python3
"""Turns the vendor's list of core events into a processor's events.csv. For who maintains the tables; the build does not run it.

usage: import.py FILE.json FOLDER NAME

FILE.json is a *_core.json of github.com/intel/perfmon (BSD-3-Clause: tables/LICENSE.perfmon), FOLDER a folder of
tables/processors, NAME what the column `source` calls the file, such as JKT. Names, codes, modifiers, counters, precise
flags, extra registers, errata and brief descriptions are taken as the file has them. What the tables cannot say is left
out, and the first lines of the written file say which events and why. FORMAT.md tells what is left to write by hand.
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from core import EVENT_COLUMNS

MARK = "# Written by tables/import.py"
# Fixed counters by the pseudo umask of select 0 (SDM 18.2.2), and the codes that the tables give their events.
FIXED = {1: (1, 0xC0, 0x00), 2: (2, 0x3C, 0x00), 3: (3, 0x00, 0x03), 4: (4, 0x00, 0x04), 5: (5, 0x00, 0x05), 6: (6, 0x00, 0x06),
         7: (7, 0x00, 0x07)}
# Lists of before Sandy Bridge have no pseudo umask and number the fixed counters from 1.
FIXED_OLD = {"INST_RETIRED.ANY": 1, "CPU_CLK_UNHALTED.THREAD": 2, "CPU_CLK_UNHALTED.REF": 3}
MSR_LATENCY, LATENCY_LEAST = 0x3F6, 3  # SDM 18.7.1.2
EVENTS_OF_TWO_MSRS = (0x1A6, 0x1A7)    # either, each with an event code of its own: the first is taken


class LeftOut(Exception):
    """Why an event does not go into the table."""


def first(text):
    """The first of '0xB7, 0xBB', as a number."""
    return int(str(text).split(",")[0].strip() or "0", 0)


def flag(event, key):
    return first(event.get(key, 0) or 0)


def counters_of(event):
    """Mask of the general counters. Those of CounterHTOff exist while each core has one thread."""
    mask = 0
    for part in (event.get("CounterHTOff") or event["Counter"]).replace("+", ",").split(","):
        low, _, high = part.strip().partition("-")
        mask |= sum(1 << n for n in range(int(low), int(high or low) + 1))
    return mask


def precise(event, msr):
    if msr == MSR_LATENCY:
        return 3
    if "PEBS" in event:
        return min(first(event["PEBS"]), 2)
    return flag(event, "Precise")


def words_of(event):
    text = event.get("BriefDescription") or event.get("PublicDescription") or ""
    text = re.sub(r"\s+", " ", text.encode("ascii", "ignore").decode()).strip().rstrip(".").replace('"', "'")
    errata = event.get("Errata") or ""
    if errata not in ("0", "null", "None", ""):
        text += "; errata " + " ".join(sorted(re.findall(r"[A-Z]+[0-9]+", errata)))
    return text or event["EventName"]


def fixed_of(event, row):
    """An event of a fixed counter."""
    name = row["name"]
    number = FIXED_OLD.get(name) or flag(event, "UMask")
    if flag(event, "AnyThread"):
        raise LeftOut("a fixed counter's count of both threads: a general counter has it too")
    if number not in FIXED:
        raise LeftOut("of a fixed counter that the tables do not know")
    row["fixed"], row["select"], row["umask"] = FIXED[number]
    row["counters"] = row["pebs"] = 0


def row_of(event, source):
    """One row of events.csv, or LeftOut."""
    row = {k: 0 for k in EVENT_COLUMNS}
    row["name"] = event["EventName"].strip().upper()
    if flag(event, "Deprecated"):
        raise LeftOut("the vendor calls them deprecated, for another name of the same event")
    row["select"], row["umask"] = first(event["EventCode"]), first(event["UMask"]) | flag(event, "UMaskExt") << 8
    if flag(event, "Equal"):
        raise LeftOut("counted where a threshold is met exactly, which no program here says")
    row["cmask"], row["inv"] = flag(event, "CounterMask"), flag(event, "Invert")
    row["edge"], row["any"] = flag(event, "EdgeDetect"), flag(event, "AnyThread")
    if row["edge"] and not row["cmask"]:
        raise LeftOut("edges without a threshold, which never come (guide, before table 1)")
    if row["inv"] and not row["cmask"]:
        raise LeftOut("inverted without a threshold, which has no effect (SDM 18.2.1.1)")
    msr, value = flag(event, "MSRIndex"), flag(event, "MSRValue")
    if msr == MSR_LATENCY:
        value = max(value, LATENCY_LEAST)
    if msr:
        row["extra_msr"], row["extra_value"] = msr, value
    row["what"], row["source"] = words_of(event), source
    if "ixed" in event["Counter"]:
        fixed_of(event, row)
    else:
        row["counters"] = counters_of(event)
        row["pebs"] = precise(event, msr)
    return row


def written(row):
    """One line of the file."""
    out = []
    for k in EVENT_COLUMNS:
        v = row[k]
        if k in ("select", "umask"):
            v = "0x%02X" % v
        elif k in ("counters", "extra_msr", "extra_value") and v:
            v = "0x%X" % v
        elif k in ("what", "source") and "," in v:
            v = '"%s"' % v
        out.append(str(v))
    return ",".join(out)


def rows_of(events, source):
    """Rows in the file's order, and what was left out by reason."""
    rows, left, seen = [], {}, set()
    for e in events:
        name = e["EventName"].strip().upper()
        try:
            if name in seen:
                raise LeftOut("the name stands twice")
            row = row_of(e, source)
        except LeftOut as why:
            left.setdefault(str(why), []).append(name)
            continue
        seen.add(name)
        rows.append(row)
    return rows, left


def head(data, file, left):
    lines = [MARK + " from %s of intel/perfmon," % os.path.basename(file)]
    if "Header" in data:
        lines += ["# %s, %s." % (data["Header"]["Info"].encode("ascii", "ignore").decode(), data["Header"]["DatePublished"])]
    lines += ["# Copyright Intel Corporation, BSD-3-Clause: tables/LICENSE.perfmon. Columns: FORMAT.md."]
    for why, names in sorted(left.items()):
        shown = names[:6] + ["and %d more" % (len(names) - 6)] if len(names) > 6 else names
        lines.append("# Left out, %s: %s." % (why, ", ".join(shown)))
    return lines


def main(file, folder, name):
    target = os.path.join(folder, "events.csv")
    if os.path.exists(target) and not open(target, encoding="ascii").readline().startswith(MARK):
        sys.exit("%s: was written by hand; it is not overwritten" % target)
    try:
        with open(file, encoding="utf-8-sig") as f:
            data = json.load(f)
        data = data if isinstance(data, dict) else {"Events": data}
        version = re.search(r"V([0-9.]+)\s*$", data.get("Header", {}).get("Info", ""))
        rows, left = rows_of(data["Events"], "perfmon %s%s" % (name, " V" + version.group(1) if version else ""))
    except (OSError, ValueError, KeyError) as e:
        sys.exit("%s: is no list of core events of intel/perfmon: %r" % (file, e))
    os.makedirs(folder, exist_ok=True)
    with open(target, "w", encoding="ascii") as out:
        out.write("\n".join(head(data, file, left) + [",".join(EVENT_COLUMNS)] + [written(r) for r in rows]) + "\n")
    print("%s: %d events, %d left out" % (target, len(rows), sum(len(n) for n in left.values())))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: import.py FILE.json FOLDER NAME")
    main(*sys.argv[1:])
