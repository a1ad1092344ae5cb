#ifndef COVERRIDES_H
#define COVERRIDES_H

// Functions of other libraries that the program replaces: libcurl calls these instead.

// Returns how many look-ups of a host's name are running in any thread: at least as many as there are, seldom more.
int COverrides_lookups(const char *name);

// Returns the errno of the shortage for which the last look-up of a host's name has failed; 0 if it has not.
int COverrides_lookup_shortage(const char *name);

// Sets the function that is called with libcurl's handle of a transfer when the server has ended the response of its HTTP/2
// stream (END_STREAM). NULL is none.
void COverrides_on_end_of_response(void (*function)(void *easy));

#endif
