# Groups of tests for Tests/run: started side by side, each with its own log; results are read off the logs.
#
# A line of a log that begins with "not run: " is repeated at the end of the run.
#
# Sourced. Expects `logs` (a directory), `wanted` (names of the groups to run; empty for all) and `limits` (by the beginning of
# a group's name, after how many seconds it is ended with all that it has started). Groups and steps are exported functions,
# and see the name of their group in `CARPOOL_TEST_GROUP`.
# `most_seconds`, if set, is the limit of the whole run, and `memory` a directory in which groups that have passed are
# remembered: a later run leaves them out.
# shellcheck shell=bash disable=SC2154

declare -A group_pids=() met=()
default_limit=600
passed=0
failed=0
skipped=0
remembered=0
notes=()
memory=${memory:-}
most_seconds=${most_seconds:-}

# The plan: the groups in the order in which they are considered, and of each its command, the groups that must have passed
# before, and the processors that it takes.
plan_order=()
declare -A plan_commands=() plan_needs=() plan_processors=() plan_state=()

# note TEXT: what the summary must tell.
note() { notes+=("$1"); }

is_wanted() {
    local name found=1
    ((${#wanted[@]} > 0)) || return 0
    for name in "${wanted[@]}"; do
        [[ $1 == "$name"* ]] || continue
        met[$name]=yes
        found=0
    done
    return "$found"
}

# limit_of NAME: the seconds that the group may take, multiplied by CARPOOL_TEST_SLOWNESS.
limit_of() {
    local name=$1 seconds=$default_limit prefix
    for prefix in "${!limits[@]}"; do
        [[ $name == "$prefix"* ]] && seconds=${limits[$prefix]}
    done
    awk -v seconds="$seconds" -v factor="${CARPOOL_TEST_SLOWNESS:-1}" -v most="${most_seconds:-0}" -v spent="$SECONDS" 'BEGIN {
        seconds *= factor
        left = most * factor - spent
        if (most > 0 && left < seconds) seconds = left > 1 ? left : 1
        printf "%d", seconds
    }'
}

# start_group NAME COMMAND...: runs the command in the background as a group.
start_group() {
    local name=$1
    shift
    echo 0 >"$logs/$name.seconds"
    local idly=()
    ((plan_processors[$name] > 0)) || idly=(chrt --idle 0)
    CARPOOL_TEST_GROUP=$name "${idly[@]}" Tests/Support/bounded --took "$logs/$name.seconds" "$(limit_of "$name")" \
        "$BASH" -c '"$@"' group "$@" >"$logs/$name.log" 2>&1 </dev/null &
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
    summary
    exit 1
}

# plan NAME PROCESSORS NEEDS COMMAND...: a group for carry_out. NEEDS are names of groups, separated by blanks. With 0
# processors it is started at once and has what time others leave; with all of them no other group runs but such ones.
plan() {
    local name=$1
    plan_order+=("$name")
    plan_processors[$name]=$2
    plan_needs[$name]=$3
    shift 3
    plan_commands[$name]=$(printf '%q ' "$@")
}

# choose_groups: the groups that are wanted, and those that they need, wait; the others are left out.
choose_groups() {
    local place name need
    for ((place = ${#plan_order[@]} - 1; place >= 0; place--)); do
        name=${plan_order[place]}
        is_wanted "$name" && plan_state[$name]=waits
        # Not builds, which are cheap where nothing has changed.
        if [[ ${plan_state[$name]:-} == waits && $name != *build && -n $memory && -e $memory/$name ]]; then
            plan_state[$name]=ok
            remembered=$((remembered + 1))
            printf '%-5s %-20s passed before\n' ok "$name"
        fi
        [[ ${plan_state[$name]:-} == waits ]] || continue
        for need in ${plan_needs[$name]}; do plan_state[$need]=waits; done
    done
}

# is_ready NAME: whether the groups that it needs have passed. It is lost if one has not.
is_ready() {
    local need
    for need in ${plan_needs[$1]}; do
        case ${plan_state[$need]:-} in
        ok) ;;
        FAIL)
            note "$1 was not run, because $need has failed"
            plan_state[$1]=FAIL
            return 1
            ;;
        *) return 1 ;;
        esac
    done
}

# start_ready PROCESSORS: starts each waiting group that is ready, while there are processors for it.
start_ready() {
    local name free=$1
    for name in "${!group_pids[@]}"; do free=$((free - plan_processors[$name])); done
    for name in "${plan_order[@]}"; do
        [[ ${plan_state[$name]:-} == waits ]] || continue
        is_ready "$name" || continue
        ((plan_processors[$name] <= free)) || continue
        free=$((free - plan_processors[$name]))
        plan_state[$name]=runs
        eval "start_group $name ${plan_commands[$name]}"
    done
}

# carry_out PROCESSORS: runs the planned groups, each as soon as those that it needs have passed.
carry_out() {
    local name code
    choose_groups
    start_ready "$1"
    while ((${#group_pids[@]} > 0)); do
        # Not by wait -n, which loses one of two that end at the same time.
        sleep 0.2
        for name in "${!group_pids[@]}"; do
            ! kill -0 "${group_pids[$name]}" 2>/dev/null || continue
            code=0
            wait "${group_pids[$name]}" || code=$?
            unset "group_pids[$name]"
            if ((code == 0)); then plan_state[$name]=ok; else plan_state[$name]=FAIL; fi
            report "$name" "${plan_state[$name]}"
        done
        start_ready "$1"
    done
    fail_waiting
    plan_order=()
    plan_state=()
}

# fail_waiting: groups that wait although nothing runs any more have failed: what they need is not in the plan, for example.
fail_waiting() {
    local name
    for name in "${plan_order[@]}"; do
        [[ ${plan_state[$name]:-} == waits ]] || continue
        # A group that needed another one of these has its note by now.
        is_ready "$name"
        [[ ${plan_state[$name]} == waits ]] || continue
        note "$name was not run: it needs ${plan_needs[$name]:-nothing} and ${plan_processors[$name]} processors"
        printf 'FAIL  %s\n' "$name"
        plan_state[$name]=FAIL
        failed=$((failed + 1))
    done
}

report() {
    local name=$1 verdict=$2 good bad left
    if [[ -n $memory && $verdict == ok ]]; then
        mkdir -p "$memory"
        touch "$memory/$name"
    fi
    read -r good bad left < <(count "$logs/$name.log" "$verdict")
    passed=$((passed + good))
    failed=$((failed + bad))
    skipped=$((skipped + left))
    printf '%-5s %-20s %4d s  %d passed, %d failed, %d skipped\n' \
        "$verdict" "$name" "$(<"$logs/$name.seconds")" "$good" "$bad" "$left"
    while IFS= read -r left; do note "$name: $left"; done < <(grep '^not run: ' "$logs/$name.log")
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

# summary: the notes and the closing line; fails when anything failed, or when nothing ran and nothing had passed before.
summary() {
    local line name
    for name in "${wanted[@]}"; do
        [[ -z ${met[$name]:-} ]] || continue
        note "no group has a name that begins with $name: docs/internals/testing.md lists them"
        failed=$((failed + 1))
    done
    line="$passed passed, $failed failed"
    ((${#notes[@]} == 0)) || printf '%s\n' "${notes[@]}"
    ((skipped == 0)) || line+=", $skipped skipped"
    ((remembered == 0)) || line+=", groups that passed before: $remembered"
    printf '%s\n' "$line"
    ((failed == 0 && passed + remembered > 0))
}
