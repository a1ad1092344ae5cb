#ifndef CARPOOL_CLINUX_H
#define CARPOOL_CLINUX_H
int CLinux_placeholder(void);
#endif
