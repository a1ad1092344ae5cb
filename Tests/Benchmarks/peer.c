// The peer of the throughput rows: libcurl in process, driven by multi_socket and epoll, one thread, as a careful C
// program would do it. Prints one JSON object.
//
//   peer URL CONCURRENCY REQUESTS HTTP_VERSION(1|2) CA_FILE
#define _GNU_SOURCE
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "clock.h"

enum { maximum_concurrency = 256, maximum_body = 65536 };

struct slot {
    CURL *easy;
    int64_t started;
    size_t length;
    char body[maximum_body];
};

static struct slot slots[maximum_concurrency];
static CURLM *multi;
static int epoll_fd, timer_fd;
static long wanted, begun, done;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "peer: %s: %s\n", what, why);
    exit(1);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context) {
    struct slot *slot = context;
    if (slot->length + size * count > maximum_body) return 0;
    memcpy(slot->body + slot->length, bytes, size * count);
    slot->length += size * count;
    return size * count;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known) {
    (void)easy, (void)context;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    struct epoll_event event = {.data.fd = fd};
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    epoll_ctl(epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    curl_multi_assign(multi, fd, &multi);
    return 0;
}

static int on_timer(CURLM *ignored, long milliseconds, void *context) {
    (void)ignored, (void)context;
    struct itimerspec when = {0};
    if (milliseconds > 0) when.it_value = (struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000};
    if (milliseconds == 0) when.it_value.tv_nsec = 1;
    timerfd_settime(timer_fd, 0, &when, NULL);
    return 0;
}

static void begin(struct slot *slot) {
    slot->length = 0;
    slot->started = now_ns();
    begun++;
    if (curl_multi_add_handle(multi, slot->easy)) fail("curl_multi_add_handle", "refused");
}

static void collect(int64_t *latencies) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
        struct slot *slot;
        long status = 0;
        if (message->data.result) fail("transfer", curl_easy_strerror(message->data.result));
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
        curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
        if (status != 200) fail("status", "not 200");
        latencies[done++] = now_ns() - slot->started;
        curl_multi_remove_handle(multi, slot->easy);
        if (begun < wanted) begin(slot);
    }
}

static void prepare(struct slot *slot, const char *url, int version, const char *ca_file) {
    slot->easy = curl_easy_init();
    curl_easy_setopt(slot->easy, CURLOPT_URL, url);
    curl_easy_setopt(slot->easy, CURLOPT_PRIVATE, slot);
    curl_easy_setopt(slot->easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(slot->easy, CURLOPT_WRITEDATA, slot);
    curl_easy_setopt(slot->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(slot->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(slot->easy, CURLOPT_CAINFO, ca_file);
    curl_easy_setopt(slot->easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(slot->easy, CURLOPT_PIPEWAIT, (long)(version == 2));
    curl_easy_setopt(
        slot->easy, CURLOPT_HTTP_VERSION, (long)(version == 2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
}

static void turn(int64_t *latencies) {
    struct epoll_event events[64];
    int running, count = epoll_wait(epoll_fd, events, 64, 10000);
    if (count == 0) fail("epoll_wait", "nothing for 10 s");
    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == timer_fd) {
            uint64_t expirations;
            if (read(timer_fd, &expirations, sizeof expirations) > 0)
                curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
            continue;
        }
        int what = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                   (events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
        curl_multi_socket_action(multi, events[i].data.fd, what, &running);
    }
    collect(latencies);
}

int main(int count, char **arguments) {
    if (count != 6) fail("usage", "peer URL CONCURRENCY REQUESTS HTTP_VERSION CA_FILE");
    int concurrency = atoi(arguments[2]);
    if (concurrency < 1 || concurrency > maximum_concurrency) fail("concurrency", "out of range");
    wanted = atol(arguments[3]);
    // A fifth more than is measured, first: connections are open and buffers grown when the clocks are read.
    long warm = wanted / 5 + concurrency;
    wanted += warm;
    int64_t *latencies = calloc((size_t)wanted, sizeof *latencies);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = timer_fd};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer_fd, &event);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 256L);
    for (int i = 0; i < concurrency; i++) {
        prepare(&slots[i], arguments[1], atoi(arguments[4]), arguments[5]);
        begin(&slots[i]);
    }
    while (done < warm) turn(latencies);
    long first = done;
    int64_t wall = now_ns(), cpu = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    while (done < wanted) turn(latencies);
    wall = now_ns() - wall;
    cpu = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    report(latencies + first, done - first, wall, cpu);
    return 0;
}
