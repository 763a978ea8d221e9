#!/bin/bash
# Records a machine's serial line through its BMC (IPMI serial over LAN): packaging/lab/sol.sh HOST LOG [SECONDS]
#   Ends when the run on the machine has ended, or after SECONDS (default 14400). LOG is for `stallmeter fetch --serial LOG`.
#   User and password are in IPMI_USER and IPMI_PASSWORD; IPMI_PORT, IPMI_CIPHER: ipmitool's -p and -C.
# Exit status: 0 the run's end is in LOG, 1 it is not, 2 bad arguments, 3 the BMC gave no session.
set -u
[ $# -ge 2 ] && [ -n "${IPMI_USER:-}" ] && [ -n "${IPMI_PASSWORD:-}" ] || { sed -n '2,5s/^# *//p' "$0" >&2; exit 2; }
host=$1 log=$2 seconds=${3:-14400}
for tool in ipmitool script; do command -v "$tool" >/dev/null || { echo "sol.sh: $tool is missing" >&2; exit 2; }; done
ipmi() { ipmitool -I lanplus -H "$host" -p "${IPMI_PORT:-623}" -C "${IPMI_CIPHER:-3}" -U "$IPMI_USER" -E "$@"; }
export IPMI_PASSWORD
: >"$log" || exit 2

ipmi sol deactivate >/dev/null 2>&1 # of somebody who left it open
# ipmitool wants a terminal; script gives it one and writes what it shows.
command="ipmitool -I lanplus -H '$host' -p '${IPMI_PORT:-623}' -C '${IPMI_CIPHER:-3}' -U '$IPMI_USER' -E sol activate"
sleep "$seconds" | timeout "$seconds" script -qfec "$command" "$log" >/dev/null 2>&1 & session=$!
trap 'pkill -P $session 2>/dev/null; kill $session 2>/dev/null; ipmi sol deactivate >/dev/null 2>&1' EXIT
ended() { grep -qaE 'stallmeter: end status [0-9]' "$log"; }
for ((i = 0; i < 2 * seconds; i++)); do
	ended && exit 0
	kill -0 $session 2>/dev/null || break
	sleep 0.5
done
ended && exit 0
grep -qa 'SOL Session operational' "$log" || { echo "sol.sh: $host: no session; $log says why" >&2; exit 3; }
echo "sol.sh: $host: the end of the run is not in $log" >&2
exit 1
