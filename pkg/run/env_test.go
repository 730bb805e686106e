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

// TestHostEnvCredentials: what looks like a credential is held back by its name
// or its value, and nothing that only resembles one.
func TestHostEnvCredentials(t *testing.T) {
	for _, kv := range strings.Fields("GH_PAT=x pat=x STRIPE_KEY=x deploy_key=x SSH_AUTH_SOCK=/tmp/agent MYSQL_PWD=x " +
		"DATABASE_URL=postgres://u:p@h/d REDIS=redis://:p@h:6379 AMQP=amqp://u:p%40q@h GOPROXY=https://u:p@proxy,direct https_proxy=http://u:p@proxy:3128") {
		if got := HostEnv([]string{kv}, nil); len(got) > 0 {
			t.Errorf("%s was let through", kv)
		}
		name, _, _ := strings.Cut(kv, "=")
		if got := HostEnv([]string{kv}, []string{name}); len(got) != 1 {
			t.Errorf("%s was held back, and is allowed by name", kv)
		}
	}
	for _, kv := range strings.Fields("GOPATH=/go MANPATH=/m PATH=/bin PWD=/w OLDPWD=/w INIT_CWD=/w KEYBOARD=de MONKEY=1 KEY_COUNT=9 PATTERN=x " +
		"CI_URL=https://host:8080/a@b GOPROXY=https://modules.example.org,direct GIT=ssh://git@host/r SPEC=git@host:a/b SHELL_OPTS=a:b@c " +
		"SOCKET=unix:///var/run/x MAIL=mailto:a@b GIT_CONFIG_KEY_0=url.https://u:p@h/.insteadOf GIT_CONFIG_VALUE_0=https://u:p@h/") {
		if got := HostEnv([]string{kv}, nil); len(got) != 1 {
			t.Errorf("%s was held back", kv)
		}
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
