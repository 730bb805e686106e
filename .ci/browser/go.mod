module github.com/noslower/noslower/browser

go 1.26.0

require (
	github.com/chromedp/cdproto v0.160.1
	github.com/chromedp/chromedp v0.23.1
	github.com/noslower/noslower v0.0.0
)

require (
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/mattn/go-runewidth v0.0.21 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/noslower/noslower => ../..
