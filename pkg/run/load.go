package run

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Load is how busy the machine is at a moment, by counters that only rise. Its
// zero value is that nothing is known.
type Load struct {
	// Ticks of all processors since the start of the machine: all, those in which
	// one worked for anybody here, and those that the hypervisor kept from it.
	total, busy, steal float64
	// average is the number of processes that ran or waited to, over the last
	// minute; stalled how long some process waited for a processor, ever.
	average float64
	stalled time.Duration
	cores   int
}

// A Disturbance is what else went on between two moments.
type Disturbance struct {
	Others  float64 // share of the processors that others used
	Steal   float64 // share of the processors that the hypervisor took
	Stalled float64 // share of the time in which some process waited for one
	// Before is the number of processes for each processor that ran or waited
	// when it began.
	Before float64
}

// Until returns what else went on since l, of which ours is the processor time
// of the runs and of this process; ok is false where it is not known.
func (l Load) Until(end Load, elapsed, ours time.Duration) (d Disturbance, ok bool) {
	ticks := end.total - l.total
	if l.total == 0 || ticks <= 0 || l.cores == 0 || elapsed <= 0 {
		return Disturbance{}, false
	}
	// A tick is 1/USER_HZ s, which is 1/100 s wherever Linux runs; by the ticks
	// of idling and working together it need not be known.
	perTick := elapsed.Seconds() * float64(l.cores) / ticks
	return Disturbance{
		Others:  max(0, (end.busy-l.busy)-ours.Seconds()/perTick) / ticks,
		Steal:   max(0, end.steal-l.steal) / ticks,
		Stalled: max(0, min(1, (end.stalled-l.stalled).Seconds()/elapsed.Seconds())),
		Before:  l.average / float64(l.cores),
	}, true
}

// Beyond these shares a disturbance is worth a word.
const (
	muchByOthers = 0.10
	muchStolen   = 0.02
	busyBefore   = 0.75
)

// Words says what disturbed, in a sentence for a report; "" where nothing did
// that would be worth one.
func (d Disturbance) Words() string {
	var said []string
	if d.Others > muchByOthers {
		said = append(said, fmt.Sprintf("other processes took %.0f %% of the processors", 100*d.Others))
	}
	if d.Steal > muchStolen {
		said = append(said, fmt.Sprintf("the hypervisor took %.0f %% of them", 100*d.Steal))
	}
	if d.Before > busyBefore {
		said = append(said, fmt.Sprintf("there were %.1f processes for each of them before it began", d.Before))
	}
	if len(said) == 0 {
		return ""
	}
	return "the machine was busy with something else: " + strings.Join(said, ", ")
}

// parseLoad reads the files of /proc that tell of load: stat, loadavg and
// pressure/cpu. https://docs.kernel.org/filesystems/proc.html#miscellaneous-kernel-statistics-in-proc-stat
func parseLoad(stat, loadavg, pressure string) Load {
	var l Load
	for line := range strings.Lines(stat) {
		f := strings.Fields(line)
		if len(f) == 0 || !strings.HasPrefix(f[0], "cpu") {
			continue
		}
		if f[0] != "cpu" {
			l.cores++
			continue
		}
		// user nice system idle iowait irq softirq steal; guest time is in user's.
		for i, s := range f[1:min(len(f), 9)] {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return Load{}
			}
			l.total += v
			switch i {
			case 3, 4: // idle, iowait
			case 7:
				l.steal = v
			default:
				l.busy += v
			}
		}
	}
	if f := strings.Fields(loadavg); len(f) > 0 {
		l.average, _ = strconv.ParseFloat(f[0], 64) // 0 where it is not told
	}
	if _, total, ok := strings.Cut(pressure, "total="); ok {
		micros, _ := strconv.ParseInt(strings.Fields(total + " ")[0], 10, 64)
		l.stalled = time.Duration(micros) * time.Microsecond
	}
	return l
}
