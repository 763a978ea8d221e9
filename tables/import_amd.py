#!/usr/bin/env python3
"""Turns perf's lists of AMD's events into a processor's events.csv and uncore-events.csv. For who maintains the tables; the build does not run it.

usage: import_amd.py FOLDER_OF_JSON FOLDER NAME

FOLDER_OF_JSON is a tools/perf/pmu-events/arch/x86/amdzenN of Linux, FOLDER a folder of tables/processors, NAME what the column
`source` says. Names, codes, masks and thresholds are facts and are taken; descriptions are not: an event keeps the words that
FOLDER's events.csv has for it, another is told by its name. Events of the L3, the data fabric and the memory controllers go to
uncore-events.csv; metrics are left out.
"""
import csv
import glob
import json
import os
import sys

sys.dont_write_bytecode = True
from boxes import UNIT_COLUMNS
from core import EVENT_COLUMNS

COUNTERS = 0x3F  # each of the six counts every event (AMD64 manual volume 2, 13.2)


def number(event, key):
    return int(str(event.get(key, 0) or 0), 0)


def own_words(folder):
    """What the file says of each event today, by name."""
    path = os.path.join(folder, "events.csv")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="ascii") as f:
        return {r["name"]: r["what"] for r in csv.DictReader(l for l in f if not l.startswith("#"))}


def row_of(event, words, source):
    row = {k: 0 for k in EVENT_COLUMNS}
    row["name"] = event["EventName"].strip().upper()
    row["select"], row["umask"] = number(event, "EventCode"), number(event, "UMask")
    row["cmask"], row["inv"], row["edge"] = number(event, "CounterMask"), number(event, "Invert"), number(event, "EdgeDetect")
    row["counters"], row["source"] = COUNTERS, source
    row["what"] = words.get(row["name"]) or event["EventName"].strip().replace(".", ": ").replace("_", " ")
    return row


def written(row):
    forms = {"select": "0x%02X", "umask": "0x%02X", "counters": "0x%X"}
    cells = [forms.get(k, "%s") % row[k] for k in EVENT_COLUMNS]
    return ",".join('"%s"' % c if "," in c else c for c in cells)


BOXES = {"L3PMC": ("l3", 0x3F), "DFPMC": ("df", 0xF), "UMCPMC": ("umc", 0xF)}  # and their counters
WORDS = [("L3_LOOKUP_STATE", "requests of cores to the L3, by the result of the lookup"), ("L3_XI_SAMPLED_LATENCY_REQUESTS", "sampled fills from beyond the L3"),
         ("L3_XI_SAMPLED_LATENCY", "summed latency of sampled fills from beyond the L3, in units of 10 cycles or 10 ns"), ("XI_SYS_FILL_LATENCY", "summed latency of fills from beyond the L3, in units of 16 cycles"),
         ("XI_CCX_SDP_REQ1", "lines requested from beyond the L3"), ("DRAM_CHANNEL_DATA_CONTROLLER", "transfers of 64 bytes by a memory channel"),
         ("LOCAL_PROCESSOR_READ", "lines read by this socket at a coherent station, one station per memory channel"), ("LOCAL_PROCESSOR_WRITE", "lines written by this socket at a coherent station"),
         ("REMOTE_PROCESSOR_READ", "lines read by other sockets at a coherent station"), ("REMOTE_PROCESSOR_WRITE", "lines written by other sockets at a coherent station"),
         ("UMC_MEM_CLK", "cycles of the memory's clock"), ("UMC_ACT_CMD", "activate commands: all, or for reads or writes only"), ("UMC_PCHG_CMD", "precharge commands: all, or for reads or writes only"),
         ("UMC_CAS_CMD", "column commands (64 bytes each): all, or reads or writes only"), ("UMC_DATA_SLOT_CLKS", "half cycles in which the data bus is busy: all, or with reads or writes only")]


def uncore_rows(events, source):
    """One row a code, with its units."""
    rows = {}
    for e in events:
        if e.get("Unit") not in BOXES or "EventName" not in e:
            continue
        box, counters = BOXES[e["Unit"]]
        name, _, unit = e["EventName"].strip().upper().partition(".")
        umask = number(e, "RdWrMask") if box == "umc" else number(e, "UMask")
        what = next((w for start, w in WORDS if name.startswith(start)), name.lower().replace("_", " "))
        row = rows.setdefault((box, name, number(e, "EventCode")), dict(zip(UNIT_COLUMNS, [box, name, 0, "", "0x%X" % counters, 1, [], what, source])))
        row["select"] = "0x%02X" % number(e, "EventCode")
        row["units"].append("%s=0x%02X" % (unit, umask))
    return rows


def write_uncore(folder, rows):
    with open(os.path.join(folder, "uncore-events.csv"), "w", encoding="ascii") as out:
        out.write("# Events of the L3, the data fabric and the memory controllers, written by tables/import_amd.py from perf's lists; the words are our own.\n")
        out.write(",".join(UNIT_COLUMNS) + "\n")
        for key in sorted(rows, key=lambda k: (["l3", "df", "umc"].index(k[0]), k[2], k[1])):
            r = dict(rows[key], units=" ".join(rows[key]["units"]))
            out.write(",".join('"%s"' % r[k] if "," in str(r[k]) else str(r[k]) for k in UNIT_COLUMNS) + "\n")


def main(lists, folder, source):
    words, rows, beyond = own_words(folder), {}, []
    for file in sorted(glob.glob(os.path.join(lists, "*.json"))):
        with open(file, encoding="utf-8") as f:
            for event in json.load(f):
                beyond.append(event)
                if "EventName" in event and "Unit" not in event:
                    row = row_of(event, words, source)
                    rows.setdefault(row["name"], row)
    if not rows:
        sys.exit("%s: no core events of perf" % lists)
    kept = [n for n in words if n not in rows]
    with open(os.path.join(folder, "events.csv"), "w", encoding="ascii") as out:
        out.write("# Core events: names and codes written by tables/import_amd.py from perf's lists; the words are our own. Columns: FORMAT.md.\n")
        out.write(",".join(EVENT_COLUMNS) + "\n")
        for row in sorted(rows.values(), key=lambda r: (r["select"], r["umask"], r["name"])):
            out.write(written(row) + "\n")
    uncore = uncore_rows(beyond, source)
    if uncore:
        write_uncore(folder, uncore)
    print("%s: %d events%s" % (folder, len(rows), "; not in the lists any more: " + " ".join(kept) if kept else ""))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: import_amd.py FOLDER_OF_JSON FOLDER NAME")
    main(*sys.argv[1:])
