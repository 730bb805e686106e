package format

import (
	"github.com/noslower/noslower/pkg/bench"
)

// The lines that ScyllaDB and Cassandra log at the end of a compaction:
//
//	INFO  2026-01-05 12:00:00,000 [shard 0] compaction - [Compact ks.table 1f8c…] Compacted 4 sstables to […].
//	  240MB to 237MB (~98% of original) in 3301ms = 71MB/s. ~370176 total partitions merged to 370150.
//
// on one line, as by
// https://github.com/scylladb/scylladb/blob/master/compaction/compaction.cc; MB
// are MiB. The benchmark is the kind of compaction and the table; where they were
// cut off, the sizes: of a table that has another size nothing can be said.
var _ = register(Format{
	Name:  "compaction",
	Tool:  "compactions in the log of ScyllaDB and Cassandra",
	Print: "grep ' of original) in ' /var/log/scylla.log",
	How:   `lines of "SIZE to SIZE (~N% of original) in Nms = FMB/s"`,
	Sniff: sniffLine(`\d\w* to [\d,.]+\w* \(~\d+% of original\) in [\d,]+ms = [\d.]+MB/s`),
	Read:  byLine(parseCompaction),
})

var (
	compactionLine  = compile(`([\d,.]+(?:\w+| bytes)? to [\d,.]+\w*) \(~\d+% of original\) in (\S+)ms = (\S+?)MB/s`)
	compactionTable = compile(`\[([A-Z]\w+ [\w.]+) [-0-9a-f]+\]`)
)

func parseCompaction(l line) (bench.Result, error) {
	m := compactionLine.FindStringSubmatch(l.text)
	if m == nil {
		return bench.Result{}, nil
	}
	g := gatherer{at: l, result: bench.Result{Name: m[1]}}
	if table := compactionTable.FindStringSubmatch(l.text); table != nil {
		g.result.Name = table[1]
	}
	g.parse("bandwidth", m[3], "MiB/s")
	g.parse("compaction_time", m[2], "ms")
	return g.parsed()
}
