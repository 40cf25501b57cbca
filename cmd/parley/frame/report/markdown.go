package report

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/node/control"
)

// Markdown is the document as Markdown.
func Markdown(d control.FrameDocument, proof control.FrameProof) string {
	var m markdown
	m.printf("# %s\n", line(d.Frame.Question))
	write(&m, d, proof)
	return m.String()
}

type markdown struct{ strings.Builder }

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(m, format, args...) }

func (m *markdown) chapter(_, title string) { m.printf("\n## %s\n", line(title)) }

func (m *markdown) heading(_, title string) { m.printf("\n### %s\n", line(title)) }

func (m *markdown) line(format string, args ...any) {
	m.printf("\n%s\n", line(fmt.Sprintf(format, args...)))
}

// quote sets texts apart, in a fence that is longer than any fence in them.
func (m *markdown) quote(all ...part) {
	var text strings.Builder
	for _, p := range all {
		text.WriteString(printable(p.text))
	}
	fence := "```"
	for strings.Contains(text.String(), fence) {
		fence += "`"
	}
	m.printf("\n%stext\n%s\n%s\n", fence, strings.TrimSpace(text.String()), fence)
}

func (m *markdown) items(all ...item) {
	m.printf("\n")
	m.list("", all)
}

func (m *markdown) list(margin string, all []item) {
	for _, x := range all {
		m.printf("%s- %s\n", margin, line(x.String()))
		m.list(margin+"  ", x.under)
	}
}

// line is a text of others in one line. Nothing in it becomes markup.
func line(text string) string {
	return markup.Replace(strings.Join(strings.Fields(printable(text)), " "))
}

var markup = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "|", `\|`, "!", `\!`)
