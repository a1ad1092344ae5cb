#include "CLinux.h"

#include <malloc.h>
#include <stdlib.h>

int CLinux_return_large_memory(int bytes) {
    int maps = mallopt(M_MMAP_THRESHOLD, bytes), trims = mallopt(M_TRIM_THRESHOLD, bytes);
    return maps == 1 && trims == 1;
}

void CLinux_trim_memory(size_t kept) {
    if (mallinfo2().fordblks > kept) malloc_trim(0);
}

// To free a block of more than 64 KiB joins the small blocks that were freed before it, and shrinks the heap.
void CLinux_trim_heap_of_thread(void) {
    void *volatile block = malloc(128 << 10);
    free(block);
}

long CLinux_shortages;
int CLinux_last_shortage;
