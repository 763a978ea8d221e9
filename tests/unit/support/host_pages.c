/* tests/unit/support/host_pages.c: see host_pages.h. */
#include "tests/unit/support/host_pages.h"

#include "runner/host/backend.h"

const struct sim_memory host_pages = { NULL, backend_pages_get, backend_pages_put };
