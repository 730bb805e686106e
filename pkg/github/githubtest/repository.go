package githubtest

import (
	"cmp"
	"slices"
	"time"
)

// A Run is a run of a workflow. Zero fields are those of a first attempt, done
// well, of the repository's own.
type Run struct {
	ID               int64
	Number, Attempt  int
	Workflow         string // the file's path
	Event            string
	Branch, SHA      string // of the head
	HeadRepositoryID int64
	HeadRepository   string // owner/name
	Conclusion       string
	Created          time.Time
	Started          time.Time // of the newest attempt
}

// A Pull is a pull request. Zero fields are those of an open one into main, from
// the repository's own.
type Pull struct {
	Number           int
	State            string
	Draft            bool
	Branch, SHA      string // of the head
	HeadRepositoryID int64
	HeadRepository   string
	Base, BaseSHA    string
	Labels           []string
}

// A Comment is a comment on a pull request.
type Comment struct {
	ID     int64
	Pull   int
	Author string
	Body   string
}

type commit struct {
	sha     string
	parents []string
}

type tag struct{ name, sha string }

type event struct {
	id    int64
	pull  int
	what  string
	label string
	actor string
	at    time.Time
}

type activity struct {
	repository, ref, after string
	at                     time.Time
}

// AddCommit adds a commit and makes it the tip of a branch, "" for none.
func (f *Fake) AddCommit(branch, sha string, parents ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commits = append(f.commits, commit{sha, parents})
	if branch != "" {
		f.branches[branch] = sha
	}
}

// AddTag adds a tag of a commit.
func (f *Fake) AddTag(name, sha string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tags = append(f.tags, tag{name, sha})
}

// AddFile adds a file as it is at a ref, a commit or a branch's name.
func (f *Fake) AddFile(ref, path string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files[ref+":"+path] = data
}

// AddRun adds a run, the newest, and returns it with what was filled in.
func (f *Fake) AddRun(r Run) Run {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.ID = cmp.Or(r.ID, f.id())
	r.Number = cmp.Or(r.Number, len(f.runs)+1)
	r.Attempt = cmp.Or(r.Attempt, 1)
	r.Workflow = cmp.Or(r.Workflow, ".github/workflows/bench.yml")
	r.Event = cmp.Or(r.Event, "push")
	r.Branch = cmp.Or(r.Branch, f.DefaultBranch)
	r.HeadRepositoryID = cmp.Or(r.HeadRepositoryID, f.RepositoryID)
	r.HeadRepository = cmp.Or(r.HeadRepository, f.Owner+"/"+f.Name)
	r.Conclusion = cmp.Or(r.Conclusion, "success")
	if r.Created.IsZero() {
		r.Created = f.Now()
	}
	if r.Started.IsZero() {
		r.Started = r.Created
	}
	f.runs = append(f.runs, r)
	return r
}

// Rerun starts the next attempt of a run and returns it.
func (f *Fake) Rerun(id int64) Run {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.runs {
		if f.runs[i].ID == id {
			f.runs[i].Attempt++
			f.runs[i].Started = f.Now()
			return f.runs[i]
		}
	}
	return Run{}
}

// AddPull adds a pull request.
func (f *Fake) AddPull(p Pull) Pull {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.Number = cmp.Or(p.Number, len(f.pulls)+1)
	p.State = cmp.Or(p.State, "open")
	p.HeadRepositoryID = cmp.Or(p.HeadRepositoryID, f.RepositoryID)
	p.HeadRepository = cmp.Or(p.HeadRepository, f.Owner+"/"+f.Name)
	p.Base = cmp.Or(p.Base, f.DefaultBranch)
	f.pulls = append(f.pulls, p)
	return p
}

// Push moves the head of a pull request, and logs it as GitHub does.
func (f *Fake) Push(pull int, sha string, force bool) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.Now()
	for i := range f.pulls {
		p := &f.pulls[i]
		if p.Number != pull {
			continue
		}
		p.SHA = sha
		f.activity = append(f.activity, activity{p.HeadRepository, "refs/heads/" + p.Branch, sha, at})
		if force {
			f.events = append(f.events, event{f.id(), pull, "head_ref_force_pushed", "", "author", at})
		}
	}
	return at
}

// ForgetActivity empties the logs of activity, as those of a private fork are.
func (f *Fake) ForgetActivity() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.activity = nil
}

// Label puts a label on a pull request.
func (f *Fake) Label(pull int, label, actor string) time.Time {
	return f.relabel(pull, "labeled", label, actor)
}

// Unlabel takes a label off a pull request.
func (f *Fake) Unlabel(pull int, label, actor string) time.Time {
	return f.relabel(pull, "unlabeled", label, actor)
}

func (f *Fake) relabel(pull int, what, label, actor string) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.Now()
	f.events = append(f.events, event{f.id(), pull, what, label, actor, at})
	for i := range f.pulls {
		if p := &f.pulls[i]; p.Number == pull {
			p.Labels = slices.DeleteFunc(p.Labels, func(l string) bool { return l == label })
			if what == "labeled" {
				p.Labels = append(p.Labels, label)
			}
		}
	}
	return at
}

// AddComment adds a comment.
func (f *Fake) AddComment(pull int, author, body string) Comment {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := Comment{f.id(), pull, author, body}
	f.comments = append(f.comments, c)
	return c
}

// RemoveComment deletes a comment, as a person does.
func (f *Fake) RemoveComment(id int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.comments = slices.DeleteFunc(f.comments, func(c Comment) bool { return c.ID == id })
}

// Comments returns the comments on a pull request, in order.
func (f *Fake) Comments(pull int) []Comment {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.comments), func(c Comment) bool { return c.Pull != pull })
}

// history returns the commits that one has in its history, itself first, newest
// first.
func (f *Fake) history(ref string) []commit {
	if sha, ok := f.branches[ref]; ok {
		ref = sha
	}
	if i := slices.IndexFunc(f.tags, func(t tag) bool { return t.name == ref }); i >= 0 {
		ref = f.tags[i].sha
	}
	reached := map[string]bool{ref: true}
	var out []commit
	for _, c := range slices.Backward(f.commits) {
		if reached[c.sha] {
			out = append(out, c)
			for _, p := range c.parents {
				reached[p] = true
			}
		}
	}
	return out
}
