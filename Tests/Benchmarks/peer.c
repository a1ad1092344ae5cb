// The peer of the throughput rows: libcurl in process, driven by multi_socket and epoll, one thread, as a careful C
// program would do it. Prints one JSON object.
//
//   peer URL CONCURRENCY REQUESTS HTTP_VERSION(1|2) CA_FILE [whole]
//
// By default it does the least that such a program can do: handles are reused, and of the answer only status and body
// are read. With `whole` it does the work of the daemon: a fresh handle for each request, so that no request has
// another's state, with its head kept and its metrics read.
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
    size_t length, head_length;
    curl_off_t times[6], sizes[2];
    long numbers[6];
    char body[maximum_body], head[maximum_body], remote[64], local[64];
};

static struct slot slots[maximum_concurrency];
static CURLM *multi;
static int epoll_fd, timer_fd;
static long wanted, begun, done;
static const char *url, *ca_file;
static int version;
static int whole;

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

static size_t on_head(char *bytes, size_t size, size_t count, void *context) {
    struct slot *slot = context;
    if (slot->head_length + size * count > maximum_body) return 0;
    memcpy(slot->head + slot->head_length, bytes, size * count);
    slot->head_length += size * count;
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
    slot->length = slot->head_length = 0;
    slot->started = now_ns();
    begun++;
    if (curl_multi_add_handle(multi, slot->easy)) fail("curl_multi_add_handle", "refused");
}

static void prepare(struct slot *slot) {
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
    if (!whole) return;
    curl_easy_setopt(slot->easy, CURLOPT_HEADERFUNCTION, on_head);
    curl_easy_setopt(slot->easy, CURLOPT_HEADERDATA, slot);
}

static void read_metrics(struct slot *slot) {
    static const CURLINFO times[] = {
        CURLINFO_NAMELOOKUP_TIME_T, CURLINFO_CONNECT_TIME_T, CURLINFO_APPCONNECT_TIME_T,
        CURLINFO_PRETRANSFER_TIME_T, CURLINFO_STARTTRANSFER_TIME_T, CURLINFO_TOTAL_TIME_T,
    };
    static const CURLINFO numbers[] = {
        CURLINFO_NUM_CONNECTS, CURLINFO_HTTP_VERSION, CURLINFO_PRIMARY_PORT,
        CURLINFO_LOCAL_PORT, CURLINFO_REQUEST_SIZE, CURLINFO_HEADER_SIZE,
    };
    char *address = NULL;
    for (int i = 0; i < 6; i++) curl_easy_getinfo(slot->easy, times[i], &slot->times[i]);
    for (int i = 0; i < 6; i++) curl_easy_getinfo(slot->easy, numbers[i], &slot->numbers[i]);
    curl_easy_getinfo(slot->easy, CURLINFO_SIZE_UPLOAD_T, &slot->sizes[0]);
    curl_easy_getinfo(slot->easy, CURLINFO_SIZE_DOWNLOAD_T, &slot->sizes[1]);
    if (!curl_easy_getinfo(slot->easy, CURLINFO_PRIMARY_IP, &address)) snprintf(slot->remote, sizeof slot->remote, "%s", address);
    if (!curl_easy_getinfo(slot->easy, CURLINFO_LOCAL_IP, &address)) snprintf(slot->local, sizeof slot->local, "%s", address);
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
        if (whole) read_metrics(slot);
        curl_multi_remove_handle(multi, slot->easy);
        if (whole) {
            curl_easy_cleanup(slot->easy);
            prepare(slot);
        }
        if (begun < wanted) begin(slot);
    }
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
    if (count < 6 || count > 7) fail("usage", "peer URL CONCURRENCY REQUESTS HTTP_VERSION CA_FILE [whole]");
    url = arguments[1];
    version = atoi(arguments[4]);
    ca_file = arguments[5];
    whole = count == 7;
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
        prepare(&slots[i]);
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
