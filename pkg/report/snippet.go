package report

import (
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// snippets write a picture that is a link in the markup that READMEs are in. The
// addresses are escaped already, the text is plain.
var snippets = map[string]func(image, link, text string) string{
	"markdown": func(image, link, text string) string {
		return fmt.Sprintf("[![%s](%s)](%s)\n", text, image, link)
	},
	"html": func(image, link, text string) string {
		return fmt.Sprintf("<a href=\"%s\"><img alt=\"%s\" src=\"%s\"></a>\n", html.EscapeString(link), text, html.EscapeString(image))
	},
	"rst": func(image, link, text string) string {
		return fmt.Sprintf(".. image:: %s\n   :alt: %s\n   :target: %s\n", image, text, link)
	},
	"textile": func(image, link, text string) string {
		return fmt.Sprintf("\"!%s(%s)!\":%s\n", image, text, link)
	},
	"rdoc": func(image, link, text string) string {
		return fmt.Sprintf("{<img src=\"%s\" alt=\"%s\" />}[%s]\n", html.EscapeString(image), text, link)
	},
}

// Snippets are the names of the markups that Snippet knows.
func Snippets() []string { return slices.Sorted(maps.Keys(snippets)) }

// Snippet shows the badge at an address in a README of the given markup, as a link
// to another address; "" is that of the badge.
func Snippet(markup, image, link string) (string, error) {
	write, ok := snippets[markup]
	if !ok {
		return "", fmt.Errorf("want one of %s, have %q", strings.Join(Snippets(), ", "), markup)
	}
	if link == "" {
		link = image
	}
	addresses := []*string{&image, &link}
	for _, address := range addresses {
		u, err := url.Parse(*address)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return "", fmt.Errorf("want the address of a page, such as https://example.org/performance.svg, have %q", *address)
		}
		// What ends an address in one of the markups is escaped in all.
		*address = strings.NewReplacer("(", "%28", ")", "%29", "[", "%5B", "]", "%5D", "!", "%21", "'", "%27", "*", "%2A").Replace(u.String())
	}
	return write(image, link, "Performance"), nil
}
