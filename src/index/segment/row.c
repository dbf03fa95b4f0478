/* SPDX-License-Identifier: MIT */
#include "index/segment/row.h"

#include <string.h>

void index_row_from(struct index_row *row, const struct k_statx *st)
{
	uint64_t *col = row->col;
	col[IC_UID] = st->uid;
	col[IC_GID] = st->gid;
	col[IC_SIZE] = st->size;
	col[IC_INO] = st->ino;
	col[IC_MODE] = st->mode;
	col[IC_NLINK] = st->nlink;
	col[IC_BLOCKS] = st->blocks;
	col[IC_MSEC] = index_from_signed(st->mtime.sec);
	col[IC_CSEC] = index_from_signed(st->ctime.sec);
	col[IC_ASEC] = index_from_signed(st->atime.sec);
	col[IC_MNSEC] = st->mtime.nsec;
	col[IC_CNSEC] = st->ctime.nsec;
	col[IC_ANSEC] = st->atime.nsec;
	bool born = st->mask & K_STATX_BTIME;
	col[IC_BSEC] = index_from_signed(born ? st->btime.sec : 0);
	col[IC_BNSEC] = born ? st->btime.nsec : 0;
	col[IC_RDEV] = (uint64_t)st->rdev_major << 32 | st->rdev_minor;
	col[IC_ATTRS] = st->attributes;
	col[IC_FLAGS] = born ? IF_BTIME : 0;
}

void index_row_lost(struct index_row *row, uint8_t type)
{
	static const struct k_statx unknown;
	index_row_from(row, &unknown);
	row->col[IC_MODE] = DTTOIF(type);
	row->col[IC_FLAGS] = IF_LOST;
}

void index_row_to(const struct index_row *row, struct k_statx *st)
{
	const uint64_t *col = row->col;
	memset(st, 0, sizeof(*st));
	bool lost = col[IC_FLAGS] & IF_LOST, born = col[IC_FLAGS] & IF_BTIME;
	st->mask = lost ? K_STATX_TYPE : K_STATX_BASIC | (born ? K_STATX_BTIME : 0);
	st->mode = (uint16_t)col[IC_MODE];
	st->uid = (uint32_t)col[IC_UID];
	st->gid = (uint32_t)col[IC_GID];
	st->size = col[IC_SIZE];
	st->ino = col[IC_INO];
	st->nlink = (uint32_t)col[IC_NLINK];
	st->blocks = col[IC_BLOCKS];
	st->mtime.sec = index_to_signed(col[IC_MSEC]);
	st->ctime.sec = index_to_signed(col[IC_CSEC]);
	st->atime.sec = index_to_signed(col[IC_ASEC]);
	st->btime.sec = index_to_signed(col[IC_BSEC]);
	st->mtime.nsec = (uint32_t)col[IC_MNSEC];
	st->ctime.nsec = (uint32_t)col[IC_CNSEC];
	st->atime.nsec = (uint32_t)col[IC_ANSEC];
	st->btime.nsec = (uint32_t)col[IC_BNSEC];
	st->rdev_major = (uint32_t)(col[IC_RDEV] >> 32);
	st->rdev_minor = (uint32_t)col[IC_RDEV];
	st->attributes = st->attributes_mask = col[IC_ATTRS];
}
