#!/bin/bash
# Each tests/fuzz/fuzz_X.c, or those that are named (fuzz.sh RUNS fuzz_X...), for a number of executions (default: short); TAP. A target may
# say max_len=N (bytes of input), seeds=FOLDER (machine files to start from; their comments and what they
# leave unknown are dropped) and seed_folder=FOLDER (any files) in a comment. Long: make fuzz-long.
cd "$(dirname "$0")/../../.." || exit 2
runs=${1:-50000} out=${OUT:-out}
# Little memory kept back after a free: fresh pages and stacks of every allocation took half of the time.
export ASAN_OPTIONS=quarantine_size_mb=1:malloc_context_size=1
targets=(tests/fuzz/fuzz_*.c)
[ $# -lt 2 ] || targets=("${@:2}") targets=("${targets[@]/#/tests/fuzz/}") targets=("${targets[@]/%/.c}")
echo "1..${#targets[@]}"
i=0
for source in "${targets[@]}"; do
	i=$((i + 1)) name=$(basename "$source" .c)
	if ! command -v clang >/dev/null; then echo "ok $i - $name # SKIP no clang"; continue; fi
	max_len=$(sed -n 's/.*max_len=\([0-9]*\).*/\1/p' "$source" | head -n 1)
	mkdir -p "$out/log" "$out/fuzz/corpus_$name"
	seeds=$(sed -n 's/.*seeds=\([^ ]*\).*/\1/p' "$source" | head -n 1)
	for seed in ${seeds:+"$seeds"/*.machine}; do
		sed '/^#/d; /= unknown$/d; /^$/d' "$seed" >"$out/fuzz/corpus_$name/seed-$(basename "$seed")"
	done
	folder=$(sed -n 's/.*seed_folder=\([^ *]*\).*/\1/p' "$source" | head -n 1)
	for seed in ${folder:+"$folder"/*}; do
		cp "$seed" "$out/fuzz/corpus_$name/seed-$(basename "$seed")"
	done
	if ! make -s OUT="$out" "$out/fuzz/$name" >"$out/log/$name.build" 2>&1; then
		echo "not ok $i - $name builds"; sed 's/^/# /' "$out/log/$name.build" | tail -n 20; continue
	fi
	if "$out/fuzz/$name" -runs="$runs" -seed="${FUZZ_SEED:-1}" -max_len="${max_len:-4096}" -print_final_stats=1 -artifact_prefix="$out/fuzz/$name-" \
	   "$out/fuzz/corpus_$name" >"$out/log/$name.fuzz" 2>&1; then
		echo "ok $i - $name: $(grep -o 'number_of_executed_units: *[0-9]*' "$out/log/$name.fuzz" | grep -o '[0-9]*$') executions, no finding"
	else
		echo "not ok $i - $name"; sed 's/^/# /' "$out/log/$name.fuzz" | tail -n 40
	fi
done
