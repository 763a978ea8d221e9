"""Types of uncore boxes: uncore.txt and the events that it names. The formats are in FORMAT.md."""
import os
import re

from reader import BITS64, Row, c_name, c_text, number, read_csv, read_ini, words

EVENT_NAME = r"[A-Z][A-Z0-9_]*(\.[A-Z0-9_]+)*"
FLAT_COLUMNS = ["name", "select", "umask", "cmask", "queue", "fixed", "counters", "extra_msr", "extra_value", "what", "source"]
UNIT_COLUMNS = ["box", "event", "select", "extended", "counters", "increment", "units", "what", "source"]
EMPTY = {"cmask": 0, "extended": 0, "queue": 0, "fixed": 0, "filters": [], "implied": [], "increment": 0, "extra_msr": 0, "extra_value": 0, "high": 0}


def read_flat_events(p, folder, path):
    """One event a row, with the registers it needs."""
    rows = read_csv(p, folder, path, FLAT_COLUMNS)
    for r in rows or []:
        e = r.event = dict(EMPTY, name=r["name"], **{k: number(p, r, k, 0, most, 0) for k, most in (("select", 0x3FFF), ("umask", 0xFFF))})
        e["cmask"] = number(p, r, "cmask", 0, 255, 0)
        e["queue"], e["fixed"] = number(p, r, "queue", 0, 1, 0), number(p, r, "fixed", 0, 1, 0)
        e["counters"] = number(p, r, "counters", 0, (1 << 32) - 1, 0)
        e["extra_msr"], e["extra_value"] = number(p, r, "extra_msr", 0, (1 << 32) - 1, 0), number(p, r, "extra_value", 0, BITS64, 0)
        e["what"], e["source"] = words(p, r, "what"), words(p, r, "source")
    return rows


def units_of(p, r, sets):
    """'NAME=0x01:filter+filter=VALUE ...', '=0x00:filter' without a name, or 'as EVENT': that one's."""
    text = r["units"].split()
    if text[:1] == ["as"]:
        if len(text) != 2 or text[1] not in sets:
            p.add(r.where, "units", "'%s': as EVENT must name one above, of the same box" % r["units"])
            return []
        return sets[text[1]]
    units = []
    for t in text or ["=0x00"]:
        m = re.fullmatch(r"([A-Z0-9_.]*)=(0x[0-9A-Fa-f]{2,10})(?::([a-z0-9]+(?:=0x[0-9A-Fa-f]+)?(?:\+[a-z0-9]+(?:=0x[0-9A-Fa-f]+)?)*))?", t)
        if not m:
            p.add(r.where, "units", "'%s' is not NAME=0xNN or NAME=0xNN:filter or NAME=0xNN:filter=VALUE" % t)
            continue
        filters = [f.split("=") for f in m.group(3).split("+")] if m.group(3) else []
        units.append((m.group(1), int(m.group(2), 16), [f[0] for f in filters if len(f) == 1], [(f[0], int(f[1], 16)) for f in filters if len(f) > 1]))
    return units


def read_unit_events(p, folder, path, box, prefix):
    """One event code a row, with its unit masks: an event each."""
    rows = read_csv(p, folder, path, UNIT_COLUMNS)
    if rows is None:
        return None
    out, sets = [], {}
    for r in (r for r in rows if r["box"] == box):
        base = dict(EMPTY, select=number(p, r, "select", 0, 0x3FFF), extended=number(p, r, "extended", 0, 1, 0),
                    counters=number(p, r, "counters", 1, (1 << 32) - 1), increment=number(p, r, "increment", 0, 65535),
                    what=words(p, r, "what"), source=words(p, r, "source"))
        sets[r["event"]] = units_of(p, r, sets)
        for unit, umask, filters, implied in sets[r["event"]]:
            e = Row(name=prefix + r["event"] + ("." + unit if unit else ""))
            e.where = r.where
            e.event = dict(base, name=e["name"], umask=umask, filters=filters, implied=implied)
            out.append(e)
    if not out:
        p.add(("tables/" + path, 1), "box", "no event of box %s" % box)
    return out


NUMBERS = ["instances", "io_bus", "bus_number", "stride", "control", "counter", "control_stride", "counter_stride", "counters", "width", "enable",
           "selectable", "select_bits", "present_leaf", "present_counters", "select_writes", "fixed_control", "fixed_counter", "fixed_enable", "fixed_reset", "box_control", "box_keep",
           "box_reset", "box_freeze", "box_steps", "box_status", "box_status_mask", "global_control", "global_counters", "global_fixed",
           "global_freeze", "global_unfreeze", "global_cores", "global_status", "global_status_mask", "status", "clear", "count_msr", "count_offset", "count_mask", "count_zero",
           "count_other", "count_less", "count_cores", "count_bus", "count_ones", "jump_from", "jump", "map_mask", "map_enable", "window_register", "window_mask", "window_shift", "block_register", "block_step", "block_mask", "block_shift",
           "block_boxes", "count_next", "type", "within_first", "within_last", "free_running", "global_enable", "counter_0_code", "occupancy_code", "line_units", "occupancy_edge", "occupancy_invert"]
WIDE = ["code_high", "code_top", "umask_high", "ports_high", "completions_high", "occupancy_counters"]
SCOPES = ["socket", "complex"]
NAMED = ["scope", "space", "map", "window", "places", "events", "unit_events", "prefix", "devices", "count_device", "filters", "fixed_event", "registers", "source"]
BUSES = ["bus_device", "node_id", "node_id_mask", "node_map", "bus_msr", "bus_valid"]


def device(p, r, key, text):
    """0xID@DEVICE.FUNCTION, decimal as in the documents."""
    m = re.fullmatch(r"(0x[0-9A-Fa-f]{4})@([0-9]{1,2})\.([0-7])", text)
    if not m or int(m.group(2)) > 31:
        p.add(r.where, key, "'%s' is not 0xID@DEVICE.FUNCTION" % text)
        return "0, 0, 0"
    return "0x%X, %d, %d" % (int(m.group(1), 16), int(m.group(2)), int(m.group(3)))


def read_filters(p, r):
    """NAME:REGISTER:LOW-HIGH, with @FUNCTION after the register and /SELECT_BITS at the end where needed."""
    out = []
    for t in r.get("filters", "").split():
        m = re.fullmatch(r"([a-z0-9]+):(0x[0-9A-F]+)(?:@([0-7]))?:([0-9]+)-([0-9]+)(?:/(0x[0-9A-F]+))?", t)
        if not m or not int(m.group(4)) <= int(m.group(5)) < 32:
            p.add(r.where, "filters", "'%s' is not NAME:REGISTER[@FUNCTION]:LOW-HIGH[/SELECT]" % t)
            continue
        out.append((m.group(1), int(m.group(2), 16), int(m.group(4)), int(m.group(5)),
                    int(m.group(3)) if m.group(3) else 255, int(m.group(6) or "0", 16)))
    if len(out) > 8:
        p.add(r.where, "filters", "at most 8")
    return out


def window(p, r):
    """DEVICE.FUNCTION:REGISTER of the function whose register tells where a box's registers are in memory."""
    m = re.fullmatch(r"([0-9]{1,2})\.([0-7]):(0x[0-9A-Fa-f]+)", r.get("map", "0.0:0x0"))
    if not m or int(m.group(1)) > 31 or int(m.group(3), 16) > 0xFF8 or (("map" in r or "window" in r) != (r.get("space") == "mmio") and "type" not in r):
        p.add(r.where, "map", "DEVICE.FUNCTION:REGISTER, with space = mmio and nowhere else; or a window, or a type")
        return 0, 0, 0
    return int(m.group(1)), int(m.group(2)), int(m.group(3), 16)


def beside(path, name):
    return "%s/%s.csv" % (os.path.dirname(path), name)


class Uncore:
    def __init__(self):
        self.boxes, self.buses = [], []


def fixed_event(p, r, text):
    """NAME what it counts: the box's fixed counter."""
    name, _, what = text.partition(" ")
    e = Row(name=name)
    e.where = r.where
    e.event = dict(EMPTY, name=name, select=0, umask=0, counters=0, fixed=1, increment=1, what=what, source=r.get("source", ""))
    return e


def read_places(p, r):
    """The distance of each instance's registers, where they are not as far from each other."""
    out = []
    for t in r.get("places", "").split():
        if not re.fullmatch(r"0x[0-9A-Fa-f]{1,8}", t):
            p.add(r.where, "places", "'%s' is no hexadecimal distance" % t)
            continue
        out.append(int(t, 16))
    if out and (len(out) != r.value["instances"] or len(set(out)) != len(out) or r.value["stride"] or r.value["jump"]):
        p.add(r.where, "places", "one for each instance, each another, and neither stride nor jump")
    return out


def instance_at(v, i):
    if v["places"]:
        return v["places"][i] if i < len(v["places"]) else 0
    return i * v["stride"] + (v["jump"] if v["jump_from"] and i >= v["jump_from"] else 0)


def box_msrs(p, r):
    """The registers of an MSR box as rows of the list of writable ones, where `registers = derived` asks for it."""
    v, rows = r.value, []
    if r.get("registers") != "derived" or v["type"]:
        return rows

    def add(msr, mask, restore, what):
        m = Row()
        m.where = r.where
        m.msr = {"first": msr, "last": msr, "mask": mask, "restore": restore, "what": "box %s: %s" % (r["name"], what),
                 "source": r["source"]}
        if not any(x.msr["first"] == msr for x in rows):
            rows.append(m)

    count = (1 << v["width"]) - 1
    for i in range(v["instances"]):
        at = instance_at(v, i)
        if v["box_control"]:
            add(v["box_control"] + at, v["box_keep"] | v["box_reset"] | v["box_freeze"], 0, "resets and freezes it; reads as 0")
        for c in range(v["counters"]):
            add(v["control"] + at + c * v["control_stride"], v["selectable"], 1, "select of counter %d" % c)
            add(v["counter"] + at + c * v["counter_stride"], count, 1, "counter %d" % c)
        for f in r.filters:
            bits = 0
            for g in r.filters:
                if g[1] == f[1]:
                    bits |= (1 << (g[3] + 1)) - (1 << g[2])
            add(f[1] + at, bits, 1, "filter")
        if v["box_status"]:
            add(v["box_status"] + at, v["box_status_mask"], 0, "overflow bits, cleared by writing 1")
    if v["fixed_control"]:
        add(v["fixed_control"], v["fixed_enable"] | v["fixed_reset"], 1, "control of the fixed counter")
        add(v["fixed_counter"], count, 1, "fixed counter")
    return rows


def global_msrs(boxes):
    """The global control that several boxes name stands once."""
    rows, seen = [], set()
    for r in boxes:
        v = r.value
        if r.get("registers") == "derived" and v["global_freeze"] and v["global_control"] not in seen:
            seen.add(v["global_control"])
            m = Row()
            m.where = r.where
            m.msr = {"first": v["global_control"], "last": v["global_control"], "mask": v["global_freeze"] | v["global_unfreeze"] | v["global_cores"],
                     "restore": 0, "what": "stops and starts all boxes of the socket, by bits that are written alone; cores that an overflow interrupts", "source": r["source"]}
            rows.append(m)
        if r.get("registers") == "derived" and v["global_enable"] and v["global_control"] not in seen:
            seen.add(v["global_control"])
            m = Row()
            m.where = r.where
            m.msr = {"first": v["global_control"], "last": v["global_control"], "mask": v["global_enable"] | v["global_cores"], "restore": 1,
                     "what": "starts all counters of the socket", "source": r["source"]}
            rows.append(m)
        if r.get("registers") == "derived" and v["global_status"]:
            m = Row()
            m.where = r.where
            m.msr = {"first": v["global_status"], "last": v["global_status"], "mask": v["global_status_mask"], "restore": 0,
                     "what": "boxes that overflowed, cleared by writing 1", "source": r["source"]}
            rows.append(m)
    return rows


def read_uncore(p, folder, path):
    """Types of uncore boxes, each with its events, whose files stand beside this one."""
    uncore = Uncore()
    for r in read_ini(p, folder, path, NAMED + NUMBERS + WIDE + BUSES):
        words(p, r, "source")
        r.value = {k: number(p, r, k, 0, BITS64, 0) for k in NUMBERS + WIDE + BUSES[1:]}
        if "bus_device" in r or r.value["bus_msr"]:
            r.device = device(p, r, "bus_device", r["bus_device"]) if "bus_device" in r else "0, 0, 0"
            uncore.buses.append(r)
            continue
        uncore.boxes.append(r)
        v = r.value
        if r.get("space") not in ("msr", "pci", "mmio"):
            p.add(r.where, "space", "must be msr, pci or mmio")
        r.window = window(p, r)
        if r.get("scope", "socket") not in SCOPES:
            p.add(r.where, "scope", "must be socket or complex")
        pci, free = r.get("space") == "pci", v["free_running"] == 1
        msr = r.get("space") == "msr"
        v["control_stride"], v["counter_stride"] = v["control_stride"] or (1 if msr else 4), v["counter_stride"] or (1 if msr else 8)
        v["select_writes"] = v["select_writes"] or 1
        v["places"] = read_places(p, r)
        r.told_by = device(p, r, "window", r["window"]) if "window" in r else "0, 0, 0"
        if v["block_register"] and not v["block_boxes"]:
            p.add(r.where, "block_boxes", "is missing: how many boxes a block has")
        v["selectable"] = v["selectable"] or (v["enable"] | 0xFF84FFFF)
        r.devices = [device(p, r, "devices", t) for t in r.get("devices", "").split()]
        r.count_device = device(p, r, "count_device", r["count_device"]) if "count_device" in r else "0, 0, 0"
        if "type" in r:  # kept with 1 added: 0 is no type
            v["type"] = number(p, r, "type", 0, 254) + 1
            v["stride"] = v["stride"] or 1
        elif pci:
            v["instances"] = len(r.devices)
        r.filters = read_filters(p, r)
        only_fixed = bool(v["fixed_control"] and not v["counters"])
        for k in ["instances"] + ([] if only_fixed else ["counter", "counters"]) + ([] if free or only_fixed else ["control", "enable"]):
            if not v[k] and not (k == "enable" and k in r):
                p.add(r.where, k, "is missing")
        if v["instances"] > 64:
            p.add(r.where, "instances", "at most 64")
        if v["counters"] > (32 if free else 8) or not 32 <= v["width"] <= 64:
            p.add(r.where, "counters", "at most 8 counters (32 free-running ones) of 32 .. 64 bits")
        if bool(v["box_status"]) != bool(v["box_status_mask"]):
            p.add(r.where, "box_status", "goes with box_status_mask")
        if v["instances"] > 1 and not v["stride"] and not v["places"] and not pci and r.get("scope") != "complex":
            p.add(r.where, "stride", "is missing")
        if pci and max(v["control"] + v["counters"] * v["control_stride"], v["counter"] + v["counters"] * v["counter_stride"]) > 0x1000:
            p.add(r.where, "control", "lies beyond the 4096 bytes of a function")
        if pci and v["selectable"] >> 32 and v["control_stride"] < 8:
            p.add(r.where, "selectable", "has more than 32 bits, and the selects are closer than 8 bytes")
        r.events = (read_unit_events(p, folder, beside(path, r["unit_events"]), r["name"], r.get("prefix", "")) if "unit_events" in r
                    else [] if only_fixed else read_flat_events(p, folder, beside(path, words(p, r, "events"))))
        if r.events is None:
            p.add(r.where, "events", "no such file")
            r.events = []
        for e in r.events:
            spread(p, e.where, e["name"], v, e.event)
            reach(v, e.event)
        r.codes = len({(e.event["select"], e.event["extended"], e.event["high"], e["name"].split(".")[0]) for e in r.events})
        if "fixed_event" in r:
            r.events.append(fixed_event(p, r, r["fixed_event"]))
        r.msrs = box_msrs(p, r) if msr else []
        check_events(p, r)
    for extra in global_msrs(uncore.boxes):
        uncore.boxes[0].msrs.append(extra)
    return uncore


def spread(p, where, name, v, e):
    """Bits of the code above 7:0 go to code_high, with code_top those from 12 on to there; bits of the umask above 7:0 to umask_high."""
    above, umask = e["select"] >> 8, e["umask"] >> 8
    low = above & 0xF if v["code_top"] else above
    if (above and not v["code_high"]) or (umask and not v["umask_high"]):
        p.add(where, name, "its code or umask has more than 8 bits, and the box no place for them")
    e["high"] = low << v["code_high"] | (above >> 4 << v["code_top"] if v["code_top"] else 0) | umask << v["umask_high"]
    e["select"], e["umask"] = e["select"] & 0xFF, e["umask"] & 0xFF


def reach(v, e):
    """An event that counts what counter 0 counts is for the others; occupancies are for the counters of the box that have them."""
    if v["counter_0_code"] and e["select"] == v["counter_0_code"]:
        e["counters"] &= ~1
    if v["occupancy_counters"] and e["select"] & v["occupancy_code"]:
        e["counters"] &= v["occupancy_counters"]


def threshold_of(v):
    """Which of a select's bits 31:24 are a threshold: all that may be written and are nothing else."""
    umask = 0xFF000000 if 24 <= v["umask_high"] < 32 else 0
    return (v["selectable"] & ~(v["enable"] | v["occupancy_edge"] | v["occupancy_invert"] | umask) & 0xFF000000) >> 24


def check_implied(p, r, e):
    """At most one filter with a value of the event's own."""
    v, filters = e.event, [f[0] for f in r.filters]
    v["implied_filter"] = v["implied_value"] = 0
    for name, value in v["implied"][:1]:
        if name not in filters or value >> (r.filters[filters.index(name)][3] - r.filters[filters.index(name)][2] + 1):
            p.add(e.where, e["name"], "box %s has no filter %s that holds 0x%X" % (r["name"], name, value))
            continue
        v["implied_filter"], v["implied_value"] = 1 + filters.index(name), value
    if len(v["implied"]) > 1:
        p.add(e.where, e["name"], "at most one filter with a value")


def check_events(p, r):
    seen, filters = set(), [f[0] for f in r.filters]
    for e in r.events:
        v = e.event
        if not re.fullmatch(EVENT_NAME, e["name"]) or e["name"] in seen:
            p.add(e.where, e["name"], "is no event name, or stands twice")
        seen.add(e["name"])
        if bool(v["fixed"]) == bool(v["counters"]):
            p.add(e.where, e["name"], "either the fixed counter counts it or some of the general ones")
        if v["extra_value"] and not v["extra_msr"]:
            p.add(e.where, e["name"], "extra_value without extra_msr")
        if v["counters"] >> r.value["counters"] or (v["fixed"] and not r.value["fixed_counter"]):
            p.add(e.where, e["name"], "names a counter that box %s lacks" % r["name"])
        if (v["select"] | v["umask"] << 8 | v["extended"] << 21 | v["high"]) & ~r.value["selectable"]:
            p.add(e.where, e["name"], "has bits that the selects of box %s lack" % r["name"])
        for f in v["filters"]:
            if f not in filters:
                p.add(e.where, e["name"], "box %s has no filter %s; it has: %s" % (r["name"], f, " ".join(filters) or "none"))
        v["filter_bits"] = sum(1 << filters.index(f) for f in v["filters"] if f in filters)
        check_implied(p, r, e)


def check_boxes(p, r, allowed):
    """What a box writes must be on the processor's list; allowed(msr, value) asks it."""
    for b in r.uncore:
        v = b.value
        for i in range(v["instances"] if b.get("space") == "msr" and not v["type"] else 0):
            at = instance_at(v, i)
            needed = [(v["control"] + at + c * v["control_stride"], v["enable"] | 0xFF) for c in range(v["counters"])]
            needed += [(v["counter"] + at + c * v["counter_stride"], (1 << v["width"]) - 1) for c in range(v["counters"])]
            needed += [(v[k], bits) for k, bits in (("fixed_control", v["fixed_enable"]), ("fixed_counter", (1 << v["width"]) - 1),
                                                    ("global_control", v["global_counters"] | v["global_fixed"] | v["global_freeze"] | v["global_enable"]),
                                                    ("clear", v["global_counters"] | v["global_fixed"])) if v[k]]
            for msr, bits in needed:
                if not allowed(msr, bits):
                    p.add(b.where, "0x%X" % msr, "is not writable with 0x%X on %s" % (bits, r["name"]))
        for e in b.events:
            if e.event["extra_msr"] and not allowed(e.event["extra_msr"], e.event["extra_value"]):
                p.add(e.where, e["name"], "0x%X in register 0x%X is not writable on %s: msrs.csv" % (e.event["extra_value"], e.event["extra_msr"], r["name"]))


EVENT_TERM = re.compile(r"(?<![A-Z$_])[A-Z][A-Z0-9]*_[A-Za-z0-9_.:=]+")
METRIC_COLUMNS = ["name", "unit", "expression", "lacks", "what", "source"]
METRIC_TERMS = ["$INSTRUCTIONS", "$CORE_CYCLES", "$TSC_MHZ", "$READ_TSC", "$TSC", "$BOXES"]


def read_metrics(p, folder, path):
    """Derived metrics: an expression over events, or what event is lacking for it."""
    rows = read_csv(p, folder, path, METRIC_COLUMNS)
    for r in rows:
        for k in ("name", "unit", "what", "source"):
            words(p, r, k)
        if not re.fullmatch(r"[a-z0-9_]+\.[A-Za-z0-9_]+", r["name"]) or sum(x["name"] == r["name"] for x in rows) > 1:
            p.add(r.where, "name", "is no BOX.NAME or GROUP.NAME, or stands twice")
        if bool(r["expression"]) == bool(r["lacks"]):
            p.add(r.where, r["name"], "either an expression or what is lacking for it")
    return rows


def check_suffixes(p, where, key, box, event, suffixes):
    """Filters behind an event's name: of its box, and those that it needs among them."""
    given = [s.split("=")[0] for s in suffixes]
    known = [f[0] for f in box.filters]
    for g in given:
        if g not in known + ["thresh", "edge", "invert"]:
            p.add(where, key, "box %s has no filter %s" % (box["name"], g))
    for f in event["filters"]:
        if f not in given:
            p.add(where, key, "%s needs filter %s" % (event["name"], f))


def check_metrics(p, r):
    """Every event of an expression is one of the processor's cores, or of its boxes with filters of its box, those that it needs among them."""
    events = {e["name"]: (b, e.event) for b in r.uncore for e in b.events}
    of_cores = {e["name"] for e in r.events}
    for m in r.derived:
        rest = re.sub(r"\{node:(0x[0-9A-F]+)\}", r"\1", m["expression"]).replace("{rank}", "0")
        for text in EVENT_TERM.findall(rest):
            name, *suffixes = text.split(":")
            if name in of_cores:
                for s in suffixes:
                    if not re.fullmatch(r"cmask=[0-9]+|inv|edge", s):
                        p.add(m.where, m["name"], "an event of the cores takes cmask=N, inv and edge, no %s" % s)
                continue
            if name not in events:
                p.add(m.where, m["name"], "'%s' is no event of %s" % (name, r["name"]))
                continue
            box, event = events[name]
            check_suffixes(p, m.where, m["name"], box, event, suffixes)
        rest = EVENT_TERM.sub("", rest)
        for term in METRIC_TERMS:
            rest = rest.replace(term, "")
        if re.sub(r"[0-9()*/+ -]", "", rest):
            p.add(m.where, m["name"], "'%s' is no part of an expression" % rest)


def write_metrics(out, r):
    if not r.derived:
        return
    out.write("static const struct uncore_metric %s[] = {\n" % c_name("derived", r["name"]))
    for m in r.derived:
        out.write("\t{ %s },\n" % ", ".join(c_text(m[k]) for k in METRIC_COLUMNS))
    out.write("};\n")


def write_boxes(out, r):
    for b in r.uncore:
        tag = r["name"] + "_" + b["name"]
        out.write("static const struct uncore_event %s[] = {\n" % c_name("box_events", tag))
        for e in (x.event for x in b.events):
            out.write("\t{ %s, 0x%02X, 0x%02X, %d, %d, %d, %d, 0x%X, %d, 0x%X, %d, 0x%X, 0x%X, 0x%Xull, 0x%Xull,\n\t  %s, %s },\n" % (
                c_text(e["name"]), e["select"], e["umask"], e["cmask"], e["extended"], e["queue"], e["fixed"], e["filter_bits"],
                e["implied_filter"], e["implied_value"], e["increment"], e["counters"], e["extra_msr"], e["extra_value"], e["high"], c_text(e["what"]), c_text(e["source"])))
        out.write("};\n")
        if b.devices:
            out.write("static const struct uncore_device %s[] = { %s };\n" % (
                c_name("box_devices", tag), ", ".join("{ %s }" % d for d in b.devices)))
        if b.value["places"]:
            out.write("static const uint32_t %s[] = { %s };\n" % (c_name("box_places", tag), ", ".join("0x%X" % d for d in b.value["places"])))
        if b.filters:
            out.write("static const struct uncore_filter %s[] = {\n" % c_name("box_filters", tag))
            for name, reg, low, high, function, select in b.filters:
                out.write("\t{ %s, 0x%X, %d, %d, %d, 0x%X },\n" % (c_text(name), reg, low, high, function, select))
            out.write("};\n")
    if not r.uncore:
        return
    out.write("static const struct uncore_box %s[] = {\n" % c_name("boxes", r["name"]))
    for b in r.uncore:
        tag = r["name"] + "_" + b["name"]
        out.write("\t{ .name = %s, .space = UNCORE_%s, .scope = UNCORE_OF_%s, .source = %s,\n" % (c_text(b["name"]), b["space"].upper(), b.get("scope", "socket").upper(), c_text(b["source"])))
        out.write("".join("\t  .%s = 0x%Xull,\n" % (k, b.value[k]) for k in NUMBERS))
        out.write("\t  .threshold = 0x%X, .window = { %s },\n" % (threshold_of(b.value), b.told_by))
        if b.value["places"]:
            out.write("\t  .places = %s,\n" % c_name("box_places", tag))
        out.write("\t  .count_device = { %s }, .map_device = %d, .map_function = %d, .map_register = 0x%X,\n" % ((b.count_device,) + b.window))
        if b.devices:
            out.write("\t  .devices = %s,\n" % c_name("box_devices", tag))
        if b.filters:
            out.write("\t  .filters = %s, .filter_count = %d,\n" % (c_name("box_filters", tag), len(b.filters)))
        out.write("\t  .events = %s, .event_count = %d, .code_count = %d },\n" % (
            c_name("box_events", tag), len(b.events), b.codes))
    out.write("};\n")
