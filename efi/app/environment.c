/* efi/app/environment.c: machine and firmware, for the environment block of the results. */
#include "efi/app/environment.h"
#include "efi/firmware/console.h"
#include "efi/platform/hmat.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

static const char *keep(struct environment *e, const char *s)
{
	size_t n = str_length(s) + 1;
	if (e->used + n > sizeof(e->bytes))
		return NULL;
	char *to = e->bytes + e->used;
	memcpy(to, s, n);
	e->used += n;
	return to;
}

static void add(struct environment *e, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(struct environment *e, const char *key, const char *format, ...)
{
	char value[256];
	struct text t;
	va_list args;
	text_init(&t, value, sizeof(value));
	va_start(args, format);
	text_vfmt(&t, format, args);
	va_end(args);
	if (e->count == ENVIRONMENT_LINES || value[0] == 0)
		return;
	const char *k = keep(e, key), *v = k != NULL ? keep(e, value) : NULL;
	if (v != NULL)
		e->lines[e->count++] = (struct environment_line){ k, v };
}

static void add_firmware(struct environment *e)
{
	char vendor[64];
	EFI_TIME now;
	uefi_ascii(uefi.system->FirmwareVendor, 63, vendor, sizeof(vendor));
	add(e, "uefi_vendor", "%s", vendor);
	add(e, "uefi_revision", "0x%x", uefi.system->FirmwareRevision);
	add(e, "uefi_specification", "%u.%u", uefi.system->Hdr.Revision >> 16, (uefi.system->Hdr.Revision & 0xFFFF) / 10);
	if (uefi.system->RuntimeServices->GetTime(&now, NULL) == EFI_SUCCESS)
		add(e, "started", "%04u-%02u-%02uT%02u:%02u:%02u", now.Year, now.Month, now.Day, now.Hour, now.Minute, now.Second);
}

static void add_smbios(struct environment *e, const struct smbios *s)
{
	char key[32];
	struct text t;
	add(e, "system_vendor", "%s", s->maker);
	add(e, "product", "%s", s->product);
	add(e, "product_version", "%s", s->version);
	add(e, "board_vendor", "%s", s->board_maker);
	add(e, "board", "%s", s->board);
	add(e, "firmware_vendor", "%s", s->bios_vendor);
	add(e, "firmware_version", "%s", s->bios_version);
	add(e, "firmware_date", "%s", s->bios_date);
	for (unsigned i = 0; i < s->module_count; i++) {
		const struct smbios_module *m = &s->modules[i];
		text_init(&t, key, sizeof(key));
		text_fmt(&t, "memory_%u", i);
		add(e, key, "%s: %lu MiB, %u MT/s of %u, %s %s", m->locator, (unsigned long)(m->bytes >> 20),
		    m->configured_mts, m->mts, m->maker, m->part);
	}
}

#define MATRIX_NODES 8u        /* with more nodes the matrices are omitted: one line per node is too much */

/* "slit_0 = 10 21": distances from node 0; "hmat_access_latency_0 = 5000 9000" in ps, bandwidths in MB/s; '-' is unknown. */
static void add_matrices(struct environment *e, const struct acpi *a)
{
	static const struct { enum hmat_type type; const char *name; } types[] = {
		{ HMAT_ACCESS_LATENCY, "access_latency" }, { HMAT_READ_LATENCY, "read_latency" },
		{ HMAT_ACCESS_BANDWIDTH, "access_bandwidth" }, { HMAT_READ_BANDWIDTH, "read_bandwidth" },
	};
	char key[40], value[240];
	struct text k, v;
	uint64_t entry;
	for (unsigned from = 0; a->nodes <= MATRIX_NODES && from < a->nodes; from++) {
		text_init(&k, key, sizeof(key));
		text_init(&v, value, sizeof(value));
		text_fmt(&k, "slit_%u", from);
		for (unsigned to = 0; a->slit && to < a->nodes; to++)
			text_fmt(&v, "%s%u", to == 0 ? "" : " ", a->distance[from * a->nodes + to]);
		add(e, key, "%s", value);
		for (unsigned i = 0; i < COUNT_OF(types); i++) {
			bool any = false;
			text_init(&k, key, sizeof(key));
			text_init(&v, value, sizeof(value));
			text_fmt(&k, "hmat_%s_%u", types[i].name, from);
			for (unsigned to = 0; to < a->nodes; to++) {
				bool there = hmat_entry(a, types[i].type, from, to, &entry);
				any = any || there;
				if (there)
					text_fmt(&v, "%s%llu", to == 0 ? "" : " ", (unsigned long long)entry);
				else
					text_fmt(&v, "%s-", to == 0 ? "" : " ");
			}
			if (any)
				add(e, key, "%s", value);
		}
	}
}

static const char *park_name(enum park p)
{
	return p == PARK_MWAIT ? "mwait" : p == PARK_HLT ? "hlt" : "pause";
}

/* Whether processors of one package are on several nodes: cluster on die, sub-NUMA clustering. CPUID 0xB tells how many bits of the
 * APIC id are below the package's. */
static bool clusters(const struct hw *hw)
{
	uint32_t top[4], r[4], shift = 0;
	cpuid_raw(0, 0, top);
	for (uint32_t sub = 0; top[0] >= 0xB && sub < 8; sub++) {
		cpuid_raw(0xB, sub, r);
		if ((r[1] & 0xFFFF) == 0)
			break;
		shift = r[0] & 0x1F;
	}
	for (unsigned i = 1; shift != 0 && i < hw->access.cores; i++)
		for (unsigned k = 0; k < i; k++)
			if (hw->cores[i]->apic_id >> shift == hw->cores[k]->apic_id >> shift && hw->cores[i]->node != hw->cores[k]->node)
				return true;
	return false;
}

/* Written straight into the block: about ten bytes for each processor exceed the buffer of add(). */
static void add_ids(struct environment *e, const struct hw *hw)
{
	struct text t;
	const char *key = keep(e, "apic_id_and_node");
	text_init(&t, e->bytes + e->used, sizeof(e->bytes) - e->used);
	for (unsigned i = 0; i < hw->access.cores; i++)
		text_fmt(&t, "%s%u:%u", i == 0 ? "" : " ", hw->cores[i]->apic_id, hw->cores[i]->node);
	if (key == NULL || t.full || e->count == ENVIRONMENT_LINES)
		return;
	e->lines[e->count++] = (struct environment_line){ key, e->bytes + e->used };
	e->used += t.length + 1;
}

void environment_fill(struct environment *e, const struct smbios *smbios, const struct acpi *acpi,
                      const struct clock *clock, const struct hw *hw)
{
	char key[32];
	struct text t;
	e->count = 0;
	e->used = 0;
	add(e, "place", "uefi");
	add(e, "hypervisor", "%s", console.hypervisor ? "yes" : "no");
	add_firmware(e);
	add_smbios(e, smbios);
	for (unsigned i = 0; i < acpi->table_count; i++) {
		const struct acpi_table *a = &acpi->tables[i];
		text_init(&t, key, sizeof(key));
		text_fmt(&t, "acpi_%u_%s", i, a->signature);
		add(e, key, "%u bytes, fnv1a64 %016lx", a->bytes, (unsigned long)a->hash);
	}
	add(e, "srat", "%s", acpi->srat ? "yes" : "no");
	add(e, "madt_processors", "%u, %u enabled, highest APIC id %u", acpi->madt_processors, acpi->madt_enabled, acpi->madt_highest);
	add(e, "nodes_without_processors", "%u", acpi->nodes_without_processors);
	add(e, "domains_without_memory", "%u", acpi->domains_without_memory);
	add(e, "nodes_with_memory_holes", "%u", acpi->holes);
	add(e, "memory_ranges", "%u, %u hot-pluggable, %u non-volatile", acpi->range_count, acpi->hotplug_ranges, acpi->nonvolatile_ranges);
	add(e, "generic_initiators", "%u", acpi->generic_initiators);
	if (acpi->hmat_there)
		add(e, "hmat", "%u attributes, %u latencies and bandwidths, %u caches", acpi->hmat[0], acpi->hmat[1], acpi->hmat[2]);
	else
		add(e, "hmat", "no");
	add(e, "cxl", "%s", acpi->cxl ? "yes" : "no");
	add(e, "slit", "%s", acpi->slit ? "yes" : "no");
	add_matrices(e, acpi);
	add(e, "here_tsc_hz", "%lu", (unsigned long)clock->tsc_hz);
	add(e, "here_tsc_from", "%s", clock->method);
	add(e, "here_tsc_spread_ppm", "%u", clock->spread_ppm);
	add(e, "here_tsc_timer_hz", "%lu", (unsigned long)clock->timer_hz);
	add(e, "here_tsc_cpuid_hz", "%lu", (unsigned long)clock->cpuid_hz);
	add(e, "here_tsc_stall_hz", "%lu", (unsigned long)clock->stall_hz);
	add(e, "here_tsc_invariant", "%s", clock->invariant ? "yes" : "no");
	if (hw == NULL)
		return;
	add_ids(e, hw);
	add(e, "clusters_on_die", "%s", clusters(hw) ? "yes" : "no");
	add(e, "processors_started", "%u", hw->started);
	add(e, "processors_started_by", "%s", hw->started_by == STARTED_BY_SIPI ? "start-up messages" :
	    hw->started_by == STARTED_BY_MP_SERVICES ? "MP services" : "nobody");
	add(e, "processors_lost", "%u", hw->lost);
	add(e, "processors_idle_by", "%s", park_name(hw->park));
	if (hw->watchdog != NULL)
		add(e, "watchdog", "%s", hw->watchdog->found);
	add(e, "own_job_limit", "%s", hw->timer_per_interval != 0 ? "local APIC timer" : "none");
}
