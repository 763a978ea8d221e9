"""Stall terms: where stall cycles go (stall_terms.csv), and what each processor counts for each term. The format is in FORMAT.md."""
import re

from concept import TERMS_MOST, WHY_MOST
from reader import Row, c_name, c_text, read_csv, words

COLUMNS = ["key", "title", "count", "penalty", "overlap", "latency", "bound", "source"]
BOUNDS = ["stalls", "misses", "front_end", "last"]  # enum stall_bound of processor.h
TERMS_ALL = 32                              # STALL_TERMS_MAX of processor.h


def read_stalls(p, folder, concepts):
    rows, seen = read_csv(p, folder, "stall_terms.csv", COLUMNS) or [], set()
    for r in rows:
        words(p, r, "title"), words(p, r, "source")
        if not re.fullmatch(r"[a-z0-9_]+", r["key"]) or r["key"] in seen:
            p.add(r.where, r["key"], "is no name, lower case; or stands twice")
        seen.add(r["key"])
        if r["bound"] not in BOUNDS:
            p.add(r.where, r["key"], "bound must be one of %s" % ", ".join(BOUNDS))
        r.alternatives = [[(-1 if sign == "-" else 1, name) for sign, name in re.findall(r"([+-]?)([^+-]+)", a)] for a in r["count"].split("|")]
        for name in (name for a in r.alternatives for _, name in a):
            if name not in concepts:
                p.add(r.where, r["key"], "'%s' is no concept of tables/concepts.csv" % name)
    if len(rows) > TERMS_ALL:
        p.add(rows[-1].where, rows[-1]["key"], "is one term more than %d" % TERMS_ALL)
    return rows


def why_not(processor, term, x):
    """Why a concept's expression cannot be charged for: None if it can."""
    if x["exactness"] == "none":
        return x["why"]
    if x["exactness"] == "superset":
        return "its event counts more: " + x["why"]
    if not term["penalty"] and x["exactness"] != "cycles" and x.unit != "cycles":
        return "its event counts no cycles"
    if term["penalty"] and x["exactness"] == "cycles":
        return "its event counts cycles"
    if any(t.uncore for t in x.terms):
        return "its event is of the uncore"
    for q in processor.quirks:
        for _, e, _ in x.terms:
            if any(e["name"].startswith(start) for start in q.overcounts):
                return "its event counts too much: quirk %s" % q["name"]
    return None


def terms_of(expressions):
    """Signed concepts as one sum of events."""
    out = []
    for sign, x in expressions:
        for s, e, changed in x.terms:
            same = next((t for t in out if t[1] is e and t[0] == -sign * s), None)
            if same:
                out.remove(same)
            else:
                out.append((sign * s, e, changed))
    return out


def resolve_stalls(p, processor, terms, concepts):
    """processor.stalls: what it counts for each term, like an expression; none, and why, where it counts nothing. No event is added twice."""
    processor.stalls = []
    by_name = {x["concept"]: x for x in getattr(processor, "expressions", [])}
    if not by_name or any(name not in by_name for t in terms for a in t.alternatives for _, name in a):
        return  # no events are known, or what is wrong has been said
    for t in terms:
        chosen, why, first = None, "", None
        for a in t.alternatives:
            reasons = []
            for _, name in a:
                by_name[name].unit = concepts[name]["unit"]
                reasons.append(why_not(processor, t, by_name[name]))
            first = next((r for r in reasons if r), None) if first is None else first
            if not any(reasons):
                chosen = a
                break
        x = Row(concept=t["key"], expression="", exactness="none", why=(first or "")[:WHY_MOST], source=t["source"])
        x.where, x.terms = t.where, []
        if chosen:
            x.terms = terms_of([(sign, by_name[name]) for sign, name in chosen])
            x["expression"] = "".join("%s%s" % ("" if n == 0 and s > 0 else "-+"[s > 0], e["name"]) for n, (s, e, _) in enumerate(x.terms))
            x["exactness"], x["why"] = "exact", ""
            if len(x.terms) > TERMS_MOST:
                p.add(t.where, t["key"], "has %d events on %s, at most %d" % (len(x.terms), processor["name"], TERMS_MOST))
        processor.stalls.append(x)
    check_overlap(p, processor)


def check_overlap(p, processor):
    """Terms that add the same event, and none that takes it off, would charge for it twice."""
    adds = {}
    for x in processor.stalls:
        for s, e, _ in x.terms:
            adds.setdefault(e["name"], []).append((s, x))
    for name, uses in adds.items():
        if sum(s for s, _ in uses) > 1:
            first, last = [x for s, x in uses if s > 0][:2]
            p.add(last.where, last["concept"], "%s: counts %s, which %s counts too; take it off with '-'" % (
                processor["name"], name, first["concept"]))


def write_stall_terms(out, rows):
    out.write("\nconst struct stall_term stall_terms[] = {\n")
    for r in rows:
        out.write("\t{ %s, %s, %s, %s, %s, %s, STALL_BY_%s, %s },\n" % (
            *(c_text(r[k]) for k in ("key", "title", "count", "penalty", "overlap", "latency")), r["bound"].upper(), c_text(r["source"])))
    out.write("};\nconst uint8_t stall_term_count = %d;\n" % len(rows))


def write_stalls(out, r):
    """Of one processor, behind its expressions."""
    if not r.stalls:
        return
    names = [x["name"] for x in r.events]
    out.write("static const struct expression_term %s[] = {\n" % c_name("stall_events", r["name"]))
    at, count = [], 0
    for x in r.stalls:
        at.append(count)
        for sign, e, changed in x.terms:
            position = (c_name("modified", r["name"]), r.modified.index(e)) if changed else (c_name("events", r["name"]), names.index(e["name"]))
            out.write("\t{ &%s[%d], 0, %d },\n" % (*position, sign))
            count += 1
    out.write("\t{ 0, 0, 0 }\n};\nstatic const struct expression %s[] = {\n" % c_name("stalls", r["name"]))
    for x, start in zip(r.stalls, at):
        out.write("\t{ %s, %s, EXACTNESS_%s, %d, %s + %d, %s, %s },\n" % (
            c_text(x["concept"]), c_text(x["expression"]), x["exactness"].upper(), len(x.terms), c_name("stall_events", r["name"]), start,
            c_text(x["why"]), c_text(x["source"])))
    out.write("};\n")
