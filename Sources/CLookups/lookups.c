#include "CLookups.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

// Names with the same hash are counted together.
enum { NUMBERS = 4096 };
static atomic_int counts[NUMBERS];

static atomic_int *count_of(const char *name) {
    unsigned hash = 2166136261u;
    for (; *name && !(name[0] == '.' && !name[1]); name++) {
        unsigned char byte = (unsigned char)*name;
        if (byte >= 'A' && byte <= 'Z') byte |= 0x20;
        hash = (hash ^ byte) * 16777619u;
    }
    return &counts[hash % NUMBERS];
}

int CLookups_count(const char *name) { return atomic_load(count_of(name)); }

static atomic_int last_shortage;

int CLookups_take_shortage(void) { return atomic_exchange(&last_shortage, 0); }

static int is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS; }

// The C library reports most shortages like an unknown name: errno may still tell, else a descriptor that cannot be
// opened either.
static void note_shortage(int code, int error) {
    if (code == EAI_MEMORY) error = ENOMEM;
    if (!is_shortage(error)) {
        int probe = open("/", O_PATH | O_CLOEXEC);
        error = probe < 0 ? errno : 0;
        if (probe >= 0) close(probe);
    }
    if (is_shortage(error)) atomic_store(&last_shortage, error);
}

typedef int Lookup(const char *, const char *, const struct addrinfo *, struct addrinfo **);

// Replaces the C library's function: a program's own symbol takes precedence over those of its libraries, also for
// libcurl, whose threads continue a look-up whose transfer has ended.
int getaddrinfo(
    const char *restrict name, const char *restrict service, const struct addrinfo *restrict hints,
    struct addrinfo **restrict result
) {
    Lookup *next;
    // As POSIX requires it; ISO C does not allow the conversion.
    *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    if (!next) return EAI_SYSTEM;
    if (!name) return next(name, service, hints, result);
    atomic_int *count = count_of(name);
    atomic_fetch_add(count, 1);
    errno = 0;
    int code = next(name, service, hints, result);
    if (code != 0) {
        int error = errno;
        note_shortage(code, error);
        errno = error;
    }
    atomic_fetch_sub(count, 1);
    return code;
}
