/* SPDX-License-Identifier: MIT */
/**
 * Connecting to a TCP server without waiting for it.
 *
 * Resolving a name may block without a limit, whatever files, servers and modules the host uses for
 * that.  So a child process resolves the name and connects, and passes the connection on.
 */
#ifndef GM_OS_TCP_H
#define GM_OS_TCP_H

#include "base/strbuf.h"
#include "os/os.h"

/** Start to connect.
    @host  A name or an address.  @port  A number.
    @sock [out]  For os_tcp_take(), when it is readable.
    @return the ID of the child, which the caller kills if that takes too long, and reaps; or -1.
    Errors: those of socketpair(2) and fork(2). */
int os_tcp_start(struct os *os, const char *host, const char *port, int *sock);

/** Get the connection.
    @why [out]  Why there is none, is appended.
    @return a descriptor; or -1.  Errors: EAGAIN: not yet; else it failed. */
int os_tcp_take(struct os *os, int sock, struct strbuf *why);

#endif
