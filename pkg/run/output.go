package run

import (
	"bytes"
	"os"
	"sync"
	"time"
)

// A stream is one of the two that a command prints to.
type stream int8

const (
	stdout stream = iota
	stderr
)

// A span says which stream the bytes of an output came from, from the end of the
// span before it up to end.
type span struct {
	end  int
	from stream
}

// pick returns the bytes of out that came from the given stream.
func pick(out []byte, spans []span, from stream) []byte {
	var b []byte
	start := 0
	for _, s := range spans {
		if s.from == from {
			b = append(b, out[start:s.end]...)
		}
		start = s.end
	}
	return b
}

// An output gathers what a command prints, line by line as the lines arrive.
type output struct {
	over chan struct{} // closed when more than max bytes have come

	read, write [2]*os.File // the pipes, by stream
	copies      sync.WaitGroup

	mu    sync.Mutex
	max   int64
	size  int64 // bytes in buf and rest
	buf   []byte
	spans []span
	rest  [2][]byte // the unfinished line of each stream
}

func newOutput(limit int64) (*output, error) {
	o := &output{max: limit, over: make(chan struct{})}
	for s := range o.read {
		var err error
		if o.read[s], o.write[s], err = os.Pipe(); err != nil {
			o.started()
			o.finish(0)
			return nil, err
		}
	}
	return o, nil
}

// ends returns the files for a command to print to.
func (o *output) ends() (out, err *os.File) { return o.write[stdout], o.write[stderr] }

// started closes our copies of the ends, now that the command has its own, and
// begins to read.
func (o *output) started() {
	for s := range o.write {
		if o.write[s] == nil {
			continue
		}
		o.write[s].Close()
		o.copies.Go(func() { o.copy(stream(s)) })
	}
}

// finish waits for the end of both streams, at most for the given time, and for
// the last word on buf and spans.
func (o *output) finish(limit time.Duration) {
	for _, f := range o.read {
		if f != nil {
			// A pipe without deadlines would only lose the limit.
			_ = f.SetReadDeadline(time.Now().Add(limit))
		}
	}
	o.copies.Wait()
	for _, f := range o.read {
		if f != nil {
			f.Close()
		}
	}
}

func (o *output) copy(s stream) {
	b := make([]byte, 64<<10)
	for {
		n, err := o.read[s].Read(b)
		o.add(s, b[:n])
		// The end, the deadline of finish, or a pipe that broke: there is no more.
		if err != nil {
			break
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put(s, o.rest[s])
	o.rest[s] = nil
}

// add takes what one stream has printed. Beyond the bound it forgets, and reads
// on only so that nobody is stuck in a full pipe.
func (o *output) add(s stream, b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := o.max - o.size; int64(len(b)) > room {
		if !o.full() {
			close(o.over)
		}
		b = b[:room]
	}
	o.size += int64(len(b))
	if i := bytes.LastIndexByte(b, '\n') + 1; i > 0 {
		o.put(s, o.rest[s])
		o.rest[s] = o.rest[s][:0]
		o.put(s, b[:i])
		b = b[i:]
	}
	o.rest[s] = append(o.rest[s], b...)
}

// put appends b to the whole. A line that its stream never finished does not run
// into one of the other stream.
func (o *output) put(s stream, b []byte) {
	if len(b) == 0 {
		return
	}
	last := len(o.spans) - 1
	if last >= 0 && o.spans[last].from != s && o.buf[len(o.buf)-1] != '\n' {
		o.buf = append(o.buf, '\n')
		o.spans[last].end++
	}
	o.buf = append(o.buf, b...)
	if last >= 0 && o.spans[last].from == s {
		o.spans[last].end = len(o.buf)
		return
	}
	o.spans = append(o.spans, span{len(o.buf), s})
}

// full tells whether more came than the bound allows.
func (o *output) full() bool {
	select {
	case <-o.over:
		return true
	default:
		return false
	}
}
