#include "CLinux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static int argument_count;
static char **argument_values;

// Runs before the Swift runtime is prepared. The runtime looks for its own folder by /proc/self/exe, and ends the
// process if it finds none, unless this variable says where it is; a statically linked one needs nothing of that folder.
__attribute__((constructor(101))) static void prepare_for_runtime(int count, char **values, char **variables) {
    (void)variables;
    argument_count = count;
    argument_values = values;
    char name[1];
    if (readlink("/proc/self/exe", name, sizeof name) < 0) setenv("SWIFT_ROOT", "/", 0);
}

int CLinux_argument_count(void) { return argument_count; }

char **CLinux_arguments(void) { return argument_values; }

const char *CLinux_started_path(void) { return (const char *)getauxval(AT_EXECFN); }

// Copies the arguments, so that they stay as they were when the kernel's copy is overwritten.
static int keep_arguments(void) {
    static int is_kept;
    if (is_kept) return 1;
    char **copy = calloc((size_t)argument_count + 1, sizeof *copy);
    if (copy == NULL) return 0;
    for (int i = 0; i < argument_count; i++)
        if ((copy[i] = strdup(argument_values[i])) == NULL) return 0;
    argument_values = copy;
    is_kept = 1;
    return 1;
}

void CLinux_hide_argument(const char *value) {
    const int count = argument_count;
    if (!keep_arguments()) return;
    // glibc's name of the program is the first argument; the others are behind it.
    char *argument = program_invocation_name;
    const size_t length = strlen(value);
    for (int i = 0; length > 0 && i < count; i++) {
        const size_t all = strlen(argument);
        if (i > 0 && all >= length && (all == length || argument[0] == '-') &&
            memcmp(argument + all - length, value, length) == 0) {
            memset(argument + all - length, ' ', length);
        }
        argument += all + 1;
    }
}
