"""Parts of a processor that its core's counters and registers are made of, a reader for each kind of file. The formats are in FORMAT.md."""
import re

from reader import BITS64, Row, number, read_csv, read_ini, words


EVENT_COLUMNS = ["name", "select", "umask", "cmask", "inv", "edge", "any", "pebs", "fixed", "arch",
                 "counters", "extra_msr", "extra_value", "what", "source"]


def read_events(p, folder, path):
    rows = read_csv(p, folder, path, EVENT_COLUMNS)
    for r in rows:
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*(\.[A-Z0-9_]+)*", r["name"]):
            p.add(r.where, r["name"], "is no event name; capitals, digits, _ and . in the manual's spelling")
        e = r.event = {"umask": number(p, r, "umask", 0, 0xFFFF, 0), "cmask": number(p, r, "cmask", 0, 255, 0)}
        e["select"] = number(p, r, "select", 0, 0xFFF, 0)
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


def read_offcore(p, folder, path):
    """OFFCORE_RESPONSE_0: every pair of a request and a response."""
    rows = read_csv(p, folder, path, ["part", "name", "bits", "what", "source"])
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


def read_msrs(p, folder, path):
    rows = read_csv(p, folder, path, MSR_COLUMNS)
    for r in rows:
        m = r.msr = {"first": number(p, r, "first", 1, (1 << 32) - 1)}
        m["last"] = number(p, r, "last", 1, (1 << 32) - 1, m["first"])
        m["mask"] = number(p, r, "mask", 1)
        m["restore"] = number(p, r, "restore", 0, 1)
        m["what"], m["source"] = words(p, r, "what"), words(p, r, "source")
        if m["last"] < m["first"] or m["last"] - m["first"] > 255:
            p.add(r.where, r["first"], "last must be first .. first + 255")
    return rows


def read_sources(p, folder, path):
    rows = read_csv(p, folder, path, ["code", "name", "what", "source"])
    for n, r in enumerate(rows):
        if number(p, r, "code", 0, 15) != n:
            p.add(r.where, r["code"], "codes must be 0 .. 15 in order")
        words(p, r, "name"), words(p, r, "what"), words(p, r, "source")
    if len(rows) != 16:
        p.add(("tables/" + path, 1), "code", "has %d rows, must have 16" % len(rows))
    return rows


def read_profiles(p, folder, path):
    profiles = read_ini(p, folder, path, ["title", "events", "lbr_select", "source"])
    for r in profiles:
        words(p, r, "title"), words(p, r, "source"), words(p, r, "events")
        r.events, r.lbr = r.get("events", "").split(), number(p, r, "lbr_select", 0, 0x1FF, 0)
        if len(r.events) > 64 or len(set(r.events)) < len(r.events):
            p.add(r.where, "events", "must be at most 64 names, none twice")
    return profiles


def read_quirks(p, folder, path):
    quirks = {}
    for r in read_ini(p, folder, path, ["erratum", "what", "source", "writes", "told", "overcounts"]):
        for k in ("erratum", "what", "source"):
            words(p, r, k)
        r.writes = []
        for w in r.get("writes", "").split():
            m = re.fullmatch(r"(0x[0-9A-F]+)=(0x[0-9A-F]+|[0-9]+)", w)
            if m:
                r.writes.append((int(m.group(1), 16), int(m.group(2), 0)))
            else:
                p.add(r.where, "writes", "'%s' is not MSR=VALUE in 0x-hexadecimal" % w)
        told = re.fullmatch(r"(0x[0-9A-F]+)\.([0-9]+)\.(eax|ebx|ecx|edx)\.([0-9]+)", r.get("told", "0x0.0.eax.0"))
        r.told = (0, 0, 0, 0)
        if not told or int(told.group(4)) > 31 or ("told" in r and not r.writes):
            p.add(r.where, "told", "'%s' is not LEAF.SUBLEAF.REGISTER.BIT of CPUID, for a quirk with writes" % r.get("told", ""))
        else:
            r.told = (int(told.group(1), 16), int(told.group(2)), ("eax", "ebx", "ecx", "edx").index(told.group(3)), int(told.group(4)))
        r.overcounts = r.get("overcounts", "").split()
        quirks[r["name"]] = r
    return quirks


FREQ_LOCK_NAMES = ["turbo", "core_ratio", "hwp", "uncore_ratio"]


def read_likwid(p, folder, path):
    """Events that likwid spells otherwise than the manual, or lacks."""
    rows = read_csv(p, folder, path, ["event", "likwid", "source"])
    for r in rows:
        words(p, r, "source")
        if r["likwid"] == r["event"].replace(".", "_"):
            p.add(r.where, r["event"], "is likwid's spelling of every event")
    return rows


def read_spellings(p, folder, path):
    """Names that a founding document gives an event otherwise than the table."""
    rows = read_csv(p, folder, path, ["spelling", "event", "source"])
    for r in rows:
        words(p, r, "source")
    return rows


def read_freq_locks(p, folder, path):
    """Fields of registers that keep clocks where they are."""
    rows = read_csv(p, folder, path, ["name", "msr", "low", "high", "to", "what", "source"])
    for r in rows:
        low = number(p, r, "low", 0, 63)
        high = number(p, r, "high", low, 63)
        r["what"], r["source"] = words(p, r, "what"), words(p, r, "source")
        if r["name"] not in FREQ_LOCK_NAMES:
            p.add(r.where, r["name"], "is none of %s" % ", ".join(FREQ_LOCK_NAMES))
        ends = r["to"].split("-")
        if r["to"] == "base":
            kind, value = "FREQ_LOCK_BASE_RATIO", 0
        elif r["to"] == "guaranteed":
            kind, value = "FREQ_LOCK_GUARANTEED", 0
        elif len(ends) == 2 and all(e.isdigit() for e in ends):
            kind, value = "FREQ_LOCK_FIELD", int(ends[0])
            if int(ends[1]) - value != high - low or int(ends[1]) > 63:
                p.add(r.where, "to", "%s is not a field as wide as %d-%d" % (r["to"], low, high))
        else:
            kind, value = "FREQ_LOCK_NUMBER", number(p, r, "to", 0, min(255, (1 << (high - low + 1)) - 1))
        r.lock = (number(p, r, "msr", 1, (1 << 32) - 1), low, high, kind, value)
    return rows
