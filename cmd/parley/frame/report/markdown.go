package report

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
)

// Markdown is the document as Markdown.
func Markdown(d control.FrameDocument, proof control.FrameProof) string {
	var m markdown
	m.printf("# %s\n", line(title(d.Frame.Question)))
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

func (m *markdown) quote(text string) {
	m.printf("\n%s\n", fenced(strings.TrimSpace(visible.Text(text))))
}

func (m *markdown) prose(_, text string, _ ...mark) { m.printf("\n%s\n", tamed(text)) }

func (m *markdown) fields(_ string, all ...field) {
	for _, f := range all {
		m.printf("\n**%s**\n", line(f.Name))
		m.prose("", f.Markdown)
	}
}

func (m *markdown) items(all ...item) {
	m.printf("\n")
	m.list("", all)
}

func (m *markdown) list(margin string, all []item) {
	for i, x := range all {
		sign := "- "
		if x.ID != "" {
			sign = fmt.Sprintf("%d. ", i+1)
		}
		m.printf("%s%s%s\n", margin, sign, line(x.String()))
		m.list(margin+strings.Repeat(" ", len(sign)), x.Under)
	}
}

// line is a text of others in one line. Nothing in it becomes markup.
func line(text string) string {
	return markup.Replace(strings.Join(strings.Fields(visible.Text(text)), " "))
}

var markup = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "|", `\|`, "!", `\!`, "~", `\~`)
