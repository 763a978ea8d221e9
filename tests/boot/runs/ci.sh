#!/bin/bash
# The shell steps of both jobs in docs/ci.md, as they stand there, in a copy of the tree; but for those that install packages.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
# The shell lines of a job: GitHub's `run:`, of one line or with `|` of those that are further in; GitLab's list below `script:`.
awk '/^```yaml/ { block++; next } /^```/ { block += 0.5 } block == 1' docs/ci.md >"$work/github.yml"
awk '/^```yaml/ { block++; next } /^```/ { block += 0.5 } block == 2.5' docs/ci.md >"$work/gitlab.yml"
awk '{ match($0, /^ */); indent = RLENGTH }
	text && indent > at { print substr($0, at + 5 - dash); next } { text = 0 }
	/^ *(- )?run: \|$/ { text = 1; at = indent; dash = 2; next }
	/^ *(- )?run: / { sub(/^ *(- )?run: /, ""); print }' "$work/github.yml" | grep -v apt-get >"$work/github.sh"
awk '/^  script:/ { on = 1; next } on && /^    - / { print substr($0, 7); next } on { on = 0 }' "$work/gitlab.yml" >"$work/gitlab.sh"
check "jobs_are_of_debian" sh -c 'grep -qx "    container: debian:12" "$1/github.yml" && grep -qx "  image: debian:12" "$1/gitlab.yml"' - "$work"
if command -v yamllint >/dev/null; then check "jobs_are_yaml" yamllint -d '{extends: relaxed, rules: {line-length: disable}}' "$work/github.yml" "$work/gitlab.yml"; else skip "jobs_are_yaml" "no yamllint"; fi
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
