package format

import (
	"github.com/noslower/noslower/pkg/bench"
)

// The lines of ScyllaDB's perf_s3_client, which
// https://github.com/scylladb/scylladb/blob/master/test/perf/perf_s3_client.cc
// logs, with MB that are MiB:
//
//	INFO  2026-01-05 12:00:00,000 [shard 0:main] perf - Uploaded 1024MB in 9.490644522s, speed 107.895728011548MB/s
var _ = register(Format{
	Name:  "perf-s3-client",
	Tool:  "ScyllaDB perf_s3_client",
	Print: "perf_s3_client --upload --object_size 1073741824",
	How:   `lines of "Uploaded NMB in Fs, speed FMB/s"`,
	Sniff: sniffLine(`\b[A-Z][a-z]+ed \d+MB in [\d.]+s, speed [\d.]+MB/s`),
	Read:  byLine(parseS3Client),
})

var s3Client = compile(`\b([A-Z][a-z]+ed \d+MB) in (\S+)s, speed (\S+)MB/s`)

func parseS3Client(l line) (bench.Result, error) {
	m := s3Client.FindStringSubmatch(l.text)
	if m == nil {
		return bench.Result{}, nil
	}
	g := gatherer{at: l, result: bench.Result{Name: m[1]}}
	g.parse("bandwidth", m[3], "MiB/s")
	g.parse("wall_time", m[2], "s")
	return g.parsed()
}
