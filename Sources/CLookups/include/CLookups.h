#ifndef CLOOKUPS_H
#define CLOOKUPS_H

// Returns how many look-ups of a host's name are running in any thread: at least as many as there are, seldom more.
int CLookups_count(const char *name);

#endif
