"""Writes processors as the const data of processor.h."""
from boxes import write_boxes, write_metrics
from concept import write_expressions
from netburst import use_of, write_netburst
from processors import TLB_KEYS
from reader import c_name, c_text
from stall import write_stalls


def write_events(out, r):
    write_netburst(out, r)
    if r.events:
        out.write("static const struct event %s[] = {\n" % c_name("events", r["name"]))
        for e in (x.event for x in r.events):
            out.write("\t{ %s, 0x%02X, 0x%02X, %d, %d, %d, %d, %d, %d, %d, 0x%X, 0x%X, 0x%Xull, %s,\n\t  %s, %s, 0 },\n" % (
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


def write_quirks(out, r):
    for q in r.quirks:
        if q.writes:
            out.write("static const struct msr_value %s[] = {\n" % c_name("writes", r["name"] + "_" + q["name"]))
            out.write("".join("\t{ 0x%X, 0x%Xull },\n" % w for w in q.writes) + "};\n")
    if r.quirks:
        out.write("static const struct quirk %s[] = {\n" % c_name("quirks", r["name"]))
        for q in r.quirks:
            overcounts = c_text(" ".join(q.overcounts))
            writes = "%s, %d" % (c_name("writes", r["name"] + "_" + q["name"]), len(q.writes)) if q.writes else "0, 0"
            out.write("\t{ %s, %s, %s, %s, { 0x%X, %d, %d, %d }, %s },\n" % ((c_text(q["name"]), c_text(q["erratum"]), c_text(q["what"]), writes) + q.told + (overcounts,)))
        out.write("};\n")


def write_profiles(out, r):
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


def write_freq_locks(out, r):
    if r.freq_locks:
        out.write("static const struct freq_lock %s[] = {\n" % c_name("freq_locks", r["name"]))
        for x in r.freq_locks:
            out.write("\t{ %s, 0x%X, %d, %d, %s, %d, %s, %s },\n" % (c_text(x["name"]), *x.lock, c_text(x["what"]), c_text(x["source"])))
        out.write("};\n")


def write_names(out, rows, struct, array, fields):
    """Other names of events: two texts a row."""
    if rows:
        out.write("static const struct %s %s[] = {\n" % (struct, array))
        for n in rows:
            out.write("\t{ %s, %s },\n" % tuple(c_text(n[f]) for f in fields))
        out.write("};\n")


def write_likwid(out, r):
    write_names(out, r.likwid, "likwid_name", c_name("likwid", r["name"]), ("event", "likwid"))


def write_spellings(out, r):
    write_names(out, r.spellings, "spelling", c_name("spellings", r["name"]), ("spelling", "event"))


def write_descriptor(out, r):
    tlb = ", ".join(r.get(k, "0") for k in TLB_KEYS)
    out.write("\t{\n\t\t.name = %s, .title = %s,\n" % (c_text(r["name"]), c_text(r.title)))
    out.write("\t\t.vendor = %s, .family = 0x%X,\n" % (c_text(r.vendor), r.family))
    out.write("\t\t.models = %s, .model_count = %d,\n" % (
        c_name("models", r["name"]) if r.models else "0", len(r.models)))
    out.write("\t\t.stepping_low = %d, .stepping_high = %d, .core_type = 0x%X, .core_model = %d,\n" % (r.low, r.high, r.core_type, r.core_model))
    for kind, rows, count in (("events", r.events, "event_count"), ("msrs", r.msrs, "msr_count"),
                              ("quirks", r.quirks, "quirk_count"), ("profiles", r.profiles, "profile_count"),
                              ("boxes", r.uncore, "box_count"), ("freq_locks", r.freq_locks, "freq_lock_count"), ("likwid", r.likwid, "likwid_count"), ("spellings", r.spellings, "spelling_count"),
                              ("derived", r.derived, "derived_count"), ("expressions", r.expressions, "expression_count"),
                              ("detectors", r.detectors, "detector_count"), ("metrics", r.metrics, "metric_count")):
        out.write("\t\t.%s = %s, .%s = %d,\n" % (
            kind, c_name(kind, r["name"]) if rows else "0", count, len(rows)))
    out.write("\t\t.stalls = %s,\n" % (c_name("stalls", r["name"]) if r.stalls else "0"))
    for b in r.buses:
        out.write("\t\t.buses = { { %s }, 0x%X, 0x%X, 0x%X, 0x%X, %d },\n" % (
            b.device, b.value["node_id"], b.value["node_id_mask"], b.value["node_map"], b.value["bus_msr"], b.value["bus_valid"]))
    out.write("\t\t.latency_sources = %s,\n" % (c_name("sources", r.sources) if r.sources else "0"))
    names = [x["name"] for x in r.events]
    if r.get("latency_auxiliary"):
        out.write("\t\t.latency_auxiliary = &%s[%d],\n" % (c_name("events", r["name"]), names.index(r["latency_auxiliary"])))
    out.write("\t\t.tlb = { %s },\n" % tlb)
    out.write("\t\t.pebs_format = %s, .lbr_pairs = %s, .serialise_cpuid = %s, .imul_cycles = %s, .latency_bound = %s, .topdown_metrics = %s,\n" % (
        r.get("pebs_format", "255"), r.get("lbr_pairs", "0"), r.get("serialise_cpuid", "0"), r.get("imul_cycles", "3"), r.get("latency_bound", "0"), r.get("topdown_metrics", "0")))
    out.write("\t\t.prefetch_msr = %s, .prefetch_off = %sull, .prefetch_pair = %sull,\n" % (
        r.get("prefetch_msr", "0"), r.get("prefetch_off", "0"), r.get("prefetch_pair", "0")))
    out.write("\t\t.confirmed = %s, .source = %s,\n\t},\n" % (c_text(r.confirmed), c_text(r.source)))


def write_published(out, processors):
    rows = [(p["name"], r) for p in processors for r in p.published]
    out.write("\nconst struct published published[] = {\n")
    for name, r in rows:
        out.write("\t{ %s, %s, %d, %d, %s, %s, %s },\n" % (c_text(name), c_text(r["row"]), r.milli[0], r.milli[1],
                  c_text(r["unit"]), c_text(r["how"]), c_text(r["source"])))
    out.write("};\nconst uint16_t published_count = %d;\n" % len(rows))


def write_processors(out, processors, sets):
    out.write("/* Written by tables/generate.py from tables/: do not edit. */\n")
    out.write('#include "tables/processor.h"\n\n')
    for name, rows in sorted(sets["latency_sources"].items()):
        out.write("static const struct latency_source %s[] = {\n" % c_name("sources", name))
        for r in rows:
            out.write("\t{ %s, %s, %s },\n" % (r["code"], c_text(r["name"]), c_text(r["what"])))
        out.write("};\n")
    for r in processors:
        for write in (write_events, write_expressions, write_stalls, write_quirks, write_profiles, write_freq_locks, write_likwid, write_spellings, write_boxes, write_metrics):
            write(out, r)
        if r.models:
            out.write("static const uint16_t %s[] = { %s };\n" % (
                c_name("models", r["name"]), ", ".join("0x%02X" % m for m in r.models)))
        out.write("\n")
    out.write("const struct processor processors[] = {\n")
    for r in processors:
        write_descriptor(out, r)
    out.write("};\nconst uint16_t processor_count = %d;\n" % len(processors))
    write_published(out, processors)
