/* efi/bios/graphics.c: EFI_GRAPHICS_OUTPUT_PROTOCOL (UEFI 12.9) on a linear framebuffer (VBE 3.0, 4.3 to 4.5: INT 10h
 * AX=4F00h to 4F02h): one mode, with 32 bits per pixel and at most 1024 x 768, which monitors of that time support. The
 * mode is set by the first Blt, so that earlier lines appear as text. Blt supports only buffer to video and video fill. */
#include "efi/bios/loader.h"

#define VIDEO        0x10
#define VBE_OK       0x004Fu
#define WIDTH_MOST   1024u
#define HEIGHT_MOST  768u
#define WIDTH_LEAST  640u
#define MODES_MOST   256u
#define ATTRIBUTES   0x99u   /* supported, colour, graphics, linear framebuffer */
#define DIRECT       6u      /* memory model: direct colour */
#define LINEAR       0x4000u /* in the mode number: use the linear framebuffer */

struct __attribute__((packed)) vbe_info { char signature[4]; uint16_t version; uint32_t maker, can; uint16_t modes, modes_segment; };

static struct { uint16_t mode, pitch; uint32_t at; bool shown; } screen;

static bool vbe(uint16_t function, uint16_t bx, uint16_t cx, void *buffer)
{
	bios_registers.ax = function;
	bios_registers.bx = bx;
	bios_registers.cx = cx;
	bios_registers.es = (uint16_t)((uintptr_t)buffer >> 4);
	bios_registers.di = (uint16_t)((uintptr_t)buffer & 15);
	loader_bios(VIDEO);
	return bios_registers.ax == VBE_OK;
}

static uint16_t u16_at(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }
static uint32_t u32_at(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }

/* ModeInfoBlock: 0 attributes, 16 pitch, 18 width, 20 height, 25 bits per pixel, 27 memory model, 32, 34 and 36 bit positions of red, green
 * and blue, 40 framebuffer, 50 pitch of the linear framebuffer (VBE 3.0). */
static bool usable(const uint8_t *m, uint16_t version, uint32_t *width, uint32_t *height)
{
	*width = u16_at(m + 18);
	*height = u16_at(m + 20);
	screen.pitch = version >= 0x300 && u16_at(m + 50) != 0 ? u16_at(m + 50) : u16_at(m + 16);
	screen.at = u32_at(m + 40);
	return (u16_at(m) & ATTRIBUTES) == ATTRIBUTES && m[25] == 32 && m[27] == DIRECT && m[32] == 16 && m[34] == 8 && m[36] == 0 &&
	       *width >= WIDTH_LEAST && *width <= WIDTH_MOST && *height <= HEIGHT_MOST && screen.at >= 0x100000 && screen.pitch >= 4 * *width;
}

static EFI_STATUS EFIAPI query_mode(EFI_GRAPHICS_OUTPUT_PROTOCOL *g, UINT32 mode, UINTN *bytes, EFI_GRAPHICS_OUTPUT_MODE_INFORMATION **info)
{
	if (mode != 0)
		return EFI_INVALID_PARAMETER;
	*bytes = sizeof(**info);
	VOID *at;
	EFI_STATUS s = memory_allocate_pool(EfiBootServicesData, sizeof(**info), &at);
	if (s != EFI_SUCCESS)
		return s;
	memcpy(at, g->Mode->Info, sizeof(**info));
	*info = at;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI set_mode(EFI_GRAPHICS_OUTPUT_PROTOCOL *g, UINT32 mode)
{
	(void)g;
	return mode == 0 ? EFI_SUCCESS : EFI_UNSUPPORTED;
}

void graphics_leave(void)
{
	if (!screen.shown)
		return;
	bios_registers.ax = 3; /* text, 80 columns, 25 lines */
	loader_bios(VIDEO);
	screen.shown = false;
}

static EFI_STATUS EFIAPI blt(EFI_GRAPHICS_OUTPUT_PROTOCOL *g, EFI_GRAPHICS_OUTPUT_BLT_PIXEL *from, EFI_GRAPHICS_OUTPUT_BLT_OPERATION how,
                             UINTN from_x, UINTN from_y, UINTN x, UINTN y, UINTN width, UINTN height, UINTN step)
{
	const EFI_GRAPHICS_OUTPUT_MODE_INFORMATION *m = g->Mode->Info;
	if (how != EfiBltBufferToVideo && how != EfiBltVideoFill)
		return EFI_UNSUPPORTED;
	if (x > m->HorizontalResolution || width > m->HorizontalResolution - x || y > m->VerticalResolution || height > m->VerticalResolution - y || from == NULL)
		return EFI_INVALID_PARAMETER;
	if (!screen.shown && !vbe(0x4F02, screen.mode | LINEAR, 0, NULL))
		return EFI_DEVICE_ERROR;
	screen.shown = true;
	step = step == 0 ? width * sizeof(*from) : step;
	for (UINTN row = 0; row < height; row++) {
		volatile uint32_t *to = (volatile uint32_t *)((uintptr_t)screen.at + (y + row) * screen.pitch) + x;
		const uint8_t *line = (const uint8_t *)from + (how == EfiBltVideoFill ? 0 : (from_y + row) * step + from_x * sizeof(*from));
		for (UINTN i = 0; i < width; i++)
			to[i] = u32_at(line + (how == EfiBltVideoFill ? 0 : i * sizeof(*from)));
	}
	return EFI_SUCCESS;
}

EFI_GRAPHICS_OUTPUT_PROTOCOL *graphics_protocol(void)
{
	static EFI_GRAPHICS_OUTPUT_MODE_INFORMATION info = { .PixelFormat = PixelBlueGreenRedReserved8BitPerColor };
	static EFI_GRAPHICS_OUTPUT_PROTOCOL_MODE mode = { .MaxMode = 1, .Info = &info, .SizeOfInfo = sizeof(info) };
	static EFI_GRAPHICS_OUTPUT_PROTOCOL protocol = { .QueryMode = query_mode, .SetMode = set_mode, .Blt = blt, .Mode = &mode };
	static uint16_t modes[MODES_MOST];
	uint8_t *buffer = (uint8_t *)(uintptr_t)DISK_BUFFER; /* not in use between reads */
	struct vbe_info vbe_info;
	uint32_t best = 0, width, height;
	unsigned count = 0;
	memset(buffer, 0, 1024);
	memcpy(buffer, "VBE2", 4);
	if (!vbe(0x4F00, 0, 0, buffer))
		return NULL;
	memcpy(&vbe_info, buffer, sizeof(vbe_info));
	if (memcmp(vbe_info.signature, "VESA", 4) != 0 || vbe_info.version < 0x200)
		return NULL;
	/* The list may be in the buffer, which the next calls overwrite. */
	const uint8_t *list = (const uint8_t *)((uintptr_t)vbe_info.modes_segment * 16 + vbe_info.modes);
	for (; count < MODES_MOST && u16_at(list + 2 * count) != 0xFFFF; count++)
		modes[count] = u16_at(list + 2 * count);
	uint16_t chosen = 0;
	for (unsigned i = 0; i < count; i++) {
		memset(buffer, 0, 256);
		if (vbe(0x4F01, 0, modes[i], buffer) && usable(buffer, vbe_info.version, &width, &height) && width * height > best) {
			best = width * height;
			chosen = modes[i];
		}
	}
	memset(buffer, 0, 256);
	if (best == 0 || !vbe(0x4F01, 0, chosen, buffer) || !usable(buffer, vbe_info.version, &width, &height))
		return NULL;
	screen.mode = chosen;
	info.HorizontalResolution = width;
	info.VerticalResolution = height;
	info.PixelsPerScanLine = screen.pitch / 4;
	mode.FrameBufferBase = screen.at;
	mode.FrameBufferSize = (UINTN)screen.pitch * height;
	return &protocol;
}
