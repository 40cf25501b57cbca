package report

import (
	"bytes"
	"encoding/json"
	stdhtml "html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	loose "github.com/yuin/goldmark/renderer/html"
	reader "github.com/yuin/goldmark/text"

	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// hostile is a text that tries to be more than text: markup, the end of a fence, terminal
// sequences, a comment, and a sign that turns the direction of what stands behind it.
const hostile = "</pre><script>alert(1)</script>\n```\n# not a heading\n<!-- \x1b[2J\x1b]0;title\x07 -->\u202eedoc\u202c [link](javascript:alert(1)) & \"quotes\""

func example(words string) (control.FrameDocument, control.FrameProof) {
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	d := control.FrameDocument{
		Record: "5e1b2c",
		Frame: control.Frame{
			ID: "1f2e3d4c", Question: words, QuestionHash: "abc", State: "WRAPPED_UP", StateText: "wrapped up", Over: true, By: "nat@white", Coordinator: "chair@white", Mode: "inquire", Began: at, In: words,
			Brief:        protocol.InquiryBrief{Intent: words, Deliverable: words, Scope: words},
			Chosen:       []string{words, "Sleep"},
			Perspectives: []protocol.InquiryPerspective{{Name: words, Contribution: words}},
			Members: []control.FrameMember{
				{Perspective: words, Agent: "lens-1@white", Attempt: 2, Grade: "process", Result: "Keep the first. " + words, Degraded: words, Flags: []string{words}},
				{Perspective: "Sleep", Agent: "lens-2@black", Attempt: 1, Problem: words},
			},
			Tensions: []control.FrameTension{{ID: "1.1", Resolution: "partial", Strength: "weak", Basis: words}},
			FrameOutcome: control.FrameOutcome{
				Synthesis: "## Convergence\n" + words + "\n\n## Integrated Assessment\n" + words, Trace: []protocol.InquiryTraceRow{{Perspective: words, Sections: []string{words}, Survived: true}}, Gaps: []string{words},
			},
		},
		Dialogues: []*inquiry.Tension{{
			ID: "1.1", Messages: []inquiry.Said{{Perspective: words, Text: words}}, Asked: []inquiry.Said{{Perspective: words, Text: words}},
			Answers: []inquiry.Said{{Perspective: words, Text: words}}, Reports: []protocol.InquiryReport{{Perspective: words, Position: words, Agreement: words, Rationale: words}},
			Triggers: []protocol.InquiryTrigger{{Kind: "contradiction", Topic: words, Quotes: []protocol.InquiryQuote{{Perspective: words, Section: "Assessment", Words: words}}}},
		}},
		Agreements: []protocol.InquiryAgreement{{Point: words, Perspectives: []string{words}, Strength: "weak"}},
		Basis: []protocol.InquiryBasis{
			{Claim: words, Kind: "result", Sources: []protocol.InquirySource{{Perspective: words, Words: "Keep the first."}}},
			{Claim: words, Kind: "user_input", Sources: []protocol.InquirySource{{Words: words}}},
		},
		Inputs: []string{words}, Attempts: []control.FrameAttempt{{Perspective: words, Attempt: 1, Agent: "lens-1@red"}},
		Decisions: []control.FrameDecision{{Gate: "route", About: words, Chosen: []string{words}, Text: words, Human: "nat@white", Time: at}},
		Late:      []inquiry.Late{{Perspective: words, Attempt: 1}},
	}
	return d, control.FrameProof{Holds: false, Faults: []inquiry.Fault{{Line: "F42", Why: words}}}
}

// What others wrote is only text in every form of the document.
func TestHostileTextsStayTexts(t *testing.T) {
	d, proof := example(hostile)
	html, md := HTML(d, proof), Markdown(d, proof)
	for _, bad := range []string{"<script", "</pre><script", "<!-- ", `href="javascript`} {
		if strings.Contains(html, bad) {
			t.Errorf("the HTML has %q", bad)
		}
	}
	for name, text := range map[string]string{"HTML": html, "Markdown": md} {
		if strings.ContainsAny(text, "\x1b\x07\u202e") {
			t.Errorf("the %s has control characters", name)
		}
		if !strings.Contains(text, "alert(1)") {
			t.Errorf("the %s leaves the text out", name)
		}
	}
	source := []byte(md)
	top := goldmark.New().Parser().Parse(reader.NewReader(source))
	for n := top.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindHTMLBlock || n.Kind() == ast.KindHeading && strings.HasPrefix(string(n.Lines().Value(source)), "not a") {
			t.Errorf("markup of others is that of the Markdown: %s", n.Lines().Value(source))
		}
	}
	text, err := JSON(d)
	var back control.FrameDocument
	if err != nil || json.Unmarshal([]byte(text), &back) != nil || back.Frame.Question != hostile {
		t.Errorf("the JSON is another document: %v", err)
	}
}

// What a reader looks for is in the document, in the words of the agents. It prevents: stars and
// hashes instead of Markdown, and previews, strengths, perspectives that were not chosen or the tier
// of a recommendation that only the terminal shows.
func TestADocumentHasWhatAReaderLooksFor(t *testing.T) {
	d, proof := example("Cost")
	f := &d.Frame
	f.Synthesis = "## Convergence\n\nThey **agree** on the *night*. More.\n\n## Integrated Assessment\n\n- Keep `one`.\n\n| a | b |\n|---|---|\n| 1 | 2 |"
	f.Perspectives = []protocol.InquiryPerspective{{Name: "Cost", Contribution: "what it costs", TensionWith: "Sleep"}, {Name: "Law", Contribution: "what is owed", TensionWith: "Cost"}}
	f.Previews = []protocol.InquiryGlance{{Perspective: "Cost", Title: "It is *dear*", Summary: "A **third** more.", Limits: "Nights."}}
	f.Members[0].Result = "# Assessment\n\nKeep **the first**."
	f.Tier, f.Note = "narrowing", protocol.LensNote
	d.Agreements = []protocol.InquiryAgreement{{Point: "They **agree** on the *night*.", Perspectives: []string{"Cost"}, Strength: "moderate"}}
	d.Basis = []protocol.InquiryBasis{{Claim: "Keep `one`.", Kind: "result", Sources: []protocol.InquirySource{{Perspective: "Cost", Words: "Keep **the first**."}}}}
	f.Question, f.Detection, f.Remarks = strings.Repeat("Which store? ", 20)+"The last words.", "Nothing *contradicts*.", []string{"All agree early."}
	d.Context, d.Findings = "Two **stores**.", []protocol.InquiryFinding{{Category: "assessment", Words: "Keep *it*."}}
	html, md := HTML(d, proof), Markdown(d, proof)
	for _, want := range []string{
		"The last words.", "Nothing <em>contradicts</em>.", "All agree early.", "Two <strong>stores</strong>.", "<dt>assessment</dt><dd><p>Keep <em>it</em>.",
		`<h3>Convergence</h3>`, `<h4>Assessment</h4>`, `<strong><mark>agree</mark></strong>`, `<em><mark>night</mark></em><mark>.</mark> <span class="strength">moderate</span> More.`,
		`<mark>.</mark><sup><a href="#c1">1</a></sup>`, `<li id="c1">`, `<mark id="p1-1">Keep </mark><strong><mark>the first</mark></strong>`, `<a href="#p1-1">Cost</a>`, `<td>1</td>`,
		`Law: what is owed (in tension with Cost)`, `what it costs (in tension with Sleep)`, `It is <em>dear</em>`, `A <strong>third</strong> more.`, `Two or three lenses`, protocol.LensNote,
		`<meta name="viewport"`, `They <strong>agree</strong> on the <em>night</em>.</p>`, `(moderate; Cost)`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the HTML does not have %s", want)
		}
	}
	if strings.Count(html, "The last words.") != 1 || strings.Count(md, "The last words.") != 1 {
		t.Error("a long question is a heading as a whole")
	}
	for _, want := range []string{
		"The last words.", "> Nothing *contradicts*.", "- All agree early.", "> Two **stores**.", "**assessment**\n\n> Keep *it*.", "> They **agree** on the *night*. More.", "> | 1 | 2 |", "> # Assessment\n> \n> Keep **the first**.", "> A **third** more.", "- Law: what is owed (in tension with Cost)", "Two or three lenses", "(moderate; Cost)",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("the Markdown does not have %s", want)
		}
	}
}

// Each claim leads to the words of a result on which it rests. An inquiry that has only begun gives
// a document too.
func TestClaimsLeadToTheirWords(t *testing.T) {
	d, proof := example("Cost")
	html := HTML(d, proof)
	for _, want := range []string{`<a href="#p1-1">Cost</a>: “Keep the first.”`, `<mark id="p1-1">Keep the first.</mark>`, "@media print", `default-src &#39;none&#39;`, "lines of the form were BROKEN"} {
		if !strings.Contains(html, want) && !strings.Contains(html, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("the HTML does not have %q", want)
		}
	}
	// Several claims may rest on the same words, or on words that overlap: no link leads nowhere.
	same, overlapping := d.Basis[0], d.Basis[0]
	overlapping.Sources = slices.Clone(overlapping.Sources)
	overlapping.Sources[0].Words = "the first."
	d.Basis = append(d.Basis, same, overlapping)
	html = HTML(d, proof)
	if n := strings.Count(html, `<a href="#p1-1">Cost</a>: “Keep the first.”`); n != 2 {
		t.Errorf("%d claims lead to the same words, want 2", n)
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if !strings.Contains(html, `id="`+link[1]+`"`) {
			t.Errorf("the link to %s leads nowhere", link[1])
		}
	}
	begun := control.FrameDocument{Frame: control.Frame{ID: "1f2e3d4c", Question: "Which?", State: "OPENED", StateText: "the brief is drafted"}}
	if html := HTML(begun, control.FrameProof{Holds: true}); !strings.Contains(html, "<title>Which?</title>") || strings.Contains(html, "Framed analysis") {
		t.Errorf("of one that has begun:\n%s", html)
	}
	if md := Markdown(begun, control.FrameProof{Holds: true}); !strings.HasPrefix(md, "# Which?\n") || !strings.Contains(md, "None yet.") || !strings.Contains(md, "State: not over yet (the brief is drafted).") {
		t.Errorf("of one that has begun:\n%s", md)
	}
}

// wild are texts of agents that try to be more than text, each in another way.
var wild = []string{
	hostile, "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a <b onclick=alert(1)>c</b>", "<!-- hidden -->", "<?php x ?>", "<![CDATA[x]]>",
	"![](https://spy.example/pixel.png)", "[![a](https://spy.example/p.png)](https://spy.example)", "![x][1]\n\n[1]: https://spy.example/p.png", "[a](<javascript:alert(1)>)",
	"[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](java&#115;cript:alert(1))", "[a](javascript&colon;alert(1))", "[a]( java\tscript:alert(1))", "[a](vbscript:x)", "[a](data:text/html,x)", "[a](//spy.example)",
	"<javascript:alert(1)>", "see <javascript:alert(1)>, **<vbscript:b>** and ftp://x.example", "[<https://a.example>](https://b.example)", "[a][r]\n\n[r]: javascript:alert(1)", "[a](https://x.example 'onclick=alert(1)')", "[a](https://x.example/\"onclick=alert(1))", "<https://x.example/\"onclick=alert(1)>",
	"&#x202e;txt &#27;[2J &lrm; &#x200b;", "a&#155;b", "```a&#x202e;\nb", "[a](https://x.example '&#x202e;')", `\&#x202e; \\&#x202e;`, "`&#x202e;`", "[a](x`y) `<script>` `<img src=x>", "| a `x | <b> |\n|---|---|\n| ` | ` <b> ` |", "\t<script>alert(1)</script>", "> <script>\n- <script>\n1. <script>",
	"```\n</code></pre><script>alert(1)</script>\n", "~~~\n```\n<script>", "## Title {onclick=alert(1)}", "</div></main><style>*{display:none}</style>", strings.Repeat("<pre>\n\n", 200), "x\u2028# y\u0085z",
}

// tags are the elements and attributes that may come of what an agent wrote.
var tags = regexp.MustCompile(`^(</?(p|h[1-6]|em|strong|del|code|pre|ul|ol|li|blockquote|table|thead|tbody|tr|a)>|<(br|hr)>|<input (checked="" )?disabled="" type="checkbox">|</?t[hd]( align="[a-z]+")?>|<ol start="\d+">|</?mark>|<span class="address">|</span>|` +
	`<a rel="noopener noreferrer nofollow" href="(?i:(https?|ftp)://|mailto:)[^"]*">)$`)

// Markdown of agents is rendered, and nothing that they write becomes more: no HTML, nothing that is
// loaded, no link that runs something, no character that is not seen. It prevents: a page that runs
// or tells what an agent wants, as soon as somebody opens it.
func FuzzMarkdownOfAgentsIsOnlyText(f *testing.F) {
	for _, words := range wild {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, words string) {
		markup, _ := prose(words, 2, []mark{{words: "alert(1)"}})
		for _, tag := range regexp.MustCompile(`<[^>]*>?`).FindAllString(markup, -1) {
			if !tags.MatchString(tag) {
				t.Errorf("%q gives the tag %s", words, tag)
			}
		}
		said := stdhtml.UnescapeString(markup)
		if visible.Text(said) != said {
			t.Errorf("%q gives characters that are not seen: %q", words, markup)
		}
		quote := tamed(words)
		if strings.HasPrefix(quote, "```") {
			return // set apart as it is
		}
		for line := range strings.SplitSeq(quote, "\n") {
			if !strings.HasPrefix(line, ">") {
				t.Errorf("%q leaves its quote: %q", words, line)
			}
		}
		var b bytes.Buffer
		if err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(loose.WithUnsafe())).Convert([]byte(quote), &b); err != nil {
			t.Fatal(err)
		}
		for _, tag := range regexp.MustCompile(`<[^>]*>?`).FindAllString(b.String(), -1) {
			if tag = strings.ReplaceAll(tag, "<a href", `<a rel="noopener noreferrer nofollow" href`); !tags.MatchString(titles.ReplaceAllString(tag, "")) {
				t.Errorf("%q gives the tag %s as Markdown:\n%s", words, tag, quote)
			}
		}
		if said := stdhtml.UnescapeString(b.String()); visible.Text(said) != said {
			t.Errorf("%q gives characters that are not seen as Markdown: %q", words, b.String())
		}
	})
}

var titles = regexp.MustCompile(` title="[^"]*"| class="language-[^"]*"`)

// It prevents: a document or a page that takes minutes, or breaks off, because an agent nests thousands of
// quotes, lists or brackets, or opens two kinds of emphasis again and again.
func TestDeepMarkdownIsWritten(t *testing.T) {
	for _, words := range []string{"> ", "- ", "[", "![", "**a ", "<a ", "[a](", "<!--", "_a ", "| a ", "&#x202e;", "1. ", "*a_ ", "[~~~"} {
		text := strings.Repeat(words, 240<<10/len(words))
		at := time.Now()
		markup, _ := prose(text, 2, nil)
		if quote := tamed(text); markup == "" || quote == "" || time.Since(at) > 20*time.Second {
			t.Errorf("%q takes %s", words, time.Since(at))
		}
	}
}
