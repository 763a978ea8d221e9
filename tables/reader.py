"""What all readers of tables/ share: lines of text to rows with a place, and complaints about them."""
import csv
import os
import re

BITS64 = (1 << 64) - 1
NUMBER = re.compile(r"0x[0-9A-Fa-f]+|[0-9]+")
NOT_PRINTABLE = re.compile(r"[^ -~]")


class Problems:
    def __init__(self):
        self.lines = []

    def add(self, where, key, text):
        self.lines.append("%s:%d: %s: %s" % (where[0], where[1], key, text))


class Row(dict):
    """The fields of one line, and where it stands."""
    where = ("", 0)


def number(p, row, key, low=0, high=BITS64, empty=None):
    text = row.get(key, "")
    if text == "" and empty is not None:
        return empty
    if not NUMBER.fullmatch(text):
        p.add(row.where, key, "'%s' is no number; decimal or 0x-hexadecimal" % text)
        return low
    value = int(text, 0)
    if not low <= value <= high:
        p.add(row.where, key, "%s is outside %d .. %d" % (text, low, high))
        return low
    return value


def words(p, row, key, needed=True):
    text = row.get(key, "").strip()
    if needed and not text:
        p.add(row.where, key, "is missing")
    bad = NOT_PRINTABLE.search(text)
    if bad:
        p.add(row.where, key, "has a character that is not printable ASCII: %r" % bad[0])
    return text


def read_csv(p, folder, name, columns):
    """Rows of a comma-separated file. '#' lines are comments; the first other line names the columns."""
    rows, header = [], None
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return None
    with open(path, encoding="ascii", errors="surrogateescape") as f:
        numbered = [(n, line) for n, line in enumerate(f, 1) if not line.startswith("#") and line.strip()]
        for (n, _), fields in zip(numbered, csv.reader(line for _, line in numbered)):
            fields = [x.strip() for x in fields]
            where = (os.path.join("tables", name), n)
            if header is None:
                header = fields
                if header != columns:
                    p.add(where, "columns", "are %s; must be %s" % (",".join(fields), ",".join(columns)))
                    return []
                continue
            if len(fields) != len(header):
                p.add(where, fields[0], "has %d fields, must have %d" % (len(fields), len(header)))
                continue
            row = Row(zip(header, fields))
            row.where = where
            rows.append(row)
    return rows


def read_ini(p, folder, name, keys):
    """Sections of a "key = value" file, in order."""
    sections = []
    with open(os.path.join(folder, name), encoding="ascii", errors="surrogateescape") as f:
        for n, line in enumerate(f, 1):
            line = line.strip()
            where = (os.path.join("tables", name), n)
            if not line or line.startswith("#"):
                continue
            m = re.fullmatch(r"\[([a-z0-9_-]+)\]", line)
            if m:
                if any(s["name"] == m.group(1) for s in sections):
                    p.add(where, m.group(1), "stands twice")
                row = Row(name=m.group(1))
                row.where = where
                row.lines = {}
                sections.append(row)
                continue
            key, sep, value = (x.strip() for x in line.partition("="))
            if not sep or not sections:
                p.add(where, key, "expected [section] or key = value")
            elif key not in keys:
                p.add(where, key, "unknown key; known: %s" % ", ".join(keys))
            elif key in sections[-1]:
                p.add(where, key, "stands twice in [%s]" % sections[-1]["name"])
            else:
                sections[-1][key] = value
    return sections


def read_keys(p, folder, name, title, keys):
    """A "key = value" file without sections: one row of that title."""
    row = Row(name=title)
    row.where = (os.path.join("tables", name), 1)
    with open(os.path.join(folder, name), encoding="ascii", errors="surrogateescape") as f:
        for n, line in enumerate(f, 1):
            key, sep, value = (x.strip() for x in line.partition("="))
            where = (row.where[0], n)
            if not key or key.startswith("#"):
                continue
            if not sep:
                p.add(where, key, "expected key = value")
            elif key not in keys:
                p.add(where, key, "unknown key; known: %s" % ", ".join(keys))
            elif key in row:
                p.add(where, key, "stands twice")
            else:
                row[key] = value
    return row


def c_text(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def c_name(kind, name):
    return "%s_%s" % (kind, re.sub(r"[^a-z0-9]", "_", name))
