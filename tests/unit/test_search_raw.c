/* SPDX-License-Identifier: MIT */
/*
 * search(): the contents of the buffer, the counts of what did not fit, and that readers stay
 * inside the buffer, whatever it contains.
 */
#include "unit.h"

#include "tree.h"

#include "getmnt/search_paper.h"

#include <dirent.h>

enum { FILES = 12 };

static struct tree top;

/** Files whose names grow, and a link. */
static void make_tree(void)
{
	tree_begin(&top);
	for (int i = 0; i < FILES; ++i)
		tree_file(&top, "%.*s", i + 1, "abcdefghijklmnopqrstuvwxyz");
	tree_link(&top, "link", "nowhere");
}

/** An allocation of exactly this length: ASan reports accesses beyond it. */
static void *exactly(size_t len)
{
	void *buffer = malloc(len ? len : 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
	memset(buffer, 0xa5, len);
	return buffer;
}

/** Every length from nothing to the whole. */
UNIT_TEST(every_length)
{
	static const int flags[] = {SEARCH_BYNAME,
	                            SEARCH_BYNAME | SEARCH_METADATA | SEARCH_INCLUDEROOT};
	make_tree();
	char paths[200];
	snprintf(paths, sizeof(paths), "%s/nosuch:%s", top.path, top.path);
	for (size_t f = 0; f < COUNT(flags); ++f) {
		const struct search_head *head;
		uint64_t whole[1024];
		CU_ASSERT_EQUAL_FATAL(search(paths, "*", flags[f], whole, sizeof(whole)),
		                      FILES + 2);
		head = (const struct search_head *)whole;
		size_t need = head->used;
		CU_ASSERT_TRUE(head->entries == FILES + 2 && head->left == 0
		               && head->left_bytes == 0);

		/* The same as the stream, field for field. */
		SEARCH *stream = opensearch(paths, "*", flags[f]);
		const struct search_item *item = NULL;
		struct searchent *e;
		while ((e = getmnt_search_read(stream))) {
			item = search_next(whole, sizeof(whole), item);
			CU_ASSERT_PTR_NOT_NULL_FATAL(item);
			CU_ASSERT_STRING_EQUAL(search_path(item), e->path);
			CU_ASSERT_TRUE(item->path_len == strlen(e->path) && item->err == e->err
			               && item->errsource == e->errsource);
			CU_ASSERT_EQUAL(search_statx(item) != NULL, e->info != NULL);
			if (e->info) {
				CU_ASSERT_EQUAL(
				        memcmp(search_statx(item), getmnt_search_statx(stream),
				               256), 0);
				CU_ASSERT_EQUAL(item->type, IFTODT(e->info->st_mode));
			}
		}
		CU_ASSERT_PTR_NULL(search_next(whole, sizeof(whole), item));
		getmnt_search_close(stream);

		for (size_t len = 0; len <= need; ++len) {
			void *buffer = exactly(len);
			ssize_t n = search(paths, "*", flags[f], buffer, len);
			if (len < sizeof(*head)) {
				CU_ASSERT_TRUE(n == -1 && errno == ERANGE);
				free(buffer);
				continue;
			}
			head = buffer;
			CU_ASSERT_TRUE(n >= 0 && (uint64_t)n == head->entries && head->used <= len);
			CU_ASSERT_EQUAL(head->entries + head->left, FILES + 2);
			CU_ASSERT_EQUAL(head->used + head->left_bytes, need);
			CU_ASSERT_EQUAL(head->left == 0, len == need);
			/* What is there is the beginning of the whole. */
			CU_ASSERT_EQUAL(memcmp((char *)buffer + sizeof(*head),
			                       (char *)whole + sizeof(*head),
			                       head->used - sizeof(*head)),
			                0);
			ssize_t seen = 0;
			for (item = NULL; (item = search_next(buffer, len, item));)
				++seen;
			CU_ASSERT_EQUAL(seen, n);
			/* Of a buffer that was cut off nothing is read. */
			if (head->used > sizeof(*head))
				CU_ASSERT_PTR_NULL(search_next(buffer, head->used - 1, NULL));
			free(buffer);
		}
	}
	tree_end(&top);
}

UNIT_TEST(refused)
{
	uint64_t buffer[64];
	CU_ASSERT_TRUE(search("/", "x", 0, NULL, 512) == -1 && errno == EFAULT);
	CU_ASSERT_TRUE(search("/", "/x", 0, (char *)buffer + 4, 100) == -1 && errno == EFAULT);
	CU_ASSERT_TRUE(search("/", "[", 0, buffer, sizeof(buffer)) == -1 && errno == EINVAL);
	CU_ASSERT_TRUE(search("/", "x", 1 << 30, buffer, sizeof(buffer)) == -1 && errno == EINVAL);
	CU_ASSERT_PTR_NULL(search_next(NULL, 512, NULL));
	CU_ASSERT_PTR_NULL(search_next((char *)buffer + 1, 100, NULL));
}

static uint64_t state = 88172645463325252u;

static uint64_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/** Read all that an iterator gives: ASan sees what is not of the buffer.
    @return a sum of it. */
static size_t read_all(const void *buffer, size_t len)
{
	const struct search_item *item = NULL;
	size_t n = 0, sum = 0;
	while ((item = search_next(buffer, len, item))) {
		const char *from = (const char *)item, *end = (const char *)buffer + len;
		CU_ASSERT_FATAL(from >= (const char *)buffer && item->size <= (size_t)(end - from));
		sum += strlen(search_path(item)) + item->path_len;
		const unsigned char *st = (const unsigned char *)search_statx(item);
		for (int i = 0; st && i < 256; ++i)
			sum += st[i];
		/* Each is at least as long as its header: it ends. */
		CU_ASSERT_FATAL(++n <= len / sizeof(*item));
	}
	return sum;
}

/** Buffers with numbers changed, cut short, or of nothing but chance. */
UNIT_TEST(hostile_buffers)
{
	make_tree();
	uint64_t whole[1024];
	CU_ASSERT_EQUAL_FATAL(search(top.path, "*", SEARCH_METADATA, whole, sizeof(whole)),
	                      FILES + 1);
	size_t used = ((const struct search_head *)whole)->used;
	static const uint32_t odd[] = {0,          1,          7,          8,         31,
	                               32,         33,         255,        256,       288,
	                               0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff};
	size_t sum = 0;
	for (int run = 0; run < 60000; ++run) {
		size_t len = run % 3 ? used : random_number() % (used + 1);
		char *buffer = exactly(len);
		memcpy(buffer, whole, len);
		if (run % 50 == 0) {
			for (size_t i = sizeof(struct search_head); i < len; ++i)
				buffer[i] = (char)random_number();
		}
		for (uint64_t k = random_number() % 4; k > 0 && len >= 8; --k) {
			size_t at = random_number() % (len / 4) * 4;
			/* The headers of entries more often than what lies behind them. */
			if (random_number() % 2) {
				const struct search_item *item = NULL;
				for (uint64_t skip = random_number() % FILES; skip > 0; --skip) {
					const struct search_item *next =
					        search_next(buffer, len, item);
					item = next ? next : item;
				}
				if (item)
					at = (size_t)((const char *)item - buffer)
					     + random_number() % 8 * 4;
			}
			uint32_t value = odd[random_number() % (COUNT(odd))];
			memcpy(buffer + at, &value, sizeof(value));
		}
		sum += read_all(buffer, len);
		free(buffer);
	}
	CU_ASSERT_TRUE(sum > 0);
	tree_end(&top);
}
