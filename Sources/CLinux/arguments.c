#include "CLinux.h"

#include <errno.h>
#include <string.h>

void CLinux_hide_argument(int count, const char *value) {
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
