// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Offloads and driver name of an interface, over the ethtool ioctl. See link_settings.h.
 *
 * The ioctl, not ethtool netlink: it does all that is needed here on every kernel, and names features the same way
 * for all drivers.
 */
#include "sys/link_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>

#include "base/error.h"

/* One ioctl; command points at a struct ethtool_*. Returns the ioctl's value or -errno without error text. */
static int ethtool_call(const char *name, void *command)
{
	struct ifreq request = { .ifr_data = command };
	int fd, result;

	if (!*name || strlen(name) >= sizeof(request.ifr_name))
		return -ENODEV;
	memcpy(request.ifr_name, name, strlen(name) + 1);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	result = ioctl(fd, SIOCETHTOOL, &request);
	if (result < 0)
		result = -errno;
	close(fd);
	return result;
}

static int ethtool_failed(int result, const char *name, const char *what)
{
	return error_set(-result, "%s: cannot %s: %s%s", name, what, strerror(-result),
			 result == -EPERM ? "; call hopcap as root (CAP_NET_ADMIN)" : "");
}

int link_set_gro(const char *name, int on)
{
	struct ethtool_value value = { .cmd = ETHTOOL_SGRO, .data = on ? 1 : 0 };
	int result = ethtool_call(name, &value);

	return result < 0 ? ethtool_failed(result, name, on ? "switch GRO on" : "switch GRO off") : 0;
}

int link_get_gro(const char *name)
{
	struct ethtool_value value = { .cmd = ETHTOOL_GGRO };
	int result = ethtool_call(name, &value);

	return result < 0 ? ethtool_failed(result, name, "read whether GRO is on") : value.data != 0;
}

/* ETHTOOL_GLINKSETTINGS is asked twice: first for the length of the masks, then with room for them. */
double link_speed_mbps(const char *name)
{
	struct {
		struct ethtool_link_settings settings;
		uint32_t masks[3 * 127];
	} request = { .settings.cmd = ETHTOOL_GLINKSETTINGS };
	int words;

	if (ethtool_call(name, &request) < 0)
		return 0;
	words = -request.settings.link_mode_masks_nwords;
	if (words <= 0 || words > 127)
		return 0;
	memset(&request, 0, sizeof(request));
	request.settings.cmd = ETHTOOL_GLINKSETTINGS;
	request.settings.link_mode_masks_nwords = (int8_t)words;
	if (ethtool_call(name, &request) < 0 || request.settings.speed == (uint32_t)SPEED_UNKNOWN)
		return 0;
	return request.settings.speed;
}

int link_driver(const char *name, char *driver, size_t size)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	int result = ethtool_call(name, &info);

	driver[0] = '\0';
	if (result == -EOPNOTSUPP)
		return 0;
	if (result < 0)
		return ethtool_failed(result, name, "read the driver's name");
	snprintf(driver, size, "%.*s", (int)sizeof(info.driver), info.driver);
	return 0;
}

/* Features that let a frame larger than the MTU travel and be cut late. By prefix: TCP has several, newer kernels
 * more. */
static int is_segmentation(const char *feature)
{
	static const char *const prefixes[] = {
		"tx-generic-segmentation", "tx-tcp", "tx-udp-segmentation", "tx-sctp-segmentation", "tx-gso-list",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(feature, prefixes[i], strlen(prefixes[i])))
			return 1;
	return 0;
}

/* Names of all features that this kernel knows, by bit number. malloc'ed; NULL with *result. */
static struct ethtool_gstrings *feature_names(const char *name, int *result)
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

/* Asks for those of the features that the device lets change; a device without one of them is not an error. */
static int set_segmentation(const char *name, const struct ethtool_gstrings *strings, int on)
{
	size_t blocks = (strings->len + 31) / 32;
	struct ethtool_gfeatures *now = calloc(1, sizeof(*now) + blocks * sizeof(now->features[0]));
	struct ethtool_sfeatures *wanted = calloc(1, sizeof(*wanted) + blocks * sizeof(wanted->features[0]));
	int result = -ENOMEM;

	if (!now || !wanted)
		goto out;
	now->cmd = ETHTOOL_GFEATURES;
	now->size = (__u32)blocks;
	wanted->cmd = ETHTOOL_SFEATURES;
	wanted->size = (__u32)blocks;
	result = ethtool_call(name, now);
	if (result < 0)
		goto out;
	for (__u32 bit = 0; bit < strings->len; bit++) {
		__u32 mask = 1u << (bit % 32), block = bit / 32;
		const struct ethtool_get_features_block *state = &now->features[block];

		if (!is_segmentation((const char *)&strings->data[bit * ETH_GSTRING_LEN]) ||
		    !(state->available & mask) || (state->never_changed & mask))
			continue;
		wanted->features[block].valid |= mask;
		if (on)
			wanted->features[block].requested |= mask;
	}
	result = ethtool_call(name, wanted);
	result = result < 0 ? result : 0;
out:
	free(now);
	free(wanted);
	return result;
}

int link_set_segmentation(const char *name, int on)
{
	int result;
	struct ethtool_gstrings *strings = feature_names(name, &result);

	if (strings)
		result = set_segmentation(name, strings, on);
	free(strings);
	return result < 0 ? ethtool_failed(result, name,
					   on ? "switch segmentation offload on" : "switch segmentation offload off")
			  : 0;
}

/* First line of a file of this interface in sysfs. 0 or -ENODEV. */
static int read_sysfs(const char *name, const char *file, char *text, size_t size)
{
	char path[128];
	FILE *stream;
	int code;

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", name, file);
	stream = fopen(path, "re");
	if (!stream)
		return -ENODEV;
	code = fgets(text, (int)size, stream) ? 0 : -ENODEV;
	fclose(stream);
	return code;
}

int link_virtio_features(const char *name, int ifindex, uint64_t *features)
{
	char text[80];

	*features = 0;
	if (read_sysfs(name, "ifindex", text, sizeof(text)) || atoi(text) != ifindex ||
	    read_sysfs(name, "device/features", text, sizeof(text)))
		return -ENODEV;
	for (int bit = 0; bit < 64 && (text[bit] == '0' || text[bit] == '1'); bit++)
		*features |= (uint64_t)(text[bit] == '1') << bit;
	return *features ? 0 : -ENODEV;
}
