/* bench/catalogue/proofs.h: what proves the rows of bench/catalogue/; included by bench/catalogue/rows.c alone.
 *
 * A row asks for concepts of tables/concepts.csv; each processor says which of its events mean them. A second set stands only
 * where processors can tell different things, or not by as few counters as there are. Counts of pairs are test less baseline, for each event that the loop makes. */
#ifndef BENCH_PROOFS_H
#define BENCH_PROOFS_H

/* One count a unit of work within 1 %, and none of a neighbour's beyond 1 %. */
#define ONCE 990, 1010, PER_UNIT
#define NEVER -10, 10, PER_UNIT
#define SELDOM -20, 20, PER_UNIT        /* of penalties, which are told to half a cycle: one line in 50 from the L3 */
#define MOSTLY 900, 1010, PER_UNIT      /* a last level that still holds some of six times its size */
#define SOMETIMES 50, 1010, PER_UNIT
#define ONCE_A_LOAD 990, 1010, PER_LOAD
#define ONCE_A_STORE 990, 1010, PER_STORE
#define SOME_CYCLES 900, CONCEPT_ANY_NUMBER, PER_UNIT /* a concept in cycles: at least one each */
#define BY_CHANCE 850, 1150, PER_UNIT   /* as many as random choices make be foreseen wrongly, as far as so few tell */

#define PROOF(name, ...) static const struct row_proof_set name[] = { __VA_ARGS__, { { { NULL, 0, 0, PER_UNIT } } } }
#define SET(...) { { __VA_ARGS__ } }

/* --- loads, by who answers --------------------------------------------------------------------- */
PROOF(proof_l1, SET({ "load.hit.l1", ONCE }));
PROOF(proof_l2, SET({ "load.hit.l2", ONCE }, { "dtlb.load.miss", NEVER }));
/* The architectural events of CPUID 0xA (SDM vol. 3, 18.2.1) prove what the last of three levels did, and nothing about the others. */
PROOF(proof_l3, SET({ "load.hit.l3.unshared", ONCE }, { "dtlb.load.miss", NEVER }), SET({ "llc.reference", ONCE }, { "llc.miss", NEVER }));
/* Lines that were flushed: where no event tells who answered beyond the last level, only memory could. */
PROOF(proof_dram_local, SET({ "load.dram.local", ONCE }, { "dtlb.load.miss", NEVER }), SET({ "load.miss.llc", ONCE }), SET({ "llc.miss", ONCE }));
PROOF(proof_dram_local_big, SET({ "load.dram.local", MOSTLY }, { "dtlb.load.walk", NEVER }), SET({ "load.miss.llc", MOSTLY }),
      SET({ "llc.miss", MOSTLY }));
PROOF(proof_dram_remote, SET({ "load.dram.remote", ONCE }, { "dtlb.load.miss", NEVER }), SET({ "load.miss.llc", ONCE }));
/* Every line that comes is one that was loaded: a prefetcher that is on would take places of them. */
PROOF(proof_dram_alone, SET({ "load.dram.local", ONCE }, { "dtlb.load.miss", NEVER }, { "line.in.l2", ONCE }),
      SET({ "load.miss.llc", ONCE }, { "line.in.l2", ONCE }), SET({ "llc.miss", ONCE }));
/* Of two loads of a line one brings it and the other finds it on its way. */
PROOF(proof_fill_buffer, SET({ "load.dram.local", ONCE }, { "load.hit.lfb", ONCE }, { "dtlb.load.miss", NEVER }),
      SET({ "llc.miss", ONCE }, { "load.hit.lfb", ONCE }), SET({ "load.miss.llc", ONCE }));
/* Lines that the L2 takes in, loaded or brought beside: one for each entry that a turn takes. */
PROOF(proof_pairs, SET({ "line.in.l2", ONCE }, { "llc.miss", ONCE }));
/* A gather: a line of data comes in for each element, whoever asked for it. */
PROOF(proof_gather, SET({ "line.in.l1d", 950, 1100, PER_UNIT }));

/* --- lines of other cores ---------------------------------------------------------------------- */
/* Core 2 and NetBurst see that the line came from beyond their last level; who had it is what the other core's kernel did. */
PROOF(proof_other_clean, SET({ "load.hit.l3.snoop_clean", ONCE }), SET({ "load.miss.llc", ONCE }));
PROOF(proof_other_modified, SET({ "load.hit.l3.snoop_modified", ONCE }), SET({ "load.miss.llc", ONCE }));
/* Several sharers: an inclusive L3 answers without a snoop; without a copy in the L3 a sharer forwards the line. */
PROOF(proof_shared, SET({ "load.hit.l3.shared", ONCE }), SET({ "load.hit.l3", ONCE }, { "load.hit.l3.snoop_modified", NEVER }));
PROOF(proof_same_l2, SET({ "load.hit.l2", ONCE }), SET({ "load.miss.l1", ONCE }, { "line.in.l2", NEVER }));
PROOF(proof_remote_clean, SET({ "load.fwd.remote.local_home", ONCE }), SET({ "load.fwd.remote", ONCE }));
/* Nehalem: the line is also written back, so the load counts as one from its home's memory (guide, after
 * table 3). That it was modified is what the helper's kernel did: no load event says it. */
PROOF(proof_remote_modified, SET({ "load.hitm.remote", ONCE }), SET({ "load.dram.local", ONCE }, { "load.fwd.remote.local_home", NEVER }));
/* Over all pairs of sockets the home is the reader's node or another: what counts is that no cache of its own socket
 * answered, and whether another one did. */
PROOF(proof_pair_remote_clean, SET({ "load.fwd.remote", ONCE }), SET({ "load.miss.llc", ONCE }, { "load.dram.local", NEVER }), SET({ "load.miss.llc", ONCE }));
PROOF(proof_pair_remote_modified, SET({ "load.hitm.remote", ONCE }), SET({ "load.miss.llc", ONCE }, { "load.fwd.remote.local_home", NEVER }),
      SET({ "load.miss.llc", ONCE }));
/* Lines that come from another core's caches; several additions may pass before the other core takes the line back. */
PROOF(proof_false_sharing, SET({ "load.hit.l3.snoop_modified", SOMETIMES }), SET({ "line.in.l1d", SOMETIMES }));

/* --- pages ------------------------------------------------------------------------------------- */
PROOF(proof_stlb_hit, SET({ "dtlb.load.stlb_hit", ONCE }, { "dtlb.load.walk", NEVER }));
/* What else comes into the L2 than the pages' lines pushes entries out of it: prefetchers that only seem to be off. */
PROOF(proof_walk, SET({ "dtlb.load.walk", ONCE }, { "line.in.l2", SELDOM }), SET({ "dtlb.load.walk", ONCE }));

/* --- streams ----------------------------------------------------------------------------------- */
/* An iteration touches 4 lines of each array. They must come into the level below the aimed-at one, within 10 % (prefetchers may
 * bring a line twice), and none from beyond it. */
#define NO_LINE -120, 120, PER_UNIT
#define LINES_4 3600, 4400, PER_UNIT
#define LINES_8 7200, 8800, PER_UNIT
#define LINES_12 10800, 13200, PER_UNIT
/* Written lines: one that the L2 gave up before the L1 did comes in a second time, written back. */
#define LINES_4_WRITTEN 3600, 8800, PER_UNIT
#define LINES_8_WRITTEN 7200, 13200, PER_UNIT

#define PROOF_FROM_L2(name, lines) PROOF(name, SET({ "line.in.l1d", lines }, { "line.in.l2", NO_LINE }))
#define PROOF_FROM_L3(name, lines) PROOF(name, SET({ "line.in.l2", lines }, { "llc.miss", NO_LINE }))
#define PROOF_FROM_DRAM(name, lines, in_l2) PROOF(name, SET({ "line.in.l2", in_l2 }, { "llc.miss", lines }), SET({ "llc.miss", lines }))
/* Where it is told which node's memory answered, prefetches too. */
#define PROOF_FROM_NODE(name, line_dram, lines) \
	PROOF(name, SET({ "line.in.l2", lines }, { line_dram, lines }), SET({ "line.in.l2", lines }, { "llc.miss", lines }), SET({ "llc.miss", lines }))

PROOF(proof_stream_l1, SET({ "load.hit.l1", ONCE_A_LOAD }, { "line.in.l1d", NO_LINE }),
      SET({ "load.retired", ONCE_A_LOAD }, { "line.in.l1d", NO_LINE }));
/* What is written in the L1 is in state M there; nothing comes in. */
PROOF(proof_write_l1, SET({ "store.hit.l1.modified", ONCE_A_STORE }, { "line.in.l1d", NO_LINE }),
      SET({ "store.retired", ONCE_A_STORE }, { "line.in.l1d", NO_LINE }));
PROOF_FROM_L2(proof_4_lines_l2, LINES_4);
PROOF_FROM_L2(proof_8_lines_l2, LINES_8);
PROOF_FROM_L2(proof_12_lines_l2, LINES_12);
PROOF_FROM_L3(proof_4_lines_l3, LINES_4);
PROOF_FROM_L3(proof_4_written_l3, LINES_4_WRITTEN);
PROOF_FROM_L3(proof_8_lines_l3, LINES_8);
PROOF_FROM_L3(proof_8_written_l3, LINES_8_WRITTEN);
PROOF_FROM_L3(proof_12_lines_l3, LINES_12);
PROOF_FROM_DRAM(proof_4_lines_dram, LINES_4, LINES_4);
PROOF_FROM_DRAM(proof_4_written_dram, LINES_4, LINES_4_WRITTEN);
PROOF_FROM_DRAM(proof_8_lines_dram, LINES_8, LINES_8);
PROOF_FROM_DRAM(proof_8_written_dram, LINES_8, LINES_8_WRITTEN);
PROOF_FROM_DRAM(proof_12_lines_dram, LINES_12, LINES_12);
PROOF_FROM_NODE(proof_4_lines_local, "line.dram.local", LINES_4);
PROOF_FROM_NODE(proof_4_lines_remote, "line.dram.remote", LINES_4);
PROOF_FROM_NODE(proof_8_lines_local, "line.dram.local", LINES_8);
PROOF_FROM_NODE(proof_8_lines_remote, "line.dram.remote", LINES_8);
/* What is written past the caches brings no line into any. */
PROOF(proof_write_nt, SET({ "line.in.l1d", NO_LINE }, { "line.in.l2", NO_LINE }));

/* A store to a line that the L2 misses, and the last level too. Misses are counted with those of prefetches, which bring lines
 * in order: so the store's own request is counted beside them. */
PROOF(proof_rfo, SET({ "rfo.miss.l2", ONCE }, { "llc.miss", ONCE }), SET({ "line.in.l2.demand", ONCE }, { "llc.miss", ONCE }), SET({ "llc.miss", ONCE }));
/* The test's lines leave the core. Where that is not counted: a baseline stores four times to a line that it has in state M, the
 * test never. */
PROOF(proof_nt, SET({ "store.nt.line", ONCE }), SET({ "request.offcore", ONCE }), SET({ "store.hit.l1.modified", -4040, -3960, PER_UNIT }));

/* --- stores and the loads that meet them ------------------------------------------------------- */
PROOF(proof_forward, SET({ "load.hit.l1", ONCE }, { "load.forward_block", NEVER }));
PROOF(proof_forward_fail, SET({ "load.forward_block", ONCE }), SET({ "load.block.overlap", ONCE }));
PROOF(proof_alias, SET({ "load.alias_4k", ONCE }), SET({ "load.block.overlap", ONCE }));
/* Each eighth is forwarded instead. A predictor that trusts after fewer than eight loads lets one in eight go ahead, which is cleared; forwarded it counts here or not. */
PROOF(proof_unknown_address, SET({ "load.block.sta", 800, 1010, PER_UNIT }, { "clear.memory_order", NEVER }));
PROOF(proof_disambiguation, SET({ "disambiguation.reset", ONCE }, { "clear.memory_order", ONCE }), SET({ "clear.memory_order", ONCE }));
PROOF(proof_split_load, SET({ "split.load", ONCE }));
PROOF(proof_split_store, SET({ "split.store", ONCE }));

/* --- front end and branches -------------------------------------------------------------------- */
PROOF(proof_lcp, SET({ "frontend.lcp", SOME_CYCLES }));
/* Eight instructions a line, each decoded anew. */
#define EIGHT 7900, 8100, PER_UNIT
PROOF(proof_decode, SET({ "insn.decoded", EIGHT }), SET({ "uops.decoded", EIGHT }));
/* Lines far apart that meet in a small target buffer cost a clear each too, or those of the baseline do: no more than half a
 * cycle of it. */
PROOF(proof_l1i_l2, SET({ "l1i.miss", ONCE }, { "l2.ifetch.miss", NEVER }, { "frontend.baclear", SELDOM }), SET({ "l1i.miss", ONCE }));
PROOF(proof_l1i_l3, SET({ "l2.ifetch.miss", ONCE }, { "frontend.baclear", SELDOM }));
PROOF(proof_baclear, SET({ "frontend.baclear", ONCE }));
PROOF(proof_itlb, SET({ "itlb.stlb_hit", ONCE }, { "itlb.walk", NEVER }, { "frontend.baclear", SELDOM }));
PROOF(proof_itlb_walk, SET({ "itlb.walk", ONCE }, { "frontend.baclear", SELDOM }), SET({ "itlb.walk", ONCE }));
/* Test and baseline have as many branches of other kinds, foreseen alike. */
PROOF(proof_mispredict_cond, SET({ "branch.misp.cond", BY_CHANCE }), SET({ "branch.misp.any", BY_CHANCE }));
PROOF(proof_mispredict_indirect, SET({ "branch.misp.indirect", BY_CHANCE }), SET({ "branch.misp.any", BY_CHANCE }));
PROOF(proof_mispredict_return, SET({ "branch.misp.return", ONCE }), SET({ "branch.misp.any", ONCE }));

/* --- execution --------------------------------------------------------------------------------- */
PROOF(proof_divider, SET({ "divider.busy", SOME_CYCLES }));
/* An addition each, and six that begin and end a turn. */
PROOF(proof_chains, SET({ "instructions", 1000, 1150, PER_UNIT }));
PROOF(proof_assist, SET({ "assist.fp", ONCE }));
PROOF(proof_no_assist, SET({ "assist.fp", NEVER }));
PROOF(proof_microcode, SET({ "microcode.switch", ONCE }), SET({ "uops.microcode", SOME_CYCLES }), SET({ "insn.decoded.complex", ONCE }));
PROOF(proof_transition, SET({ "assist.avx_to_sse", 490, 510, PER_UNIT }, { "assist.sse_to_avx", 490, 510, PER_UNIT }));
PROOF(proof_partial_flags, SET({ "rename.flags", SOME_CYCLES }));
PROOF(proof_partial_register, SET({ "rename.partial_register", SOME_CYCLES }));
/* Writing a control word is microcode; whether allocation waits for it too depends on the generation. Haswell and
 * Skylake need few uops, one or two of them on port 0, where no load has any (instruction_tables.pdf, LDMXCSR). */
PROOF(proof_mxcsr, SET({ "uops.microcode", SOME_CYCLES }), SET({ "uops.port0", 900, 2100, PER_UNIT }));
PROOF(proof_fpcw, SET({ "insn.x87", ONCE }), SET({ "uops.microcode", SOME_CYCLES }));
PROOF(proof_read_port, SET({ "rename.read_port", 500, 1500, PER_UNIT }));

/* --- ordering ---------------------------------------------------------------------------------- */
PROOF(proof_lock, SET({ "lock", ONCE }));
PROOF(proof_split_lock, SET({ "lock.split", ONCE }), SET({ "lock.split", SOME_CYCLES }));
PROOF(proof_lfence, SET({ "serialise.wait", SOME_CYCLES }), SET({ "alloc.stall", SOME_CYCLES })); /* it holds allocation, NOPs never do */
PROOF(proof_smc, SET({ "clear.smc", ONCE }));

#undef PROOF_FROM_L2
#undef PROOF_FROM_L3
#undef PROOF_FROM_DRAM
#undef PROOF_FROM_NODE
#undef PROOF
#undef SET

#endif
