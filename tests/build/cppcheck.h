/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What cppcheck has to know of libraries whose headers it does not read. */
#define OSM_EVENT_PLUGIN_INTERFACE_VER 2
#define json_array_foreach(a, i, v)    for ((i) = 0; ((v) = json_array_get(a, i)); (i)++)
#define json_object_foreach(o, k, v)                                                               \
	for ((k) = ""; (k) && ((v) = json_object_get(o, k)); (k) = NULL)
#define JSON_INTEGER_FORMAT "lld"
