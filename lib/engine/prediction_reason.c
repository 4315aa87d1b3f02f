/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The reasons for which a prediction is refused, as the end of a sentence. */
#include <ibcc/prediction.h>

const char *ibcc_prediction_reason(enum ibcc_prediction_why why)
{
	switch (why) {
	case IBCC_PREDICTION_TELLS: return "";
	case IBCC_PREDICTION_NO_CONGESTION: return "there is no congestion";
	case IBCC_PREDICTION_NO_PLAN: return "nothing is to be changed";
	case IBCC_PREDICTION_CONTROLLED:
		return "congestion control is on already, and what it holds back does not show";
	case IBCC_PREDICTION_NO_BASELINE:
		return "adapters have been waiting since before we looked";
	case IBCC_PREDICTION_OLD_BASELINE: return "it is too long ago that no adapter waited";
	case IBCC_PREDICTION_MOVED: return "loads have changed by more than a tenth meanwhile";
	case IBCC_PREDICTION_REPLAY:
		return "a replay of the present with what is known does not agree with the "
		       "counters";
	case IBCC_PREDICTION_ELSEWHERE: return "some of what is new goes where no root is seen";
	case IBCC_PREDICTION_STALE: return "too many ports were not read";
	case IBCC_PREDICTION_ADAPTIVE: return "packets need not go by the forwarding tables";
	case IBCC_PREDICTION_VLS: return "there are several VLs, and no data of each";
	case IBCC_PREDICTION_NO_CC: return "adapters in the tree have no congestion control";
	case IBCC_PREDICTION_CPU: return "it would take more CPU time than predict_cpu_s allows";
	case IBCC_PREDICTION_OPEN:
		return "the plan's limits alone leave some of them idle, and how much of that "
		       "comes "
		       "back is up to who sends to them and how fast that recovers";
	case IBCC_PREDICTION_SLOW:
		return "whether slow receivers are kept busy is up to who sends to them";
	case IBCC_PREDICTION_FAILED: return "it failed";
	}
	return "";
}
