/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How old is what the predictor has seen, when the clock is set? */
#include <time.h>

#include "predictors.h"

time_t __real_time(time_t *at);
time_t __wrap_time(time_t *at);

static time_t ahead_s; /* the clock has been set */

time_t __wrap_time(time_t *at)
{
	time_t t = __real_time(NULL) + ahead_s;

	if (at)
		*at = t;
	return t;
}

/* What was seen a moment ago is not old because the clock was set; what another process saw has no
 * other age than the clock's.
 */
static void age_is_no_matter_of_the_clock(void **state)
{
	struct fixture *f = *state;
	struct ibcc_state *s = open_state("clock.db");
	json_t *o;

	at_rest(f, 4, s);
	congested(f, 4, s);
	ahead_s = 100 * 86400;
	o = predict(f);
	assert_true(json_is_true(json_object_get(o, "known")));
	json_decref(o);
	ibcc_predictor_free(f->p);
	f->p = ibcc_predictor_new(60);
	assert_non_null(f->p);
	congested(f, 4, s);
	ahead_s = 0;
	assert_cannot(f, "too long ago");
	ibcc_state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(age_is_no_matter_of_the_clock, setup, teardown),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
