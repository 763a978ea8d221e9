#!/bin/bash
# The shell steps of both jobs in docs/ci.md, as they stand there, in a copy of the tree; but for those that install packages.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
cat >"$work/steps.py" <<'P'
import re, sys, yaml
which, text = sys.argv[1], open("docs/ci.md").read()
jobs = [yaml.safe_load(t) for t in re.findall(r"```yaml\n(.*?)```", text, re.S)]
assert len(jobs) == 2
job = jobs[which == "gitlab"]["jobs"]["stallmeter"] if which == "github" else jobs[1]["stallmeter"]
steps = [s["run"] for s in job["steps"] if "run" in s] if which == "github" else job["script"]
assert job["container" if which == "github" else "image"] == "debian:12"
print("\n".join(s.strip() for s in steps if "apt-get" not in s))
P
/usr/bin/python3 "$work/steps.py" github >"$work/github.sh"
/usr/bin/python3 "$work/steps.py" gitlab >"$work/gitlab.sh"
# Both do the same but for how they are wrapped.
check "jobs_have_their_steps" sh -c '[ "$(wc -l <"$1")" -ge 6 ] && diff "$1" "$2"' - "$work/github.sh" "$work/gitlab.sh"
copy=$work/copy
mkdir "$copy"
tar -c --exclude=./.git . | tar -x -C "$copy"
rm -rf "$copy/out/run" "$copy/out/ci"
# Each step as the CI has it: sh -e, and each in the folder of the sources.
job() { (cd "$copy" && env -u OUT -u MAKEFLAGS -u MAKELEVEL -u MFLAGS sh -e "$work/$1.sh"); }
check "github_job_runs" job github
check "github_job_left_junit" xmllint --noout "$copy/junit.xml"
check "github_job_has_every_row" sh -c '[ "$(xmllint --xpath "count(//testcase)" "$1/junit.xml")" -gt 10 ]' - "$copy"
check "github_job_booted_the_image" sh -c 'ls "$1"/out/run/*/results.json' - "$copy"
rm -rf "$copy/out/ci" "$copy/junit.xml" "$copy/driver.trace"
check "gitlab_job_runs" job gitlab
check "gitlab_job_left_junit" xmllint --noout "$copy/junit.xml"
# A driver that sets a reserved bit fails the replay step.
printf 'wrmsr 0 0x186 0xffffffff00000000\n' >"$work/bad.trace"
check "replay_step_fails_on_a_finding" status 1 "$out/stallmeter" replay --machine nehalem-ep --findings "$work/bad.trace"
tap_end
