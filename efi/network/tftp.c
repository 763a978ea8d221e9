/* efi/network/tftp.c: reads and writes by EFI_MTFTP4_PROTOCOL. RFC 1350 can neither create folders nor test whether a
 * file exists; a server that does not overwrite answers with error 6 or, if the file's mode forbids writing, with 2 (access violation) or,
 * like tftpd-hpa, with 0 and the system's error text. */
#include "efi/network/transfer.h"
#include "pmu/text.h"

#define TRIES      4u
#define TIMEOUT_S  2u
#define TFTP_PORT  69u
enum { OPCODE_ERROR = 5, ERROR_NOT_FOUND = 1, ERROR_ACCESS = 2, ERROR_EXISTS = 6 };

static const char forbidden[] = "Permission denied";

struct answer { bool error, forbidden; unsigned code; };

static EFI_STATUS EFIAPI check_packet(struct tftp_protocol *self, struct tftp_token *token, UINT16 bytes, const uint8_t *packet)
{
	struct answer *h = token->context;
	(void)self;
	if (bytes >= 4 && packet[0] == 0 && packet[1] == OPCODE_ERROR) {
		h->error = true;
		h->code = (unsigned)packet[2] << 8 | packet[3];
		h->forbidden = h->code == ERROR_ACCESS || (h->code == 0 && bytes >= 4 + sizeof(forbidden) - 1 && memcmp(packet + 4, forbidden, sizeof(forbidden) - 1) == 0);
	}
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI poll(void *protocol)
{
	struct tftp_protocol *tftp = protocol;
	return tftp->poll(tftp);
}

static enum status run(struct tftp_protocol *tftp, struct network_wait *wait, const struct transfer_job *j, struct transfer_answer *out, struct answer *h)
{
	struct tftp_option block = { (CHAR8 *)"blksize", (CHAR8 *)"1428" }; /* RFC 2348: fits an Ethernet frame with room to spare */
	const char *name = j->address->path + 1;
	struct tftp_token token = { .event = wait->done, .file = (CHAR8 *)(uintptr_t)name, .options = 1, .option = &block, .bytes = j->count,
		.buffer = j->to != NULL ? j->to : (VOID *)(uintptr_t)j->bytes, .context = h, .check_packet = check_packet };
	EFI_STATUS e = j->to != NULL ? tftp->read_file(tftp, &token) : tftp->write_file(tftp, &token);
	if (e != EFI_SUCCESS)
		return uefi_status(e);
	enum status s = network_wait(wait, poll, tftp);
	if (s != ST_OK) {
		tftp->configure(tftp, NULL); /* ends the transfer in progress: its token is on our stack */
		return s;
	}
	out->bytes = token.bytes;
	return token.status == EFI_BUFFER_TOO_SMALL ? ST_FULL : uefi_status(token.status);
}

void transfer_tftp(const struct network *n, const struct transfer_job *j, struct transfer_answer *out)
{
	static const EFI_GUID service = TFTP_SERVICE_GUID, protocol = TFTP_GUID;
	struct tftp_config c = { .use_default = (n->station[0] | n->station[1] | n->station[2] | n->station[3]) == 0,
		.server_port = j->address->port != 0 ? j->address->port : TFTP_PORT, .tries = TRIES, .timeout_s = TIMEOUT_S };
	struct network_child child;
	struct network_wait wait = { .done = NULL };
	struct answer h = { .error = false };
	memcpy(c.station.Addr, n->station, 4);
	memcpy(c.mask.Addr, n->mask, 4);
	memcpy(c.gateway.Addr, n->gateway, 4);
	out->status = address_ipv4(j->address->server, c.server.Addr);
	if (out->status == ST_OK)
		out->status = network_child_open(&child, n, &service, &protocol);
	if (out->status != ST_OK)
		return;
	struct tftp_protocol *tftp = child.protocol;
	out->status = network_wait_open(&wait, (TRANSFER_S + (unsigned)(j->to != NULL ? 0 : j->count / TRANSFER_BYTES_S)) * 1000);
	if (out->status == ST_OK)
		out->status = uefi_status(tftp->configure(tftp, &c));
	if (out->status == ST_OK)
		out->status = run(tftp, &wait, j, out, &h);
	network_child_close(&child);
	network_wait_close(&wait);
	if (h.error) {
		out->status = ST_OK;
		out->code = h.code;
		out->is = h.code == ERROR_NOT_FOUND ? TRANSFER_MISSING : h.code == ERROR_EXISTS || (h.forbidden && j->to == NULL) ?
			TRANSFER_EXISTS : TRANSFER_REFUSED;
	} else if (out->status == ST_OK) {
		out->is = TRANSFER_DONE;
	}
}
