#!/usr/bin/env python3
"""unused.py [FOLDER...]: functions with external linkage below FOLDER (bench, pmu) that no product reaches: from a main, from data at file scope, or
from a function that is reached. What tests alone call is among them. Reads the sources as text: calls through a name that a macro puts together
are not seen, and stand in tests/unused.txt with the reason. Exit status 1 if there are others, or a line there is not needed."""
import os
import re
import sys

PRODUCT = ["asm", "tables", "pmu", "bench", "efi", "runner"]
WORD = re.compile(r"[A-Za-z_]\w*")
KNOWN = "tests/unused.txt"
APART = "pmu/sim/"  # the simulated machine, whose parts tests look into


def plain(text):
    """Without comments and strings."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', lambda m: " " if m.group(0)[0] == "/" else '""', text, flags=re.S)


def functions(text):
    """Of a file in the style of this project: (name, static, body) each, and what stands outside of them."""
    found, outside, at = [], [], 0
    for m in re.finditer(r"^(?![ \t#}/])([^;{}=#]*?)\b(\w+)\(([^;{}]*)\)\s*(?:__attribute__\(\([^)]*\)\)\s*)?\{", text, re.M):
        if m.start() < at:
            continue
        line = text.find("\n", m.end())
        one = text[m.end():line].rstrip()
        end = line if one.endswith("}") else text.find("\n}", m.end()) + 2
        found.append((m.group(2), "static" in m.group(1), m.group(3) + text[m.end():end]))
        outside.append(text[at:m.start()])
        at = end
    outside.append(text[at:])
    return found, "".join(outside)


def main(folders):
    bodies, external, roots = {}, {}, set()
    for top in PRODUCT:
        for folder, _, files in sorted(os.walk(top)):
            for name in sorted(files):
                path = os.path.join(folder, name)
                if not name.endswith((".c", ".h", ".def", ".asm", ".inc")):
                    continue
                with open(path, encoding="utf-8") as f:
                    text = plain(f.read())
                found, outside = functions(text) if name.endswith((".c", ".h")) else ([], text)
                for function, static, body in found:
                    key = (path, function) if static and name.endswith(".c") else ("", function)
                    bodies.setdefault(key, set()).update(WORD.findall(body))
                    if not static:
                        external[function] = path
                # prototypes are no use
                outside = re.sub(r"^[^\n#{}=]*?\b\w+\([^;{}]*\)\s*(?:__attribute__\(\([^)]*\)\)\s*)?;", "", outside, flags=re.M)
                roots.update((path, word) for word in WORD.findall(outside))
    reached, todo = set(), [(path, word) for path, word in roots] + [("", "main"), ("", "efi_main")]
    while todo:
        path, word = todo.pop()
        for key in ((path, word), ("", word)):
            if key in bodies and key not in reached:
                reached.add(key)
                todo += [(path if key[0] == "" and external.get(word) is None else external.get(word, path) if key[0] == "" else path, w) for w in bodies[key]]
    known = {}
    if os.path.exists(KNOWN):
        with open(KNOWN, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    name, _, reason = line.strip().partition(" ")
                    known[name] = reason.strip()
    bad = False
    for function, path in sorted(external.items(), key=lambda x: (x[1], x[0])):
        if ("", function) in reached or not any(path.startswith(f + "/") for f in folders) or path.startswith(APART):
            known_here = function in known
            if known_here and ("", function) in reached:
                print("%s: %s: no longer needed" % (KNOWN, function))
                bad = True
            continue
        if not known.get(function):
            print("%s: %s: no product reaches it" % (path, function))
            bad = True
    for function in sorted(known):
        if function not in external:
            print("%s: %s: no such function" % (KNOWN, function))
            bad = True
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["bench", "pmu"]))
