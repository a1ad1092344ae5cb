#include "COverrides.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

// nghttp2's function of this name, before which the program's own is found: libcurl takes a stream that the server has
// reset with the code NO_ERROR for one that has ended, though the end of the response (END_STREAM) has not arrived (RFC
// 9113, section 8.1). Types of nghttp2.h, whose package need not be installed.
typedef struct nghttp2_session nghttp2_session;
typedef struct nghttp2_session_callbacks nghttp2_session_callbacks;
typedef struct {
    size_t length;
    int32_t stream_id;
    uint8_t type, flags, reserved;
} nghttp2_frame_hd;

typedef int OnStreamClose(nghttp2_session *, int32_t stream, uint32_t error, void *context);
typedef int OnBeginFrame(nghttp2_session *, const nghttp2_frame_hd *, void *context);
typedef void SetOnStreamClose(nghttp2_session_callbacks *, OnStreamClose *);
typedef void SetOnBeginFrame(nghttp2_session_callbacks *, OnBeginFrame *);
typedef int IsRemoteClosed(nghttp2_session *, int32_t stream);
typedef void *UserData(nghttp2_session *, int32_t stream);

enum { RST_STREAM = 3, NO_ERROR = 0, CANCEL = 8 };

// libcurl has one callback for all sessions.
static _Atomic(OnStreamClose *) on_stream_close;
static _Atomic(IsRemoteClosed *) is_remote_closed;
static _Atomic(UserData *) user_data;
static _Atomic(COverrides_stream_function *) on_cut;
static _Atomic(COverrides_cut_function *) is_cut;
static void (*_Atomic on_end_of_response)(void *easy);

static void *easy_of(nghttp2_session *session, int32_t stream) {
    return atomic_load_explicit(&user_data, memory_order_relaxed)(session, stream);
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
        void (*end)(void *) = atomic_load_explicit(&on_end_of_response, memory_order_relaxed);
        if (cut && cut(easy, session, stream)) {
            error = CANCEL;
        } else if (end) {
            end(easy);
        }
    }
    return atomic_load_explicit(&on_stream_close, memory_order_relaxed)(session, stream, error, context);
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

void nghttp2_session_callbacks_set_on_stream_close_callback(nghttp2_session_callbacks *callbacks, OnStreamClose *callback) {
    SetOnStreamClose *set_close;
    SetOnBeginFrame *set_begin;
    IsRemoteClosed *is_closed;
    UserData *of;
    // The standard has no other way to make a function pointer of one to an object.
    *(void **)&set_close = next("nghttp2_session_callbacks_set_on_stream_close_callback");
    *(void **)&set_begin = next("nghttp2_session_callbacks_set_on_begin_frame_callback");
    *(void **)&is_closed = next("nghttp2_session_get_stream_remote_close");
    *(void **)&of = next("nghttp2_session_get_stream_user_data");
    if (!set_close) return;
    if (!callback || !set_begin || !is_closed || !of) return set_close(callbacks, callback);
    atomic_store(&is_remote_closed, is_closed);
    atomic_store(&user_data, of);
    atomic_store(&on_stream_close, callback);
    set_begin(callbacks, begin_frame);
    set_close(callbacks, close_stream);
}

void COverrides_on_end_of_response(void (*function)(void *)) { atomic_store(&on_end_of_response, function); }

void COverrides_on_cut(COverrides_stream_function *cut, COverrides_cut_function *is_stream_cut) {
    atomic_store(&is_cut, is_stream_cut);
    atomic_store(&on_cut, cut);
}
