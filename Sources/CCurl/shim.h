#ifndef CARPOOL_CCURL_SHIM_H
#define CARPOOL_CCURL_SHIM_H

#include <curl/curl.h>

#endif
