package calls

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/protocol"
)

// inJSON ends each prompt whose answer is JSON.
const inJSON = "\nAnswer with one JSON object in a fenced block, and with nothing after it:\n```json\n%s\n```\n"

// lead begins every prompt of a coordinator: its purpose, and the question.
func lead(task string, v inquiries.Inquiry) string {
	return "You coordinate an inquiry: a question that several perspectives look at, each by itself, and that a human decides on. You place perspectives before the human and never prescribe one. " +
		"You analyse nothing yourself.\n" + material + " Write in the language of the question; headings, keys and the words of lists stay as they are given here.\n\nYour task now: " + task + "\n\nThe question, word for word:\n" + quote(v.Opening.Text) + "\n"
}

// brief is the mission brief in the form of prompts.
func brief(v inquiries.Inquiry) string {
	return "\nThe mission brief that the human confirmed:\n" + drafted(v)
}

func drafted(v inquiries.Inquiry) string {
	return quote(fmt.Sprintf("Intent: %s\nDeliverable: %s\nScope: %s", v.Brief.Intent, v.Brief.Deliverable, v.Brief.Scope))
}

func briefWords(v inquiries.Inquiry) string {
	text := lead("infer the mission brief from the question.", v)
	if v.Changes != "" {
		text += "\nThe last brief was:\n" + drafted(v) + "The human wants this changed; leave the rest as it is:\n" + quote(v.Changes)
	}
	if v.Opening.In != "" {
		text += "\nWhat is investigated:\n" + quote(line(v.Opening.In))
	}
	return text + `
- intent: what is investigated, and why
- deliverable: what form the answer has, such as a code review, a risk analysis, a recommendation
- scope: what belongs to it and what does not; name folders and files where the question does
- mode: "recommend" where one analytical direction resolves it, "inquire" where several distinct perspectives are necessary
- why: why that mode, in a line
- abstract: true only where the question asks for general patterns and not for evidence
` + fmt.Sprintf(inJSON, `{"intent": "…", "deliverable": "…", "scope": "…", "mode": "inquire", "why": "…", "abstract": false}`)
}

// readBrief reads a brief. Its texts become single lines: they stand in the prompt of each member,
// where more lines could be read as something else.
func readBrief(a inquiries.Actor, inquiry protocol.ChannelID, answer string) (affair.Command, error) {
	var w protocol.InquiryBrief
	if _, err := block(answer, &w, "intent", "deliverable"); err != nil {
		return affair.Command{}, err
	}
	w.Intent, w.Deliverable, w.Scope, w.Why = line(w.Intent), line(w.Deliverable), line(w.Scope), line(w.Why)
	if inquiries.IsNone(w.Scope) {
		w.Scope = "as far as the question goes"
	}
	w.Mode = keyword(w.Mode, protocol.ModeRecommend, protocol.ModeInquire)
	return inquiries.Draft(a, inquiry, protocol.DraftBrief, w), nil
}

func contextWords(v inquiries.Inquiry, s Surroundings) string {
	text := lead("gather the context that is needed to tell which perspectives there are: no more than that, and no answer to the question.", v) + brief(v)
	if len(s.Files) > 0 {
		text += "\nWhat is investigated has these files:\n" + quote(listed(maxListed, s.Files))
	}
	return text + "\nLook at what intent and scope lead to, in your own folder and in what you know. Say what you found, in prose; name what you looked at.\n" +
		fmt.Sprintf(inJSON, `{"context": "…", "sources": ["path or name of what you looked at"]}`)
}

func readContext(a inquiries.Actor, inquiry protocol.ChannelID, answer string) (affair.Command, error) {
	var w struct {
		Context string   `json:"context"`
		Sources []string `json:"sources"`
	}
	if _, err := block(answer, &w, "context"); err != nil {
		return affair.Command{}, err
	}
	if strings.TrimSpace(w.Context) == "" {
		return affair.Command{}, errSays
	}
	text := strings.TrimSpace(w.Context)
	c := protocol.InquiryContext{Digest: protocol.Hash([]byte(text)), Sources: w.Sources}
	c.Text = text
	return inquiries.Draft(a, inquiry, protocol.GatherContext, c), nil
}

func proposalWords(v inquiries.Inquiry, s Surroundings) string {
	text := lead("propose perspectives from which the question can be looked at.", v) + brief(v) + "\nThe context that was gathered:\n" + quote(within(maxContext, v.Context.Text)[0])
	if len(v.Base) > 0 {
		text += "\nThese perspectives are settled already; do not propose them again: " + names(v.Base) + ". Propose at least one that is new.\n"
	}
	for _, e := range s.Earlier {
		if len(e.Chosen) > 0 {
			text += "\nAn earlier inquiry asked:\n" + quote(cutLine(e.Opening.Text)) + "- its perspectives: " + names(e.Chosen) + "\n"
		}
		for _, gap := range e.Trace.Gaps[:min(len(e.Trace.Gaps), maxGaps)] {
			text += "- none of them saw:\n" + quote(cutLine(gap))
		}
	}
	return text + guards(v) + `
Each perspective:
- offers a framework of its own, no variation of another one
- is in productive tension with another one: they can disagree in how they read, weigh or apply the same things
- shares with it at least one thing that both speak of, else they could not be joined
- leads to what the deliverable asks for, and is specific enough to guide an analysis
- is named by its discipline or framework, never by a person or a role, and stands alone: never two in one
Include a critical one where there are genuine alternatives. Three to five are usual. Where there is none, say why in "reasons" and leave the list empty.
` + fmt.Sprintf(inJSON, `{"perspectives": [{"name": "Cost accounting", "contribution": "what it alone reveals, in one line", "tension_with": "the name of the other one", "referent": "what both speak of"}], "reasons": ""}`)
}

func readProposals(a inquiries.Actor, inquiry protocol.ChannelID, answer string) (affair.Command, error) {
	var w struct {
		Perspectives []protocol.InquiryPerspective `json:"perspectives"`
		Reasons      string                        `json:"reasons"`
	}
	if _, err := block(answer, &w, "perspectives", "reasons"); err != nil {
		return affair.Command{}, err
	}
	var p protocol.InquiryProposals
	for _, one := range w.Perspectives {
		one = protocol.InquiryPerspective{Name: word(one.Name), Contribution: line(one.Contribution), TensionWith: word(one.TensionWith), Referent: line(one.Referent)}
		if err := single(p.Perspectives, one); err != nil {
			return affair.Command{}, err
		}
		p.Perspectives = append(p.Perspectives, one)
	}
	if len(p.Perspectives) == 0 {
		p.Text = strings.TrimSpace(w.Reasons)
	}
	return inquiries.Draft(a, inquiry, protocol.ProposePerspectives, p), nil
}

// single returns an error if a perspective is not a perspective of its own: it has the name of a
// person or a role (F23), or reveals what another one reveals (F22).
func single(before []protocol.InquiryPerspective, p protocol.InquiryPerspective) error {
	words := strings.Fields(strings.ToLower(p.Name))
	if len(words) > 0 && slices.Contains(roles, strings.Trim(words[len(words)-1], ".,()")) {
		return fmt.Errorf("%q is a person or a role: name the discipline or the framework instead", p.Name)
	}
	for _, other := range before {
		if alike(other.Contribution, p.Contribution) >= same {
			return fmt.Errorf("%q and %q reveal the same: each perspective has a framework of its own", other.Name, p.Name)
		}
	}
	return nil
}

// roles are words with which the name of a person or a role can end.
var roles = strings.Fields("accountant administrator advocate analyst architect attorney auditor ceo cfo ciso consultant critic cto customer designer " +
	"developer director economist engineer ethicist executive expert founder historian investor lawyer manager officer operator optimist owner persona " +
	"pessimist philosopher pragmatist programmer psychologist researcher reviewer sceptic scientist skeptic sociologist specialist stakeholder tester user")

// establish ends an inquiry that recommends. What each perspective is good for is what was said
// about it when it was proposed.
func establish(a inquiries.Actor, inquiry protocol.ChannelID, v inquiries.Inquiry) affair.Command {
	w := protocol.InquiryEstablished{Tier: protocol.LensTier(len(v.Chosen)), Note: protocol.LensNote}
	for _, name := range v.Chosen {
		about := "named by the human"
		if len(v.Opening.Humans) > 0 && slices.Contains(v.Opening.Perspectives, name) { // an agent asks
			about = "named by " + v.By.Shown()
		}
		for _, p := range v.Proposal.Perspectives {
			if p.Name == name && !inquiries.SaysNothing(p.Contribution) {
				about = p.Contribution
			}
		}
		w.Lenses = append(w.Lenses, protocol.InquiryLens{Perspective: name, About: about})
	}
	return inquiries.Draft(a, inquiry, protocol.EstablishLens, w)
}

// unmapped are the chosen perspectives that nobody investigates yet.
func unmapped(v inquiries.Inquiry) (names []string) {
	for _, p := range v.Chosen {
		if v.Member(p) == nil {
			names = append(names, p)
		}
	}
	return names
}

func mapWords(v inquiries.Inquiry, s Surroundings) string {
	text := lead("say which agents fit which perspectives, by what their profiles say. Which perspectives are investigated is settled and does not change.", v) + "\nThe perspectives:\n"
	for _, p := range unmapped(v) {
		text += "- " + names([]string{p}) + "\n"
	}
	text += "\nThe agents:\n"
	agents := each.Of(s.Agents, func(c Candidate) string { return fmt.Sprintf("- %s: %s", c.Agent, cutLine(c.About)) })
	return text + quote(listed(maxListed, agents)) + "\nName for each perspective only agents whose focus is that perspective's; none is a good answer. Several only where each would be the better one for somebody who weighs things differently, and say how in \"why\". Where one is the better one however one weighs, name it alone: a human is not asked then.\n" +
		fmt.Sprintf(inJSON, `{"fits": [{"perspective": "…", "agents": [{"agent": "name@host", "why": "in one line"}]}]}`)
}

func readMap(a inquiries.Actor, inquiry protocol.ChannelID, v inquiries.Inquiry, s Surroundings, answer string) (affair.Command, error) {
	var w struct {
		Fits []struct {
			Perspective string `json:"perspective"`
			Agents      []struct {
				Agent string `json:"agent"`
				Why   string `json:"why"`
			} `json:"agents"`
		} `json:"fits"`
	}
	if len(s.Agents) > 0 {
		if _, err := block(answer, &w, "fits"); err != nil {
			return affair.Command{}, err
		}
	}
	var m protocol.InquiryMapping
	for i, p := range unmapped(v) {
		fit := protocol.InquiryFit{Perspective: p}
		for _, f := range w.Fits {
			if !strings.EqualFold(word(f.Perspective), p) {
				continue
			}
			for _, c := range f.Agents {
				for _, known := range s.Agents {
					if !is(known.Agent, c.Agent) {
						continue
					}
					if o := (protocol.InquiryOption{Key: known.Agent.String(), About: cutLine(c.Why)}); !collapses(fit.Candidates, o) {
						fit.Candidates = append(fit.Candidates, o)
					}
				}
			}
		}
		if len(fit.Candidates) == 0 {
			if i >= len(s.Made) {
				return affair.Command{}, fmt.Errorf("no agent fits %q, and none can be made: parley fleet policy list says what frame-member names, parley fleet hosts who is there", p)
			}
			fit.Made, fit.Candidates = true, []protocol.InquiryOption{{Key: s.Made[i].String(), About: "made for this perspective"}}
		}
		m.Fits = append(m.Fits, fit)
	}
	return inquiries.Draft(a, inquiry, protocol.MapAgents, m), nil
}

// is reports whether `said` means an agent, by its address or by its name alone.
func is(a protocol.Address, said string) bool {
	said = word(said)
	return said == a.String() || said == a.Name
}

// collapses reports whether an option is the same as one before, or has the same reason. That is no
// choice, and nobody is asked to make it (F72).
func collapses(before []protocol.InquiryOption, o protocol.InquiryOption) bool {
	return slices.ContainsFunc(before, func(b protocol.InquiryOption) bool {
		return b.Key == o.Key || o.About != "" && strings.EqualFold(b.About, o.About)
	})
}

// anchors are words that lead to a place: words in backticks, paths, names of files.
var anchors = pattern.New("`([^`\n]{1,100})`|[A-Za-z0-9_.-]*/[A-Za-z0-9_./-]+|\\b[A-Za-z0-9_-]+\\.[a-z]{1,4}\\b")

// maxOrientation is how many such words a member gets.
const maxOrientation = 8

// idioms look like paths or files and lead nowhere.
var idioms = []string{"and/or", "either/or", "e.g", "i.e", "n/a", "w/o", "his/her", "he/she", "yes/no"}

// Orientation is where members begin to look: those words of the brief that lead to a place, word
// for word (F32), or else its scope. It follows from the brief alone.
func Orientation(b protocol.InquiryBrief) []string {
	var all []string
	for _, text := range []string{b.Scope, b.Intent, b.Deliverable} {
		for _, m := range anchors.Regexp().FindAllStringSubmatch(text, -1) {
			word := m[1]
			if word == "" {
				word = strings.Trim(m[0], "./-")
			}
			if word = strings.TrimSpace(word); word != "" && word == line(word) && !slices.Contains(idioms, strings.ToLower(word)) && !slices.ContainsFunc(all, func(s string) bool { return strings.EqualFold(s, word) }) && len(all) < maxOrientation {
				all = append(all, word)
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	scope, _, _ := strings.Cut(b.Scope, "\n")
	if scope = strings.TrimSpace(scope); len(scope) > 256 {
		if i := strings.LastIndexByte(scope[:257], ' '); i > 0 {
			scope = scope[:i]
		} else {
			scope = strings.ToValidUTF8(scope[:256], "")
		}
	}
	if scope == "" || scope != strings.Join(strings.Fields(scope), " ") {
		return nil
	}
	return []string{scope}
}
