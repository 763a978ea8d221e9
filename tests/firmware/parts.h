/* tests/firmware/parts.h: the parts, and how they tell what they found. */
#ifndef TESTS_FIRMWARE_PARTS_H
#define TESTS_FIRMWARE_PARTS_H

#include <stdbool.h>

void claim(bool good, const char *name);

void clock_parts(void);
void mtrr_parts(void);
void network_parts(void);
void watchdog_parts(void);
void bmc_parts(void);
void serial_parts(void);

#endif
