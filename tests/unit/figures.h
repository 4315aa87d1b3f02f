/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Failures that name the figure. cmocka prints "0x14 != 0x19", without the figure's name or its
 * decimal value. With this file it is "law.increase is 20 (0x14), not 25 (0x19)", and for a range
 * "law.mark_permille is 146, not within 95 and 121".
 */
#ifndef TEST_FIGURES_H
#define TEST_FIGURES_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static inline void figures_equal(uintmax_t got, uintmax_t want, const char *name, const char *file,
				 int line)
{
	if (got == want)
		return;
	print_error("%s is %jd (%#jx), not %jd (%#jx)\n", name, (intmax_t)got, got, (intmax_t)want,
		    want);
	_fail(file, line);
}

static inline void figures_in_range(uintmax_t got, uintmax_t least, uintmax_t most,
				    const char *name, const char *file, int line)
{
	if (got >= least && got <= most)
		return;
	print_error("%s is %jd, not within %jd and %jd\n", name, (intmax_t)got, (intmax_t)least,
		    (intmax_t)most);
	_fail(file, line);
}

#undef assert_int_equal
#define assert_int_equal(a, b) figures_equal((uintmax_t)(a), (uintmax_t)(b), #a, __FILE__, __LINE__)
#undef assert_in_range
#define assert_in_range(a, least, most)                                                            \
	figures_in_range((uintmax_t)(a), (uintmax_t)(least), (uintmax_t)(most), #a, __FILE__,      \
			 __LINE__)

#endif
