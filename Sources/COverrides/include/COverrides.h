#ifndef COVERRIDES_H
#define COVERRIDES_H

#include <stdbool.h>
#include <stdint.h>

// Functions of other libraries that the program replaces: libcurl calls these instead.

// Returns how many look-ups of a host's name are running in any thread: at least as many as there are, seldom more.
int COverrides_lookups(const char *name);

// Returns the errno of the shortage for which the last look-up of a host's name has failed; 0 if it has not.
int COverrides_lookup_shortage(const char *name);

// Functions with libcurl's handle of a transfer, and its stream: the number of a stream is unique in its session only.
typedef void COverrides_stream_function(void *easy, const void *session, int32_t stream);
typedef bool COverrides_cut_function(void *easy, const void *session, int32_t stream);

// Sets the function that is called when the head of a frame has arrived by which the server resets a stream whose response
// it has not ended, and the function that returns whether the first one was called for this stream. A stream for which it
// returns true ends with an error, whatever code the frame has. NULL is none.
void COverrides_on_cut(COverrides_stream_function *cut, COverrides_cut_function *is_stream_cut);

// What has happened to the HTTP/2 stream of a transfer.
typedef enum {
    // All of the response has arrived (END_STREAM).
    COverrides_end_received,
    // A piece of the request's body was passed on to be written.
    COverrides_data_sent,
    // All of the request was (END_STREAM).
    COverrides_end_sent,
    // The stream was closed without an error, by both sides or by a reset.
    COverrides_closed,
} COverrides_event;

typedef void COverrides_event_function(void *easy, COverrides_event event);

// Sets the function that is called with libcurl's handle of a transfer for each event. NULL is none.
void COverrides_on_event(COverrides_event_function *function);

#endif
