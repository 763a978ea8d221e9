/* bench/catalogue/proofs.h: the proofs of the rows of bench/catalogue/; included only by bench/catalogue/rows.c.
 *
 * A row names concepts of tables/concepts.csv; each processor maps them to its events. A row has a further set only where processors distinguish
 * different things, or lack counters for the first set. Counts of ORDER_PAIR are test minus baseline, per event of the loop. */
#ifndef BENCH_PROOFS_H
#define BENCH_PROOFS_H

/* One count a unit of work within 1 %, and at most 1 % of a neighbouring level's. */
#define ONCE 990, 1010, PER_UNIT
#define ABOUT_ONCE 900, 1100, PER_UNIT  /* lines, some of which survive a replacement that is not LRU */
#define NEVER -10, 10, PER_UNIT
#define SELDOM -20, 20, PER_UNIT        /* for penalties, which are accurate to half a cycle: one line in 50 from the L3 */
#define HALF_A_CYCLE -10, 500, PER_UNIT /* of waiting, where misses themselves are not counted: 0.2 % of a load from memory */
#define FEW_PAGES -10, 50, PER_UNIT     /* each page of a region misses once, and its many lines do not */
#define SOMETIMES 50, 1010, PER_UNIT
#define ONCE_A_LOAD 990, 1010, PER_LOAD
#define ONCE_A_STORE 990, 1010, PER_STORE
#define SOME_CYCLES 900, CONCEPT_ANY_NUMBER, PER_UNIT /* a concept in cycles: at least one each */
#define BY_CHANCE 850, 1150, PER_UNIT   /* mispredictions of random choices: the expected number, within the deviation of so few */

#define PROOF(name, ...) static const struct row_proof_set name[] = { __VA_ARGS__, { .proofs = { { NULL, 0, 0, PER_UNIT } } } }
#define SET(...) { .proofs = { __VA_ARGS__ } }
#define SET_WITHOUT_L3(...) { .proofs = { __VA_ARGS__ }, .without_l3 = true }
#define SET_VICTIM_L3(...) { .proofs = { __VA_ARGS__ }, .victim_l3 = true }
#define SET_ONE_SOCKET(...) { .proofs = { __VA_ARGS__ }, .one_socket = true }

/* --- loads, by answering level ----------------------------------------------------------------- */
/* Where no event counts retired loads: the instructions of each unit are checked for every row, so the loads executed, and no line entered the L1. */
PROOF(proof_l1, SET({ "load.hit.l1", ONCE }), SET({ "line.in.l1d", NEVER }));
PROOF(proof_l2, SET({ "load.hit.l2", ONCE }, { "dtlb.load.miss", NEVER }));
/* The architectural events of CPUID 0xA (SDM vol. 3, 18.2.1) prove accesses to the last of three levels, and nothing about the other levels. */
PROOF(proof_l3, SET({ "load.hit.l3.unshared", ONCE }, { "dtlb.load.miss", NEVER }), SET({ "llc.reference", ONCE }, { "llc.miss", NEVER }, { "dtlb.load.miss", NEVER }),
      SET({ "llc.reference", ONCE }, { "llc.miss", NEVER }),
      SET_VICTIM_L3({ "load.hit.l3", ONCE }, { "dtlb.load.miss", NEVER })); /* no other core has lines that this one has read from memory */
/* The lines were flushed. Where no event identifies the source beyond the last level, only DRAM can have answered. */
#define MISSES_LLC(misses_tlb, ...) SET({ "load.miss.llc", ONCE }, { "dtlb.load.miss", misses_tlb } __VA_ARGS__), SET({ "load.miss.llc", ONCE } __VA_ARGS__)
#define LLC_MISSES(misses_tlb, ...) SET({ "llc.miss", ONCE }, { "dtlb.load.miss", misses_tlb } __VA_ARGS__), SET({ "llc.miss", ONCE } __VA_ARGS__)
PROOF(proof_dram_local, SET({ "load.dram.local", ONCE }, { "dtlb.load.miss", NEVER }), MISSES_LLC(NEVER), LLC_MISSES(NEVER));
/* Both of its windows, alone and beside the other cores' loads, contain a page walk. */
PROOF(proof_dram_loaded, SET({ "load.dram.local", ONCE }, { "dtlb.load.miss", NEVER }), SET({ "load.miss.llc", ONCE }), SET({ "llc.miss", ONCE }));
/* A last level with random replacement still holds e^-6, a quarter of a percent, of a footprint six times its size. */
PROOF(proof_dram_local_big, SET({ "load.dram.local", ONCE }, { "dtlb.load.wait", HALF_A_CYCLE }), SET({ "load.dram.local", ONCE }, { "dtlb.load.miss", FEW_PAGES }), MISSES_LLC(FEW_PAGES), LLC_MISSES(FEW_PAGES));
/* A miss of the last level does not show which node's memory answered. Where one bus serves all sockets, as Core 2's does, no event shows more
 * than that each line came on the load's own request. */
#define ASKED_OF_BUS SET({ "load.miss.llc", ONCE }, { "line.in.l2.demand", ONCE })
PROOF(proof_dram_remote, SET({ "load.dram.remote", ONCE }, { "dtlb.load.miss", NEVER }), ASKED_OF_BUS);
PROOF(proof_dram_distant, SET({ "line.dram.distant", ONCE }, { "dtlb.load.miss", NEVER }));
/* Every incoming line is one that was loaded: an active prefetcher would take up entries. */
PROOF(proof_dram_alone, SET({ "load.dram.local", ONCE }, { "dtlb.load.miss", NEVER }, { "line.in.l2", ONCE }),
      MISSES_LLC(NEVER, , { "line.in.l2", ONCE }), LLC_MISSES(NEVER));
/* Of two loads of a line, one misses and the other hits the fill buffer. */
PROOF(proof_fill_buffer, SET({ "load.dram.local", ONCE }, { "load.hit.lfb", ONCE }, { "dtlb.load.miss", NEVER }),
      LLC_MISSES(NEVER, , { "load.hit.lfb", ONCE }), MISSES_LLC(NEVER));
/* Lines that the L2 takes in, loaded or prefetched: one for each entry that an iteration uses. */
PROOF(proof_pairs, SET({ "line.in.l2", ONCE }, { "llc.miss", ONCE }));
/* A gather from flushed lines: each line is fetched once, and no load waits for memory, so prefetches fetch them. An element has three loads, two
 * of them of offsets. On NetBurst PREFETCHT0 fills only the L2 (SDM vol. 2, PREFETCHh), from which the load then fetches the line. */
#define GATHERED { "line.in.l1d", 950, 2100, PER_UNIT }
PROOF(proof_gather, SET({ "load.miss.llc", NEVER }, GATHERED), SET({ "load.dram.local", NEVER }, GATHERED), SET({ "load.hit.l1", 2900, 3100, PER_UNIT }, GATHERED),
      SET({ "line.in.l2.demand", NEVER }, GATHERED), SET({ "load.miss.llc", NEVER }, { "l2.request", 950, 2100, PER_UNIT }));
#undef GATHERED

/* --- lines of other cores ---------------------------------------------------------------------- */
/* An L3 that takes only evicted lines holds none that another core has just read from memory after a flush: if a cache of the socket answered, it
 * was that core's. The same holds for a core of another socket where events distinguish caches by their lines' homes and not by socket. */
#define FROM_OTHER_CORE SET_VICTIM_L3({ "load.hit.l3", ONCE }, { "dtlb.load.miss", NEVER }), SET_VICTIM_L3({ "load.hit.l3", ONCE })
#define FROM_ANY_CORE SET_VICTIM_L3({ "load.fwd.any", ONCE }, { "dtlb.load.miss", NEVER }), SET_VICTIM_L3({ "load.fwd.any", ONCE })
/* Core 2 and NetBurst show only that the line came from beyond their last level; the other core's kernel determines who held it. */
PROOF(proof_other_clean, SET({ "load.hit.l3.snoop_clean", ONCE }, { "dtlb.load.miss", NEVER }), SET({ "load.hit.l3.snoop_clean", ONCE }), FROM_OTHER_CORE, SET_WITHOUT_L3({ "load.miss.llc", ONCE }));
PROOF(proof_other_modified, SET({ "load.hit.l3.snoop_modified", ONCE }, { "dtlb.load.miss", NEVER }), SET({ "load.hit.l3.snoop_modified", ONCE }), FROM_OTHER_CORE, SET_WITHOUT_L3({ "load.miss.llc", ONCE }));
/* Several sharers: an inclusive L3 answers without a snoop. One that takes only evicted lines has no copy: a sharer forwards the line, clean. */
PROOF(proof_shared, SET_VICTIM_L3({ "load.hit.l3", ONCE }, { "load.hit.l3.snoop_modified", NEVER }),
      SET({ "load.hit.l3.shared", ONCE }, { "dtlb.load.miss", NEVER }), SET({ "load.hit.l3.shared", ONCE }), SET({ "load.hit.l3", ONCE }, { "load.hit.l3.snoop_modified", NEVER }), FROM_OTHER_CORE);
PROOF(proof_same_l2, SET({ "load.hit.l2", ONCE }, { "dtlb.load.miss", NEVER }), SET({ "load.hit.l2", ONCE }), SET({ "load.miss.l1", ONCE }, { "line.in.l2", NEVER }));
/* Clean and modified lines of another complex count as one; the helper's kernel determines which. Where events do not distinguish the complexes of
 * a node: its own L3 holds no line that was flushed and that another core has just read from memory. */
PROOF(proof_other_complex, SET({ "load.fwd.near", ONCE }, { "dtlb.load.miss", NEVER }), SET({ "load.fwd.near", ONCE }), FROM_OTHER_CORE);
PROOF(proof_pair_other_complex, SET({ "load.fwd.near", ONCE }), SET_VICTIM_L3({ "load.hit.l3", ONCE }));
PROOF(proof_remote_clean, SET({ "load.fwd.remote.local_home", ONCE }, { "dtlb.load.miss", NEVER }), SET({ "load.fwd.remote.local_home", ONCE }), SET({ "load.fwd.remote", ONCE }),
      FROM_ANY_CORE);
/* Nehalem: the line is also written back, so the load counts as one from its home's memory (guide, after table 3). No load event shows that the
 * line was modified: the helper's kernel ensures it. */
PROOF(proof_remote_modified, SET({ "load.hitm.remote", ONCE }, { "dtlb.load.miss", NEVER }), SET({ "load.hitm.remote", ONCE }), SET({ "load.dram.local", ONCE }, { "load.fwd.remote.local_home", NEVER }),
      FROM_ANY_CORE);
/* Over all pairs of sockets the home may be the reader's node or another. The proof requires that no cache of the reader's own socket answered,
 * and tells whether another socket's did. */
PROOF(proof_pair_remote_clean, SET({ "load.fwd.remote", ONCE }), SET({ "load.miss.llc", ONCE }, { "load.dram.local", NEVER }), ASKED_OF_BUS, SET_VICTIM_L3({ "load.fwd.any", ONCE }));
PROOF(proof_pair_remote_modified, SET({ "load.hitm.remote", ONCE }), SET({ "load.miss.llc", ONCE }, { "load.fwd.remote.local_home", NEVER }),
      ASKED_OF_BUS, SET_VICTIM_L3({ "load.fwd.any", ONCE }));
/* Lines from another core's caches. Several additions may complete before the other core takes the line back. */
PROOF(proof_false_sharing, SET({ "load.hit.l3.snoop_modified", SOMETIMES }), SET({ "line.in.l1d", SOMETIMES }));

/* --- pages ------------------------------------------------------------------------------------- */
/* The kernel has no stores: where loads and stores are not counted separately, all that is counted are its loads'. */
PROOF(proof_stlb_hit, SET({ "dtlb.load.stlb_hit", ONCE }, { "dtlb.load.walk", NEVER }), SET({ "dtlb.stlb_hit", ONCE }, { "dtlb.walk", NEVER }),
      SET({ "dtlb.load.wait", SOME_CYCLES }, { "dtlb.load.walk", NEVER }));
/* A level holds a ring of pages that never misses in it; the row itself sees a larger ring miss. */
#define HARDLY -100, 20, PER_UNIT /* the counts of the first pass, which both windows contain, differ slightly */
PROOF(proof_dtlb_holds, SET({ "dtlb.load.miss", HARDLY }));
PROOF(proof_stlb_holds, SET({ "dtlb.load.walk", HARDLY }), SET({ "dtlb.walk", HARDLY }));
#undef HARDLY
/* Lines other than the pages' would evict page-table entries from the L2: prefetchers that only appear to be off fetch such lines. */
PROOF(proof_walk, SET({ "dtlb.load.walk", ONCE }, { "line.in.l2", SELDOM }), SET({ "dtlb.load.walk", ONCE }), SET({ "dtlb.walk", ONCE }, { "line.in.l2", SELDOM }));
/* The loads come from the L2, and so do the baseline's: an L1 that held more of the one ring than of the other would add to the walks, or hide a part of them. */
#define MOSTLY 970, 1010, PER_UNIT
PROOF(proof_walk_l2, SET({ "dtlb.load.walk", ONCE }, { "load.hit.l2", MOSTLY }, { "line.in.l2", SELDOM }), SET({ "dtlb.load.walk", ONCE }, { "load.hit.l2", MOSTLY }),
      SET({ "dtlb.walk", ONCE }, { "load.hit.l2", MOSTLY }, { "line.in.l2", SELDOM }));
#undef MOSTLY

/* --- streams ----------------------------------------------------------------------------------- */
/* An iteration touches 4 lines of each array. They must enter the level below the target, within 10 % (prefetchers may bring a line twice), and
 * none may come from beyond the target. */
#define NO_LINE -120, 120, PER_UNIT
#define LINES_4 3600, 4400, PER_UNIT
#define LINES_8 7200, 8800, PER_UNIT
#define LINES_12 10800, 13200, PER_UNIT
/* Written lines: if the L2 evicts a line before the L1 does, the L1's write-back brings it in a second time. */
#define LINES_4_WRITTEN 3600, 8800, PER_UNIT
#define LINES_8_WRITTEN 7200, 13200, PER_UNIT
/* Streams in a cache often move as much as it can: the level above holds few of their lines, or they move more. With random replacement it holds e^-n of
 * an array n times its size, and 1.5 % is as much as few windows differ by. */
#define CACHED_4 3940, 4400, PER_UNIT
#define CACHED_8 7880, 8800, PER_UNIT
#define CACHED_12 11820, 13200, PER_UNIT
#define CACHED_4_WRITTEN 3940, 8800, PER_UNIT
#define CACHED_8_WRITTEN 7880, 13200, PER_UNIT

/* Where no event counts the lines that enter the L1 or the L2: each is requested once from the level below, by a load, a store or a prefetcher. */
#define PROOF_FROM_L2(name, lines) PROOF(name, SET({ "line.in.l1d", lines }, { "line.in.l2", NO_LINE }), SET({ "l2.request", lines }, { "l2.request.miss", NO_LINE }))
/* Where an event counts all caches of a node: no other L3 of the node holds lines that only this core has accessed. */
#define PROOF_FROM_L3(name, lines) \
	PROOF(name, SET({ "line.in.l2", lines }, { "llc.miss", NO_LINE }), SET({ "l2.request.miss", lines }, { "llc.miss", NO_LINE }), \
	      SET({ "line.in.l2", lines }, { "line.in.node", NO_LINE }))
#define PROOF_FROM_DRAM(name, lines, in_l2) PROOF(name, SET({ "line.in.l2", in_l2 }, { "llc.miss", lines }), SET({ "llc.miss", lines }))
/* For events that distinguish the node whose memory answered, prefetches included. */
#define PROOF_FROM_NODE(name, line_dram, lines) \
	PROOF(name, SET({ "line.in.l2", lines }, { line_dram, lines }), SET({ "line.in.l2", lines }, { "llc.miss", lines }), SET({ "llc.miss", lines }))
#define PROOF_FROM_ANOTHER_NODE(name, lines) \
	PROOF(name, SET_ONE_SOCKET({ "line.in.l2", lines }, { "line.dram.distant", lines }), SET({ "line.in.l2", lines }, { "line.dram.remote", lines }), \
	      SET({ "line.in.l2", lines }, { "llc.miss", lines }), SET({ "llc.miss", lines }))

PROOF(proof_stream_l1, SET({ "load.hit.l1", ONCE_A_LOAD }, { "line.in.l1d", NO_LINE }),
      SET({ "load.retired", ONCE_A_LOAD }, { "line.in.l1d", NO_LINE }), SET({ "line.in.l1d", NO_LINE }),
      SET({ "load.hit.l1", ONCE_A_LOAD }, { "l2.request", NO_LINE }));
/* Lines written in the L1 are in state M there; no line comes in. */
PROOF(proof_write_l1, SET({ "store.hit.l1.modified", ONCE_A_STORE }, { "line.in.l1d", NO_LINE }),
      SET({ "store.retired", ONCE_A_STORE }, { "line.in.l1d", NO_LINE }), SET({ "line.in.l1d", NO_LINE }),
      SET({ "store.retired", ONCE_A_STORE }, { "l2.request", NO_LINE }));
PROOF_FROM_L2(proof_4_lines_l2, CACHED_4);
PROOF_FROM_L2(proof_8_lines_l2, CACHED_8);
PROOF_FROM_L2(proof_12_lines_l2, CACHED_12);
PROOF_FROM_L3(proof_4_lines_l3, CACHED_4);
PROOF_FROM_L3(proof_4_written_l3, CACHED_4_WRITTEN);
PROOF_FROM_L3(proof_8_lines_l3, CACHED_8);
PROOF_FROM_L3(proof_8_written_l3, CACHED_8_WRITTEN);
PROOF_FROM_L3(proof_12_lines_l3, CACHED_12);
PROOF_FROM_DRAM(proof_4_lines_dram, LINES_4, LINES_4);
PROOF_FROM_DRAM(proof_4_written_dram, LINES_4, LINES_4_WRITTEN);
PROOF_FROM_DRAM(proof_8_lines_dram, LINES_8, LINES_8);
PROOF_FROM_DRAM(proof_8_written_dram, LINES_8, LINES_8_WRITTEN);
PROOF_FROM_DRAM(proof_12_lines_dram, LINES_12, LINES_12);
PROOF_FROM_NODE(proof_4_lines_local, "line.dram.local", LINES_4);
PROOF_FROM_ANOTHER_NODE(proof_4_lines_remote, LINES_4);
PROOF_FROM_NODE(proof_8_lines_local, "line.dram.local", LINES_8);
PROOF_FROM_ANOTHER_NODE(proof_8_lines_remote, LINES_8);
/* Non-temporal stores bring no line into any cache; where that is not counted, each line of the array leaves the core as a full line. */
PROOF(proof_write_nt, SET({ "line.in.l1d", NO_LINE }, { "line.in.l2", NO_LINE }), SET({ "store.nt.line", LINES_4 }));

/* A store that misses the L2 and the last level. The stores go to one line of each pair in unpredictable order: a prefetched line is not stored to
 * next, and its miss of the last level counts in addition. */
PROOF(proof_rfo, SET({ "rfo.miss.l2", ONCE }, { "llc.miss", ONCE }), SET({ "line.in.l2.demand", ONCE }, { "llc.miss", ONCE }, { "prefetch.hardware", NEVER }),
      SET({ "line.in.l2.demand", ONCE }, { "llc.miss", ONCE }), SET({ "llc.miss", ONCE }));
/* The test's lines leave the core. Where no event counts that: the baseline stores four times to a line that it holds in state M, the test never
 * does. */
PROOF(proof_nt, SET({ "store.nt.line", ONCE }), SET({ "request.offcore", ONCE }), SET({ "store.hit.l1.modified", -4040, -3960, PER_UNIT }));

/* --- stores and the loads that meet them ------------------------------------------------------- */
PROOF(proof_forward, SET({ "load.hit.l1", ONCE }, { "load.forward_block", NEVER }), SET({ "load.forwarded", ONCE }, { "load.forward_block", NEVER }));
PROOF(proof_forward_fail, SET({ "load.forward_block", ONCE }), SET({ "load.block.overlap", ONCE }), SET({ "load.block.overlap", SOME_CYCLES }));
/* In an L1 of one way, of at most 4 KiB, store and load evict each other's line. Test and baseline miss equally seldom, and hit equally often. */
#define ALIAS(counted) SET({ counted, ONCE }, { "line.in.l1d", NEVER }), SET({ counted, ONCE }, { "load.hit.l1", NEVER }), SET({ counted, ONCE })
PROOF(proof_alias, ALIAS("load.alias_4k"), ALIAS("load.block.overlap"));
#undef ALIAS
/* Every eighth load is forwarded and may count here or not. A predictor that needs fewer than eight loads to gain confidence would let one in
 * eight go ahead, which causes a clear. */
PROOF(proof_unknown_address, SET({ "load.block.sta", 800, 1010, PER_UNIT }, { "clear.memory_order", NEVER }), SET({ "load.block.sta", SOME_CYCLES }, { "clear.memory_order", NEVER }));
PROOF(proof_disambiguation, SET({ "disambiguation.reset", ONCE }, { "clear.memory_order", ONCE }), SET({ "clear.memory_order", ONCE }),
      SET({ "clear.any", ONCE }, { "branch.misp.any", NEVER }));
PROOF(proof_split_load, SET({ "split.load", ONCE }));
/* The lines are consecutive: where no register switches prefetchers off, prefetches are counted. */
PROOF(proof_split_load_l2, SET({ "load.block.retire", ONCE }, { "line.in.l1d", ABOUT_ONCE }), SET({ "split.load", ONCE }, { "line.in.l1d", ABOUT_ONCE }, { "prefetch.hardware", NEVER }),
      SET({ "split.load", ONCE }, { "line.in.l1d", ABOUT_ONCE }), SET({ "split.load", ONCE }, { "l2.request", ABOUT_ONCE }));
PROOF(proof_split_store, SET({ "split.store", ONCE }));

/* --- front end and branches -------------------------------------------------------------------- */
PROOF(proof_lcp, SET({ "frontend.lcp", SOME_CYCLES }));
/* Eight instructions a line, each decoded in every pass. */
#define EIGHT 7900, 8100, PER_UNIT
PROOF(proof_decode, SET({ "insn.decoded", EIGHT }), SET({ "uops.decoded", EIGHT }));
/* Distant lines that collide in a small target buffer cost a clear each, in the test or in the baseline: at most half a cycle of that. */
PROOF(proof_l1i_l2, SET({ "l1i.miss", ONCE }, { "l2.ifetch.miss", NEVER }, { "frontend.baclear", SELDOM }), SET({ "l1i.miss", ONCE }, { "frontend.baclear", SELDOM }), SET({ "l1i.miss", ONCE }));
/* An L3 that keeps lines of earlier rows lacks some of these. */
PROOF(proof_l1i_l3, SET({ "l2.ifetch.miss", ONCE }, { "llc.miss", NEVER }, { "frontend.baclear", SELDOM }), SET({ "l2.ifetch.miss", ONCE }, { "frontend.baclear", SELDOM }));
PROOF(proof_baclear, SET({ "frontend.baclear", ONCE }));
PROOF(proof_itlb, SET({ "itlb.stlb_hit", ONCE }, { "itlb.walk", NEVER }, { "frontend.baclear", SELDOM }));
PROOF(proof_itlb_walk, SET({ "itlb.walk", ONCE }, { "itlb.stlb_hit", NEVER }, { "frontend.baclear", SELDOM }), SET({ "itlb.walk", ONCE }, { "frontend.baclear", SELDOM }), SET({ "itlb.walk", ONCE }));
/* Test and baseline have the same number of branches of other kinds, predicted equally well. */
PROOF(proof_mispredict_cond, SET({ "branch.misp.cond", BY_CHANCE }), SET({ "branch.misp.any", BY_CHANCE }));
PROOF(proof_mispredict_indirect, SET({ "branch.misp.indirect", BY_CHANCE }), SET({ "branch.misp.any", BY_CHANCE }));
PROOF(proof_mispredict_return, SET({ "branch.misp.return", ONCE }), SET({ "branch.misp.any", ONCE }));

/* --- execution --------------------------------------------------------------------------------- */
PROOF(proof_divider, SET({ "divider.busy", SOME_CYCLES }));
/* One addition each, plus six instructions that begin and end an iteration. */
PROOF(proof_chains, SET({ "instructions", 1000, 1150, PER_UNIT }));
/* Test and baseline multiply with the same instructions: additional uops, from microcode or in total, are the assists'. An iteration of the
 * flushed products has two instructions per product and two more, and an assist has at least one uop. */
PROOF(proof_assist, SET({ "assist.fp", ONCE }), SET({ "uops.microcode", SOME_CYCLES }), SET({ "uops.retired", SOME_CYCLES }));
PROOF(proof_no_assist, SET({ "assist.fp", NEVER }), SET({ "uops.retired", 1000, 3000, PER_UNIT }));
PROOF(proof_microcode, SET({ "microcode.switch", ONCE }), SET({ "uops.microcode", SOME_CYCLES }), SET({ "insn.decoded.complex", ONCE }));
PROOF(proof_transition, SET({ "assist.avx_to_sse", 490, 510, PER_UNIT }, { "assist.sse_to_avx", 490, 510, PER_UNIT }));
/* Where no event counts the cycles that renaming waits: since Sandy Bridge a uop of its own merges the parts, the one by which the test exceeds
 * its baseline (Intel optimization manual 3.5.2.4). */
PROOF(proof_partial_flags, SET({ "rename.flags", SOME_CYCLES }), SET({ "uops.retired", ONCE }));
PROOF(proof_partial_register, SET({ "rename.partial_register", SOME_CYCLES }), SET({ "uops.retired", ONCE }));
/* Writing a control word is microcoded; whether allocation stalls too depends on the generation. Haswell and Skylake need few uops, one or two of
 * them on port 0, which loads never use (instruction_tables.pdf, LDMXCSR). */
PROOF(proof_mxcsr, SET({ "uops.microcode", SOME_CYCLES }), SET({ "uops.port0", 900, 2100, PER_UNIT }), SET({ "uops.retired", SOME_CYCLES })); /* a load is one */
/* FLDCW has at least one uop more than the load that the baseline has in its place; whether they come from microcode depends on the generation. */
PROOF(proof_fpcw, SET({ "insn.x87", ONCE }), SET({ "uops.retired", 900, CONCEPT_ANY_NUMBER, PER_UNIT }), SET({ "uops.microcode", SOME_CYCLES }));
PROOF(proof_read_port, SET({ "rename.read_port", 500, 1500, PER_UNIT }));

/* --- ordering ---------------------------------------------------------------------------------- */
PROOF(proof_lock, SET({ "lock", ONCE }), SET({ "lock", SOME_CYCLES }));
PROOF(proof_split_lock, SET({ "lock.split", ONCE }), SET({ "lock.split", SOME_CYCLES }));
PROOF(proof_lfence, SET({ "serialise.wait", SOME_CYCLES }), SET({ "alloc.stall", SOME_CYCLES })); /* it stalls allocation, NOPs never do */
/* The two indirect jumps of an iteration may share an entry of their predictor, in the baseline alone too. */
PROOF(proof_smc, SET({ "clear.smc", ONCE }, { "branch.misp.any", NEVER }), SET({ "clear.any", ONCE }, { "branch.misp.any", NEVER }),
      SET({ "code.invalidated", ONCE }, { "branch.misp.any", NEVER }));

#undef ASKED_OF_BUS
#undef MISSES_LLC
#undef LLC_MISSES
#undef PROOF_FROM_L2
#undef PROOF_FROM_L3
#undef PROOF_FROM_DRAM
#undef PROOF_FROM_NODE
#undef PROOF_FROM_ANOTHER_NODE
#undef PROOF
#undef SET

#endif
