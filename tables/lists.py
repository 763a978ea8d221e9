"""Lists that belong to no processor: descriptors of CPUID leaf 2, watchdogs, and the reviewed list of registers that are not put back."""
from processors import TLB_KEYS
from reader import c_text, number, read_csv, words


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


CACHE_COLUMNS = ["code", "level", "type", "kib", "ways", "line_bytes", "source"]


def read_cache_descriptors(p, folder):
    rows = read_csv(p, folder, "cache_descriptors.csv", CACHE_COLUMNS) or []
    seen = set()
    for r in rows:
        words(p, r, "source")
        r.values = [number(p, r, "code", 1, 0xFE), number(p, r, "level", 1, 3), r["type"], number(p, r, "kib", 1, 1 << 20), number(p, r, "ways", 1, 255),
                    number(p, r, "line_bytes", 16, 1024)]
        if r["type"] not in ("D", "I", "U"):
            p.add(r.where, "type", "'%s' must be D, I or U" % r["type"])
        if r.values[0] in seen:
            p.add(r.where, r["code"], "stands twice")
        seen.add(r.values[0])
    return rows


def write_cache_descriptors(out, rows):
    out.write("\nconst struct cache_descriptor cache_descriptors[] = {\n")
    for r in rows:
        out.write("\t{ 0x%02X, %d, '%s', %d, %d, %d },\n" % tuple(r.values))
    out.write("};\nconst uint16_t cache_descriptor_count = %d;\n" % len(rows))


WATCHDOG_COLUMNS = ["vendor", "first", "last", "kind", "name", "source"]
WATCHDOG_KINDS = {"tco1": "WATCHDOG_TCO1", "tco2": "WATCHDOG_TCO2", "tco3": "WATCHDOG_TCO3", "tco4": "WATCHDOG_TCO4", "tco4dnv": "WATCHDOG_TCO4_DNV", "tco5": "WATCHDOG_TCO5",
                  "tco6": "WATCHDOG_TCO6", "fch": "WATCHDOG_FCH", "i6300esb": "WATCHDOG_I6300ESB"}


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


NOT_RESTORED = "not_restored.csv"
KINDS_WRITTEN, KINDS_READ = ["counts", "clears", "record"], ["status", "free"]


def check_not_restored(p, folder, sets):
    """What is not put back at exit stands on a reviewed list, and nothing else does. `sets`: rows of the files msrs.csv by PROCESSOR or common/NAME."""
    rows = read_csv(p, folder, NOT_RESTORED, ["first", "last", "msrs", "kind", "reason"])
    if rows is None:
        p.add(("tables/" + NOT_RESTORED, 1), "first", "is missing")
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
