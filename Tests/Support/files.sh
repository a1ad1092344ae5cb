# Single files of tests for Tests/run, with their output on the terminal, and without a build if nothing has changed.
#
# Sourced by Tests/run, whose functions build.
# shellcheck shell=bash disable=SC2154

# is_current STAMP: whether no source is newer than the file, which is written after a build. Of a link, what it leads to
# counts, such as the targets of Tests/Fuzz.
is_current() {
    [[ -e $1 && -z $(find -L Package.swift Sources Tests/*Tests clients/build -newer "$1" -print -quit) ]]
}

# built NAME COMMAND: carries out the build unless it is current.
built() {
    local stamp=$logs/$1.stamp
    is_current "$stamp" && return
    touch "$stamp.begun"
    "$2" && mv "$stamp.begun" "$stamp"
}

# files_with NAME: the files in which a test's name has NAME in it.
files_with() {
    grep -rlE --include='*.py' "def test_\w*${1//[^[:alnum:]_]/.*}" Tests/Acceptance clients/python/tests
    grep -rlE --include='*.swift' "func \`?[^(]*${1//[^[:alnum:]_]/.*}" Tests/*Tests
}

# run_python FILE... : acceptance tests or tests of the client; NAME selects tests.
run_python() {
    CARPOOL_LIBCURL_DIR=$newest CARPOOL_REAL_CURL=$newest/bin/curl \
        python -m pytest -q ${name:+-k "$name"} "$@"
}

# run_swift FILE...: the tests of the files; the name of a test ends with the file in which it is.
run_swift() {
    local file filters=()
    for file in "$@"; do
        file=${file##*/}
        filters+=(--filter "${name:+$name.*}/${file/./\\.}:")
    done
    built swift_build swift_build && swift test --scratch-path .build-tests --skip-build --quiet "${filters[@]}"
}

# run_files FILE... [-k NAME]
run_files() {
    local name='' files=() file acceptance=() client=() swift=() code=0
    while (($# > 0)); do
        if [[ $1 == -k ]]; then name=$2 && shift; else files+=("$1"); fi
        shift
    done
    ((${#files[@]} > 0)) || mapfile -t files < <(files_with "$name")
    for file in "${files[@]}"; do
        file=$(realpath --relative-to=. -- "$file")
        case $file in
        Tests/Acceptance/*) acceptance+=("$file") ;;
        clients/python/tests/*) client+=("$file") ;;
        Tests/*.swift) swift+=("$file") ;;
        *) echo "Tests/run: $file has no tests" >&2 && return 2 ;;
        esac
    done
    ((${#files[@]} > 0)) || { echo "Tests/run: no test has \"$name\" in its name" >&2 && return 2; }
    # No stamp for programs that are given: it would be one of a build that was not made.
    ((${#acceptance[@]} == 0)) ||
        { { [[ -n $programs_are_given ]] || built build build_release; } && run_python "${acceptance[@]}"; } || code=1
    ((${#client[@]} == 0)) || run_python "${client[@]}" || code=1
    ((${#swift[@]} == 0)) || run_swift "${swift[@]}" || code=1
    return $code
}
