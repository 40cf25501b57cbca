package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// Measures of the picture, in pixels of an SVG that is not scaled.
const (
	charWidth  = 8 // of monospaced fonts: 0.6 of their size, rounded up
	lineHeight = 18
	margin     = 20
)

// style has no fonts and no files of other sites, so that the picture shows on every page and
// without a network. A viewer that knows no colour schemes shows the light one.
const style = `text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328}
rect{fill:#f6f8fa;stroke:#d0d7de}
.heading{font-weight:bold;fill:#0550ae}.host{fill:#116329}.command{font-weight:bold}.answer{fill:#424a53}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#0d1117;stroke:#30363d}
.heading{fill:#79c0ff}.host{fill:#7ee787}.answer{fill:#b1bac4}}`

// draw makes an SVG of the lines. Each line is one text element, so that what stands
// in the picture can be searched, copied and read aloud.
func draw(title, desc string, lines []line) []byte {
	var body bytes.Buffer
	y := margin
	for i, l := range lines {
		if l.kind == "heading" && i > 0 {
			y += lineHeight / 2
		}
		y += lineHeight
		fmt.Fprintf(&body, `<text x="%d" y="%d" class="%s" xml:space="preserve">`, margin, y, l.kind)
		if l.host != "" {
			fmt.Fprintf(&body, `<tspan class="host">%s</tspan> `, escape(l.host))
		}
		fmt.Fprintf(&body, "%s</text>\n", escape(l.text))
	}
	width, height := 2*margin+charWidth*(columns+len("oracle-world$ ")), y+margin
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="title desc">
<title id="title">%s</title>
<desc id="desc">%s</desc>
<style>%s</style>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="8"/>
`, width, height, width, height, title, desc, style, width-1, height-1)
	b.Write(body.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// escape makes text of others safe in XML. A sign that must not stand there, such as a control
// character, becomes U+FFFD.
func escape(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a bytes.Buffer takes everything
	return b.String()
}
