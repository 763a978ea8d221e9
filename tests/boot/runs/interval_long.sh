#!/bin/bash
# interval_ms = 100 in the guest: bandwidth by channel ten times a second of the machine's time, on the console as it comes.
#
# A simulated machine at its own speed would take hours for a second. This one is the built-in one in slow motion, one socket of it: all its
# clocks and rates are those of the file divided by 200, its times multiplied by 200. A core takes as many cycles for a line, so 53.3 MB/s
# a channel stand for 10.67 GB/s. INTERVALS=N: so many (10).
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
log=$work/q/debugcon.log n=${INTERVALS:-10}
machine=$work/slow.machine
sed -E 's/^bus_hz_times_3 = 400000000$/bus_hz_times_3 = 2000000/; s/^channel_bytes_per_second = .*/channel_bytes_per_second = 53333333/; s/^sockets = .*/sockets = 1/
	s/^local_ps = 46000$/local_ps = 9200000/; s/^remote_ps = .*/remote_ps = 10000000/; s/^name = .*/name = slow/' tables/machines/nehalem-ep.machine >"$machine"
metrics=imc.CH0_READ_RATE,imc.CH1_READ_RATE,imc.CH2_READ_RATE,imc.CH0_WRITE_RATE,imc.CH1_WRITE_RATE,imc.CH2_WRITE_RATE
cp --sparse=always "$out/stallmeter.img" "$work/image"
mcopy -i "$work/image@@1M" "$machine" ::/stallmeter/
began=$(date +%s)
rc=0
runner/qemu.sh --work "$work/q" --limit 2400 --options "end=exit backend=sim:\\stallmeter\\slow.machine metrics=$metrics workload=triad.dram_all interval_ms=100 duration_ms=$((n * 100))" \
	"$work/image" >"$work/boot" 2>&1 || rc=$?
echo "# $n intervals of 100 ms took $(($(date +%s) - began)) s with the boot"
check "interval_of_100_ms_ends_well" test "$rc" = 0
tr -d '\r' <"$log" >"$work/console"
check "interval_of_100_ms_comes_ten_times_a_second" test "$(grep -c '^after' "$work/console")" = "$n"
# An interval ends with the first window that ends beyond it. One window of all cores takes 9.9 ms in slow motion; how long, an interval of 1 ms tells.
window_ms=$("$out/stallmeter" stat --machine "$machine" -M "$metrics" -w triad.dram_all -I 1 --for 5 | awk '/^after/ { print $2; exit }')
even() { awk -v w="$window_ms" '/^after/ { n++; if (w <= 0 || w > 15 || $2 < 100 * n || $2 > 100 * n + 1.02 * w) { print $0 ", a window takes " w; bad = 1 } } END { exit bad || !n }' "$work/console"; }
check "interval_of_100_ms_lasts_100_ms" even
# a channel: 53.3 MB/s, of which the triad reads four fifths and writes a fifth; nearly all of it is used
channels() {
	awk '$2 == "MB/s" { split($3, name, "."); c = substr(name[2], 1, 3); rate[c] += $1; seen[c]++; if (seen[c] % 2 == 0) { if (rate[c] < 45 || rate[c] > 53.4) { print c, rate[c]; bad = 1 } rate[c] = 0 } }
		END { exit bad || seen["CH0"] != 2 * n || seen["CH1"] != 2 * n || seen["CH2"] != 2 * n }' n="$n" "$work/console" || { grep -A6 ^after "$work/console"; return 1; }
}
check "interval_of_100_ms_has_the_bandwidth_of_each_channel" channels
host() { "$out/stallmeter" stat --machine "$machine" --per box -M "$metrics" -w triad.dram_all -I 100 --for $((n * 100)) | sed 1d >"$work/host" && grep -A6 '^after' "$work/console" | grep -v '^--' >"$work/guest" && grep -A6 '^after' "$work/host" | grep -v '^--' | cmp - "$work/guest"; }
check "interval_of_100_ms_is_the_host_s" host
tap_end
