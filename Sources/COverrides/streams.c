#include "COverrides.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

// nghttp2's functions of these names, before which the program's own are found. libcurl takes a stream that the server has
// reset with the code NO_ERROR for one that has ended, though the end of the response (END_STREAM) has not arrived, and it
// does not end a response that arrives before all of the request could be sent (RFC 9113, section 8.1). Types of nghttp2.h,
// whose package need not be installed.
typedef struct nghttp2_session nghttp2_session;
typedef struct nghttp2_session_callbacks nghttp2_session_callbacks;
typedef struct {
    size_t length;
    int32_t stream_id;
    uint8_t type, flags, reserved;
} nghttp2_frame_hd;

typedef int OnStreamClose(nghttp2_session *, int32_t stream, uint32_t error, void *context);
// Also for a whole frame, which begins with its head.
typedef int OnFrame(nghttp2_session *, const nghttp2_frame_hd *, void *context);
typedef void SetOnStreamClose(nghttp2_session_callbacks *, OnStreamClose *);
typedef void SetOnFrame(nghttp2_session_callbacks *, OnFrame *);
typedef int IsRemoteClosed(nghttp2_session *, int32_t stream);
typedef void *UserData(nghttp2_session *, int32_t stream);

enum { DATA = 0, HEADERS = 1, RST_STREAM = 3, END_STREAM = 1, NO_ERROR = 0, CANCEL = 8 };

// libcurl has one callback for all sessions.
static _Atomic(OnStreamClose *) on_stream_close;
static _Atomic(OnFrame *) on_frame_received, on_frame_sent;
static _Atomic(IsRemoteClosed *) is_remote_closed;
static _Atomic(UserData *) user_data;
static _Atomic(COverrides_stream_function *) on_cut;
static _Atomic(COverrides_cut_function *) is_cut;
static _Atomic(COverrides_event_function *) on_event;

static void *easy_of(nghttp2_session *session, int32_t stream) {
    return atomic_load_explicit(&user_data, memory_order_relaxed)(session, stream);
}

static void report(nghttp2_session *session, int32_t stream, COverrides_event event) {
    COverrides_event_function *function = atomic_load_explicit(&on_event, memory_order_relaxed);
    void *easy = function ? easy_of(session, stream) : NULL;
    if (easy) function(easy, event);
}

static int ends_stream(const nghttp2_frame_hd *frame) {
    return (frame->type == DATA || frame->type == HEADERS) && (frame->flags & END_STREAM) != 0;
}

// All of a frame has arrived, and libcurl has passed on what it holds.
static int receive_frame(nghttp2_session *session, const nghttp2_frame_hd *frame, void *context) {
    OnFrame *next = atomic_load_explicit(&on_frame_received, memory_order_relaxed);
    int result = next ? next(session, frame, context) : 0;
    if (result == 0 && ends_stream(frame)) report(session, frame->stream_id, COverrides_end_received);
    return result;
}

// nghttp2 has passed on all of a frame to be written.
static int send_frame(nghttp2_session *session, const nghttp2_frame_hd *frame, void *context) {
    OnFrame *next = atomic_load_explicit(&on_frame_sent, memory_order_relaxed);
    int result = next ? next(session, frame, context) : 0;
    if (result != 0) return result;
    if (frame->type == DATA) report(session, frame->stream_id, COverrides_data_sent);
    if (ends_stream(frame)) report(session, frame->stream_id, COverrides_end_sent);
    return 0;
}

// The head of a frame has arrived, its payload perhaps not: other sessions may be read before that. When all of it has
// arrived, nghttp2 takes the stream for ended before it calls back. So the owner of the stream's transfer keeps which
// stream is cut.
static int begin_frame(nghttp2_session *session, const nghttp2_frame_hd *frame, void *context) {
    (void)context;
    if (frame->type != RST_STREAM) return 0;
    if (atomic_load_explicit(&is_remote_closed, memory_order_relaxed)(session, frame->stream_id) != 0) return 0;
    COverrides_stream_function *cut = atomic_load_explicit(&on_cut, memory_order_relaxed);
    void *easy = cut ? easy_of(session, frame->stream_id) : NULL;
    if (easy) cut(easy, session, frame->stream_id);
    return 0;
}

static int close_stream(nghttp2_session *session, int32_t stream, uint32_t error, void *context) {
    void *easy = error == NO_ERROR ? easy_of(session, stream) : NULL;
    if (easy) {
        COverrides_cut_function *cut = atomic_load_explicit(&is_cut, memory_order_relaxed);
        if (cut && cut(easy, session, stream)) {
            error = CANCEL;
        } else {
            report(session, stream, COverrides_closed);
        }
    }
    return atomic_load_explicit(&on_stream_close, memory_order_relaxed)(session, stream, error, context);
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

void nghttp2_session_callbacks_set_on_stream_close_callback(nghttp2_session_callbacks *callbacks, OnStreamClose *callback) {
    SetOnStreamClose *set_close;
    SetOnFrame *set_begin, *set_sent;
    IsRemoteClosed *is_closed;
    UserData *of;
    // The standard has no other way to make a function pointer of one to an object.
    *(void **)&set_close = next("nghttp2_session_callbacks_set_on_stream_close_callback");
    *(void **)&set_begin = next("nghttp2_session_callbacks_set_on_begin_frame_callback");
    *(void **)&set_sent = next("nghttp2_session_callbacks_set_on_frame_send_callback");
    *(void **)&is_closed = next("nghttp2_session_get_stream_remote_close");
    *(void **)&of = next("nghttp2_session_get_stream_user_data");
    if (!set_close) return;
    if (!callback || !set_begin || !set_sent || !is_closed || !of) return set_close(callbacks, callback);
    atomic_store(&is_remote_closed, is_closed);
    atomic_store(&user_data, of);
    atomic_store(&on_stream_close, callback);
    set_begin(callbacks, begin_frame);
    // Also if libcurl has no function of its own for it.
    set_sent(callbacks, send_frame);
    set_close(callbacks, close_stream);
}

// Sets a function of ours in place of libcurl's, which it calls.
static void set_frame(const char *name, _Atomic(OnFrame *) *place, OnFrame *own, nghttp2_session_callbacks *callbacks, OnFrame *callback) {
    SetOnFrame *set;
    *(void **)&set = next(name);
    if (!set) return;
    atomic_store(place, callback);
    set(callbacks, own);
}

void nghttp2_session_callbacks_set_on_frame_recv_callback(nghttp2_session_callbacks *callbacks, OnFrame *callback) {
    set_frame("nghttp2_session_callbacks_set_on_frame_recv_callback", &on_frame_received, receive_frame, callbacks, callback);
}

void nghttp2_session_callbacks_set_on_frame_send_callback(nghttp2_session_callbacks *callbacks, OnFrame *callback) {
    set_frame("nghttp2_session_callbacks_set_on_frame_send_callback", &on_frame_sent, send_frame, callbacks, callback);
}

void COverrides_on_event(COverrides_event_function *function) { atomic_store(&on_event, function); }

void COverrides_on_cut(COverrides_stream_function *cut, COverrides_cut_function *is_stream_cut) {
    atomic_store(&is_cut, is_stream_cut);
    atomic_store(&on_cut, cut);
}
