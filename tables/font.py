#!/usr/bin/env python3
"""A bitmap font as C data: font.py TARGET FILE

FILE: lines "CODE ROWS", both hexadecimal, of the printable characters of ASCII in order; '#' begins a comment.
"""
import sys


def main():
    target, path = sys.argv[1:]
    rows = []
    with open(path, encoding="ascii") as f:
        for number, line in enumerate(f, 1):
            if line.startswith("#"):
                continue
            words = line.split()
            if len(words) != 2 or int(words[0], 16) != 0x20 + len(rows) or len(words[1]) != 32:
                sys.exit("%s:%d: expected code %02x and 16 rows of a byte" % (path, number, 0x20 + len(rows)))
            rows.append("\t{ " + ", ".join("0x%02x" % b for b in bytes.fromhex(words[1])) + " },\n")
    if len(rows) != 95:
        sys.exit("%s: expected 95 characters, found %d" % (path, len(rows)))
    with open(target, "w", encoding="ascii") as out:
        out.write('#include "bench/report/canvas.h"\nconst uint8_t canvas_font[FONT_CHARACTERS][FONT_HEIGHT] = {\n%s};\n' % "".join(rows))


main()
