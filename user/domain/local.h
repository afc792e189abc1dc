/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel at hand. Used through domain.h; the agent needs the functions below as well, since it sends from a thread of its own.
 */
#ifndef DOMAIN_LOCAL_H
#define DOMAIN_LOCAL_H

#include "domain/domain.h"

/* The source that VERB_SOURCE_OPEN made; NULL: none. */
struct source *domain_local_source(struct domain *domain);
/* Closes all probes, the source and what watches; the domain can be used on. */
void domain_local_restore(struct domain *domain);

#endif
