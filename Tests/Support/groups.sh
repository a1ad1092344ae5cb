# Groups of tests for Tests/run: started side by side, each with its own log; results are read off the logs.
#
# Sourced. Expects `logs` (a directory) and `wanted` (names of the groups to run; empty for all).
# shellcheck shell=bash disable=SC2154

declare -A group_pids=()
passed=0
failed=0
skipped=0

is_wanted() {
    local name
    ((${#wanted[@]} > 0)) || return 0
    for name in "${wanted[@]}"; do
        [[ $1 == "$name"* ]] && return 0
    done
    return 1
}

# start NAME COMMAND...: runs the command in the background as a group.
start() {
    local name=$1
    shift
    is_wanted "$name" || return 0
    {
        local code=0 began=$SECONDS
        "$@" >"$logs/$name.log" 2>&1 </dev/null || code=$?
        echo $((SECONDS - began)) >"$logs/$name.seconds"
        exit "$code"
    } &
    group_pids[$name]=$!
}

# must NAME COMMAND...: a step that the groups rest on; without it there is nothing to test.
must() {
    local name=$1
    shift
    local began=$SECONDS
    if "$@" >"$logs/$name.log" 2>&1 </dev/null; then
        printf 'ok    %-20s %4d s\n' "$name" $((SECONDS - began))
        return 0
    fi
    printf 'FAIL  %s\n' "$name"
    cat "$logs/$name.log"
    failed=$((failed + 1))
    finish
    summary
    exit 1
}

# finish: waits for every group that was started, in any order, and reports each.
finish() {
    local name
    for name in "${!group_pids[@]}"; do
        if wait "${group_pids[$name]}"; then
            report "$name" ok
        else
            report "$name" FAIL
        fi
        unset "group_pids[$name]"
    done
}

report() {
    local name=$1 verdict=$2 good bad left
    read -r good bad left < <(count "$logs/$name.log" "$verdict")
    passed=$((passed + good))
    failed=$((failed + bad))
    skipped=$((skipped + left))
    printf '%-5s %-20s %4d s  %d passed, %d failed, %d skipped\n' \
        "$verdict" "$name" "$(<"$logs/$name.seconds")" "$good" "$bad" "$left"
    [[ $verdict == ok ]] || sed "s/^/$name: /" "$logs/$name.log"
}

# count LOG VERDICT: passed, failed and skipped, from what pytest and Swift Testing say at their end. A group that counts
# nothing is one test; one that failed has at least one failure, whatever its log says.
count() {
    awk -v verdict="$2" '
        function before(word,    text) {
            return match($0, "[0-9]+ " word) ? substr($0, RSTART, RLENGTH) + 0 : 0
        }
        / in [0-9.]+s/ && /passed|failed|error|skipped/ {
            good += before("passed"); bad += before("failed") + before("error"); left += before("skipped")
        }
        /Test run with [0-9]+ tests?/ { run += before("tests?") }
        / recorded an issue / { sub(/ recorded an issue .*/, ""); broken += !seen[$0]++ }
        END {
            if (run > 0) { good += run - broken; bad += broken }
            if (good + bad + left == 0) { good = (verdict == "ok"); bad = !good }
            if (verdict != "ok" && bad == 0) bad = 1
            print good, bad, left
        }' "$1"
}

# summary: the closing line; fails when anything failed, or when nothing ran.
summary() {
    if ((skipped > 0)); then
        printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    else
        printf '%d passed, %d failed\n' "$passed" "$failed"
    fi
    ((failed == 0 && passed > 0))
}
