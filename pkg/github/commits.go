package github

import (
	"context"
	"net/http"
	"net/url"

	gh "github.com/google/go-github/v62/github"
)

// A Comparison says how head stands to base.
type Comparison struct {
	Ahead  int // commits of head that base has not
	Behind int // commits of base that head has not
	// MergeBase is the newest commit that both have.
	MergeBase string
}

// BaseIsAncestor says whether head has base in its history, or is it.
func (c Comparison) BaseIsAncestor() bool { return c.Behind == 0 }

// Compare returns how head stands to base, each a commit or a branch's name. ok
// is false where the server does not tell, as Gitea: then only Commits says what
// is whose ancestor. A commit that the repository lacks is ErrNotFound.
func (c *Client) Compare(ctx context.Context, base, head string) (cmp Comparison, ok bool, err error) {
	var d gh.CommitsComparison
	_, err = c.do(ctx, question{
		method: http.MethodGet, path: "compare/" + url.PathEscape(base) + "..." + url.PathEscape(head), needs: "contents: read",
		query: url.Values{"per_page": {"1"}},
	}, &d)
	if err != nil {
		return Comparison{}, false, err
	}
	if d.AheadBy == nil || d.BehindBy == nil || d.MergeBaseCommit == nil {
		return Comparison{}, false, nil
	}
	return Comparison{d.GetAheadBy(), d.GetBehindBy(), d.GetMergeBaseCommit().GetSHA()}, true, nil
}

// A Commit is a commit's name and those of its parents, the first of which is
// where a branch came from.
type Commit struct {
	SHA     string
	Parents []string
}

// Commits returns at most limit commits that ref, a commit or a branch's name,
// has in its history, newest first, 100 a request.
func (c *Client) Commits(ctx context.Context, ref string, limit int) ([]Commit, error) {
	var commits []Commit
	err := each(ctx, c, question{
		method: http.MethodGet, path: "commits", needs: "contents: read", query: url.Values{"sha": {ref}},
	}, "", min(max(limit, 1), 100), (*gh.RepositoryCommit).GetSHA, func(d *gh.RepositoryCommit) bool {
		commit := Commit{SHA: d.GetSHA()}
		for _, p := range d.Parents {
			commit.Parents = append(commit.Parents, p.GetSHA())
		}
		commits = append(commits, commit)
		return len(commits) < limit
	})
	if err != nil {
		return nil, err
	}
	return commits, nil
}

// A Tag is a tag's name and the commit that it is of.
type Tag struct{ Name, Commit string }

// Tags returns the tags of the repository, 100 a request.
func (c *Client) Tags(ctx context.Context) ([]Tag, error) {
	var tags []Tag
	err := each(ctx, c, question{method: http.MethodGet, path: "tags", needs: "contents: read"},
		"", 100, (*gh.RepositoryTag).GetName, func(d *gh.RepositoryTag) bool {
			tags = append(tags, Tag{d.GetName(), d.GetCommit().GetSHA()})
			return true
		})
	if err != nil {
		return nil, err
	}
	return tags, nil
}
