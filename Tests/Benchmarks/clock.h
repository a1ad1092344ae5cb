// Clocks and the report shared by the load generators.
#ifndef CARPOOL_BENCHMARK_CLOCK_H
#define CARPOOL_BENCHMARK_CLOCK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline int64_t cpu_ns(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static inline int64_t now_ns(void) { return cpu_ns(CLOCK_MONOTONIC); }

static int by_value(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

// One JSON object on standard output: times in microseconds.
static inline void report(int64_t *latencies, long count, int64_t wall, int64_t cpu) {
    qsort(latencies, (size_t)count, sizeof *latencies, by_value);
    printf("{\"requests\":%ld,\"wall_s\":%.6f,\"cpu_us\":%.3f,\"p50_us\":%.3f,\"p99_us\":%.3f}\n", count, wall / 1e9,
        cpu / 1e3 / (double)count, latencies[count / 2] / 1e3, latencies[count * 99 / 100] / 1e3);
}

#endif
