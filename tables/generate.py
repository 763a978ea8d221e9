#!/usr/bin/env python3
"""Writes out/gen/tables.c from the text files of tables/: const data for processor.h.

usage: generate.py FOLDER TARGET.c

The formats and the rules a table must obey are in FORMAT.md; this program checks each of them
and fails with one line a fault: "FILE:LINE: KEY: what is wrong, what is allowed".
"""
import sys

sys.dont_write_bytecode = True  # the tables' folder may be read-only
from concept import read_concepts, write_concepts
from lists import (check_not_restored, read_cache_descriptors, read_tlb_descriptors, read_watchdogs, write_cache_descriptors, write_tlb_descriptors,
                   write_watchdogs)
from processors import read_processors
from reader import Problems
from stall import read_stalls, write_stall_terms
from write import write_processors


def main(folder, target):
    p = Problems()
    concepts = read_concepts(p, folder)
    stalls = read_stalls(p, folder, concepts)
    processors, sets = read_processors(p, folder, concepts, stalls)
    check_not_restored(p, folder, sets["msrs"])
    tlbs = read_tlb_descriptors(p, folder)
    caches = read_cache_descriptors(p, folder)
    dogs = read_watchdogs(p, folder)
    if p.lines:
        print("\n".join(dict.fromkeys(p.lines)), file=sys.stderr)
        return 1
    with open(target, "w", encoding="ascii") as out:
        write_processors(out, processors, sets)
        write_concepts(out, concepts)
        write_stall_terms(out, stalls)
        write_tlb_descriptors(out, tlbs)
        write_cache_descriptors(out, caches)
        write_watchdogs(out, dogs)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: generate.py FOLDER TARGET.c")
    sys.exit(main(sys.argv[1], sys.argv[2]))
