#include "CLinux.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Weak, since the command is linked statically against the C library: it resolves no names and lacks these functions.
#pragma weak getaddrinfo
#pragma weak freeaddrinfo

enum { MOST_TRIES = 16 };

struct lookup {
    struct addrinfo *found;
    int error;
    int pipe;
    char name[256];
};

// Not getaddrinfo_a(3): its thread that reports the end takes every signal, so that SIGTERM at that moment would end the
// process at once.
static void look_up(void *context) {
    struct lookup *lookup = context;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}; // one answer for each address
    lookup->error = getaddrinfo(lookup->name, NULL, &hints, &lookup->found);
    // Again if a signal has interrupted it, or the kernel has refused it: nothing else reports the end.
    for (int tries = 0; tries < MOST_TRIES && write(lookup->pipe, &lookup, sizeof lookup) < 0; tries++) {}
}

void *CLinux_resolve(const char *name, int pipe) {
    if (!getaddrinfo) { errno = ENOSYS; return NULL; }
    struct lookup *lookup = calloc(1, sizeof *lookup);
    if (!lookup) return NULL;
    int error = strlen(name) < sizeof lookup->name ? 0 : ENAMETOOLONG;
    if (!error) {
        strcpy(lookup->name, name);
        lookup->pipe = pipe;
        error = CLinux_start_thread("look-up", look_up, lookup);
    }
    if (!error) return lookup;
    free(lookup);
    errno = error;
    return NULL;
}

int CLinux_resolve_take(void *handle, uint8_t *lengths, uint8_t *bytes, int capacity) {
    struct lookup *lookup = handle;
    int error = lookup->error, count = 0;
    struct addrinfo *found = error ? NULL : lookup->found;
    for (; found && count < capacity; found = found->ai_next) {
        if (found->ai_family == AF_INET) {
            lengths[count] = 4;
            memcpy(bytes + 16 * count++, &((struct sockaddr_in *)found->ai_addr)->sin_addr, 4);
        } else if (found->ai_family == AF_INET6) {
            lengths[count] = 16;
            memcpy(bytes + 16 * count++, &((struct sockaddr_in6 *)found->ai_addr)->sin6_addr, 16);
        }
    }
    if (!error && lookup->found) freeaddrinfo(lookup->found);
    free(lookup);
    return error ? error : count;
}
