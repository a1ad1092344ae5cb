// Records when a processor ran nothing at all: the host of a virtual machine had stopped it.
//
// A thread of a real-time priority on each processor wakes every 2 ms. It is above that of the daemon in these tests. Nothing but the
// kernel's own sections, which are short, delays it, so a late thread means that the processor stood still. The kernel counts such a time as
// running time of the thread that it interrupted, unless the host reports it (`steal` in proc(5)); a host that limits its machines' share
// of time does not.
//
// For each line on standard input it waits until every thread has woken, and prints `PROCESSOR BEGIN END` for each time of
// more than 2 ms since the line before, in microseconds of CLOCK_MONOTONIC, and then an empty line. Ends with its standard
// input. The exit code is 1 if it may not have that priority.

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { period_us = 2000, most_stops = 4096 };

struct stop {
    int processor;
    int64_t begin, end;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stop stops[most_stops];
static int stop_count;
static int64_t woken[CPU_SETSIZE];
static cpu_set_t processors;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000) + time.tv_nsec / 1000;
}

static void sleep_until(int64_t us) {
    struct timespec time = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static void *watch(void *argument) {
    int processor = (int)(intptr_t)argument;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    struct sched_param priority = {.sched_priority = 2};
    if (sched_setaffinity(0, sizeof own, &own) != 0 || sched_setscheduler(0, SCHED_FIFO, &priority) != 0) exit(1);
    for (int64_t next = now() + period_us;; next = now() + period_us) {
        sleep_until(next);
        int64_t time = now();
        pthread_mutex_lock(&lock);
        if (time - next > period_us && stop_count < most_stops)
            stops[stop_count++] = (struct stop){.processor = processor, .begin = next, .end = time};
        woken[processor] = time;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static int have_woken_since(int64_t time) {
    int all = 1;
    pthread_mutex_lock(&lock);
    for (int processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, &processors) && woken[processor] < time) all = 0;
    pthread_mutex_unlock(&lock);
    return all;
}

static void report(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < stop_count; i++)
        printf("%d %lld %lld\n", stops[i].processor, (long long)stops[i].begin, (long long)stops[i].end);
    stop_count = 0;
    pthread_mutex_unlock(&lock);
    printf("\n");
    fflush(stdout);
}

int main(void) {
    if (sched_getaffinity(0, sizeof processors, &processors) != 0) return 1;
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        pthread_t thread;
        if (!CPU_ISSET(processor, &processors)) continue;
        if (pthread_create(&thread, NULL, watch, (void *)(intptr_t)processor) != 0) return 1;
    }
    for (int character; (character = getchar()) != EOF;) {
        if (character != '\n') continue;
        int64_t time = now();
        while (!have_woken_since(time)) sleep_until(now() + period_us);
        report();
    }
    return 0;
}
