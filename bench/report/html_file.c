/* bench/report/html_file.c: writes report.html next to its results. */
#include "bench/report/html.h"

enum status html_file(const struct suite_host *host, const char *json, size_t json_bytes)
{
	const uint32_t most = document_nodes_most(json, json_bytes);
	size_t bytes = 0, node_bytes = most * sizeof(struct doc_node), string_bytes = document_strings_most(json, json_bytes);
	struct doc_node *nodes = host->get(host->self, node_bytes);
	char *strings = host->get(host->self, string_bytes), *html = host->get(host->self, HTML_BYTES_MOST);
	struct document d;
	enum status st = ST_FULL;

	if (nodes && strings && html) {
		document_init(&d, nodes, most, strings, string_bytes);
		st = document_parse(&d, json, json_bytes);
		if (st == ST_OK)
			st = html_report(&d, "", html, HTML_BYTES_MOST, &bytes);
		if (st == ST_OK)
			st = host->write(host->self, "report.html", html, bytes);
	}
	if (html)
		host->put(host->self, html, HTML_BYTES_MOST);
	if (strings)
		host->put(host->self, strings, string_bytes);
	if (nodes)
		host->put(host->self, nodes, node_bytes);
	return st;
}
