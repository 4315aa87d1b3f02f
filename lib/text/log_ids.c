/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The MESSAGE_ID= of each kind of message in the journal. systemd/ibcc-tune.catalog explains what
 * each means and what to do.
 */
#include <ibcc/log.h>

#include <stddef.h>

const char *ibcc_log_id(enum ibcc_log_kind kind)
{
	static const char *const id[IBCC_LOG_KINDS] = {
		[IBCC_LOG_CHANGE] = "4c1b3f0e5a7d4f0bb7a6d2f3c98e1d57",
		[IBCC_LOG_ROOT] = "f3c95789ace14954ac5d6baed2eac902",
		[IBCC_LOG_NO_CONGESTION] = "cbf27734ac1045258b66402800e03d2c",
		[IBCC_LOG_DECISION] = "e0a3a91f23464c13bc27ed12b10877a9",
		[IBCC_LOG_WOULD_WRITE] = "f1260ebc7d564b56b714dc919b27dbdf",
		[IBCC_LOG_WROTE] = "6caf76a5703548ae8280ad3729a6f2e7",
		[IBCC_LOG_NOT_WRITTEN] = "3f0c9931918c40bf9670c342c6cce996",
		[IBCC_LOG_TROUBLE] = "004498f4b98747c18c9c26a813678d7a",
		[IBCC_LOG_WORKS_AGAIN] = "0ecaf828e2f745538fcc69d79561a0d1",
		[IBCC_LOG_STALLED] = "73f80e52a36948b5a4414c46f147ecf9",
		[IBCC_LOG_DRIFT] = "c1af446506f142fca1010f154a9f2968",
		[IBCC_LOG_NO_DRIFT] = "b459071afb8a4f9ebf72c46dca8fbe35",
		[IBCC_LOG_INTERRUPTED] = "5a3c1fbdf9da4bf3a81696a68afe2312",
		[IBCC_LOG_UNKNOWN_ORIGIN] = "135d63cf1293424c802a2e8f96fc5ce8",
		[IBCC_LOG_DOUBTED] = "a4ea3938d4294c52810915b0875b0b21",
		[IBCC_LOG_HELD_BACK] = "2a10e9e0a82946be9b636f138f7f0650",
		[IBCC_LOG_VENDOR] = "bdfaef428c7d4431b331dab129ea3a7b",
		[IBCC_LOG_REQUEST] = "4260ce86ca964d78ba569ee452a5d423",
		[IBCC_LOG_REQUEST_FAILED] = "44e767f743bb4898ac59157196f119be",
		[IBCC_LOG_UNRECORDED] = "23cc390c935440e38e1f39485d23d1f3",
		[IBCC_LOG_START] = "4d1dd7de07c1437b95d0c57b811008b7",
		[IBCC_LOG_END] = "06f3179fec434ae0a6e144cf0b4152c8",
		[IBCC_LOG_FAILED] = "c78165de8458420c88ba29b1f8223c08",
		[IBCC_LOG_RELOADED] = "7aa1caa066de4e968867119277832f1d",
		[IBCC_LOG_BAD_CONFIG] = "83f11b2d9bbc4685bcc3323c673940a8",
	};

	return kind < IBCC_LOG_KINDS ? id[kind] : NULL;
}
