package run

import (
	"slices"
	"strings"
	"testing"
)

func TestEnv(t *testing.T) {
	environ := strings.Fields("PATH=/bin HOME=/root LANG=C LC_ALL=C LC_TIME=C TZ=UTC TMPDIR=/tmp " +
		"GOFLAGS=-v CARGO_HOME=/c RUNNER_TEMP=/t GITHUB_SHA=abc GITHUB_WORKSPACE=/w MONKEY=1 SHELL=a=b EMPTY= " +
		"GITHUB_TOKEN=s GH_TOKEN=s npm_config_authtoken=s AWS_SECRET_ACCESS_KEY=s AWS_ACCESS_KEY_ID=s PGPASSWORD=s " +
		"ACTIONS_RUNTIME_URL=u ACTIONS_CACHE_URL=u INPUT_COMMAND=c INPUT_GITHUB-X=y STATE_pre=1 " +
		"GITHUB_ENV=f GITHUB_OUTPUT=f GITHUB_PATH=f GITHUB_STATE=f GITHUB_STEP_SUMMARY=f PATHS=x LC=x odd")
	for _, tt := range []struct {
		name  string
		rule  func(environ, allow []string) []string
		allow []string
		want  string
	}{
		{"container", ContainerEnv, nil, "PATH HOME LANG LC_ALL LC_TIME TZ TMPDIR"},
		{"container, with names", ContainerEnv, []string{"GITHUB_SHA", "GH_TOKEN", "NONE"}, "PATH HOME LANG LC_ALL LC_TIME TZ TMPDIR GITHUB_SHA GH_TOKEN"},
		{"host", HostEnv, nil, "PATH HOME LANG LC_ALL LC_TIME TZ TMPDIR GOFLAGS CARGO_HOME RUNNER_TEMP GITHUB_SHA GITHUB_WORKSPACE MONKEY SHELL EMPTY PATHS LC"},
		{"host, with names", HostEnv, []string{"GITHUB_TOKEN", "ACTIONS_CACHE_URL"}, "PATH HOME LANG LC_ALL LC_TIME TZ TMPDIR GOFLAGS CARGO_HOME RUNNER_TEMP GITHUB_SHA GITHUB_WORKSPACE MONKEY SHELL EMPTY GITHUB_TOKEN ACTIONS_CACHE_URL PATHS LC"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			given := slices.Clone(environ)
			var names []string
			for _, kv := range tt.rule(given, tt.allow) {
				if !slices.Contains(environ, kv) {
					t.Errorf("made up %s", kv)
				}
				name, _, _ := strings.Cut(kv, "=")
				names = append(names, name)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if !slices.Equal(given, environ) {
				t.Error("changed what it was given")
			}
		})
	}
}

func TestMergeSafeDirectory(t *testing.T) {
	for _, tt := range []struct{ name, environ, want string }{
		{"none yet", "A=1", "A=1 GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=/w"},
		{"nothing", "", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=/w"},
		{"some", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=a.b GIT_CONFIG_VALUE_0=c A=1",
			"GIT_CONFIG_KEY_0=a.b GIT_CONFIG_VALUE_0=c A=1 GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_1=safe.directory GIT_CONFIG_VALUE_1=/w"},
		{"empty count", "GIT_CONFIG_COUNT=", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=/w"},
		{"the last count counts", "GIT_CONFIG_COUNT=7 GIT_CONFIG_COUNT=0", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=/w"},
		{"a count that git refuses", "GIT_CONFIG_COUNT=x", "GIT_CONFIG_COUNT=x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(MergeSafeDirectory(strings.Fields(tt.environ), "/w"), " "); got != tt.want {
				t.Errorf("MergeSafeDirectory(%s)\ngot  %s\nwant %s", tt.environ, got, tt.want)
			}
		})
	}
}
