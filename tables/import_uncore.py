#!/usr/bin/env python3
"""Turns the vendor's lists of uncore events into a processor's uncore-events.csv. For who maintains the tables; the build does not run it.

usage: import_uncore.py FOLDER NAME FILE.json...

FILE.json are *_uncore*.json of github.com/intel/perfmon (BSD-3-Clause: tables/LICENSE.perfmon), FOLDER a folder of tables/processors
whose uncore.txt names the boxes and what the names of their events begin with, NAME what the column `source` calls the list, such as BDX.
Events of one code are one row; their unit masks stand in it. A port mask and a completion mask stand above the unit mask, in 15:8 and 18:16, or where the
box's ports_high and completions_high say.
What the tables cannot say is left out, and the first lines of the written file say which events and why.
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from boxes import BUSES, NAMED, NUMBERS, UNIT_COLUMNS, WIDE
from reader import Problems, read_ini

MARK = "# Written by tables/import_uncore.py"
BOXES = {"UBOX": "ubox", "CBO": "cbo", "SBO": "sbo", "PCU": "pcu", "HA": "ha", "iMC": "imc", "IRP": "irp", "QPI LL": "qpi", "R2PCIe": "r2pcie",
         "R3QPI": "r3qpi", "CHA": "cha", "M2M": "m2m", "UPI LL": "upi", "M3UPI": "m3upi", "IIO": "iio", "M2PCIe": "m2pcie", "IMC": "imc", "MDF": "mdf", "CXLCM": "cxlcm", "CXLDP": "cxldp", "MCHBM": "hbm", "M2HBM": "m2hbm",
         "B2CMI": "b2cmi", "B2CXL": "b2cxl", "B2UPI": "b2upi", "B2HOT": "b2hot", "CHACMS": "chacms"}
# The list's words for fields that the counters of a box share. The UBox's, the IRP's and a CHA's link are not asked for: none of them must be set.
FILTERS = [("CBoFilter1[28:20]", "opc"), ("CBoFilter1[15:0]", "nid"), ("CBoFilter1[17:10]", "nid"), ("CBoFilter0[23:17]", "state"), ("CBoFilter0[22:18]", "state"),
           ("CBoFilter[31:23]", "opc"), ("CBoFilter[17:10]", "nid"), ("CBoFilter[22:18]", "state"), ("HA_AddrMatch0", "address"),
           ("HA_AddrMatch1", "addresshigh"), ("HA_OpcodeMatch", "opcode"), ("PCUFilter[7:0]", "band0"), ("PCUFilter[15:8]", "band1"),
           ("PCUFilter[23:16]", "band2"), ("PCUFilter[31:24]", "band3"), ("QPIMatch0", "match"), ("QPIMatch1", "match1"), ("QPIMask0", "mask"),
           ("QPIMask1", "mask1"), ("CHAFilter0[26:17]", "state")]
FILTER_1 = ("CHAFilter1[31:0]", "CHAfilter1", "Filter1")
NOTHING = ("", "0", "tbd", "null")  # as a description
ANY_REQUEST = 0x3B  # of a CHA's filter 1: local and remote, near memory and not, all opcodes


class LeftOut(Exception):
    """Why an event does not go into the table."""


def number(event, key):
    return int(str(event.get(key) or "0").split(",")[0].strip() or "0", 0)


def above(event, box):
    """What stands above bit 7 of the unit mask."""
    ports, completions = 0, 8
    if "ports_high" in box:
        ports, completions = (int(box[k], 0) - int(box["umask_high"], 0) for k in ("ports_high", "completions_high"))
    return number(event, "UMaskExt") or number(event, "PortMask") << ports | number(event, "FCMask") << completions


def unit_of(event, unit, box):
    """NAME=0xNN:filter+filter=VALUE, as FORMAT.md has it."""
    wanted = event.get("Filter") or ""
    filters = [ours for theirs, ours in FILTERS if theirs in wanted]
    if any(w in wanted for w in FILTER_1) and "CHA" in event["Unit"]:
        filters.append("filter1=0x%X" % (number(event, "FILTER_VALUE") or ANY_REQUEST))
    mask = number(event, "UMask") | above(event, box) << 8
    return "%s=0x%02x%s" % (unit, mask, ":" + "+".join(filters) if filters else "")


def words_of(events):
    """What they have in common, up to where their descriptions name the unit mask."""
    texts = [events[0].get(k) or "" for k in ("BriefDescription", "PublicDescription")]
    text = next((t for t in texts if t not in NOTHING), events[0]["EventName"])
    text = re.sub(r"\s+", " ", text.encode("ascii", "ignore").decode()).strip().replace('"', "'")
    if len(events) > 1:
        text = re.split(r"; | : ", text)[0]
    return text.rstrip(".;: ") or events[0]["EventName"]


def row_of(event, sections):
    """Box, name of the event and of its unit mask, code, counters, or LeftOut."""
    name = event["EventName"].strip().upper()
    if number(event, "Deprecated"):
        raise LeftOut("the vendor calls them deprecated, for another name of the same event")
    if event.get("CounterType", "PGMABLE") == "FREERUN":
        raise LeftOut("counted without being asked, by counters that cannot be programmed")
    if "FIXED" in event["Counter"].upper():
        raise LeftOut("of a box's fixed counter, which uncore.txt names")
    box = BOXES.get(event["Unit"])
    if box not in sections:
        raise LeftOut("of a box that uncore.txt does not have")
    prefix = sections[box].get("prefix", "")
    if not name.startswith(prefix):
        raise LeftOut("the name does not begin as those of its box")
    event_name, _, unit = name[len(prefix):].partition(".")
    code = number(event, "EventCode") & 0xFF
    return box, event_name, unit, code, number(event, "ExtSel"), sum(1 << int(n) for n in event["Counter"].split(","))


def rows_of(events, sections):
    """Rows in the order of boxes and codes, and what was left out by reason."""
    rows, left, seen = {}, {}, set()
    for e in events:
        name = e["EventName"].strip().upper()
        try:
            if name in seen:
                raise LeftOut("the name stands twice")
            box, event, unit, code, extended, counters = row_of(e, sections)
        except LeftOut as why:
            left.setdefault(str(why), []).append(name)
            continue
        seen.add(name)
        rows.setdefault((list(sections).index(box), code, extended, event, counters, box), []).append((e, unit))
    return rows, left


def written(key, units, source, sections):
    _, code, extended, event, counters, box = key
    masks = [unit_of(e, unit, sections[box]) for e, unit in units]
    what = words_of([e for e, _ in units])
    return ",".join([box, event, "0x%02x" % code, str(extended or ""), "0x%X" % counters, "0", "" if masks == ["=0x00"] else " ".join(masks),
                     '"%s"' % what if "," in what else what, source])


def sections_of(folder):
    return {r["name"]: r for r in read_ini(Problems(), folder, "uncore.txt", NAMED + NUMBERS + WIDE + BUSES) if "unit_events" in r}


def main(folder, name, files):
    target = os.path.join(folder, "uncore-events.csv")
    if os.path.exists(target) and not open(target, encoding="ascii").readline().startswith(MARK):
        sys.exit("%s: was written by hand; it is not overwritten" % target)
    events, heads, version = [], [], ""
    for file in files:
        try:
            with open(file, encoding="utf-8-sig") as f:
                data = json.load(f)
            info = data["Header"]["Info"].encode("ascii", "ignore").decode()
            heads += ["# %s: %s, %s." % (os.path.basename(file), info, data["Header"]["DatePublished"])]
            version = re.search(r"V([0-9.]+)\s*$", info)
            events += data["Events"]
        except (OSError, ValueError, KeyError) as e:
            sys.exit("%s: is no list of uncore events of intel/perfmon: %r" % (file, e))
    sections = sections_of(folder)
    rows, left = rows_of(events, sections)
    lines = [MARK + " from lists of intel/perfmon:"] + heads + ["# Copyright Intel Corporation, BSD-3-Clause: tables/LICENSE.perfmon. Columns: FORMAT.md."]
    for why, names in sorted(left.items()):
        shown = names[:6] + ["and %d more" % (len(names) - 6)] if len(names) > 6 else names
        lines.append("# Left out, %s: %s." % (why, ", ".join(shown)))
    source = "perfmon %s%s" % (name, " V" + version.group(1) if version else "")
    with open(target, "w", encoding="ascii") as out:
        out.write("\n".join(lines + [",".join(UNIT_COLUMNS)] + [written(k, rows[k], source, sections) for k in sorted(rows)]) + "\n")
    print("%s: %d events, %d left out" % (target, sum(len(u) for u in rows.values()), sum(len(n) for n in left.values())))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
