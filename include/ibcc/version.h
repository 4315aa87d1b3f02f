/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCC_VERSION_H
#define IBCC_VERSION_H

#define IBCC_VERSION "0.1.0"

#endif
