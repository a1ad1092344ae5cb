#ifndef CLOOKUPS_H
#define CLOOKUPS_H

// Returns how many look-ups of a host's name are running in any thread: at least as many as there are, seldom more.
int CLookups_count(const char *name);

// Returns the errno of a shortage for which a look-up has failed since the last call of this function; 0 if there was
// none.
int CLookups_take_shortage(void);

#endif
