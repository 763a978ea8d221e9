/* efi/processor/mp.h: EFI_MP_SERVICES_PROTOCOL, which gnu-efi does not declare (PI specification 1.7, vol. 2, 13.4). */
#ifndef EFI_MP_H
#define EFI_MP_H

#include <efi.h>

#define MP_SERVICES_GUID \
	{ 0x3fdda605, 0xa76e, 0x4f46, {0xad, 0x29, 0x12, 0xf4, 0x53, 0x1b, 0x3d, 0x08} }

#define MP_IS_BSP  1u
#define MP_ENABLED 2u
#define MP_HEALTHY 4u

struct mp_location { UINT32 package, core, thread; };
struct mp_location2 { UINT32 package, module, tile, die, core, thread; };
struct mp_processor {
	UINT64 id;          /* local APIC id, 32 bits with x2APIC */
	UINT32 flags;
	struct mp_location location;
	struct mp_location2 location2; /* filled in only on request, but always allocated */
};

typedef VOID (EFIAPI *mp_procedure)(VOID *argument);

struct mp_services {
	EFI_STATUS (EFIAPI *get_number)(struct mp_services *self, UINTN *all, UINTN *enabled);
	EFI_STATUS (EFIAPI *get_info)(struct mp_services *self, UINTN number, struct mp_processor *out);
	EFI_STATUS (EFIAPI *startup_all)(struct mp_services *self, mp_procedure procedure, BOOLEAN one_by_one,
		EFI_EVENT event, UINTN timeout_us, VOID *argument, UINTN **failed);
	EFI_STATUS (EFIAPI *startup_one)(struct mp_services *self, mp_procedure procedure, UINTN number,
		EFI_EVENT event, UINTN timeout_us, VOID *argument, BOOLEAN *finished);
	EFI_STATUS (EFIAPI *switch_bsp)(struct mp_services *self, UINTN number, BOOLEAN enable_old);
	EFI_STATUS (EFIAPI *enable)(struct mp_services *self, UINTN number, BOOLEAN enable, UINT32 *health);
	EFI_STATUS (EFIAPI *who_am_i)(struct mp_services *self, UINTN *number);
};

#endif
