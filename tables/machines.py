#!/usr/bin/env python3
"""Machine files as C data, and the list of their fields in FORMAT.md.

machines.py embed TARGET FILE...        writes TARGET: machine_files[] (of *.machine), machine_maps[] (of *.map),
                                        machine_uncore_maps[] (of *-uncore.map), machine_default and
                                        machine_simulate (the names that the files `default`
                                        and `simulate` have) of pmu/sim/machine/machine.h
machines.py format DEF CLASSES SIGNALS EVENTS UNITS UNCORE FORMAT_MD
                                        rewrites the tables between the marks of FORMAT.md from machine.def,
                                        machine_class.def, signals.def, event_map.h, netburst_units.def and the uncore's signals and tags
"""
import os
import re
import sys

FIELDS = "<!-- fields -->", "<!-- end of fields -->"
CLASSES = "<!-- classes -->", "<!-- end of classes -->"
SIGNALS = "<!-- signals -->", "<!-- end of signals -->"
WORDS = "<!-- words -->", "<!-- end of words -->"
UNCORE_SIGNALS = "<!-- uncore signals -->", "<!-- end of uncore signals -->"
UNCORE_TAGS = "<!-- uncore tags -->", "<!-- end of uncore tags -->"


def c_string(data):
    out = []
    for line in data.split("\n"):
        out.append('\t"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '\\n"')
    out[-1] = out[-1][:-3] + '"'
    return "\n".join(out)


def embed_kind(out, kind, prefix, files):
    rows = []
    for i, path in enumerate(sorted(files)):
        with open(path, encoding="ascii") as f:
            data = f.read()
        out.write("static const char %s_%d[] =\n%s;\n" % (prefix, i, c_string(data)))
        name = os.path.basename(path).rsplit(".", 1)[0]
        rows.append('\t{ "%s", %s_%d, sizeof(%s_%d) - 1 },\n' % (name, prefix, i, prefix, i))
    out.write("const struct machine_file %s[] = {\n%s};\n" % (kind, "".join(rows)))
    out.write("const unsigned %s_count = %d;\n" % (kind, len(rows)))


def embed(target, files):
    with open(target, "w", encoding="ascii") as out:
        out.write('#include "pmu/sim/machine/machine.h"\n')
        embed_kind(out, "machine_files", "text", [f for f in files if f.endswith(".machine")])
        embed_kind(out, "machine_maps", "map", [f for f in files if f.endswith(".map") and not f.endswith("-uncore.map")])
        embed_kind(out, "machine_uncore_maps", "uncore", [f for f in files if f.endswith("-uncore.map")])
        for path in (f for f in files if os.path.basename(f) in ("default", "simulate")):
            with open(path, encoding="ascii") as f:
                name = f.read().strip()
            if not os.path.exists(os.path.join(os.path.dirname(path), name + ".machine")):
                sys.exit("%s: no machine '%s'" % (path, name))
            out.write('const char *const machine_%s = "%s";\n' % (os.path.basename(path), name))


def field_rows(definition):
    with open(definition, encoding="ascii") as f:
        text = f.read()
    pattern = re.compile(r'^NUMBER\((\w+), (\w+), (\w+), (\w+), (\w+), "(.*)"\)$|^TEXT\((\w+), (\w+), "(.*?)", "(.*)"\)$', re.M)
    rows = ["| section | key | least | most | preset | what |", "|---|---|---|---|---|---|"]
    for m in pattern.finditer(text):
        if m.group(1):
            section, key, least, most, preset, what = m.groups()[:6]
            preset = "must be given" if preset == "REQUIRED" else str(int(preset, 0))
            rows.append("| %s | %s | %d | %d | %s | %s |" % (section, key, int(least, 0), int(most, 0), preset, what))
        else:
            section, key, preset, what = m.groups()[6:]
            rows.append("| %s | %s | text | text | %s | %s |" % (section, key, preset, what))
    lines = len(re.findall(r"^(?:NUMBER|TEXT)\(", text, re.M))
    if len(rows) - 2 != lines:
        sys.exit("%s: %d lines, %d understood: write each field as one line" % (definition, lines, len(rows) - 2))
    return rows


def class_rows(definition):
    with open(definition, encoding="ascii") as f:
        text = f.read()
    rows = ["| class | preset |", "|---|---|"]
    for m in re.finditer(r"^CLASS\((\w+), (\w+), (\d+), (\w+), (\d+)\)$", text, re.M):
        ports = "".join("%x" % port for port in range(16) if int(m.group(4), 0) >> port & 1)
        rows.append("| %s | %s %s %s |" % (m.group(2), m.group(3), ports or "-", m.group(5)))
    return rows


def signal_rows(definition):
    """SIGNAL lines, those within a row macro multiplied by the macro's uses."""
    with open(definition, encoding="ascii") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S).replace("\\\n", " ")
    rows, macros = ["| signal | kind | what |", "|---|---|---|"], {}
    for line in text.split("\n"):
        m = re.match(r"#define (\w+)\((\w+), what\)(.*)", line)
        if m:
            macros[m.group(1)] = (m.group(2), re.findall(r'SIGNAL\(([\w#]+), (\w+), what "(.*?)"\)', m.group(3)))
            continue
        m = re.match(r'SIGNAL\((\w+), (PULSE|LEVEL), "(.*)"\)', line)
        if m:
            rows.append("| %s | %s | %s |" % (m.group(1), m.group(2).lower(), m.group(3)))
            continue
        m = re.match(r'(\w+)\((\w+), "(.*)"\)', line)
        if m and m.group(1) in macros:
            argument, of_macro = macros[m.group(1)]
            for name, kind, what in of_macro:
                name = "".join(m.group(2) if part == argument else part for part in name.split("##"))
                rows.append("| %s | %s | %s%s |" % (name, kind.lower(), m.group(3), what))
        elif line.startswith("SIGNAL"):
            sys.exit("%s: not understood: %s" % (definition, line))
    return rows


def word_rows(events, units):
    with open(events, encoding="ascii") as f:
        conditions = re.search(r"#define PRECISE_CONDITIONS\(X\)((?:.*\\\n)*.*)", f.read()).group(1)
    with open(units, encoding="ascii") as f:
        names = re.findall(r"^NETBURST_UNIT\((\w+), \w+\)$", f.read(), re.M)
    return ["Conditions: " + ", ".join("`%s`" % n.lower() for n in re.findall(r"X\((\w+)\)", conditions)) + ".", "",
            "Units: " + ", ".join("`%s`" % n for n in names) + "."]


def uncore_rows(folder):
    with open(os.path.join(folder, "uncore_signals.def"), encoding="ascii") as f:
        signals = re.findall(r'^UNCORE_SIGNAL\((\w+), (PULSE|LEVEL), (\w+), "(.*)"\)$', f.read(), re.M)
    with open(os.path.join(folder, "uncore_tags.def"), encoding="ascii") as f:
        tags = re.findall(r'^UNCORE_TAG\((\w+), "(.*)"\)$', f.read(), re.M)
    return (["| signal | kind | unit | what |", "|---|---|---|---|"] + ["| %s | %s | %s | %s |" % (n, k.lower(), u.lower(), w) for n, k, u, w in signals],
            ["| tag | what |", "|---|---|"] + ["| %s | %s |" % (n.lower(), w) for n, w in tags])


def between(text, marks, rows):
    head, rest = text.split(marks[0])
    return head + marks[0] + "\n" + "\n".join(rows) + "\n" + marks[1] + rest.split(marks[1])[1]


def rewrite_format(definition, classes, signals, events, units, uncore, page):
    with open(page, encoding="ascii") as f:
        text = f.read()
    text = between(text, CLASSES, class_rows(classes))
    text = between(text, FIELDS, field_rows(definition))
    text = between(text, SIGNALS, signal_rows(signals))
    uncore_signals, uncore_tags = uncore_rows(uncore)
    text = between(text, UNCORE_SIGNALS, uncore_signals)
    text = between(text, UNCORE_TAGS, uncore_tags)
    with open(page, "w", encoding="ascii") as f:
        f.write(between(text, WORDS, word_rows(events, units)))


if sys.argv[1:2] == ["embed"] and len(sys.argv) > 3:
    embed(sys.argv[2], sys.argv[3:])
elif sys.argv[1:2] == ["format"] and len(sys.argv) == 9:
    rewrite_format(*sys.argv[2:])
else:
    sys.exit(__doc__)
