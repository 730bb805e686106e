package format

import (
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// What sysbench prints (https://github.com/akopytov/sysbench), of version 1 and,
// but for files, 0.4. After the numbers of the test,
//
//	CPU speed:
//	    events per second:  4486.67
//
//	Total operations: 1048576 (7140313.98 per second)
//	1024.00 MiB transferred (6972.96 MiB/sec)
//
//	File operations:
//	    reads/s:                      48974.22
//	Throughput:
//	    read, MiB/s:                  765.22
//
//	SQL statistics:
//	    transactions:                 1578   (538.08 per sec.)
//	    ignored errors:               4      (1.36 per sec.)
//
// come those of every test:
//
//	General statistics:
//	    total time:                   1.0002s
//	Latency (ms):
//	         avg:                     0.22
//	         max:                     0.45
//	         95th percentile:         0.24
//
// It does not print the test's name: the benchmark is named by what it says of
// the test, and by the threads. Reading and writing of files are two more.
var _ = register(Format{
	Name:  "sysbench",
	Tool:  "sysbench: cpu, memory, fileio, oltp_* and others",
	Print: "sysbench cpu --threads=4 --time=10 run",
	How:   `a line "Threads fairness:"`,
	Seen:  []string{"sysbench 1.0.20"},
	Sniff: sniffLine(`^[>\s]*Threads fairness:\s*$`),
	Read:  readSysbench,
})

var (
	sysbenchStart   = compile(`^sysbench \d+\.\d+`)
	sysbenchThreads = compile(`^Number of threads: (\d+)$`)
	sysbenchBlock   = compile(`^(?:block size|operation): (\S+)$`)
	sysbenchFiles   = compile(`^Doing (.+) test$`)
	sysbenchRate    = compile(`^(?:events per second|events/s \(eps\)):\s+(\S+)$`)
	sysbenchMemory  = compile(`^(?:Total operations|Operations performed): \d+ \(\s*(\S+) (?:per second|ops/sec)\)$`)
	sysbenchMoved   = compile(`^\S+ (?:MiB|MB) transferred \((\S+) (MiB|MB)/sec\)$`)
	sysbenchSQL     = compile(`^(transactions|ignored errors|reconnects):\s+(\d\S*)\s+\((\S+) per sec\.\)$`)
	sysbenchFile    = compile(`^(reads/s|writes/s|fsyncs/s|read, MiB/s|written, MiB/s):\s+(\S+)$`)
	sysbenchSide    = compile(`^(read|write):\s+IOPS=(\S+)\s+(\S+) MiB/s\b`)
	sysbenchTotal   = compile(`^(?:total time|time elapsed):\s+(-?(?:[\d.]\S*?|nan|inf))s$`)
	sysbenchLatency = compile(`^(avg|max|(?:approx\.\s+)?(\d+)(?:th)? percentile):\s+(-?(?:[\d.]\S*?|nan|inf))(?:ms)?$`)
)

func readSysbench(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		s := sysbenchReader{reporter: reporter{to: yield}}
		if eachUnquoted(r, name, yield, s.line) {
			s.end()
		}
	}
}

// A sysbenchReader gathers the report of one run.
type sysbenchReader struct {
	reporter
	kind, threads string
	read, write   gatherer // of files
}

func (s *sysbenchReader) line(l line) bool {
	text := l.text
	switch {
	case sysbenchStart.MatchString(text):
		ok := s.end()
		s.at = l
		return ok
	case text == "CPU speed:":
		s.kind = "cpu"
	case text == "SQL statistics:", text == "OLTP test statistics:":
		s.kind = "oltp"
	case strings.HasPrefix(text, "Running memory speed test"):
		s.kind = "memory"
	case strings.HasPrefix(text, "FATAL: "):
		return s.to(bench.Result{}, l.errorf("want a run in which nothing fails, have a failure"))
	case strings.HasPrefix(text, "Threads fairness:"):
		s.at = l
	default:
		s.number(text)
	}
	return true
}

func (s *sysbenchReader) number(text string) {
	if m := sysbenchThreads.FindStringSubmatch(text); m != nil {
		s.threads = " threads=" + m[1]
	} else if m := sysbenchBlock.FindStringSubmatch(text); m != nil && s.kind != "" {
		s.kind += " " + m[1]
	} else if m := sysbenchFiles.FindStringSubmatch(text); m != nil {
		s.kind = "fileio " + m[1]
	} else if m := sysbenchRate.FindStringSubmatch(text); m != nil {
		s.parseRate("throughput", m[1], "ops/s")
	} else if m := sysbenchMemory.FindStringSubmatch(text); m != nil {
		s.parseRate("throughput", m[1], "ops/s")
	} else if m := sysbenchMoved.FindStringSubmatch(text); m != nil {
		s.parseRate("bandwidth", m[1], "MiB/s") // which 0.4 calls MB
	} else if m := sysbenchSQL.FindStringSubmatch(text); m != nil {
		switch m[1] {
		case "transactions":
			s.parseRate("throughput", m[3], "tps")
		case "ignored errors":
			s.parse("errors", m[2], "errors")
		default:
			if n, err := parseNumber(m[2]); err == nil {
				s.lower("reconnects", n, "")
			} else {
				s.problem("want a number as reconnects, have %q", m[2])
			}
		}
	} else if m := sysbenchFile.FindStringSubmatch(text); m != nil {
		s.file(m[1], m[2])
	} else if m := sysbenchSide.FindStringSubmatch(text); m != nil {
		side := map[string]string{"read": "read, MiB/s", "write": "written, MiB/s"}[m[1]]
		s.file(m[1]+"s/s", m[2])
		s.file(side, m[3])
	} else if m := sysbenchTotal.FindStringSubmatch(text); m != nil {
		s.parse("wall_time", m[1], "s")
	} else if m := sysbenchLatency.FindStringSubmatch(text); m != nil {
		switch {
		case m[1] == "avg":
			s.parse("latency_mean", m[3], "ms")
		case m[1] == "max":
			s.parse("latency_max", m[3], "ms")
		case percentile(m[2]) != "":
			s.parse(percentile(m[2]), m[3], "ms")
		}
	}
}

// file takes a number of the operations on files. A test may do only one kind.
func (s *sysbenchReader) file(what, printed string) {
	if v, err := parseNumber(printed); err == nil && v == 0 {
		return
	}
	switch what {
	case "reads/s":
		s.read.parse("iops", printed, "ops/s")
	case "writes/s":
		s.write.parse("iops", printed, "ops/s")
	case "read, MiB/s":
		s.read.parse("bandwidth", printed, "MiB/s")
	case "written, MiB/s":
		s.write.parse("bandwidth", printed, "MiB/s")
	case "fsyncs/s":
		s.parse("fsyncs", printed, "ops/s")
	}
}

// end ends a report.
func (s *sysbenchReader) end() bool {
	name := strings.TrimSpace(s.kind + s.threads)
	s.result.Name, s.read.result.Name, s.write.result.Name = name, name+"/read", name+"/write"
	s.read.at, s.write.at = s.at, s.at
	s.read.result.Launch, s.write.result.Launch = s.launch, s.launch
	ok := s.next() && s.read.yield(s.to) && s.write.yield(s.to)
	*s = sysbenchReader{reporter: s.reporter}
	return ok
}
