# Groups of tests for Tests/run: started side by side, each with its own log; results are read off the logs.
#
# Sourced. Expects `logs` (a directory), `wanted` (names of the groups to run; empty for all) and `limits` (by the beginning of
# a group's name, after how many seconds it is ended with all that it has started). Groups and steps are exported functions.
# shellcheck shell=bash disable=SC2154

declare -A group_pids=()
default_limit=600
passed=0
failed=0
skipped=0
notes=()

# note TEXT: what the summary must tell.
note() { notes+=("$1"); }

is_wanted() {
    local name
    ((${#wanted[@]} > 0)) || return 0
    for name in "${wanted[@]}"; do
        [[ $1 == "$name"* ]] && return 0
    done
    return 1
}

# limit_of NAME: the seconds that the group may take, multiplied by CARPOOL_TEST_SLOWNESS.
limit_of() {
    local name=$1 seconds=$default_limit prefix
    for prefix in "${!limits[@]}"; do
        [[ $name == "$prefix"* ]] && seconds=${limits[$prefix]}
    done
    awk -v seconds="$seconds" -v factor="${CARPOOL_TEST_SLOWNESS:-1}" 'BEGIN { printf "%d", seconds * factor }'
}

# start NAME COMMAND...: runs the command in the background as a group.
start() {
    local name=$1
    shift
    is_wanted "$name" || return 0
    echo 0 >"$logs/$name.seconds"
    Tests/Support/bounded --took "$logs/$name.seconds" "$(limit_of "$name")" "$BASH" -c '"$@"' group "$@" \
        >"$logs/$name.log" 2>&1 </dev/null &
    group_pids[$name]=$!
}

# end_groups: ends the running groups, when the run itself is ended.
end_groups() {
    ((${#group_pids[@]} == 0)) || kill "${group_pids[@]}" 2>/dev/null
    wait
}

# must NAME COMMAND...: a required step, such as the build: without it nothing can be tested.
must() {
    local name=$1
    shift
    local began=$SECONDS code=0
    # In the background, so that a signal to the run ends it too. Not by Tests/Support/bounded, for which there may be no Python yet.
    timeout --kill-after=10 "$(limit_of "$name")" "$BASH" -c '"$@"' step "$@" >"$logs/$name.log" 2>&1 </dev/null &
    group_pids[$name]=$!
    wait "${group_pids[$name]}" || code=$?
    unset "group_pids[$name]"
    if ((code == 0)); then
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
    [[ $verdict == ok ]] || show "$name"
}

# show NAME: the log of a failed group: first the names of the tests that failed, in case the rest is cut off, and
# without pytest's lines of dots.
show() {
    {
        grep -E '^(FAILED|ERROR|blocked:) | recorded an issue ' "$logs/$1.log"
        grep -vE '^[.sxXFE]+ +\[ *[0-9]+%\]$|^bringing up nodes' "$logs/$1.log"
    } | sed "s/^/$1: /"
}

# count LOG VERDICT: passed, failed and skipped, from the last lines of pytest and Swift Testing. A group without counts
# is one test; one that failed has at least one failure, even if its log has none.
count() {
    awk -v verdict="$2" '
        function before(word,    text) {
            return match($0, "[0-9]+ " word) ? substr($0, RSTART, RLENGTH) + 0 : 0
        }
        / in [0-9.]+s/ && /passed|failed|error|skipped/ {
            good += before("passed"); bad += before("failed") + before("error"); left += before("skipped")
        }
        /Test run with [0-9]+ tests?/ { run += before("tests?") }
        /^blocked: / { blocked += !seen[$2]++ }
        / recorded an issue / { sub(/ recorded an issue .*/, ""); broken += !seen[$0]++ }
        END {
            if (run > 0) { good += run - broken; bad += broken }
            bad += blocked
            if (good + bad + left == 0) { good = (verdict == "ok"); bad = !good }
            if (verdict != "ok" && bad == 0) bad = 1
            print good, bad, left
        }' "$1"
}

# summary: the notes and the closing line; fails when anything failed, or when nothing ran.
summary() {
    ((${#notes[@]} == 0)) || printf '%s\n' "${notes[@]}"
    if ((skipped > 0)); then
        printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    else
        printf '%d passed, %d failed\n' "$passed" "$failed"
    fi
    ((failed == 0 && passed > 0))
}
