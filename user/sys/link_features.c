// SPDX-License-Identifier: GPL-2.0-or-later
/* Features of an interface by name; see link_features.h. Called by link_settings.c, undo_actions.c, accel/. */
#include "sys/link_features.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/ethtool.h>

#include "base/error.h"
#include "sys/ethtool_call.h"

struct ethtool_gstrings *link_feature_names(const char *name, int *result)
{
	struct {
		struct ethtool_sset_info info;
		__u32 count;
	} set = { .info = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_FEATURES } };
	struct ethtool_gstrings *strings;

	*result = ethtool_call(name, &set);
	if (*result < 0)
		return NULL;
	if (!set.info.sset_mask || set.count == 0 || set.count > 1024) {
		*result = -EOPNOTSUPP;
		return NULL;
	}
	strings = calloc(1, sizeof(*strings) + (size_t)set.count * ETH_GSTRING_LEN);
	if (!strings) {
		*result = -ENOMEM;
		return NULL;
	}
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_FEATURES;
	strings->len = set.count;
	*result = ethtool_call(name, strings);
	if (*result < 0 || strings->len > set.count) {
		*result = *result < 0 ? *result : -EPROTO;
		free(strings);
		return NULL;
	}
	return strings;
}

/* Number of the feature, or -errno: ENOENT when this kernel has no such name. */
static int feature_bit(const char *name, const char *feature, unsigned int *count)
{
	int result;
	struct ethtool_gstrings *strings = link_feature_names(name, &result);

	if (!strings)
		return result;
	result = -ENOENT;
	*count = strings->len;
	for (__u32 bit = 0; bit < strings->len && result < 0; bit++)
		if (!strncmp((const char *)&strings->data[bit * ETH_GSTRING_LEN], feature, ETH_GSTRING_LEN))
			result = (int)bit;
	free(strings);
	return result;
}

static int failed(int result, const char *name, const char *verb, const char *feature)
{
	return error_set(-result, "%s: cannot %s the feature %s: %s%s", name, verb, feature, strerror(-result),
			 result == -EPERM ? "; call hopcap as root (CAP_NET_ADMIN)" : "");
}

int link_feature_get(const char *name, const char *feature)
{
	unsigned int count = 0;
	int bit = feature_bit(name, feature, &count), result;
	struct ethtool_gfeatures *features;

	if (bit == -ENOENT || bit == -EOPNOTSUPP)
		return 0;
	if (bit < 0)
		return failed(bit, name, "read", feature);
	features = calloc(1, sizeof(*features) + (count + 31) / 32 * sizeof(features->features[0]));
	if (!features)
		return failed(-ENOMEM, name, "read", feature);
	features->cmd = ETHTOOL_GFEATURES;
	features->size = (count + 31) / 32;
	result = ethtool_call(name, features);
	if (result >= 0)
		result = (features->features[bit / 32].active >> (bit % 32)) & 1;
	free(features);
	return result < 0 ? failed(result, name, "read", feature) : result;
}

int link_feature_set(const char *name, const char *feature, int on)
{
	unsigned int count = 0;
	int bit = feature_bit(name, feature, &count), result;
	struct ethtool_sfeatures *features;

	if (bit == -ENOENT && !on)
		return 0;
	if (bit < 0)
		return failed(bit, name, "change", feature);
	features = calloc(1, sizeof(*features) + (count + 31) / 32 * sizeof(features->features[0]));
	if (!features)
		return failed(-ENOMEM, name, "change", feature);
	features->cmd = ETHTOOL_SFEATURES;
	features->size = (count + 31) / 32;
	features->features[bit / 32].valid = 1u << (bit % 32);
	features->features[bit / 32].requested = on ? 1u << (bit % 32) : 0;
	result = ethtool_call(name, features);
	free(features);
	if (result < 0)
		return failed(result, name, "change", feature);
	if (result & (ETHTOOL_F_UNSUPPORTED | ETHTOOL_F_WISH) && link_feature_get(name, feature) != on)
		return error_set(EPERM, "%s: the device does not let the feature %s be switched %s", name, feature,
				 on ? "on" : "off");
	return 0;
}
