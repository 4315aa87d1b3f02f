/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The reasons for which a prediction is refused, as the end of a sentence. */
#include <ibcc/prediction.h>

const char *ibcc_prediction_reason(enum ibcc_prediction_why why)
{
	switch (why) {
	case IBCC_PREDICTION_TELLS: return "";
	case IBCC_PREDICTION_NO_CONGESTION: return "there is no congestion";
	case IBCC_PREDICTION_NO_PLAN: return "the plan changes nothing";
	case IBCC_PREDICTION_CONTROLLED:
		return "congestion control is on already, so counters do not show the demand";
	case IBCC_PREDICTION_NO_BASELINE:
		return "the fabric was already congested when monitoring began";
	case IBCC_PREDICTION_OLD_BASELINE:
		return "the last time without blocked adapters is too long ago";
	case IBCC_PREDICTION_MOVED: return "loads have changed by more than a tenth meanwhile";
	case IBCC_PREDICTION_REPLAY:
		return "a simulation of the present traffic does not agree with the counters";
	case IBCC_PREDICTION_ELSEWHERE:
		return "new traffic goes to destinations without a congestion root";
	case IBCC_PREDICTION_STALE: return "too many ports were not read";
	case IBCC_PREDICTION_ADAPTIVE:
		return "packets can take other paths than those in the forwarding tables";
	case IBCC_PREDICTION_VLS: return "there are several VLs, and no counters for each of them";
	case IBCC_PREDICTION_NO_CC:
		return "adapters in the congestion tree have no congestion control";
	case IBCC_PREDICTION_CPU: return "it would take more CPU time than predict_cpu_s allows";
	case IBCC_PREDICTION_LARGE:
		return "DCQCN is simulated in fabrics of at most 1000 adapters only";
	case IBCC_PREDICTION_OPEN:
		return "the plan leaves some of them partly idle, and their rate depends on how "
		       "fast their senders recover";
	case IBCC_PREDICTION_SLOW:
		return "the rate of a slow receiver depends on which hosts send to it";
	case IBCC_PREDICTION_FAILED: return "the computation failed";
	}
	return "";
}
