package github

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestTags: all of them, however many pages they are on.
func TestTags(t *testing.T) {
	f := start(t)
	var want []Tag
	for i := range 230 {
		tag := Tag{fmt.Sprintf("v1.%d", i), strings.Repeat(fmt.Sprint(i%10), 40)}
		f.AddTag(tag.Name, tag.Commit)
		want = append(want, tag)
	}
	if got, err := client(t, f).Tags(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Errorf("Tags = %v, %v, want %v", got, err, want)
	}
}
