package format

import (
	"github.com/noslower/noslower/pkg/bench"
)

// fio's JSON (https://fio.readthedocs.io/en/latest/fio_doc.html#json-output), of
// versions 2 and 3, alone or among its other output:
//
//	{"fio version": "fio-3.33", "jobs": [{
//	  "jobname": "randrw", "error": 0,
//	  "read": {
//	    "bw_bytes": 138699034, "iops": 33862.07, "total_ios": 982,
//	    "clat_ns": {"mean": 51569.31, "percentile": {"50.000000": 49920, …}},
//	    "lat_ns": {"max": 980433, "mean": 51618.89}
//	  },
//	  "write": {…}, "trim": {…}
//	}]}
//
// Each direction of a job in which something was done is a benchmark, as in
// fio-text. Latencies are of the whole operation (lat), percentiles those that
// fio has: of the completion (clat) unless it is told lat_percentiles. Jobs of
// one name (numjobs without group_reporting) are repeats. Version 2 counts
// bandwidth in KiB/s and latencies in microseconds.
var _ = register(Format{
	Name:  "fio",
	Tool:  "fio --output-format=json",
	Print: "fio --name=randread --rw=randread --size=1g --group_reporting --output-format=json",
	How:   `a JSON object with "fio version" and "jobs"`,
	Seen:  []string{"fio 3.33"},
	Sniff: sniffDocument(fioShape),
	Read:  fioShape.read(readFio),
})

var fioShape = withKeys("fio version", "jobs").orElse(withKeys("fio version", "client_stats"))

type fioJobStats struct {
	Name   string     `json:"jobname"`
	Error  int        `json:"error"`
	Errors jsonNumber `json:"total_err"` // with continue_on_error
	Read   fioStats   `json:"read"`
	Write  fioStats   `json:"write"`
	Trim   fioStats   `json:"trim"`
}

type fioStats struct {
	Operations jsonNumber     `json:"total_ios"`
	Bytes      jsonNumber     `json:"bw_bytes"`
	KiB        jsonNumber     `json:"bw"`
	IOPS       jsonNumber     `json:"iops"`
	Latency    fioLatencyData `json:"lat_ns"`
	Completion fioLatencyData `json:"clat_ns"`
	// Version 2.
	LatencyMicros    fioLatencyData `json:"lat"`
	CompletionMicros fioLatencyData `json:"clat"`
}

type fioLatencyData struct {
	Mean        jsonNumber `json:"mean"`
	Max         jsonNumber `json:"max"`
	Percentiles jsonObject `json:"percentile"`
}

func readFio(d *jsonDocument) error {
	d.halves = 1 // a job tells of each direction
	return d.members(func(key string) error {
		if key != "jobs" && key != "client_stats" { // which are of several machines
			return d.skip()
		}
		return d.elements(func() error {
			var job fioJobStats
			if err := d.decode(&job); err != nil {
				return err
			}
			job.results(d)
			return nil
		})
	})
}

func (j *fioJobStats) results(d *jsonDocument) {
	if j.Error != 0 {
		d.warnf(j.Name, "want a job with error 0, have %d: its results are of a part of its work, if there are any", j.Error)
	}
	j.side(d, "read", j.Read)
	j.side(d, "write", j.Write)
	j.side(d, "trim", j.Trim)
}

func (j *fioJobStats) side(d *jsonDocument, direction string, s fioStats) {
	if s.Operations.v == 0 && s.IOPS.v == 0 || d.isHalf() && j.Name == "" {
		return
	}
	g := gatherer{result: bench.Result{Name: j.Name + "/" + direction}}
	g.rate("iops", s.IOPS, "iops")
	if s.Bytes.present() {
		g.rate("bandwidth", s.Bytes, "B/s")
	} else if !d.isHalf() {
		g.rate("bandwidth", s.KiB, "KiB/s")
	}
	latency, completion, unit := s.Latency, s.Completion, "ns"
	if !latency.Mean.present() {
		latency, completion, unit = s.LatencyMicros, s.CompletionMicros, "us"
	}
	g.number("latency_mean", latency.Mean, unit)
	g.number("latency_max", latency.Max, unit)
	g.percentiles(completion.Percentiles, unit)
	if len(completion.Percentiles) == 0 && (completion.Mean.present() || !d.isHalf()) {
		g.percentiles(latency.Percentiles, unit)
	}
	failed := j.Errors.count()
	if j.Error != 0 {
		failed = max(1, failed)
	}
	if j.Errors.present() || !d.isHalf() { // they come last
		g.measure("errors", failed, "errors")
	}
	g.report(d)
}
