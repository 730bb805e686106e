package stat

import (
	"math"
	"slices"
)

// A Job is what one job measured of one quantity, in a few numbers.
type Job struct {
	Center   float64 // median of the logarithms
	Variance float64 // robust variance of the logarithms within the job
	Count    int     // values
}

// Summarize returns the job that measured these logarithms.
func Summarize(logs []float64) Job {
	return Job{Center: Median(logs), Variance: math.Pow(RobustSD(logs), 2), Count: len(logs)}
}

// jobsLookedAt is how many of the latest jobs count.
const jobsLookedAt = 20

// FewestJobs is the number of jobs from which on the noise between jobs can be
// told.
const FewestJobs = 6

// JobsForHistoryRule is the number of jobs from which on the history alone may
// judge a single value.
const JobsForHistoryRule = 10

// BetweenJobs returns the standard deviation between jobs of the same code: the
// noise that no statistic over one job can see. jobs are oldest first, the last
// 20 count. Level shifts are taken out by differencing, and the noise within
// the jobs is subtracted. It is not known, and ok false, from fewer than 6 jobs.
func BetweenJobs(jobs []Job) (sd float64, ok bool) {
	jobs = recent(jobs)
	if len(jobs) < FewestJobs {
		return 0, false
	}
	step := successive(jobs)
	var within []float64
	for _, j := range jobs {
		if j.Count > 1 {
			// The variance of a median of n normal values is π/2 · σ²/n.
			within = append(within, math.Pi/2*j.Variance/float64(j.Count))
		}
	}
	variance := step * step / 2
	if len(within) > 0 {
		variance -= Median(within)
	}
	return math.Sqrt(max(0, variance)), true
}

// normal90 is the quantile of the standard normal distribution that one of ten
// absolute values is beyond.
const normal90 = 1.6449

// TailBetweenJobs returns the standard deviation that normal noise between jobs
// would have if one of ten steps from a job to the next were as large as it is
// here. Where the noise has long tails it is above BetweenJobs: what is picked
// among many jobs lies in the tails. A few changes of level do not move it.
func TailBetweenJobs(jobs []Job) float64 {
	d := steps(jobs)
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[(len(d)-1)*9/10] / (normal90 * math.Sqrt2)
}

// successive returns the robust standard deviation of the differences between
// successive jobs.
func successive(jobs []Job) float64 { return madScale * Median(steps(jobs)) }

// steps are the distances from each job to the next.
func steps(jobs []Job) []float64 {
	var d []float64
	for i := 1; i < len(jobs); i++ {
		d = append(d, math.Abs(jobs[i].Center-jobs[i-1].Center))
	}
	return d
}

// LatestCenter returns the median of the last 5 jobs' centers.
func LatestCenter(jobs []Job) float64 {
	jobs = recent(jobs)
	var centers []float64
	for _, j := range jobs[max(0, len(jobs)-5):] {
		centers = append(centers, j.Center)
	}
	return Median(centers)
}

// NoiseFloor returns the smallest distance from LatestCenter that is no noise:
// four robust standard deviations of one job's median.
func NoiseFloor(jobs []Job) float64 { return 4 * successive(recent(jobs)) / math.Sqrt2 }

func recent(jobs []Job) []Job { return jobs[max(0, len(jobs)-jobsLookedAt):] }
