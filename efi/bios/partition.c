/* efi/bios/partition.c: EFI system partitions of a GUID partition table (UEFI 5.3). The backup table at the disk's end is
 * not read. */
#include "efi/bios/loader.h"
#include <efigpt.h>

#define ENTRY_MOST   512u
#define ENTRIES_MOST 128u /* every table has room for that many (UEFI 5.3.1) */

static const EFI_GUID system_partition = EFI_PART_TYPE_EFI_SYSTEM_PART_GUID;

enum status disk_system_partition(unsigned *index, struct partition *p)
{
	EFI_PARTITION_TABLE_HEADER head;
	uint8_t block[BLOCK_BYTES];
	enum status s = disk_read(1, 1, block);
	if (s != ST_OK)
		return s;
	memcpy(&head, block, sizeof(head));
	if (memcmp(&head.Header.Signature, "EFI PART", 8) != 0 || head.SizeOfPartitionEntry < sizeof(EFI_PARTITION_ENTRY) ||
	    head.SizeOfPartitionEntry > ENTRY_MOST || (head.SizeOfPartitionEntry & (head.SizeOfPartitionEntry - 1)) != 0)
		return ST_SYNTAX;
	for (; *index < head.NumberOfPartitionEntries && *index < ENTRIES_MOST; (*index)++) {
		EFI_PARTITION_ENTRY entry;
		unsigned at = *index * head.SizeOfPartitionEntry;
		s = disk_read(head.PartitionEntryLBA + at / BLOCK_BYTES, 1, block);
		if (s != ST_OK)
			return s;
		memcpy(&entry, block + at % BLOCK_BYTES, sizeof(entry));
		if (memcmp(&entry.PartitionTypeGUID, &system_partition, sizeof(system_partition)) != 0 || entry.EndingLBA < entry.StartingLBA)
			continue;
		*p = (struct partition){ entry.StartingLBA, entry.EndingLBA - entry.StartingLBA + 1 };
		(*index)++;
		return ST_OK;
	}
	return ST_MISSING;
}
