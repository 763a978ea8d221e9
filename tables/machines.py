#!/usr/bin/env python3
"""Machine files as C data, and the list of their fields in FORMAT.md.

machines.py embed TARGET FILE...        writes TARGET: machine_files[] of pmu/sim/machine/machine.h
machines.py format DEF CLASSES FORMAT_MD   rewrites the tables between the marks of FORMAT.md from machine.def
                                           and machine_class.def
"""
import os
import re
import sys

FIELDS = "<!-- fields -->", "<!-- end of fields -->"
CLASSES = "<!-- classes -->", "<!-- end of classes -->"


def c_string(data):
    out = []
    for line in data.split("\n"):
        out.append('\t"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '\\n"')
    out[-1] = out[-1][:-3] + '"'
    return "\n".join(out)


def embed(target, files):
    with open(target, "w", encoding="ascii") as out:
        out.write('#include "pmu/sim/machine/machine.h"\n')
        rows = []
        for i, path in enumerate(sorted(files)):
            with open(path, encoding="ascii") as f:
                data = f.read()
            out.write("static const char text_%d[] =\n%s;\n" % (i, c_string(data)))
            name = os.path.basename(path).rsplit(".", 1)[0]
            rows.append('\t{ "%s", text_%d, sizeof(text_%d) - 1 },\n' % (name, i, i))
        out.write("const struct machine_file machine_files[] = {\n%s};\n" % "".join(rows))
        out.write("const unsigned machine_files_count = %d;\n" % len(rows))


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


def between(text, marks, rows):
    head, rest = text.split(marks[0])
    return head + marks[0] + "\n" + "\n".join(rows) + "\n" + marks[1] + rest.split(marks[1])[1]


def rewrite_format(definition, classes, page):
    with open(page, encoding="ascii") as f:
        text = f.read()
    with open(page, "w", encoding="ascii") as f:
        f.write(between(between(text, CLASSES, class_rows(classes)), FIELDS, field_rows(definition)))


if sys.argv[1:2] == ["embed"] and len(sys.argv) > 3:
    embed(sys.argv[2], sys.argv[3:])
elif sys.argv[1:2] == ["format"] and len(sys.argv) == 5:
    rewrite_format(sys.argv[2], sys.argv[3], sys.argv[4])
else:
    sys.exit(__doc__)
