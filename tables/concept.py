"""Concepts: what events can mean (concepts.csv), and which expression over a processor's events means each. The formats are in FORMAT.md."""
import re

from boxes import check_suffixes
from reader import Row, c_name, c_text, read_csv, words

CONCEPT_COLUMNS = ["concept", "unit", "what"]
EXPRESSION_COLUMNS = ["concept", "expression", "exactness", "why", "source"]
EXACTNESS = ["none", "exact", "superset", "subset", "cycles"]  # enum exactness of processor.h
TERMS_MOST = 4
WHY_MOST = 64  # it stands behind other words in a reason of 128 characters
MODIFIERS = {"cmask": 255, "inv": 1, "edge": 1, "any": 1}
OTHERS = "*"


def read_concepts(p, folder):
    """All concepts by name."""
    concepts = {}
    for r in read_csv(p, folder, "concepts.csv", CONCEPT_COLUMNS) or []:
        words(p, r, "unit"), words(p, r, "what")
        if not re.fullmatch(r"[a-z0-9]+([._][a-z0-9]+)*", r["concept"]) or r["concept"] in concepts:
            p.add(r.where, r["concept"], "is no name of a concept, lower case with dots; or stands twice")
        concepts[r["concept"]] = r
    return concepts


def read_terms(r):
    """EVENT[:SUFFIX ...], joined by + and -: (sign, event, suffixes) each."""
    terms = []
    for sign, text in re.findall(r"([+-]?)([^+-]+)", r["expression"].replace(" ", "")):
        name, *suffixes = text.split(":")
        terms.append((-1 if sign == "-" else 1, name, suffixes))
    return terms


def modifiers(p, r, suffixes):
    """Of an event of the core: cmask=N, inv, edge, any."""
    given = {}
    for s in suffixes:
        key, _, value = s.partition("=")
        if key not in MODIFIERS or (key == "cmask") != bool(value) or (value and (not value.isdigit() or not 0 < int(value) <= 255)):
            p.add(r.where, r["concept"], "'%s' is no modifier; cmask=1..255, inv, edge or any" % s)
            continue
        given[key] = int(value or 1)
    return given


def read_expressions(p, folder, path):
    """concepts.csv of a processor, or a file that several share."""
    rows = read_csv(p, folder, path, EXPRESSION_COLUMNS)
    for r in rows:
        words(p, r, "source")
        r.terms = read_terms(r)
        if r["exactness"] not in EXACTNESS:
            p.add(r.where, r["concept"], "'%s' must be one of %s" % (r["exactness"], ", ".join(EXACTNESS)))
        if bool(r.terms) == (r["exactness"] == "none"):
            p.add(r.where, r["concept"], "either an expression, or none and why")
        if len(r.terms) > TERMS_MOST:
            p.add(r.where, r["concept"], "has %d events, at most %d" % (len(r.terms), TERMS_MOST))
        if r["exactness"] != "exact" and not r["why"]:
            p.add(r.where, r["concept"], "is %s without a reason" % r["exactness"])
        if len(r["why"]) > WHY_MOST:
            p.add(r.where, r["concept"], "why has %d characters, at most %d" % (len(r["why"]), WHY_MOST))
        if r["concept"] == OTHERS and "/common/" not in path:
            p.add(r.where, r["concept"], "only a file of processors/common may speak of all others")
    return rows


def modified(event, given):
    """The event as a counter is programmed for it."""
    e = dict(event)
    e.update(given)
    e["name"] = event["name"] + "".join(":%s=%d" % (k, v) if k == "cmask" else ":" + k for k, v in given.items())
    if given:
        e["fixed"] = e["arch"] = 0
    return e


def resolve(p, processor, concepts):
    """processor.expressions: a row for each concept, its own file before what it shares. Each must be expressed or declared none."""
    rows, others, by_name = {}, None, {x["name"]: x.event for x in processor.events}
    uncore = {e["name"]: (b, e.event) for b in processor.uncore for e in b.events}
    parts = processor.parts.get("concepts", [])
    processor.expressions, processor.modified = [], []
    if not parts:
        if processor.events:
            p.add(processor.where, "concepts", "%s says of none of its events what they mean" % processor["name"])
        return
    for _, part in reversed(parts):  # the folder's own first
        seen = set()
        for r in part:
            if r["concept"] in seen:
                p.add(r.where, r["concept"], "stands twice")
            seen.add(r["concept"])
            if r["concept"] == OTHERS:
                others = others or r
            elif r["concept"] not in concepts:
                p.add(r.where, r["concept"], "is no concept of tables/concepts.csv")
            else:
                rows.setdefault(r["concept"], r)
    for name in sorted(concepts):
        r = rows.get(name, others)
        if r is None:
            own = parts[-1][1][0].where if parts[-1][1] else processor.where
            p.add(own, name, "%s neither expresses it nor declares it none; no row in %s" % (
                processor["name"], ", ".join(n if "/" in n else "its concepts.csv" for n, _ in reversed(parts))))
            continue
        x = Row(r, concept=name)
        x.terms = [t for t in (core_term(p, r, name, processor, by_name, term) or uncore_term(p, r, name, uncore, term) for term in r.terms) if t]
        if len(x.terms) < len(r.terms):
            p.add(r.where, name, "%s has no event '%s'" % (processor["name"], next(e for _, e, _ in r.terms if e not in by_name and e not in uncore)))
        if len({bool(t.uncore) for t in x.terms}) > 1:
            p.add(r.where, name, "has events of the core and of the uncore, which no one program counts together")
        if any(t.uncore and t.sign < 0 for t in x.terms):
            p.add(r.where, name, "an expression over the uncore has no minus: its terms are instances")
        processor.expressions.append(x)


class Term:
    """One event of an expression: of the core (event, of its own if it has modifiers), or of a box (uncore: as the planner takes it)."""

    def __init__(self, sign, event=None, changed=False, uncore=""):
        self.sign, self.event, self.changed, self.uncore = sign, event, changed, uncore

    def __iter__(self):  # of the core
        return iter((self.sign, self.event, self.changed))


def core_term(p, r, name, processor, by_name, term):
    sign, event, suffixes = term
    if event not in by_name:
        return None
    given = modifiers(p, r, suffixes)
    e = modified(by_name[event], given)
    if given and processor.uses:
        p.add(r.where, name, "NetBurst's events have no modifiers")
    if (e["inv"] or e["edge"]) and not e["cmask"]:
        p.add(r.where, name, "inv or edge without cmask has no effect")
    if given and e["counters"] == 0:
        p.add(r.where, name, "a fixed counter has no modifiers")
    if given and e not in processor.modified:
        processor.modified.append(e)
    return Term(sign, e, bool(given))


def uncore_term(p, r, name, uncore, term):
    sign, event, suffixes = term
    if event not in uncore:
        return None
    box, e = uncore[event]
    check_suffixes(p, r.where, name, box, e, suffixes)
    return Term(sign, uncore=":".join([event] + suffixes))


def write_concepts(out, concepts):
    out.write("\nconst struct concept concepts[] = {\n")
    for name, r in sorted(concepts.items()):
        out.write("\t{ %s, %s, %s },\n" % (c_text(name), c_text(r["unit"]), c_text(r["what"])))
    out.write("};\nconst uint16_t concept_count = %d;\n" % len(concepts))


def write_expressions(out, r):
    """Of one processor, whose events are written. Sorted by the concept's name."""
    if not r.expressions:
        return
    names = [x["name"] for x in r.events]
    if r.modified:
        out.write("static const struct event %s[] = {\n" % c_name("modified", r["name"]))
        for e in r.modified:
            out.write("\t{ %s, 0x%02X, 0x%02X, %d, %d, %d, %d, %d, %d, %d, 0x%X, 0x%X, 0x%Xull, 0, %s, %s, 0 },\n" % (
                c_text(e["name"]), e["select"], e["umask"], e["cmask"], e["inv"], e["edge"], e["any"], e["pebs"], e["fixed"], e["arch"],
                e["counters"], e["extra_msr"], e["extra_value"], c_text(e["what"]), c_text(e["source"])))
        out.write("};\n")
    out.write("static const struct expression_term %s[] = {\n" % c_name("terms", r["name"]))
    at = []
    count = 0
    for x in r.expressions:
        at.append(count)
        for t in x.terms:
            count += 1
            if t.uncore:
                out.write("\t{ 0, %s, %d },\n" % (c_text(t.uncore), t.sign))
                continue
            position = (c_name("modified", r["name"]), r.modified.index(t.event)) if t.changed else (c_name("events", r["name"]), names.index(t.event["name"]))
            out.write("\t{ &%s[%d], 0, %d },\n" % (*position, t.sign))
    out.write("\t{ 0, 0, 0 }\n};\nstatic const struct expression %s[] = {\n" % c_name("expressions", r["name"]))
    for x, start in zip(r.expressions, at):
        out.write("\t{ %s, %s, EXACTNESS_%s, %d, %s + %d, %s, %s },\n" % (
            c_text(x["concept"]), c_text(x["expression"]), x["exactness"].upper(), len(x.terms), c_name("terms", r["name"]), start,
            c_text(x["why"]), c_text(x["source"])))
    out.write("};\n")
