# pmu/sim/memory/prefetch.c: the bits that switch prefetchers off are ignored
s|s->core\[core\].m->prefetch_present \& ~off_mask \& 15|s->core[core].m->prefetch_present \& 15|;s|^void memory_prefetchers(struct memory \*s, unsigned core, unsigned off_mask)|void memory_prefetchers(struct memory *s, unsigned core, __attribute__((unused)) unsigned off_mask)|
