package baseline

import (
	"strings"
	"testing"
)

// TestBadProfile: what no profile can have is refused, whoever wrote it.
func TestBadProfile(t *testing.T) {
	cost := `{"function":"f","self":1}`
	for profile, want := range map[string]string{
		`{"total":1,"costs":[` + strings.Repeat(cost+",", MaxCosts) + cost + `]}`: "want at most 5000 costs, have 5001",
		`{"total":1,"costs":[` + cost + `,{"function":"f","line":-1,"self":1}]}`:  "profile, cost 2: want a line of 0 or more",
		`{"total":1,"costs":[{"function":"f","self":1e300}]}`:                     "instructions that can be counted, have 0 and 1e+300",
	} {
		doc := `{"schema":"noslower.record/v1","measurements":{"schema":"noslower.measurements/v1","suite":"s","samples":[]},"jobs":[],"profile":` + profile + `}`
		if _, err := Decode([]byte(doc)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
