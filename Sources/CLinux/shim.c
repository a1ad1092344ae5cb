int CLinux_placeholder(void) { return 0; }
