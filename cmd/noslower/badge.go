package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/report"
)

func (w world) badgeCommand() *cobra.Command {
	var snippet, image, link string
	cmd := w.subcommand("badge [flags] [BASE HEAD]", "badge",
		"The outcome of a comparison as a badge, or the snippet that shows one in a README",
		cobra.MaximumNArgs(2),
		func(_ *cobra.Command, o *optionSet) error {
			switch {
			case snippet == "" && len(o.Args) != 2:
				return wrongUse(fmt.Errorf("want two sides to compare, BASE and HEAD, have %d: or --snippet", len(o.Args)))
			case snippet == "":
				if !o.given["output"] {
					o.Output = "badge"
				}
				return w.compare(o)
			case len(o.Args) > 0:
				return wrongUse(errors.New("--snippet: it shows a badge that is made elsewhere, and takes no BASE and HEAD"))
			}
			text, err := report.Snippet(snippet, image, link)
			if err != nil {
				return wrongUse(fmt.Errorf("--snippet: %w", err))
			}
			_, err = io.WriteString(w.Stdout, text)
			return undecided(err)
		})
	cmd.Flags().StringVar(&snippet, "snippet", "", "write what shows a badge in a README of this `markup`: "+strings.Join(report.Snippets(), ", "))
	cmd.Flags().StringVar(&image, "image", "", "with --snippet: the `address` of the badge")
	cmd.Flags().StringVar(&link, "link", "", "with --snippet: the `address` that it leads to (default: its own)")
	return cmd
}
