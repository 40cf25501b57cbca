package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/node/control"
)

// HTML is the document as one HTML file, without scripts, and without anything from elsewhere.
func HTML(d control.FrameDocument, proof control.FrameProof) string {
	var b strings.Builder
	if err := page.Execute(&b, newHTML(d, proof)); err != nil {
		return "" // the template fits its types: a test executes it
	}
	return b.String()
}

// htmlPage is what the template shows.
type htmlPage struct {
	control.FrameDocument
	Proof        control.FrameProof
	Perspectives []htmlPerspective
	Claims       []htmlClaim
	Proved       int
	Sections     []htmlSection // of the synthesis
}

type htmlSection struct{ Title, Text string }

type htmlPerspective struct {
	ID, Name, About string
	Member          *control.FrameMember
	Attempts        []control.FrameAttempt
	Before          []htmlPart // the result, cut at the words on which claims rest
}

// htmlPart is a part of a result. If it has an ID, it is words on which a claim rests.
type htmlPart struct{ ID, Text string }

type htmlClaim struct {
	Claim, Kind string
	Sources     []htmlSource
}

type htmlSource struct{ Who, Words, Link string }

func newHTML(d control.FrameDocument, proof control.FrameProof) htmlPage {
	h := htmlPage{FrameDocument: d, Proof: proof, Sections: sections(d.Frame.Synthesis)}
	for _, l := range proof.Lines {
		if l.Result == "holds" {
			h.Proved++
		}
	}
	cited := map[string][]htmlPart{} // words by perspective
	targets := map[string]bool{}     // IDs that stand in a result
	number := map[string]int{}
	for i, name := range d.Frame.Chosen {
		number[name] = i + 1
	}
	for _, x := range d.Basis {
		claim := htmlClaim{Claim: x.Claim, Kind: kinds[x.Kind]}
		for _, s := range x.Sources {
			one := htmlSource{Who: s.Perspective, Words: s.Words}
			if one.Who == "" {
				one.Who = "the human"
			}
			if n := number[s.Perspective]; n > 0 {
				one.Link = fmt.Sprintf("p%d", n)
				if x.Kind == "result" && s.Words != "" {
					one.Link = linkTo(cited, s.Perspective, n, s.Words)
				}
			}
			claim.Sources = append(claim.Sources, one)
		}
		h.Claims = append(h.Claims, claim)
	}
	for i, name := range d.Frame.Chosen {
		p := htmlPerspective{ID: fmt.Sprintf("p%d", i+1), Name: name}
		for _, x := range d.Frame.Perspectives {
			if x.Name == name {
				p.About = x.Contribution
			}
		}
		for _, a := range d.Attempts {
			if a.Perspective == name {
				p.Attempts = append(p.Attempts, a)
			}
		}
		for j := range d.Frame.Members {
			if m := &d.Frame.Members[j]; m.Perspective == name {
				p.Member, p.Before = m, marked(m.Result, cited[name])
			}
		}
		for _, part := range p.Before {
			targets[part.ID] = true
		}
		h.Perspectives = append(h.Perspectives, p)
	}
	for _, claim := range h.Claims {
		for i := range claim.Sources {
			if s := &claim.Sources[i]; !targets[s.Link] {
				s.Link, _, _ = strings.Cut(s.Link, "-") // the perspective itself
			}
		}
	}
	return h
}

// linkTo returns the ID of words of a perspective, the n-th. Words that several claims rest on
// have one ID.
func linkTo(cited map[string][]htmlPart, perspective string, n int, words string) string {
	known := cited[perspective]
	if i := slices.IndexFunc(known, func(c htmlPart) bool { return c.Text == words }); i >= 0 {
		return known[i].ID
	}
	id := fmt.Sprintf("p%d-%d", n, len(known)+1)
	cited[perspective] = append(known, htmlPart{id, words})
	return id
}

// marked cuts a result into parts, so that the words on which claims rest can be linked to. Words
// that overlap words before them become no part of their own.
func marked(text string, cited []htmlPart) (parts []htmlPart) {
	for len(text) > 0 {
		first, at := -1, len(text)
		for i, c := range cited {
			if j := strings.Index(text, c.Text); c.Text != "" && j >= 0 && j < at {
				first, at = i, j
			}
		}
		if first < 0 {
			break
		}
		c := cited[first]
		parts = append(parts, htmlPart{"", text[:at]}, c)
		text = text[at+len(c.Text):]
		cited = append(append([]htmlPart{}, cited[:first]...), cited[first+1:]...)
	}
	return append(parts, htmlPart{"", text})
}

// sections are the parts of a synthesis, by their headings.
func sections(text string) (all []htmlSection) {
	for line := range strings.SplitSeq(text, "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			all = append(all, htmlSection{Title: strings.TrimSpace(title)})
			continue
		}
		if len(all) == 0 {
			all = append(all, htmlSection{})
		}
		all[len(all)-1].Text += line + "\n"
	}
	for i := range all {
		all[i].Text = strings.TrimSpace(all[i].Text)
	}
	return all
}

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"day": day, "state": state, "stamp": stamp, "list": func(names []string) string { return strings.Join(names, ", ") }, "none": none, "survived": survived, "clean": printable,
}).Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{clean .Frame.Question}}</title>
<style>
:root { color-scheme: light dark; --dim: #666; --line: #ccc; --mark: #fff3b0; }
@media (prefers-color-scheme: dark) { :root { --dim: #aaa; --line: #444; --mark: #4a4000; } }
body { font: 17px/1.5 Georgia, "Times New Roman", serif; max-width: 44em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; line-height: 1.25; } h2 { margin-top: 2em; border-bottom: 1px solid var(--line); } h3 { margin-bottom: .3em; }
.dim { color: var(--dim); font-size: .9em; } pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; margin: .5em 0; }
.text { border-left: 3px solid var(--line); padding-left: 1em; } mark { background: var(--mark); color: inherit; }
nav ol { columns: 2; } li { margin: .2em 0; } table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .3em .6em .3em 0; border-bottom: 1px solid var(--line); }
.warn { border: 1px solid; padding: .2em .6em; } code { font-size: .85em; overflow-wrap: anywhere; }
@media print { body { max-width: none; margin: 0; font-size: 11pt; } nav { display: none; } h2 { break-after: avoid; } section { break-inside: auto; } .card { break-inside: avoid; } a { color: inherit; text-decoration: none; } }
</style>
</head>
<body>
<h1>{{clean .Frame.Question}}</h1>
<p class="dim">Asked by {{clean .Frame.By}} on {{day .Frame.Began}} · coordinated by {{clean .Frame.Coordinator}} · {{state .Frame}}{{if .Frame.In}} · investigated: {{clean .Frame.In}}{{end}}</p>
<nav><ol>
<li><a href="#brief">Question and brief</a></li>
{{if .Frame.Synthesis}}<li><a href="#analysis">Framed analysis</a></li><li><a href="#basis">What each claim rests on</a></li>{{end}}
{{range .Perspectives}}<li><a href="#{{.ID}}">{{clean .Name}}</a></li>{{end}}
{{if .Dialogues}}<li><a href="#dialogues">Dialogues</a></li>{{end}}
{{if .Frame.Trace}}<li><a href="#trace">What each perspective gave</a></li>{{end}}
<li><a href="#decisions">Decisions</a></li>
<li><a href="#check">How to check it</a></li>
</ol></nav>
<section id="brief"><h2>Question and brief</h2>
<pre class="text">{{clean .Frame.Question}}</pre>
<p class="dim">SHA-256 <code>{{.Frame.QuestionHash}}</code></p>
{{if .Frame.Brief.Intent}}<table>
<tr><th>Intent</th><td>{{clean .Frame.Brief.Intent}}</td></tr>
<tr><th>Deliverable</th><td>{{clean .Frame.Brief.Deliverable}}</td></tr>
<tr><th>Scope</th><td>{{clean .Frame.Brief.Scope}}</td></tr>
<tr><th>Mode</th><td>{{.Frame.Mode}}</td></tr>
</table>{{end}}</section>
{{if .Frame.Synthesis}}<section id="analysis"><h2>Framed analysis</h2>
{{range .Sections}}{{if .Title}}<h3>{{clean .Title}}</h3>{{end}}<pre>{{clean .Text}}</pre>
{{end}}</section>
<section id="basis"><h2>What each claim rests on</h2>
{{range .Claims}}<div class="card"><p><strong>{{clean .Claim}}</strong><br><span class="dim">{{.Kind}}</span></p><ul>
{{range .Sources}}<li>{{if .Link}}<a href="#{{.Link}}">{{clean .Who}}</a>{{else}}{{clean .Who}}{{end}}{{if .Words}}: “{{clean .Words}}”{{end}}</li>
{{end}}</ul></div>
{{end}}{{range .Agreements}}<p>Agreement ({{.Strength}}) of {{clean (list .Perspectives)}}: {{clean .Point}}</p>
{{end}}</section>{{end}}
{{range .Perspectives}}<section id="{{.ID}}"><h2>{{clean .Name}}</h2>
{{if .About}}<p><em>{{clean .About}}</em></p>{{end}}
{{range .Attempts}}<p class="dim">Attempt {{.Attempt}} by {{clean .Agent}} was followed by another one.</p>
{{end}}{{with .Member}}<p class="dim">Investigated by {{clean .Agent}}, attempt {{.Attempt}}, isolated by {{.Grade}}{{if .Degraded}} · {{clean .Degraded}}{{end}}</p>
{{range .Flags}}<p class="warn">{{clean .}}</p>
{{end}}{{if .Problem}}<pre class="warn">{{clean .Problem}}</pre>{{end}}{{end}}
<pre class="text">{{range .Before}}{{if .ID}}<mark id="{{.ID}}">{{clean .Text}}</mark>{{else}}{{clean .Text}}{{end}}{{end}}</pre>
</section>
{{end}}{{if .Dialogues}}<section id="dialogues"><h2>Dialogues</h2>
{{range .Dialogues}}{{$id := .ID}}<h3>{{.ID}}: {{clean (list .Topics)}}</h3>
{{range .Triggers}}{{$kind := .Kind}}{{range .Quotes}}<p class="dim">{{$kind}}, from {{clean .Section}} of {{clean .Perspective}}: “{{clean .Words}}”</p>
{{end}}{{end}}{{range .Messages}}<p><strong>{{clean .Perspective}}</strong></p><pre class="text">{{clean .Text}}</pre>
{{end}}{{range .Reports}}<div class="card"><p><strong>{{clean .Perspective}} reports</strong></p><table>
<tr><th>Final position</th><td>{{clean .Position}}</td></tr><tr><th>Agreement points</th><td>{{clean .Agreement}}</td></tr>
<tr><th>Remaining divergence</th><td>{{clean (none .Divergence)}}</td></tr><tr><th>Rationale</th><td>{{clean .Rationale}}</td></tr></table></div>
{{end}}{{range .Asked}}<p><strong>Asked once more, {{clean .Perspective}}</strong></p><pre class="text">{{clean .Text}}</pre>
{{end}}{{range .Answers}}<p><strong>{{clean .Perspective}} answers</strong></p><pre class="text">{{clean .Text}}</pre>
{{end}}{{range $.Frame.Tensions}}{{if and (eq .ID $id) .Resolution}}<p>Outcome: {{.Resolution}}; agreement {{.Strength}}: {{clean .Basis}}</p>{{end}}{{end}}
{{end}}</section>{{end}}
{{if .Inputs}}<section><h2>What the human added</h2>{{range .Inputs}}<pre class="text">{{clean .}}</pre>{{end}}</section>{{end}}
{{if .Frame.Trace}}<section id="trace"><h2>What each perspective gave</h2><ul>
{{range .Frame.Trace}}<li>{{clean .Perspective}}: {{clean (list .Sections)}}; what it alone found {{survived .Survived}}</li>
{{end}}</ul>{{if .Frame.Gaps}}<h3>Coverage gaps</h3><ul>{{range .Frame.Gaps}}<li>{{clean .}}</li>{{end}}</ul>{{end}}</section>{{end}}
<section id="decisions"><h2>Decisions</h2><table>
{{range .Decisions}}<tr><td>{{stamp .Time}}</td><td>{{clean .Human}}</td><td>{{.Gate}}{{if .About}} about {{clean .About}}{{end}}: {{clean (list .Chosen)}}{{if .Text}} — “{{clean .Text}}”{{end}}{{if not .Counts}} (does not count){{end}}</td></tr>
{{else}}<tr><td>None yet.</td></tr>{{end}}</table>
{{range .Late}}<p class="dim">Came too late to count: attempt {{.Attempt}} of {{clean .Perspective}}.</p>{{end}}</section>
<section id="check"><h2>How to check it</h2>
<p>Every step is a message in the git record <code>{{.Record}}</code>. In a clone of it: <code>parley frame verify {{.Frame.ID}}</code></p>
{{if .Proof.Holds}}<p>When this was written {{.Proved}} lines of the form were proved, and none is broken.</p>
{{else}}<p class="warn">When this was written, lines of the form were broken:</p><ul>{{range .Proof.Faults}}<li>{{.Line}} at <code>{{.At}}</code>: {{clean .Why}}</li>{{end}}</ul>{{end}}</section>
</body>
</html>
`))
