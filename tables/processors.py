"""One folder is one processor: reads processors/NAME/, what it names of processors/common/, and checks the whole. The formats are in FORMAT.md."""
import os
import re

from boxes import check_boxes, check_metrics, read_metrics, read_uncore
from concept import read_expressions, resolve
from core import read_events, read_freq_locks, read_likwid, read_msrs, read_offcore, read_profiles, read_quirks, read_sources, read_spellings
from netburst import check_netburst, read_netburst
from reader import number, read_csv, read_keys, words
from stall import resolve_stalls

COMMON = "common"
TLB_KEYS = ["dtlb_4k", "dtlb_2m", "dtlb_1g", "stlb_4k", "itlb_4k", "stlb_2m", "stlb_1g"]  # in the order of struct tlb_facts
# Kinds of parts: key of processor.txt, file in the processor's folder, reader of it.
PARTS = [("events", "events.csv", read_events), ("offcore", "offcore.csv", read_offcore), ("msrs", "msrs.csv", read_msrs),
         ("latency_sources", "sources.csv", read_sources), ("profiles", "profiles.txt", read_profiles), ("uncore", "uncore.txt", read_uncore),
         ("derived", "uncore-metrics.csv", read_metrics), ("metrics", "metrics.csv", read_metrics), ("netburst", "netburst-detectors.csv", read_netburst), ("freq_locks", "freq_locks.csv", read_freq_locks), ("likwid", "likwid.csv", read_likwid), ("spellings", "spellings.csv", read_spellings), ("concepts", "concepts.csv", read_expressions)]
QUIRKS, PUBLISHED = "quirks.txt", "published.csv"
OTHER_FILES = ["processor.txt", QUIRKS, PUBLISHED, "uncore-events.csv", "netburst-metrics.csv", "netburst-events.csv"]
REVIEWED = r"reviewed(-[a-z-]+)?\.csv"  # of the tests
KEYS = ["title", "latency_auxiliary", "vendor", "family", "models", "steppings", "core_type", "core_model", "quirks", "pebs_format", "lbr_pairs", "serialise_cpuid", "imul_cycles", "latency_bound", "prefetch_msr", "prefetch_off",
        "prefetch_pair", "topdown_metrics", "confirmed", "source"] + [key for key, _, _ in PARTS] + TLB_KEYS
FAMILY_ANY = 0xFFFF
PERFEVTSEL0 = 0x186


def span(p, row):
    text = row.get("steppings", "0 15").split()
    if len(text) != 2 or not all(t.isdigit() and int(t) < 16 for t in text) or int(text[0]) > int(text[1]):
        p.add(row.where, "steppings", "must be LOW HIGH, 0 .. 15")
        return 0, 15
    return int(text[0]), int(text[1])


def read_identity(p, folder, name):
    """processor.txt: which processors the folder is for, and its own values."""
    r = read_keys(p, folder, "processors/%s/processor.txt" % name, name, KEYS)
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
    r.core_type, r.core_model = number(p, r, "core_type", 0, 255, 0), number(p, r, "core_model", 0, 0xFFFFFF, 0)
    if r.core_model and not r.core_type:
        p.add(r.where, "core_model", "needs a core_type")
    for k in TLB_KEYS:
        number(p, r, k, 0, 65535, 0)
    number(p, r, "pebs_format", 0, 255, 255)
    number(p, r, "lbr_pairs", 0, 64, 0)
    number(p, r, "topdown_metrics", 0, 8, 0)
    number(p, r, "serialise_cpuid", 0, 1, 0)
    number(p, r, "imul_cycles", 1, 100, 3)
    number(p, r, "latency_bound", 0, 1, 0)
    return r


def path_of(name, key, file):
    """The file of a part by its name: PROCESSOR, or common/NAME."""
    if name.startswith(COMMON + "/"):
        return "processors/common/%s/%s%s" % (key if key != "latency_sources" else "sources", name[len(COMMON) + 1:], os.path.splitext(file)[1])
    return "processors/%s/%s" % (name, file)


def read_parts(p, folder, r, sets):
    """The parts of one processor by kind: what processor.txt names, then its own file. `sets` holds what has been read, by kind and name."""
    r.parts = {}
    for key, file, reader in PARTS:
        names = r.get(key, "").split()
        if os.path.exists(os.path.join(folder, path_of(r["name"], key, file))):
            names.append(r["name"])
        for name in names:
            path = path_of(name, key, file)
            if not os.path.exists(os.path.join(folder, path)):
                p.add(r.where, key, "no file 'tables/%s'" % path)
                continue
            if name not in sets[key]:
                sets[key][name] = reader(p, folder, path)
            r.parts.setdefault(key, []).append((name, sets[key][name]))
    flat = {key: [x for _, rows in r.parts.get(key, []) if isinstance(rows, list) for x in rows] for key, _, _ in PARTS}
    boxes, bursts = [u for _, u in r.parts.get("uncore", [])], [n for _, n in r.parts.get("netburst", [])]
    r.uses = [u for n in bursts for u in n.uses]
    r.detectors = [e for n in bursts for e in n.events]
    r.metrics = [m for n in bursts for m in n.metrics]
    r.events = flat["events"] + flat["offcore"] + r.uses
    r.uncore = [b for u in boxes for b in u.boxes]
    r.buses = [b for u in boxes for b in u.buses]
    r.msrs = flat["msrs"] + [m for b in r.uncore for m in b.msrs]
    r.profiles, r.derived, r.freq_locks, r.likwid, r.spellings = flat["profiles"], flat["metrics"] + flat["derived"], flat["freq_locks"], flat["likwid"], flat["spellings"]
    r.sources = r.parts["latency_sources"][-1][0] if "latency_sources" in r.parts else ""


def read_own_quirks(p, folder, r, shared):
    """Of common/quirks.txt those that processor.txt names, then all of the folder's own quirks.txt."""
    r.quirks, path = [], path_of(r["name"], "quirks", QUIRKS)
    for q in r.get("quirks", "").split():
        if q in shared:
            r.quirks.append(shared[q])
        else:
            p.add(r.where, "quirks", "no quirk '%s' in tables/processors/common/%s" % (q, QUIRKS))
    if os.path.exists(os.path.join(folder, path)):
        r.quirks += read_quirks(p, folder, path).values()


def check_files(p, folder, name):
    """A file that nobody reads is a mistake in its name."""
    known = [file for _, file, _ in PARTS] + OTHER_FILES
    for f in sorted(os.listdir(os.path.join(folder, "processors", name))):
        if f not in known and not re.fullmatch(REVIEWED, f):
            p.add(("tables/processors/%s/%s" % (name, f), 1), f, "is no file of a processor; known: %s" % ", ".join(known))


def read_processors(p, folder, concepts, stalls):
    """All processors, most specific first; the parts that they share, by kind and name."""
    sets, processors = {key: {} for key, _, _ in PARTS}, []
    shared = read_quirks(p, folder, "processors/common/" + QUIRKS)
    for name in sorted(os.listdir(os.path.join(folder, "processors"))):
        if name == COMMON:
            continue
        if not os.path.exists(os.path.join(folder, "processors", name, "processor.txt")):
            p.add(("tables/processors/%s/processor.txt" % name, 1), name, "is missing: what the folder is for")
            continue
        r = read_identity(p, folder, name)
        check_files(p, folder, name)
        read_parts(p, folder, r, sets)
        read_own_quirks(p, folder, r, shared)
        r.published = read_published(p, folder, r)
        check_processor(p, r)
        resolve(p, r, concepts)
        resolve_stalls(p, r, stalls, concepts)
        processors.append(r)
    return in_order(p, processors), sets


PUBLISHED_COLUMNS = ["row", "low", "high", "unit", "how", "source"]


def read_published(p, folder, processor):
    path = path_of(processor["name"], "published", PUBLISHED)
    rows, seen = read_csv(p, folder, path, PUBLISHED_COLUMNS) or [], set()
    for r in rows:
        for key in ("row", "how", "source"):
            words(p, r, key)
        if r["row"] in seen:
            p.add(r.where, r["row"], "stands twice")
        seen.add(r["row"])
        if r["unit"] not in ("cycles", "ns", "entries"):
            p.add(r.where, "unit", "'%s' must be cycles, ns or entries" % r["unit"])
        r.milli = []
        for key in ("low", "high"):
            if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", r[key]):
                p.add(r.where, key, "'%s' is no figure; at most three digits behind the point" % r[key])
                return []
            r.milli.append(round(float(r[key]) * 1000))
        if not 0 < r.milli[0] <= r.milli[1]:
            p.add(r.where, r["row"], "low and high must be above 0 and in order")
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
        if e.event["select"] > 0xFF and r.vendor not in ("AuthenticAMD", "HygonGenuine"):
            p.add(e.where, "select", "0x%X is outside 0 .. 255" % e.event["select"])
        if e.event["umask"] > 0xFF and not allowed(PERFEVTSEL0, e.event["umask"] >> 8 << 40):
            p.add(e.where, e["name"], "the second unit mask 0x%X of register 0x%X is not writable on %s: msrs.csv" % (e.event["umask"] >> 8, PERFEVTSEL0, r["name"]))
        if e.event["extra_msr"] and not allowed(e.event["extra_msr"], e.event["extra_value"]):
            p.add(e.where, e["name"], "0x%X in register 0x%X is not writable on %s: msrs.csv" % (e.event["extra_value"], e.event["extra_msr"], r["name"]))
    check_boxes(p, r, allowed)
    check_netburst(p, r, allowed)
    check_metrics(p, r)
    for n in r.likwid:
        if n["event"] not in seen:
            p.add(n.where, n["event"], "%s has no such event" % r["name"])
    known = set(seen) | {e["name"] for b in r.uncore for e in b.events}
    for n in r.spellings:
        if n["event"] not in known or n["spelling"] in known:
            p.add(n.where, n["spelling"], "%s has %s" % (r["name"], "an event of this spelling" if n["spelling"] in known else "no event " + n["event"]))
    for f in r.profiles:
        for n in f.events:
            if n not in seen:
                p.add(f.where, "events", "%s: %s has no such event" % (n, r["name"]))
    for q in r.quirks:
        for start in q.overcounts:
            if not any(n.startswith(start) for n in seen):
                p.add(q.where, "overcounts", "%s has no event that begins with '%s'" % (r["name"], start))
        for msr, value in q.writes:
            if not allowed(msr, value):
                p.add(q.where, "0x%X" % msr, "is not writable with this value on %s" % r["name"])
    if r.get("latency_auxiliary") and r["latency_auxiliary"] not in seen:
        p.add(r.where, "latency_auxiliary", "%s has no event '%s'" % (r["name"], r["latency_auxiliary"]))
    check_switches(p, r, allowed)


def check_switches(p, r, allowed):
    """Clocks and prefetchers: what is set must be on the list of MSRs."""
    for lock in r.freq_locks:
        msr, low, high = lock.lock[:3]
        bits = ((1 << (high - low + 1)) - 1) << low
        if not any(m.msr["first"] <= msr <= m.msr["last"] and m.msr["restore"] and not bits & ~m.msr["mask"] for m in r.msrs):
            p.add(lock.where, "0x%X" % msr, "is not writable and put back in bits %d-%d on %s" % (low, high, r["name"]))
    if r.get("prefetch_msr", "0") != "0":
        msr, off = number(p, r, "prefetch_msr"), number(p, r, "prefetch_off", 1)
        if not allowed(msr, off):
            p.add(r.where, "prefetch_off", "MSR 0x%X is not writable with 0x%X" % (msr, off))
        if "prefetch_pair" in r and number(p, r, "prefetch_pair", 1) & ~off:
            p.add(r.where, "prefetch_pair", "has bits that prefetch_off does not have")


def within(a, b):
    """Whether each processor that a's folder is for is one that b's is for."""
    return (b.vendor in ("", a.vendor) and b.family in (FAMILY_ANY, a.family) and
            (not b.models or (bool(a.models) and set(a.models) <= set(b.models))) and b.low <= a.low and a.high <= b.high and
            b.core_type in (0, a.core_type) and b.core_model in (0, a.core_model))


def overlap(a, b):
    return ((not a.vendor or not b.vendor or a.vendor == b.vendor) and (FAMILY_ANY in (a.family, b.family) or a.family == b.family) and
            (not a.models or not b.models or bool(set(a.models) & set(b.models))) and max(a.low, b.low) <= min(a.high, b.high) and
            (0 in (a.core_type, b.core_type) or a.core_type == b.core_type) and (0 in (a.core_model, b.core_model) or a.core_model == b.core_model))


def in_order(p, processors):
    """Most specific first, by what they match and never by where their folders stand: a folder comes before each that matches all that it
    matches, and two of which neither does must have nothing in common. Of those that have nothing in common the name decides."""
    for n, a in enumerate(processors):
        for b in processors[:n]:
            if overlap(a, b) and within(a, b) == within(b, a):
                p.add(a.where, a["name"], "matches processors that %s matches too, and neither is the more specific" % b["name"])
    left, out = sorted(processors, key=lambda r: r["name"]), []
    while left:
        first = next((r for r in left if not any(o is not r and within(o, r) for o in left)), left[0])
        left.remove(first)
        out.append(first)
    last = out[-1] if out else None
    if last is None or last.vendor or last.family != FAMILY_ANY or last.models:
        nearest = next((r for r in out if not r.vendor), last)
        p.add(nearest.where if nearest else ("tables/processors", 1), "processors", "one folder must match any processor")
    return out
