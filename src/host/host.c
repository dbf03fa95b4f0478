/* SPDX-License-Identifier: MIT */
#include "host/host.h"

#include <stdlib.h>
#include <string.h>

void host_open(struct host *host, const struct host_input *in)
{
	*host = (struct host){.in = *in};
	map64_init(&host->tags);
}

void host_close(struct host *host)
{
	host_system_free(host->in.system);
	map64_destroy(&host->tags);
	free(host->devices);
	free(host->counts);
	free(host->filesystems);
	free(host->modules);
	host_units_destroy(&host->units);
}

const struct host_units *host_units(struct host *host)
{
	const struct host_paths *paths = &host->in.paths;
	if (!host->units_read && host->in.live && strcmp(host->in.root, "/") == 0)
		host->nomem |= host_units_read(host->in.os, paths->blocks, paths->arg,
		                               &host->units) != 0;
	host->units_read = true;
	return &host->units;
}
