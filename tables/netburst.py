"""Event detectors of NetBurst: netburst-*.csv. The formats are in FORMAT.md."""
import re

from reader import c_name, c_text, number, read_csv, words

EVENT_COLUMNS = ["event", "select", "escr_select", "escr0", "counters0", "escr1", "counters1", "shared", "tags", "units", "what", "source"]
METRIC_COLUMNS = ["name", "pebs_enable", "matrix_vert", "also", "what", "source"]
BLOCKS = [range(0, 4), range(4, 8), range(8, 12), range(12, 18)]  # BPU MS FLAME IQ
USE_COLUMNS = ["name", "detector", "compare", "complement", "edge", "threshold", "threads", "active", "upstream", "what", "source"]
THREADS = {"own": 1, "other": 2, "both": 3}
ACTIVE = {"none": 0, "single": 1, "both": 2, "any": 3}
METRIC_BITS = 0x19FFF  # IA32_PEBS_ENABLE: 12:0, 15, 16


def read_side(p, r, n):
    """An ESCR and the counters that it reaches; 0 and none where the event has one ESCR only."""
    escr, counters = number(p, r, "escr%d" % n, 0, 0x3FF), 0
    for c in filter(None, r["counters%d" % n].split("+")):
        if not re.fullmatch(r"[0-9]{1,2}", c) or int(c) > 17:
            p.add(r.where, "counters%d" % n, "'%s' is no counter; 0 .. 17 with + between them" % c)
            continue
        counters |= 1 << int(c)
    if (escr != 0) != (counters != 0):
        p.add(r.where, r["event"], "an ESCR and its counters belong together")
    if escr and not 0x3A0 <= escr <= 0x3E1:
        p.add(r.where, "escr%d" % n, "0x%X is outside 0x3A0 .. 0x3E1" % escr)
    if counters and not any(counters & ~sum(1 << c for c in block) == 0 for block in BLOCKS):
        p.add(r.where, "counters%d" % n, "are of more than one block")
    return escr, counters


def read_units(p, r):
    units = []
    for t in r["units"].split():
        m = re.fullmatch(r"([A-Za-z0-9_]+)=([0-9]{1,2})", t)
        if not m or int(m.group(2)) > 15:
            p.add(r.where, "units", "'%s' is not NAME=BIT, bit 0 .. 15" % t)
            continue
        units.append((m.group(1), int(m.group(2))))
    if not units or len(set(n for n, _ in units)) < len(units) or len(set(b for _, b in units)) < len(units):
        p.add(r.where, "units", "must be one or more, no name and no bit twice")
    return units


class Netburst:
    def __init__(self):
        self.events, self.metrics, self.uses = [], [], []


def named(p, r, key, text, rows):
    """EVENT.UNIT+UNIT[:escr=N]: the event's index, its mask, and the ESCR that has to detect it: 0 either, 1 the first, 2 the second."""
    text, _, escr = text.partition(":escr=")
    if escr not in ("", "0", "1"):
        p.add(r.where, key, "'%s' is no number of an ESCR, 0 or 1" % escr)
    which = {"0": 1, "1": 2}.get(escr, 0)
    event, _, units = text.partition(".")
    for n, e in enumerate(rows):
        known = dict(e.units)
        if e["event"] == event and units and all(u in known for u in units.split("+")):
            return n, sum(1 << known[u] for u in units.split("+")), which
    p.add(r.where, key, "'%s' has no event or unit of that name" % text)
    return 0, 1, 0


def read_uses(p, folder, path, n):
    """Events by the names that rows and users call them."""
    for r in read_csv(p, folder, path.replace("-detectors", "-events"), USE_COLUMNS) or []:
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*(\.[A-Z0-9_]+)*", r["name"]):
            p.add(r.where, r["name"], "is no event name; capitals, digits, _ and .")
        detector, _, metric = r["detector"].partition(":")
        u = dict(name=r["name"], what=words(p, r, "what"), source=words(p, r, "source"), metric=-1, upstream=(-1, 0, 0))
        u["event"], u["mask"], _ = named(p, r, "detector", detector, n.events)
        for k in ("compare", "complement", "edge"):
            u[k] = number(p, r, k, 0, 1)
        u["threshold"] = number(p, r, "threshold", 0, 15)
        if (u["complement"] or u["edge"] or u["threshold"]) and not u["compare"]:
            p.add(r.where, r["name"], "complement, edge and threshold need compare")
        for k, values in (("threads", THREADS), ("active", ACTIVE)):
            u[k] = values.get(r[k], 0)
            if r[k] not in values:
                p.add(r.where, k, "'%s' is none of %s" % (r[k], ", ".join(values)))
        if metric:
            found = [i for i, m in enumerate(n.metrics) if m["name"] == metric]
            u["metric"] = found[0] if found else -1
            if not found or not detector.startswith("replay_event."):
                p.add(r.where, r["name"], "'%s' is no metric of replay_event" % metric)
        if r["upstream"]:
            u["upstream"] = named(p, r, "upstream", r["upstream"], n.events)
        r.use = u
        # as read_events has them: what plans and listings ask of any event
        r.event = dict(name=r["name"], select=0, umask=0, cmask=0, inv=0, edge=0, any=0, pebs=0, fixed=0, arch=0, counters=0x3FFFF,
                       extra_msr=0, extra_value=0, what=u["what"], source=u["source"])
        n.uses.append(r)


def read_netburst(p, folder, path):
    rows = read_csv(p, folder, path, EVENT_COLUMNS)
    n, by_name = Netburst(), {}
    for r in rows:
        if not re.fullmatch(r"[A-Za-z0-9_]+", r["event"]) or r["event"] in by_name:
            p.add(r.where, r["event"], "is no name of an event, or stands twice")
        by_name[r["event"]] = r
        r.select, r.escr_select = number(p, r, "select", 0, 0x3F), number(p, r, "escr_select", 0, 7)
        r.sides = [read_side(p, r, s) for s in (0, 1)]
        r.shared, r.tags = number(p, r, "shared", 0, 1), number(p, r, "tags", 0, 3)
        r.units = read_units(p, r)
        words(p, r, "what"), words(p, r, "source")
        if not any(counters for _, counters in r.sides):
            p.add(r.where, r["event"], "no counter can count it")
    n.events = rows
    n.metrics = read_csv(p, folder, path.replace("-detectors", "-metrics"), METRIC_COLUMNS) or []
    for m in n.metrics:
        words(p, m, "name"), words(p, m, "what"), words(p, m, "source")
        m.enable, m.vert = number(p, m, "pebs_enable", 1, METRIC_BITS), number(p, m, "matrix_vert", 1, 0x1F)
        if m.enable & ~METRIC_BITS:
            p.add(m.where, "pebs_enable", "0x%X has bits beside 12:0, 15 and 16" % m.enable)
        m.also = (-1, 0, 0)
        if m["also"]:
            m.also = named(p, m, "also", m["also"], rows)
    read_uses(p, folder, path, n)
    return n


def check_netburst(p, r, allowed):
    for e in r.detectors:
        for escr, _ in e.sides:
            if escr and not allowed(escr, 0x7FFFFFFF):
                p.add(e.where, e["event"], "ESCR 0x%X is not writable on %s" % (escr, r["name"]))
    for m in r.metrics:
        if not allowed(0x3F1, m.enable | 0x3000000) or not allowed(0x3F2, m.vert):
            p.add(m.where, m["name"], "its registers are not writable with these values on %s" % r["name"])


def write_netburst(out, r):
    if not r.detectors:
        return
    for e in r.detectors:
        out.write("static const struct netburst_unit %s[] = { %s };\n" % (
            c_name("units", e["event"].lower()), ", ".join("{ %s, %d }" % (c_text(n), b) for n, b in e.units)))
    out.write("static const struct netburst_event %s[] = {\n" % c_name("detectors", r["name"]))
    for e in r.detectors:
        out.write("\t{ %s, 0x%02X, %d, { 0x%X, 0x%X }, { 0x%X, 0x%X }, %d, %d, %d, %s,\n\t  %s, %s },\n" % (
            c_text(e["event"]), e.select, e.escr_select, e.sides[0][0], e.sides[1][0], e.sides[0][1], e.sides[1][1],
            e.shared, e.tags, len(e.units), c_name("units", e["event"].lower()), c_text(e["what"]), c_text(e["source"])))
    out.write("};\nstatic const struct netburst_metric %s[] = {\n" % c_name("metrics", r["name"]))
    for m in r.metrics:
        out.write("\t{ %s, 0x%X, 0x%X, %d, 0x%X, %d, %s, %s },\n" % (
            c_text(m["name"]), m.enable, m.vert, *m.also, c_text(m["what"]), c_text(m["source"])))
    out.write("};\nstatic const struct netburst_use %s[] = {\n" % c_name("uses", r["name"]))
    for u in (x.use for x in r.uses):
        out.write("\t{ %d, 0x%X, %d, %d, %d, %d, %d, %d, %d, %d, 0x%X, .upstream_escr = %d },\n" % (
            u["event"], u["mask"], u["metric"], u["compare"], u["complement"], u["edge"], u["threshold"], u["threads"], u["active"],
            *u["upstream"]))
    out.write("};\n")


def use_of(r, e):
    """The pointer of an event's row to its netburst_use."""
    for n, u in enumerate(r.uses):
        if u.event is e:
            return "&%s[%d]" % (c_name("uses", r["name"]), n)
    return "0"
