package format_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/format"
)

// BenchmarkLongLine reads inputs whose lines are matched
// part by part as one line that goes on and on: a byte of a long one is to cost
// what one of a short one does.
func BenchmarkLongLine(b *testing.B) {
	for _, name := range []string{"scylla", "catch2", "tarantool"} {
		f, err := format.ByName(name)
		if err != nil {
			b.Fatal(err)
		}
		for _, size := range []int{50_000, 200_000} {
			b.Run(fmt.Sprintf("%s/%dkB", name, size/1000), func(b *testing.B) {
				var lines []string
				for _, path := range inputs(b, name) {
					line := strings.Join(strings.Fields(string(read(b, path))), " ") + " "
					lines = append(lines, strings.Repeat(line, 1+size/len(line))[:size])
				}
				b.SetBytes(int64(len(lines) * size))
				for b.Loop() {
					for _, line := range lines {
						for range f.Read(strings.NewReader(line), "input") {
						}
					}
				}
			})
		}
	}
}
