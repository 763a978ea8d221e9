#!/usr/bin/env python3
"""Writes out/gen/tables.c from the text files of tables/: const data for processor.h.

usage: generate.py FOLDER TARGET.c

The formats and the rules a table must obey are in FORMAT.md; this program checks each of them
and fails with one line a fault: "FILE:LINE: KEY: what is wrong, what is allowed".
"""
import os
import re
import sys

sys.dont_write_bytecode = True  # the tables' folder may be read-only
from boxes import check_boxes, check_metrics, read_metrics, read_uncore, write_boxes, write_metrics
from netburst import check_netburst, read_netburst, use_of, write_netburst
from reader import BITS64, Problems, Row, c_name, c_text, number, read_csv, read_ini, words


EVENT_COLUMNS = ["name", "select", "umask", "cmask", "inv", "edge", "any", "pebs", "fixed", "arch",
                 "counters", "extra_msr", "extra_value", "what", "source"]


def read_events(p, folder, name):
    rows = read_csv(p, folder, "events/%s.csv" % name, EVENT_COLUMNS)
    if rows is None:
        return None
    for r in rows:
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*(\.[A-Z0-9_]+)*", r["name"]):
            p.add(r.where, r["name"], "is no event name; capitals, digits, _ and . in the manual's spelling")
        e = r.event = {k: number(p, r, k, 0, 255, 0) for k in ("select", "umask", "cmask")}
        for k in ("inv", "edge", "any"):
            e[k] = number(p, r, k, 0, 1, 0)
        e["pebs"] = number(p, r, "pebs", 0, 3, 0)
        e["fixed"] = number(p, r, "fixed", 0, 8, 0)
        e["arch"] = number(p, r, "arch", 0, 32, 0)
        e["counters"] = number(p, r, "counters", 0, (1 << 32) - 1, 0)
        e["extra_msr"] = number(p, r, "extra_msr", 0, (1 << 32) - 1, 0)
        e["extra_value"] = number(p, r, "extra_value", 0, BITS64, 0)
        e["name"], e["what"], e["source"] = r["name"], words(p, r, "what"), words(p, r, "source")
        if e["edge"] and not e["cmask"]:
            p.add(r.where, r["name"], "edge without cmask: the edge of a zero threshold never comes (guide, before table 1)")
        if e["inv"] and not e["cmask"]:
            p.add(r.where, r["name"], "inv without cmask has no effect (SDM 18.2.1.1)")
        if e["any"] and e["pebs"]:
            p.add(r.where, r["name"], "any-thread must be 0 in a precise event (SDM 18.6.1.1)")
        if e["counters"] == 0 and e["fixed"] == 0:
            p.add(r.where, r["name"], "no counter can count it: give counters or fixed")
        if e["pebs"] and e["counters"] == 0:
            p.add(r.where, r["name"], "a precise event needs a general counter")
        if e["extra_value"] and not e["extra_msr"]:
            p.add(r.where, r["name"], "extra_value without extra_msr")
        if e["pebs"] == 3 and e["extra_msr"] != 0x3F6:
            p.add(r.where, r["name"], "a load-latency event needs its threshold in MSR 0x3F6")
        if e["extra_msr"] == 0x3F6 and not 3 <= e["extra_value"] <= 0xFFFF:
            p.add(r.where, r["name"], "latency threshold %d is outside 3 .. 65535 (SDM 18.7.1.2)" % e["extra_value"])
    return rows


OFFCORE = {"select": 0xB7, "umask": 0x01, "cmask": 0, "inv": 0, "edge": 0, "any": 0, "pebs": 0, "fixed": 0, "arch": 0,
           "counters": 0x4, "extra_msr": 0x1A6}


def read_offcore(p, folder, name):
    """OFFCORE_RESPONSE_0: every pair of a request and a response."""
    rows = read_csv(p, folder, "offcore/%s.csv" % name, ["part", "name", "bits", "what", "source"])
    if rows is None:
        return None
    parts = {"request": [], "response": []}
    for r in rows:
        r.bits = number(p, r, "bits", 1, 255)
        words(p, r, "what"), words(p, r, "source")
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*", r["name"]):
            p.add(r.where, r["name"], "is no name; capitals, digits and _")
        if r["part"] not in parts:
            p.add(r.where, "part", "'%s' must be request or response" % r["part"])
        else:
            parts[r["part"]].append(r)
    events = []
    for q in parts["request"]:
        for s in parts["response"]:
            e = Row(name="OFFCORE_RESPONSE_0.%s.%s" % (q["name"], s["name"]))
            e.where = s.where
            e.event = dict(OFFCORE, name=e["name"], extra_value=q.bits | s.bits << 8,
                           what="%s, %s" % (q["what"], s["what"]), source="%s; %s" % (q["source"], s["source"]))
            events.append(e)
    return events


MSR_COLUMNS = ["first", "last", "mask", "restore", "what", "source"]


def read_msrs(p, folder, name):
    rows = read_csv(p, folder, "msrs/%s.csv" % name, MSR_COLUMNS)
    if rows is None:
        return None
    for r in rows:
        m = r.msr = {"first": number(p, r, "first", 1, (1 << 32) - 1)}
        m["last"] = number(p, r, "last", 1, (1 << 32) - 1, m["first"])
        m["mask"] = number(p, r, "mask", 1)
        m["restore"] = number(p, r, "restore", 0, 1)
        m["what"], m["source"] = words(p, r, "what"), words(p, r, "source")
        if m["last"] < m["first"] or m["last"] - m["first"] > 255:
            p.add(r.where, r["first"], "last must be first .. first + 255")
    return rows


def read_sources(p, folder, name):
    rows = read_csv(p, folder, "sources/%s.csv" % name, ["code", "name", "what", "source"])
    if rows is None:
        return None
    for n, r in enumerate(rows):
        if number(p, r, "code", 0, 15) != n:
            p.add(r.where, r["code"], "codes must be 0 .. 15 in order")
        words(p, r, "name"), words(p, r, "what"), words(p, r, "source")
    if len(rows) != 16:
        p.add(("tables/sources/%s.csv" % name, 1), "code", "has %d rows, must have 16" % len(rows))
    return rows


def read_profiles(p, folder, name):
    if not os.path.exists(os.path.join(folder, "profiles", name + ".txt")):
        return None
    profiles = read_ini(p, folder, "profiles/%s.txt" % name, ["title", "events", "lbr_select", "source"])
    for r in profiles:
        words(p, r, "title"), words(p, r, "source"), words(p, r, "events")
        r.events, r.lbr = r.get("events", "").split(), number(p, r, "lbr_select", 0, 0x1FF, 0)
        if len(r.events) > 64 or len(set(r.events)) < len(r.events):
            p.add(r.where, "events", "must be at most 64 names, none twice")
    return profiles


def read_quirks(p, folder):
    quirks = {}
    for r in read_ini(p, folder, "quirks.txt", ["erratum", "what", "source", "writes", "overcounts"]):
        for k in ("erratum", "what", "source"):
            words(p, r, k)
        r.writes = []
        for w in r.get("writes", "").split():
            m = re.fullmatch(r"(0x[0-9A-F]+)=(0x[0-9A-F]+|[0-9]+)", w)
            if m:
                r.writes.append((int(m.group(1), 16), int(m.group(2), 0)))
            else:
                p.add(r.where, "writes", "'%s' is not MSR=VALUE in 0x-hexadecimal" % w)
        r.overcounts = r.get("overcounts", "").split()
        quirks[r["name"]] = r
    return quirks


TLB_KEYS = ["dtlb_4k", "dtlb_2m", "dtlb_1g", "stlb_4k", "itlb_4k", "stlb_2m", "stlb_1g"] # in the order of struct tlb_facts
PROCESSOR_KEYS = ["title", "vendor", "family", "models", "steppings", "events", "offcore", "msrs", "latency_sources",
                  "quirks", "profiles", "uncore", "derived", "netburst",
                  "pebs_format", "lbr_pairs", "serialise_cpuid", "prefetch_msr", "prefetch_off", "prefetch_pair", "pins", "confirmed", "source"] + TLB_KEYS
FAMILY_ANY = 0xFFFF


def span(p, row):
    text = row.get("steppings", "0 15").split()
    if len(text) != 2 or not all(t.isdigit() and int(t) < 16 for t in text) or int(text[0]) > int(text[1]):
        p.add(row.where, "steppings", "must be LOW HIGH, 0 .. 15")
        return 0, 15
    return int(text[0]), int(text[1])


def read_processors(p, folder, quirks):
    readers = {"events": read_events, "offcore": read_offcore, "msrs": read_msrs, "latency_sources": read_sources,
               "profiles": read_profiles, "uncore": read_uncore, "derived": read_metrics, "netburst": read_netburst,
               "pins": read_pins}
    sets = {kind: {} for kind in readers}
    processors = read_ini(p, folder, "processors.txt", PROCESSOR_KEYS)
    for r in processors:
        r.title, r.source, r.confirmed = words(p, r, "title"), words(p, r, "source"), words(p, r, "confirmed")
        r.vendor = words(p, r, "vendor", False)
        if r.vendor and len(r.vendor) != 12:
            p.add(r.where, "vendor", "'%s' must have 12 letters, or be empty for any" % r.vendor)
        r.family = FAMILY_ANY if r.get("family") == "any" else number(p, r, "family", 0, 270)
        r.models = []
        if r.get("models") != "any":
            for m in r.get("models", "").split():
                if re.fullmatch(r"0x[0-9A-Fa-f]{2}", m):
                    r.models.append(int(m, 16))
                else:
                    p.add(r.where, "models", "'%s' is no model; 0xNN, or any" % m)
            if not r.models:
                p.add(r.where, "models", "is missing; a list of 0xNN, or any")
        r.low, r.high = span(p, r)
        for kind, reader in readers.items():
            for name in r.get(kind, "").split():
                if name not in sets[kind]:
                    rows = reader(p, folder, name)
                    if rows is None:
                        p.add(r.where, kind, "no file '%s'" % name)
                        rows = []
                    sets[kind][name] = rows
        r.events = [e for kind in ("events", "offcore") for n in r.get(kind, "").split() for e in sets[kind][n]]
        r.uses = [u for n in r.get("netburst", "").split() for u in sets["netburst"][n].uses]
        r.events += r.uses
        r.msrs = [m for n in r.get("msrs", "").split() for m in sets["msrs"][n]]
        r.profiles = [f for n in r.get("profiles", "").split() for f in sets["profiles"][n]]
        r.uncore = [b for n in r.get("uncore", "").split() for b in sets["uncore"][n].boxes]
        r.buses = [b for n in r.get("uncore", "").split() for b in sets["uncore"][n].buses]
        r.derived = [m for n in r.get("derived", "").split() for m in sets["derived"][n]]
        r.msrs += [m for b in r.uncore for m in b.msrs]
        r.detectors = [e for n in r.get("netburst", "").split() for e in sets["netburst"][n].events]
        r.metrics = [m for n in r.get("netburst", "").split() for m in sets["netburst"][n].metrics]
        r.quirks = []
        for q in r.get("quirks", "").split():
            if q in quirks:
                r.quirks.append(quirks[q])
            else:
                p.add(r.where, "quirks", "no quirk '%s' in quirks.txt" % q)
        r.pins = [x for n in r.get("pins", "").split() for x in sets["pins"][n]]
        for q in r.quirks:
            for start in q.overcounts:
                if not any(x.event["name"].startswith(start) for x in r.events):
                    p.add(q.where, "overcounts", "%s has no event that begins with '%s'" % (r["name"], start))
        for k in TLB_KEYS:
            number(p, r, k, 0, 65535, 0)
        number(p, r, "pebs_format", 0, 255, 255)
        number(p, r, "lbr_pairs", 0, 64, 0)
        number(p, r, "serialise_cpuid", 0, 1, 0)
        check_processor(p, r)
    return processors, sets


PIN_NAMES = ["turbo", "core_ratio", "uncore_ratio"]


def read_pins(p, folder, name):
    """A file pins/*.csv: fields of registers that keep clocks where they are."""
    rows = read_csv(p, folder, "pins/%s.csv" % name, ["name", "msr", "low", "high", "to", "what", "source"])
    for r in rows or []:
        low = number(p, r, "low", 0, 63)
        high = number(p, r, "high", low, 63)
        r["what"], r["source"] = words(p, r, "what"), words(p, r, "source")
        if r["name"] not in PIN_NAMES:
            p.add(r.where, r["name"], "is none of %s" % ", ".join(PIN_NAMES))
        ends = r["to"].split("-")
        if r["to"] == "base":
            kind, value = "PIN_BASE_RATIO", 0
        elif len(ends) == 2 and all(e.isdigit() for e in ends):
            kind, value = "PIN_FIELD", int(ends[0])
            if int(ends[1]) - value != high - low or int(ends[1]) > 63:
                p.add(r.where, "to", "%s is not a field as wide as %d-%d" % (r["to"], low, high))
        else:
            kind, value = "PIN_NUMBER", number(p, r, "to", 0, min(255, (1 << (high - low + 1)) - 1))
        r.pin = (number(p, r, "msr", 1, (1 << 32) - 1), low, high, kind, value)
    return rows


def check_processor(p, r):
    """Rules that need the whole of one descriptor."""
    seen = {}
    for e in r.events:
        if e["name"] in seen:
            p.add(e.where, e["name"], "stands twice in %s, first at %s:%d" % ((r["name"],) + seen[e["name"]]))
        seen[e["name"]] = e.where
    taken = sorted((m.msr["first"], m.msr["last"], m.where) for m in r.msrs)
    for a, b in zip(taken, taken[1:]):
        if b[0] <= a[1]:
            p.add(b[2], "0x%X" % b[0], "overlaps %s:%d" % a[2])

    def allowed(msr, value):
        return any(m.msr["first"] <= msr <= m.msr["last"] and not value & ~m.msr["mask"] for m in r.msrs)

    for e in r.events:
        if e.event["extra_msr"] and not allowed(e.event["extra_msr"], e.event["extra_value"]):
            p.add(e.where, e["name"], "its extra MSR or value is not writable on %s" % r["name"])
    check_boxes(p, r, allowed)
    check_netburst(p, r, allowed)
    check_metrics(p, r)
    for f in r.profiles:
        for n in f.events:
            if n not in seen:
                p.add(f.where, "events", "%s: %s has no such event" % (n, r["name"]))
    for q in r.quirks:
        for msr, value in q.writes:
            if not allowed(msr, value):
                p.add(q.where, "0x%X" % msr, "is not writable with this value on %s" % r["name"])
    for pin in r.pins:
        msr, low, high = pin.pin[:3]
        bits = ((1 << (high - low + 1)) - 1) << low
        if not any(m.msr["first"] <= msr <= m.msr["last"] and m.msr["restore"] and not bits & ~m.msr["mask"] for m in r.msrs):
            p.add(pin.where, "0x%X" % msr, "is not writable and put back in bits %d-%d on %s" % (low, high, r["name"]))
    if r.get("prefetch_msr", "0") != "0":
        msr, off = number(p, r, "prefetch_msr"), number(p, r, "prefetch_off", 1)
        if not allowed(msr, off):
            p.add(r.where, "prefetch_off", "MSR 0x%X is not writable with 0x%X" % (msr, off))
        if "prefetch_pair" in r and number(p, r, "prefetch_pair", 1) & ~off:
            p.add(r.where, "prefetch_pair", "has bits that prefetch_off does not have")


def check_order(p, processors):
    """Most specific first: an earlier row must not hide a later one."""
    for n, later in enumerate(processors):
        for earlier in processors[:n]:
            if earlier.vendor not in ("", later.vendor):
                continue
            if earlier.family not in (FAMILY_ANY, later.family):
                continue
            if earlier.models and (not later.models or not set(later.models) <= set(earlier.models)):
                continue
            if earlier.low <= later.low and earlier.high >= later.high:
                p.add(later.where, later["name"], "is hidden by %s, which comes first" % earlier["name"])
    last = processors[-1] if processors else None
    if last is None or last.vendor or last.family != FAMILY_ANY or last.models:
        p.add(last.where if last else ("tables/processors.txt", 1), "processors", "the last one must match any processor")


def check_row_of(p, r, names, seen):
    """A row of a table by processor and row of the catalogue: a known processor, and each pair once."""
    if r["processor"] not in names:
        p.add(r.where, "processor", "'%s' is no processor of processors.txt" % r["processor"])
    if (r["processor"], r["row"]) in seen:
        p.add(r.where, r["row"], "stands twice for %s" % r["processor"])
    seen.add((r["processor"], r["row"]))


TLB_COLUMNS = ["code"] + TLB_KEYS + ["source"]


def read_tlb_descriptors(p, folder):
    rows = read_csv(p, folder, "tlb_descriptors.csv", TLB_COLUMNS) or []
    seen = set()
    for r in rows:
        words(p, r, "source")
        r.values = [number(p, r, "code", 1, 0xFE)] + [number(p, r, k, 0, 0x8000, 0) for k in TLB_COLUMNS[1:-1]]
        if r.values[0] in seen:
            p.add(r.where, r["code"], "stands twice")
        if not any(r.values[1:]):
            p.add(r.where, r["code"], "gives no entries")
        seen.add(r.values[0])
    return rows


def write_tlb_descriptors(out, rows):
    out.write("\nconst struct tlb_descriptor tlb_descriptors[] = {\n")
    for r in rows:
        out.write("\t{ 0x%02X, { %d, %d, %d, %d, %d, %d, %d } },\n" % tuple(r.values))
    out.write("};\nconst uint16_t tlb_descriptor_count = %d;\n" % len(rows))


PUBLISHED_COLUMNS = ["processor", "row", "low", "high", "unit", "how", "source"]


def read_published(p, folder, processors):
    rows, seen = read_csv(p, folder, "published.csv", PUBLISHED_COLUMNS) or [], set()
    names = {r["name"] for r in processors}
    for r in rows:
        for key in ("row", "how", "source"):
            words(p, r, key)
        check_row_of(p, r, names, seen)
        if r["unit"] not in ("cycles", "ns"):
            p.add(r.where, "unit", "'%s' must be cycles or ns" % r["unit"])
        r.milli = []
        for key in ("low", "high"):
            if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", r[key]):
                p.add(r.where, key, "'%s' is no figure; at most three digits behind the point" % r[key])
                return []
            r.milli.append(round(float(r[key]) * 1000))
        if not 0 < r.milli[0] <= r.milli[1]:
            p.add(r.where, r["row"], "low and high must be above 0 and in order")
    return rows


def write_published(out, rows):
    out.write("\nconst struct published published[] = {\n")
    for r in rows:
        out.write("\t{ %s, %s, %d, %d, %s, %s, %s },\n" % (c_text(r["processor"]), c_text(r["row"]), r.milli[0], r.milli[1],
                  c_text(r["unit"]), c_text(r["how"]), c_text(r["source"])))
    out.write("};\nconst uint16_t published_count = %d;\n" % len(rows))


UNPROVABLE_COLUMNS = ["processor", "row", "why", "source"]
WHY_MOST = 64  # it stands behind other words in a reason of 128 characters


def read_unprovable(p, folder, processors):
    rows, seen = read_csv(p, folder, "unprovable.csv", UNPROVABLE_COLUMNS) or [], set()
    names = {r["name"] for r in processors}
    for r in rows:
        for key in ("row", "why", "source"):
            words(p, r, key)
        check_row_of(p, r, names, seen)
        if len(r["why"]) > WHY_MOST:
            p.add(r.where, "why", "has %d characters, at most %d" % (len(r["why"]), WHY_MOST))
    return rows


def write_unprovable(out, rows):
    out.write("\nconst struct unprovable unprovable[] = {\n")
    for r in rows:
        out.write("\t{ %s, %s, %s },\n" % (c_text(r["processor"]), c_text(r["row"]), c_text(r["why"])))
    out.write("};\nconst uint16_t unprovable_count = %d;\n" % len(rows))


WATCHDOG_COLUMNS = ["vendor", "first", "last", "kind", "name", "source"]
WATCHDOG_KINDS = {"tco2": "WATCHDOG_TCO2", "i6300esb": "WATCHDOG_I6300ESB"}


def read_watchdogs(p, folder):
    rows, spans = read_csv(p, folder, "watchdogs.csv", WATCHDOG_COLUMNS) or [], []
    for r in rows:
        words(p, r, "name")
        words(p, r, "source")
        r.values = [number(p, r, k, 1, 0xFFFE) for k in WATCHDOG_COLUMNS[:3]]
        if r["kind"] not in WATCHDOG_KINDS:
            p.add(r.where, "kind", "'%s' must be one of %s" % (r["kind"], ", ".join(sorted(WATCHDOG_KINDS))))
        if r.values[1] > r.values[2]:
            p.add(r.where, "last", "lies before first")
        for vendor, first, last in spans:
            if vendor == r.values[0] and first <= r.values[2] and r.values[1] <= last:
                p.add(r.where, "first", "these devices stand twice")
        spans.append(tuple(r.values))
    return rows


def write_watchdogs(out, rows):
    out.write('\n#include "tables/watchdog.h"\nconst struct watchdog_chip watchdog_chips[] = {\n')
    for r in rows:
        out.write("\t{ 0x%04X, 0x%04X, 0x%04X, %s, %s, %s },\n" % (*r.values, WATCHDOG_KINDS[r["kind"]], c_text(r["name"]), c_text(r["source"])))
    out.write("};\nconst uint16_t watchdog_chip_count = %d;\n" % len(rows))


def write_processors(out, processors, quirks, sets):
    out.write("/* Written by tables/generate.py from tables/: do not edit. */\n")
    out.write('#include "tables/processor.h"\n\n')
    for name, rows in sorted(sets["latency_sources"].items()):
        out.write("static const struct latency_source %s[] = {\n" % c_name("sources", name))
        for r in rows:
            out.write("\t{ %s, %s, %s },\n" % (r["code"], c_text(r["name"]), c_text(r["what"])))
        out.write("};\n")
    for name, q in sorted(quirks.items()):
        if q.writes:
            out.write("static const struct msr_value %s[] = {\n" % c_name("writes", name))
            out.write("".join("\t{ 0x%X, 0x%Xull },\n" % w for w in q.writes) + "};\n")
    for r in processors:
        write_netburst(out, r)
        if r.events:
            out.write("static const struct event %s[] = {\n" % c_name("events", r["name"]))
            for e in (x.event for x in r.events):
                out.write("\t{ %s, 0x%02X, 0x%02X, %d, %d, %d, %d, %d, %d, %d, 0x%X, 0x%X, 0x%Xull, %s,\n\t  %s, %s },\n" % (
                    c_text(e["name"]), e["select"], e["umask"], e["cmask"], e["inv"], e["edge"], e["any"], e["pebs"],
                    e["fixed"], e["arch"], e["counters"], e["extra_msr"], e["extra_value"], use_of(r, e),
                    c_text(e["what"]), c_text(e["source"])))
            out.write("};\n")
        if r.msrs:
            out.write("static const struct writable_msr %s[] = {\n" % c_name("msrs", r["name"]))
            for m in sorted((x.msr for x in r.msrs), key=lambda m: m["first"]):
                out.write("\t{ 0x%X, 0x%X, 0x%Xull, %d, %s, %s },\n" % (
                    m["first"], m["last"], m["mask"], m["restore"], c_text(m["what"]), c_text(m["source"])))
            out.write("};\n")
        if r.quirks:
            out.write("static const struct quirk %s[] = {\n" % c_name("quirks", r["name"]))
            for q in r.quirks:
                overcounts = c_text(" ".join(q.overcounts))
                writes = "%s, %d" % (c_name("writes", q["name"]), len(q.writes)) if q.writes else "0, 0"
                out.write("\t{ %s, %s, %s, %s, %s },\n" % (c_text(q["name"]), c_text(q["erratum"]), c_text(q["what"]), writes, overcounts))
            out.write("};\n")
        for f in r.profiles:
            out.write("static const char *const %s[] = {\n" % c_name("list", r["name"] + "_" + f["name"]))
            out.write("".join("\t%s,\n" % c_text(n) for n in f.events) + "};\n")
        if r.profiles:
            out.write("static const struct profile %s[] = {\n" % c_name("profiles", r["name"]))
            for f in r.profiles:
                out.write("\t{ %s, %s, %s, %d, 0x%X, %s },\n" % (
                    c_text(f["name"]), c_text(f["title"]), c_name("list", r["name"] + "_" + f["name"]),
                    len(f.events), f.lbr, c_text(f["source"])))
            out.write("};\n")
        if r.pins:
            out.write("static const struct pin %s[] = {\n" % c_name("pins", r["name"]))
            for x in r.pins:
                out.write("\t{ %s, 0x%X, %d, %d, %s, %d, %s, %s },\n" % (c_text(x["name"]), *x.pin, c_text(x["what"]), c_text(x["source"])))
            out.write("};\n")
        write_boxes(out, r)
        write_metrics(out, r)
        if r.models:
            out.write("static const uint16_t %s[] = { %s };\n" % (
                c_name("models", r["name"]), ", ".join("0x%02X" % m for m in r.models)))
        out.write("\n")
    out.write("const struct processor processors[] = {\n")
    for r in processors:
        def part(kind, rows):
            return "%s, %d" % (c_name(kind, r["name"]), len(rows)) if rows else "0, 0"
        tlb = ", ".join(r.get(k, "0") for k in TLB_KEYS)
        out.write("\t{\n\t\t.name = %s, .title = %s,\n" % (c_text(r["name"]), c_text(r.title)))
        out.write("\t\t.vendor = %s, .family = 0x%X,\n" % (c_text(r.vendor), r.family))
        out.write("\t\t.models = %s, .model_count = %d,\n" % (
            c_name("models", r["name"]) if r.models else "0", len(r.models)))
        out.write("\t\t.stepping_low = %d, .stepping_high = %d,\n" % (r.low, r.high))
        for kind, rows, count in (("events", r.events, "event_count"), ("msrs", r.msrs, "msr_count"),
                                  ("quirks", r.quirks, "quirk_count"), ("profiles", r.profiles, "profile_count"),
                                  ("boxes", r.uncore, "box_count"), ("pins", r.pins, "pin_count"),
                                  ("derived", r.derived, "derived_count"),
                                  ("detectors", r.detectors, "detector_count"), ("metrics", r.metrics, "metric_count")):
            out.write("\t\t.%s = %s, .%s = %d,\n" % (
                kind, c_name(kind, r["name"]) if rows else "0", count, len(rows)))
        for b in r.buses:
            out.write("\t\t.buses = { { %s }, 0x%X, 0x%X, 0x%X },\n" % (
                b.device, b.value["node_id"], b.value["node_id_mask"], b.value["node_map"]))
        source = r.get("latency_sources", "")
        out.write("\t\t.latency_sources = %s,\n" % (c_name("sources", source) if source else "0"))
        out.write("\t\t.tlb = { %s },\n" % tlb)
        out.write("\t\t.pebs_format = %s, .lbr_pairs = %s, .serialise_cpuid = %s,\n" % (
            r.get("pebs_format", "255"), r.get("lbr_pairs", "0"), r.get("serialise_cpuid", "0")))
        out.write("\t\t.prefetch_msr = %s, .prefetch_off = %sull, .prefetch_pair = %sull,\n" % (
            r.get("prefetch_msr", "0"), r.get("prefetch_off", "0"), r.get("prefetch_pair", "0")))
        out.write("\t\t.confirmed = %s, .source = %s,\n\t},\n" % (c_text(r.confirmed), c_text(r.source)))
    out.write("};\nconst uint16_t processor_count = %d;\n" % len(processors))


NOT_RESTORED = "reviewed/not_restored.csv"
KINDS_WRITTEN, KINDS_READ = ["counts", "clears", "record"], ["status", "free"]


def check_not_restored(p, folder, sets):
    """What is not put back at exit stands on a reviewed list, and nothing else does. `sets`: rows of the files msrs/*.csv."""
    rows = read_csv(p, folder, NOT_RESTORED, ["first", "last", "msrs", "kind", "reason"])
    if rows is None:
        p.add((os.path.join("tables", NOT_RESTORED), 1), "first", "is missing")
        return
    for r in rows:
        r.range = (number(p, r, "first", 1, (1 << 32) - 1), number(p, r, "last", 1, (1 << 32) - 1))
        words(p, r, "reason")
        if r["kind"] not in KINDS_WRITTEN + KINDS_READ:
            p.add(r.where, r["first"], "kind must be one of %s" % ", ".join(KINDS_WRITTEN + KINDS_READ))
        r.unused = set(r["msrs"].split()) if r["kind"] in KINDS_WRITTEN else set()
        if r["kind"] in KINDS_READ and r["msrs"] != "-":
            p.add(r.where, r["first"], "is never written: msrs must be -")
    for name, m in ((name, m) for name, msrs in sets.items() for m in msrs):
        first, last = m.msr["first"], m.msr["last"]
        near = [r for r in rows if r.range[0] <= last and first <= r.range[1] and (name in r["msrs"].split() or r["msrs"] == "-")]
        if m.msr["restore"] and near:
            p.add(near[0].where, near[0]["first"], "is put back at exit: %s:%d" % m.where)
        elif not m.msr["restore"] and not any(r.range[0] <= first and last <= r.range[1] and r["kind"] in KINDS_WRITTEN for r in near):
            p.add(m.where, m["first"], "is not put back at exit and not on the list %s" % NOT_RESTORED)
        for r in near:
            r.unused.discard(name)
    for r in rows:
        if r.unused:
            p.add(r.where, r["first"], "no register that may be written is so in %s" % ", ".join(sorted(r.unused)))


def main(folder, target):
    p = Problems()
    quirks = read_quirks(p, folder)
    processors, sets = read_processors(p, folder, quirks)
    check_not_restored(p, folder, sets["msrs"])
    check_order(p, processors)
    tlbs = read_tlb_descriptors(p, folder)
    figures = read_published(p, folder, processors)
    without = read_unprovable(p, folder, processors)
    dogs = read_watchdogs(p, folder)
    if p.lines:
        print("\n".join(dict.fromkeys(p.lines)), file=sys.stderr)
        return 1
    with open(target, "w", encoding="ascii") as out:
        write_processors(out, processors, quirks, sets)
        write_tlb_descriptors(out, tlbs)
        write_published(out, figures)
        write_unprovable(out, without)
        write_watchdogs(out, dogs)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: generate.py FOLDER TARGET.c")
    sys.exit(main(sys.argv[1], sys.argv[2]))
