/* tests/boot/firmware/hostile/common.c: switches and messages. */
#include "tests/boot/firmware/hostile/hostile.h"

static uint64_t fw_cfg(unsigned bytes)
{
	uint64_t v = 0;
	while (bytes--)
		v = v << 8 | in8(0x511);
	return v;
}

/* QEMU, docs/specs/fw_cfg.txt: the directory is item 0x19. */
void read_switches(void)
{
	static const char name[] = "opt/hostile";
	out16(0x510, 0x19);
	for (uint64_t n = fw_cfg(4), i = 0; i < n && n < 4096; i++) {
		uint64_t size = fw_cfg(4);
		uint16_t select = (uint16_t)fw_cfg(2);
		char entry[56];
		(void)fw_cfg(2);
		for (unsigned k = 0; k < sizeof(entry); k++)
			entry[k] = (char)in8(0x511);
		if (memcmp(entry, name, sizeof(name)) != 0 || size >= sizeof(host.switches))
			continue;
		out16(0x510, select);
		for (uint64_t k = 0; k < size; k++)
			host.switches[k] = (char)in8(0x511);
		break;
	}
	for (const char *s = "switches: "; *s != 0; s++)
		out8(0xE9, (uint8_t)*s);
	for (const char *s = host.switches; *s != 0; s++)
		out8(0xE9, (uint8_t)*s);
	out8(0xE9, '\n');
}

bool wanted(const char *name, uint64_t *number)
{
	for (const char *at = host.switches; *at != 0;) {
		size_t n = 0;
		while (name[n] != 0 && at[n] == name[n])
			n++;
		if (name[n] == 0 && (at[n] == 0 || at[n] == ',' || at[n] == '=')) {
			uint64_t v = 0;
			if (at[n] == '=')
				for (at += n + 1; *at >= '0' && *at <= '9'; at++)
					v = v * 10 + (uint64_t)(*at - '0');
			if (number != NULL)
				*number = v;
			return true;
		}
		while (*at != 0 && *at != ',')
			at++;
		at += *at == ',';
	}
	return false;
}

void tell(const char *text, uint64_t number)
{
	static const char start[] = "hostile: ";
	char digits[24];
	for (const char *s = start; *s != 0; s++)
		out8(0xE9, (uint8_t)*s);
	for (; *text != 0; text++) {
		unsigned n = 0;
		if (*text != '%') {
			out8(0xE9, (uint8_t)*text);
			continue;
		}
		do {
			digits[n++] = (char)('0' + number % 10);
			number /= 10;
		} while (number != 0);
		while (n > 0)
			out8(0xE9, (uint8_t)digits[--n]);
	}
}

void *protocol(const EFI_GUID *guid)
{
	EFI_GUID g = *guid;
	void *p = NULL;
	return host.boot->LocateProtocol(&g, NULL, &p) == EFI_SUCCESS ? p : NULL;
}
