#include "COverrides.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

// Names with the same hash are counted together.
enum { NUMBERS = 4096 };
static struct {
    atomic_int count;
    // The errno of the shortage for which the last look-up has failed; 0 if it has not.
    atomic_int shortage;
} lookups[NUMBERS];

static unsigned number_of(const char *name) {
    unsigned hash = 2166136261u;
    for (; *name && !(name[0] == '.' && !name[1]); name++) {
        unsigned char byte = (unsigned char)*name;
        if (byte >= 'A' && byte <= 'Z') byte |= 0x20;
        hash = (hash ^ byte) * 16777619u;
    }
    return hash % NUMBERS;
}

int COverrides_lookups(const char *name) { return atomic_load(&lookups[number_of(name)].count); }

int COverrides_lookup_shortage(const char *name) { return atomic_load(&lookups[number_of(name)].shortage); }

static int is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS; }

// The C library reports most shortages like an unknown name: errno may still tell, else a descriptor that cannot be
// opened either.
static int shortage_of(int code, int error) {
    if (code == EAI_MEMORY) error = ENOMEM;
    if (!is_shortage(error)) {
        int probe = open("/", O_PATH | O_CLOEXEC);
        error = probe < 0 ? errno : 0;
        if (probe >= 0) close(probe);
    }
    return is_shortage(error) ? error : 0;
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
    unsigned number = number_of(name);
    atomic_fetch_add(&lookups[number].count, 1);
    errno = 0;
    int code = next(name, service, hints, result), error = errno;
    atomic_store(&lookups[number].shortage, code ? shortage_of(code, error) : 0);
    errno = error;
    atomic_fetch_sub(&lookups[number].count, 1);
    return code;
}
