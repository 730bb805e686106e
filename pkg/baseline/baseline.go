// Package baseline keeps measurements between builds and picks the ones to
// compare with.
//
// It knows what a record is and which record may be trusted. Where records lie,
// in a folder or at GitHub, it does not know: bytes come and go.
package baseline

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/noslower/noslower/pkg/bench"
)

// RecordSchema names the record document and its major version.
const RecordSchema = "noslower.record/v1"

// MaxJobs is how many earlier jobs a record carries.
const MaxJobs = 50

// A Record is what is kept of one job: its measurements, and in a few numbers
// what the jobs before it measured, so that one record brings the history.
type Record struct {
	Measurements bench.Measurements
	Jobs         []Job // before Measurements, oldest first
	Origin       Origin
	Policy       []Standard // by which the measurements were judged
	Program      *Program   // what was measured, kept beside the record; nil where it was not
	Changes      []Change   // of level, among the jobs and the measurements, that were told of
	Profile      *Profile   // of what was measured; nil where there is none
}

// A Program is the built files of a benchmark, as they are kept in an archive.
type Program struct {
	Digest string // "sha256:" and hexadecimal digits, of the archive
	Files  []ProgramFile
}

// A ProgramFile is a file of a program.
type ProgramFile struct {
	Path string // within the program's folder, with slashes
	Mode uint32 // permission bits
}

// A Standard is what a metric of a benchmark was judged by when the record was
// kept: a change cannot loosen it without being seen.
type Standard struct {
	Key        bench.Key
	Gating     bool
	Fail, Warn float64  // shares of the metric; 0 where there is none
	Limit      *float64 // absolute
}

// A Job is a job of the past.
type Job struct {
	Commit       string
	Time         time.Time
	MachineClass string
	Quantities   []Quantity
}

// A Quantity is what a job measured of one benchmark and metric.
type Quantity struct {
	Key      bench.Key
	Center   float64 // logarithm of the median, of the metric itself
	Variance float64 // robust variance of the logarithms within the job
	Count    int     // values behind it
}

// Next returns the record that follows r: the measurements of a new job, with
// those of r, summarized by quantities, as the latest of its past.
func (r Record) Next(m bench.Measurements, quantities []Quantity) Record {
	jobs := r.Trail(quantities)
	jobs = jobs[max(0, len(jobs)-MaxJobs):]
	return Record{Measurements: m, Jobs: jobs, Changes: known(r.Changes, jobs)}
}

// History returns what the jobs of a machine class measured, by key, oldest
// first.
func (r Record) History(machineClass string) map[bench.Key][]Quantity {
	h := map[bench.Key][]Quantity{}
	for _, j := range r.Jobs {
		if j.MachineClass != machineClass {
			continue
		}
		for _, q := range j.Quantities {
			h[q.Key] = append(h[q.Key], q)
		}
	}
	return h
}

// The document's own types: a contract that outlives the types above.
type (
	recordDoc struct {
		Schema       string          `json:"schema"`
		Measurements json.RawMessage `json:"measurements"`
		Jobs         []jobDoc        `json:"jobs"`
		Origin       *originDoc      `json:"origin,omitempty"`
		Policy       []standardDoc   `json:"policy,omitempty"`
		Program      *programDoc     `json:"program,omitempty"`
		Changes      []changeDoc     `json:"changes,omitempty"`
		Profile      *profileDoc     `json:"profile,omitempty"`
	}
	changeDoc struct {
		Benchmark string    `json:"benchmark"`
		Metric    string    `json:"metric"`
		Machine   string    `json:"machine,omitempty"`
		Commit    string    `json:"commit,omitempty"`
		Time      time.Time `json:"time"`
		Rose      bool      `json:"rose"`
	}
	programDoc struct {
		Digest string           `json:"digest"`
		Files  []programFileDoc `json:"files"`
	}
	programFileDoc struct {
		Path string `json:"path"`
		Mode uint32 `json:"mode"`
	}
	originDoc struct {
		RepositoryID int64 `json:"repository_id,omitempty"`
		RunID        int64 `json:"run_id,omitempty"`
		Attempt      int   `json:"run_attempt,omitempty"`
	}
	standardDoc struct {
		Benchmark string   `json:"benchmark"`
		Metric    string   `json:"metric"`
		Gating    bool     `json:"gating"`
		Fail      float64  `json:"fail,omitempty"`
		Warn      float64  `json:"warn,omitempty"`
		Limit     *float64 `json:"limit,omitempty"`
	}
	jobDoc struct {
		Commit     string        `json:"commit,omitempty"`
		Time       time.Time     `json:"time"`
		Machine    string        `json:"machine,omitempty"`
		Quantities []quantityDoc `json:"quantities"`
	}
	quantityDoc struct {
		Benchmark string  `json:"benchmark"`
		Metric    string  `json:"metric"`
		Center    float64 `json:"log_median"`
		Variance  float64 `json:"log_variance"`
		Count     int     `json:"count"`
	}
)

// Encode returns the record document.
func (r Record) Encode() ([]byte, error) {
	measurements, err := r.Measurements.Encode()
	if err != nil {
		return nil, err
	}
	doc := recordDoc{Schema: RecordSchema, Measurements: measurements, Jobs: []jobDoc{}, Profile: r.Profile.doc()}
	if r.Origin != (Origin{}) {
		doc.Origin = &originDoc{r.Origin.RepositoryID, r.Origin.RunID, r.Origin.Attempt}
	}
	for _, s := range r.Policy {
		doc.Policy = append(doc.Policy, standardDoc{s.Key.Benchmark, s.Key.Metric, s.Gating, s.Fail, s.Warn, s.Limit})
	}
	if p := r.Program; p != nil {
		doc.Program = &programDoc{Digest: p.Digest}
		for _, f := range p.Files {
			doc.Program.Files = append(doc.Program.Files, programFileDoc(f))
		}
	}
	for _, j := range r.Jobs {
		d := jobDoc{j.Commit, j.Time.UTC(), j.MachineClass, []quantityDoc{}}
		for _, q := range j.Quantities {
			d.Quantities = append(d.Quantities, quantityDoc{q.Key.Benchmark, q.Key.Metric, q.Center, q.Variance, q.Count})
		}
		doc.Jobs = append(doc.Jobs, d)
	}
	for _, c := range r.Changes {
		doc.Changes = append(doc.Changes, changeDoc{c.Key.Benchmark, c.Key.Metric, c.MachineClass, c.Commit, c.Time.UTC(), c.Rose})
	}
	return bench.EncodeDocument(doc, "")
}

// Decode reads a record document. Every fault of it is reported; a document
// with a fault yields nothing.
func Decode(data []byte) (Record, error) {
	var doc recordDoc
	if err := bench.DecodeDocument(data, RecordSchema, &doc); err != nil {
		return Record{}, err
	}
	var faults []error
	m, err := bench.DecodeMeasurements(doc.Measurements)
	if err != nil {
		faults = append(faults, fmt.Errorf("measurements: %w", err))
	}
	r := Record{Measurements: m}
	if o := doc.Origin; o != nil {
		r.Origin = Origin{o.RepositoryID, o.RunID, o.Attempt}
	}
	if p := doc.Program; p != nil {
		r.Program = &Program{Digest: p.Digest}
		for _, f := range p.Files {
			r.Program.Files = append(r.Program.Files, ProgramFile(f))
		}
	}
	for _, s := range doc.Policy {
		r.Policy = append(r.Policy, Standard{bench.Key{Benchmark: s.Benchmark, Metric: s.Metric}, s.Gating, s.Fail, s.Warn, s.Limit})
	}
	for i, j := range doc.Jobs {
		job := Job{Commit: j.Commit, Time: j.Time, MachineClass: j.Machine}
		for k, q := range j.Quantities {
			if q.Count < 1 || q.Variance < 0 || math.Abs(q.Center) > maxLog {
				faults = append(faults, fmt.Errorf("job %d, quantity %d: want a count of 1 or more, a variance of 0 or more and a log_median within ±%v, have %d, %v and %v",
					i+1, k+1, maxLog, q.Count, q.Variance, q.Center))
			}
			job.Quantities = append(job.Quantities, Quantity{bench.Key{Benchmark: q.Benchmark, Metric: q.Metric}, q.Center, q.Variance, q.Count})
		}
		r.Jobs = append(r.Jobs, job)
	}
	r.Jobs = r.Jobs[max(0, len(r.Jobs)-MaxJobs):]
	for _, c := range doc.Changes {
		r.Changes = append(r.Changes, Change{bench.Key{Benchmark: c.Benchmark, Metric: c.Metric}, c.Machine, c.Commit, c.Time, c.Rose})
	}
	if r.Profile, err = doc.Profile.profile(); err != nil {
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return Record{}, err
	}
	return r, nil
}

// maxLog bounds the logarithm of a floating-point number that is not zero.
const maxLog = 746
