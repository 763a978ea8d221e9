#!/usr/bin/env python3
"""Turns perf's lists of AMD's core events into a processor's events.csv. For who maintains the tables; the build does not run it.

usage: import_amd.py FOLDER_OF_JSON FOLDER NAME

FOLDER_OF_JSON is a tools/perf/pmu-events/arch/x86/amdzenN of Linux, FOLDER a folder of tables/processors, NAME what the column
`source` says. Names, codes, masks and thresholds are facts and are taken; descriptions are not: an event keeps the words that
FOLDER's events.csv has for it, another is told by its name. Events of the L3, the data fabric and the memory controllers belong
to other counters and are left out, as are metrics.
"""
import csv
import glob
import json
import os
import sys

sys.dont_write_bytecode = True
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


def main(lists, folder, source):
    words, rows = own_words(folder), {}
    for file in sorted(glob.glob(os.path.join(lists, "*.json"))):
        with open(file, encoding="utf-8") as f:
            for event in json.load(f):
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
    print("%s: %d events%s" % (folder, len(rows), "; not in the lists any more: " + " ".join(kept) if kept else ""))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: import_amd.py FOLDER_OF_JSON FOLDER NAME")
    main(*sys.argv[1:])
