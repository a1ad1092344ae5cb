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
static void (*_Atomic on_end_of_response)(void *easy);
// The stream that is being reset without its end; nghttp2 takes it for closed before it calls back.
static _Thread_local int32_t cut_stream;

static int begin_frame(nghttp2_session *session, const nghttp2_frame_hd *frame, void *context) {
    (void)context;
    if (frame->type != RST_STREAM) return 0;
    IsRemoteClosed *is_closed = atomic_load_explicit(&is_remote_closed, memory_order_relaxed);
    cut_stream = is_closed(session, frame->stream_id) == 0 ? frame->stream_id : 0;
    return 0;
}

static int close_stream(nghttp2_session *session, int32_t stream, uint32_t error, void *context) {
    if (stream == cut_stream && error == NO_ERROR) error = CANCEL;
    cut_stream = 0;
    void (*end)(void *) = atomic_load_explicit(&on_end_of_response, memory_order_relaxed);
    if (error == NO_ERROR && end) {
        UserData *of = atomic_load_explicit(&user_data, memory_order_relaxed);
        void *easy = of(session, stream);
        if (easy) end(easy);
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
