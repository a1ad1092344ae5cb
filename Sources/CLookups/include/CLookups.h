#ifndef CLOOKUPS_H
#define CLOOKUPS_H

// Returns how many look-ups of a host's name are running in any thread: at least as many as there are, seldom more.
int CLookups_count(const char *name);

// Returns the errno of the shortage for which the last look-up of a host's name has failed; 0 if it has not.
int CLookups_shortage(const char *name);

#endif
