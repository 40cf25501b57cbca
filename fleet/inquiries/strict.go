package inquiries

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/protocol"
)

// A host of an older version counts some deeds that break a line, and all hosts have to find the
// same value. So these deeds are not void. No command writes them, and who verifies an inquiry finds
// them.

// flaw is a line that a deed breaks although it counts, and how.
type flaw struct{ line, why string }

// strict finds the flaws of a deed that is about to be taken into an inquiry.
func (v Inquiry) strict(m *protocol.Message) []flaw {
	s := stricter{v: v, m: m}
	s.form()
	s.addressed()
	s.words()
	return s.flaws
}

type stricter struct {
	v     Inquiry
	m     *protocol.Message
	flaws []flaw
}

func (s *stricter) say(line, format string, args ...any) {
	s.flaws = append(s.flaws, flaw{line, fmt.Sprintf(format, args...)})
}

// finds reports whether proposals or a detection have something in their list.
func finds(m *protocol.Message) bool {
	p, _ := protocol.ProposePerspectives.Parse(m.Body)
	d, _ := protocol.DetectTensions.Parse(m.Body)
	return len(p.Perspectives)+len(d.Triggers) > 0
}

// form looks at what could be said behind the words: in fields that nobody reads, in the text of an
// act that has none, in the first line, and behind the block.
func (s *stricter) form() {
	lines := rules[s.m.Act].more
	if lines == nil {
		return
	}
	w, plain := protocol.InquiryForm(s.m.Act, s.m.Body)
	switch author := s.m.Author().Name; {
	case !plain || len(s.m.Extra) > 0:
		s.all(lines, "it says more than its form has")
	case w.Text != "" && !rules[s.m.Act].text && (finds(s.m) || s.m.Act != protocol.ActFrameProposals && s.m.Act != protocol.ActFrameDetection):
		s.all(lines, "it has a text, and its form has none")
	case w.With != "" || w.Topic != "" || w.Mark != "" || w.From != author:
		s.all(lines, "its first line says more than who wrote it, and when")
	}
}

func (s *stricter) all(lines []string, why string) {
	for _, l := range lines {
		s.say(l, "%s", why)
	}
}

// addressed looks at who is told: the humans see what they decide on, and peers are told alike.
func (s *stricter) addressed() {
	only := func(line string, want ...protocol.Address) {
		for _, a := range append(slices.Clone(want), s.m.To...) {
			if !slices.Contains(want, a) || !slices.Contains(s.m.To, a) {
				s.say(line, "it is not told to %s alone", names(want))
				return
			}
		}
	}
	tension := func(id string) []protocol.Address {
		if t := s.v.tension(id); t != nil {
			return s.v.pair(t, "")
		}
		return nil
	}
	for _, d := range s.v.Deciders {
		if line := rules[s.m.Act].humans; line != "" && !slices.Contains(s.m.To, d.Address()) {
			s.say(line, "it is not shown to %s, who decides", d.Human)
		}
	}
	if line := rules[s.m.Act].apart; line != "" {
		for _, a := range s.m.To {
			if s.member(a) {
				s.say(line, "it is told to %s, who investigates", a.Shown())
			}
		}
	}
	switch s.m.Act {
	case protocol.ActFrameShutdown:
		only("F80", each.Of(s.v.Members, func(m *Member) protocol.Address { return m.Agent })...)
	case protocol.ActFrameExchange:
		if w, err := protocol.ExchangeWords.Parse(s.m.Body); err == nil && s.v.tension(w.Tension) != nil {
			only("F54", s.v.pair(s.v.tension(w.Tension), w.Perspective)...)
		}
	case protocol.ActFrameStart:
		if w, err := protocol.StartMember.Parse(s.m.Body); err == nil {
			if a, err := protocol.ParseAddress(w.Member); err == nil {
				only("F28", a)
			}
		}
	case protocol.ActFrameTopic:
		if w, err := protocol.SignalTopic.Parse(s.m.Body); err == nil {
			only("F51", tension(w.Tension)...)
		}
	case protocol.ActFrameFollowUp:
		if w, err := protocol.FollowUp.Parse(s.m.Body); err == nil && s.v.Member(w.Perspective) != nil {
			only("F56", s.v.Member(w.Perspective).Agent)
		}
	}
}

// member reports whether an agent investigates. Before perspectives are mapped, anybody might who is
// not the author, the coordinator or a human who decides.
func (s *stricter) member(a protocol.Address) bool {
	known := []protocol.Address{s.v.Coordinator, {Name: s.m.From, Host: s.m.Host.String()}}
	for _, d := range s.v.Deciders {
		known = append(known, d.Address())
	}
	early := s.m.Act == protocol.ActFrameContext || s.m.Act == protocol.ActFrameProposals
	return !slices.Contains(known, a) && (early || slices.ContainsFunc(s.v.Members, func(m *Member) bool { return m.Agent == a }))
}

func names(all []protocol.Address) string {
	return strings.Join(each.Of(all, protocol.Address.Shown), " and ")
}

// words looks at what is said.
func (s *stricter) words() {
	switch s.m.Act {
	case protocol.ActFrameBrief:
		strictly(s, protocol.DraftBrief, func(w protocol.InquiryBrief) { s.filled("F3", "the brief", w.Intent, w.Deliverable, w.Scope) })
	case protocol.ActFrameContext:
		strictly(s, protocol.GatherContext, func(w protocol.InquiryContext) {
			if len(w.Sources) == 0 {
				s.filled("F12", "the context, which names no sources,", w.Text)
			}
		})
	case protocol.ActFrameMap:
		strictly(s, protocol.MapAgents, s.mapping)
	case protocol.ActFrameFollowUp:
		strictly(s, protocol.FollowUp, func(w protocol.InquiryFollowUp) { s.filled("F56", "the question", w.Text) })
	case protocol.ActFrameShutdown:
		if s.v.End.Told {
			s.say("F80", "the team was told to end already")
		}
	case protocol.ActFrameProposals:
		strictly(s, protocol.ProposePerspectives, s.proposals)
	case protocol.ActFrameEstablished:
		strictly(s, protocol.EstablishLens, func(w protocol.InquiryEstablished) {
			for _, l := range w.Lenses {
				s.filled("F25", "the word on "+l.Perspective, l.About)
			}
		})
	case protocol.ActFrameGate:
		strictly(s, protocol.AskInquiry, s.gate)
	case protocol.ActFrameStart:
		strictly(s, protocol.StartMember, func(w protocol.InquiryStart) {
			if w.Degraded != "" {
				s.say("F13", "it says something of the member besides its prompt")
			}
			if len(w.Orientation) == 0 || slices.ContainsFunc(w.Orientation, s.part) {
				s.say("F32", "its orientation is no words of the brief")
			}
		})
	case protocol.ActFrameSignal:
		strictly(s, protocol.SignalEnd, func(w protocol.InquirySignal) {
			if w.Degraded != "" && w.Degraded != NoSession {
				s.say("F42", "it says more of the run than how it ended")
			}
			if w.Exit != 0 && w.Outcome != protocol.SignalFailed {
				s.say("F42", "it has the exit code of a run that failed, and says %s", w.Outcome)
			}
		})
	case protocol.ActFramePreview:
		strictly(s, protocol.PreviewResults, func(w protocol.InquiryPreview) {
			for _, g := range w.Results {
				s.filled("F44", "the preview of "+g.Perspective, g.Title, g.Summary, g.Limits)
			}
		})
	case protocol.ActFrameDetection:
		strictly(s, protocol.DetectTensions, s.detection)
	case protocol.ActFrameReport:
		strictly(s, protocol.ReportDialogue, func(w protocol.InquiryReport) {
			s.filled("F55", "the report of "+w.Perspective, w.Position, w.Rationale)
			if !IsNone(w.Agreement) {
				s.filled("F55", "the report of "+w.Perspective, w.Agreement)
			}
			if w.Divergence != "" {
				s.filled("F55", "the report of "+w.Perspective, w.Divergence)
			}
			if IsNone(w.Divergence) {
				s.say("F56", "nothing divides %q by its own words, and still it would be asked once more", w.Perspective)
			}
		})
	case protocol.ActFrameOutcomes:
		strictly(s, protocol.ShowOutcomes, s.outcomes)
	case protocol.ActFrameSynthesis:
		strictly(s, protocol.Synthesize, s.synthesis)
	case protocol.ActFrameTrace:
		strictly(s, protocol.ShowTrace, s.trace)
	case protocol.ActFrameFindings:
		strictly(s, protocol.KeepFindings, s.findings)
	}
}

func strictly[W any](s *stricter, act protocol.WordAct[W], look func(W)) {
	if w, err := act.Parse(s.m.Body); err == nil {
		look(w)
	}
}

// NoSession is what a signal says of a member that is told again what it found (R52). A signal says
// nothing else: what its member found is not told yet.
const NoSession = "its program keeps no sessions, so for the dialogue it is given its earlier result again"

// SaysNothing reports whether a text only holds a place. What is void because of a placeholder is not
// told by this: older hosts count such texts.
func SaysNothing(text string) bool {
	bare := letterWords(strings.ToLower(visible(text)))
	return placeholder(text) || holdsPlace(text) || bare == "" || slices.Contains(places, bare) || slices.Contains(nones, bare) && !slices.Contains([]string{"no", "nein", "нет", "không"}, bare) // these may be an answer
}

// places are texts in prose that only hold a place, without marks.
var places = strings.Split("x|tba|tbc|tbd|to be announced|to be confirmed|to be decided|to be defined|to follow|to do|n a|unknown|not known|see above|see below|as above|as before|same as above|same as before|ditto|siehe oben|unbekannt", "|")

// visible is a text without signs that nobody sees.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}

// filled looks for texts that only hold a place.
func (s *stricter) filled(line, what string, texts ...string) {
	for _, text := range texts {
		if SaysNothing(text) {
			s.say(line, "%s says nothing: %.80q", what, text)
		}
	}
}

func (s *stricter) proposals(w protocol.InquiryProposals) {
	all := each.Of(w.Perspectives, func(p protocol.InquiryPerspective) string { return p.Name })
	for _, p := range w.Perspectives {
		if several(p.Name, append(slices.Clone(s.v.Base), all...)) {
			s.say("F16", "%q is no single perspective", p.Name)
		} else if again(p.Name, s.v.Base) {
			s.say("F17", "%q is a perspective of the inquiry already", p.Name)
		}
	}
	if len(w.Perspectives) == 0 {
		s.filled("F24", "the reason why there is none", w.Text)
	}
}

// mapping looks whether an agent is made for one perspective alone.
func (s *stricter) mapping(w protocol.InquiryMapping) {
	made := map[string]bool{}
	for _, m := range s.v.Members {
		made[m.Agent.String()] = m.Made
	}
	for _, f := range w.Fits {
		if key := f.Candidates[0].Key; f.Made {
			if made[key] {
				s.say("F28", "%s is made for two perspectives", key)
			}
			made[key] = true
		}
	}
}

// part reports whether an orientation is a letter out of the brief's words.
func (s *stricter) part(o string) bool {
	b := s.v.Brief
	return letters(o) < 2 && whole(strings.Join([]string{b.Intent, b.Deliverable, b.Scope}, "\n"), o) < 0
}

// several reports whether a name stands for several perspectives: it begins with a word for all of
// them, has two of them in it, joins one of them with another thing, or has no words of its own.
func several(name string, all []string) bool {
	lower := strings.ToLower(strings.TrimSpace(visible(name)))
	if composite(name) || everyone.MatchString(lower) || apartBy.MatchString(name) {
		return true
	}
	for _, part := range joints.Regexp().Split(lower, -1) {
		if part != lower && has(all, strings.TrimSpace(part)) {
			return true
		}
	}
	rest := without(lower, all)
	words := strings.FieldsFunc(rest, noLetter)
	number := func(w string) bool { return rest == lower && strings.Trim(w, "0123456789") == "" }
	collects := func(w string) bool { return slices.Contains(collective, w) || number(w) }
	return between.MatchString(rest) || slices.ContainsFunc(words, collects) && !slices.ContainsFunc(words, func(w string) bool { return !collects(w) && !slices.Contains(generic, w) })
}

// without is a name with a mark for each of a list that stands in it as whole words, the longest first.
func without(lower string, all []string) string {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	for _, one := range all {
		one = strings.ToLower(strings.TrimSpace(one))
		if i := whole(lower, one); i >= 0 && one != lower {
			lower = lower[:i] + "\x00" + lower[i+len(one):]
		}
	}
	return lower
}

// again reports whether a name is one of a list with words besides that say nothing.
func again(name string, all []string) bool {
	lower := strings.ToLower(name)
	rest := without(lower, all)
	return rest != lower && !slices.ContainsFunc(strings.FieldsFunc(rest, noLetter), func(w string) bool { return !slices.Contains(generic, w) })
}

var (
	everyone   = pattern.New(`^(?:(?:all|both|every|everything|everyone|each|either|alle|alles|beide|sämtliche|tous|toutes|todos|todas|ambos|ambas|tutti|tutte|entrambi|entrambe|båda|wszystkie|все|оба)(?:[\s,:]|$)|(?:an? |the )?(?:mix|mixture|union|combination|blend) of\b|ทั้งหมด|ทั้งสอง|全部|所有|两者|両方|すべて|모두)`)
	apartBy    = pattern.New(`;|\s[/|]\s+\p{Lu}`)
	joints     = pattern.New(`\s*[/+&;,|·•×–—]\s*|\s+-\s+|\s+(?:and|or|vs|versus|with|plus|x|as well as|together with|combined with|mit|und|oder|et|ou|avec|y|o|con|e|és|og|och|en)\.?\s+|[和与與及跟]|และ`)
	between    = pattern.New(`\x00[^\x00]*[^\x00\s][^\x00]*\x00`)
	collective = strings.Fields("combined combination combining hybrid mixed mix mixture union integrated overall whole together joint all both every above these them rest remaining other others first last two three four five everything")
	generic    = strings.Fields("a an the of and or in with as into view views perspective perspectives lens lenses approach approaches analysis framework frameworks option options only proposed team")
)

// gate looks at what is said about options, and at what only the gate on the brief may say.
func (s *stricter) gate(w protocol.InquiryGate) {
	if w.Gate != protocol.GateBrief && (w.In != "" || w.Snapshot != "" || len(w.Receivers) > 0) {
		s.say("F67", "it carries context")
	}
	due := s.v.Questions(w.Gate)
	for i, q := range w.Questions {
		for j, o := range q.Options {
			want := ""
			if i < len(due) && j < len(due[i].Options) {
				want = due[i].Options[j].About
			}
			if w.Gate == protocol.GateBrief && o.Key == s.v.Brief.Mode && q.ID == AskMode && strings.HasPrefix(AboutMode+oneLine(s.v.Brief.Why), strings.TrimSuffix(o.About, "…")) {
				want = o.About
			}
			if o.About != want && w.Gate != protocol.GateRoute && w.Gate != protocol.GatePerspectives {
				s.say("F67", "it says something about %q", o.Key)
			}
		}
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// AboutMode begins what the gate on the brief says about the recommended mode.
const AboutMode = "Recommended: "

// kindWords are words from which peers would learn which kind of tension was found, or who is right.
// Hyphens and signs that nobody sees are left out before.
var kindWords = pattern.New(`\b(?:contradict|horizons?\b|highstakes?|high stakes?|stakes are high|uncorroborat|unverified|unconfirmed|emergent|conflict|disagree|opposing|incompatib|tensions?\b|blind ?spot|` +
	`widerspr[uü]ch|konflikt|contradic|contradiç|contraddi|conflit|motsäg|sprzeczn)` +
	`|\b(?:who|which of (?:them|the two)|why .*) (?:is|are) (?:right|wrong|mistaken)\b|horizonts?\b|ขัดแย้ง|矛盾|冲突|衝突|対立|모순|갈등|противореч|конфликт|mâu thuẫn|xung đột`)

// plainly is a text in small letters, in one form of each, without hyphens and signs that nobody sees.
func plainly(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case r >= '！' && r <= '～': // of full width
			r -= '！' - '!'
		case unicode.Is(unicode.Pd, r):
			return -1
		}
		return unicode.ToLower(r)
	}, visible(text))), " ")
}

// Leaks is the word of a topic that reveals the kind of a tension; "" for none. A word of the
// question, of the brief or of the quotes reveals nothing.
func (v Inquiry) Leaks(t protocol.InquiryTrigger) string {
	known := []string{v.Opening.Text, v.Brief.Intent, v.Brief.Deliverable, v.Brief.Scope}
	for _, q := range t.Quotes {
		known = append(known, q.Words)
	}
	for _, p := range v.Chosen {
		if w := right.Regexp().FindString(plainly(t.Topic)); w != "" && strings.Contains(plainly(t.Topic), plainly(p)+w) {
			return strings.TrimSpace(w)
		}
	}
	for _, topic := range []string{plainly(t.Topic), digits.Replace(plainly(t.Topic))} {
		for _, w := range kindWords.Regexp().FindAllString(topic, -1) {
			if !strings.Contains(plainly(strings.Join(known, "\n")), w) {
				return w
			}
		}
	}
	return ""
}

// right says of somebody that they are right, or not.
var right = pattern.New(` (?:is|are) (?:right|wrong|mistaken)\b`)

// digits stand for letters that look like them.
var digits = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a")

func (s *stricter) detection(w protocol.InquiryDetection) {
	for i, t := range w.Triggers {
		if slices.ContainsFunc(w.Triggers[:i], func(o protocol.InquiryTrigger) bool {
			return o.Kind == t.Kind && o.Topic == t.Topic && slices.Equal(o.Peers, t.Peers)
		}) {
			s.say("F47", "%.80q is found twice", t.Topic)
		}
		if kind := s.v.Leaks(t); kind != "" {
			s.say("F49", "the topic %.80q says %q: the two are told the topic, and are not to know what kind of tension was found", t.Topic, kind)
		}
		s.filled("F47", "the topic", t.Topic)
		if t.Kind == protocol.TriggerStakes || t.Kind == protocol.TriggerEmergent {
			s.filled("F47", "the reason", t.Why)
		}
		for i, q := range t.Quotes {
			m := s.v.Member(q.Perspective)
			if m == nil {
				continue
			}
			sections := SectionTexts(m.Result)
			if !s.v.Says(sections[q.Section], q.Words) {
				s.say("F47", "the quote %.80q of %q says nothing by itself", q.Words, q.Perspective)
			}
			switch {
			case slices.Contains(t.Quotes[:i], q):
				s.say("F47", "%.80q is quoted twice", q.Words)
			case t.Kind == protocol.TriggerContradiction && slices.ContainsFunc(t.Quotes[:i], func(o protocol.InquiryQuote) bool { return bare(o.Words) == bare(q.Words) }):
				s.say("F47", "both say %.80q, which is no contradiction: quote what differs", q.Words)
			case t.Kind == protocol.TriggerStakes && q.Perspective != t.Peers[0]:
				s.say("F47", "%.80q is quoted of the one that is to validate the claim", q.Words)
			}
		}
	}
	if len(w.Triggers) == 0 && letters(w.Text) < 50 {
		s.say("F48", "it does not say why there is none")
	}
}

func (s *stricter) outcomes(w protocol.InquiryOutcomes) {
	for _, o := range w.Outcomes {
		s.filled("F58", "the basis of "+o.Tension, o.Basis)
		switch t := s.v.tension(o.Tension); {
		case o.Resolution == "persistent" && o.Strength != "weak", o.Resolution == "partial" && o.Strength == "strong", o.Resolution == "agreed" && o.Strength == "weak":
			s.say("F58", "the agreement of tension %s is %s, and its strength is %s", o.Tension, o.Resolution, o.Strength)
		case o.Resolution == "persistent" && t != nil && len(t.Divergent()) == 0:
			s.say("F58", "nobody of tension %s reports that something divides them", o.Tension)
		}
	}
}

// titleOfSynthesis may stand before the sections of a synthesis.
const titleOfSynthesis = "Framed Analysis"

// synthesis looks whether all that is said joins what others said (F59 to F62): each sentence rests
// on a quote, or is marked as the coordinator's own joining.
func (s *stricter) synthesis(w protocol.InquirySynthesis) {
	for _, f := range strays(w.Text, titleOfSynthesis, SynthesisSections()...) {
		s.say("F60", "the synthesis: %s", f)
	}
	sections, _ := Sections(w.Text, SynthesisSections()...)
	for _, h := range SynthesisSections() {
		if SaysNothing(sections[h]) && !saysNone(sections[h]) {
			s.say("F60", "the section %s says nothing: %.80q", h, sections[h])
		}
	}
	for _, one := range s.v.Unbased(w) {
		s.say("F61", "%.80q has no basis", one)
		s.say("F62", "%.80q is not marked as the coordinator's own", one)
	}
	for _, b := range slices.Concat(w.Basis, w.Others) {
		s.based(b)
	}
	for _, b := range w.Others {
		if err := s.v.based(sections[SectionConvergence]+"\n"+sections[SectionDivergence], b); err != nil {
			s.say("F61", "%s", err)
		}
	}
	for _, block := range blocks(sections[SectionBasis]) {
		if slices.ContainsFunc(slices.Concat(w.Basis, w.Others), func(b protocol.InquiryBasis) bool { return bare(block) == bare(BasisLine(b)) }) {
			continue
		}
		for _, one := range Sentences(block) {
			if !s.v.namesSource(one, w) {
				s.say("F61", "%.80q of the section %s names no source", one, SectionBasis)
			}
		}
	}
	for i, a := range w.Agreements {
		if !s.v.Says(sections[SectionConvergence], a.Point) {
			s.say("F63", "the point of an agreement says nothing by itself: %.80q", a.Point)
		}
		if is := s.v.Agreed(a); len(is) != 1 || is[0].Strength != a.Strength || slices.ContainsFunc(w.Agreements[:i], func(o protocol.InquiryAgreement) bool {
			return o.Point == a.Point && slices.Equal(slices.Sorted(slices.Values(o.Perspectives)), slices.Sorted(slices.Values(a.Perspectives)))
		}) {
			s.say("F63", "the agreement on %.80q is another one by the dialogues, or is said twice", a.Point)
		}
	}
	if g := s.v.Gates; len(g) > 0 && g[len(g)-1].Gate == protocol.GateRoute && w.Text == s.v.Synthesis.Text &&
		!slices.ContainsFunc(slices.Concat(w.Basis, w.Others), func(b protocol.InquiryBasis) bool { return b.Kind == protocol.BasisInput }) {
		s.say("F75", "it is the synthesis before, and says nothing of what the human added")
	}
}

// strengths of an agreement by dialogue, the weakest first.
var strengths = []string{"weak", "moderate", "strong"}

// Agreed is what an agreement is by the dialogues. It is as strong as they came out at most. Of several
// perspectives of which some talked and some did not, each pair agrees by itself.
func (v Inquiry) Agreed(a protocol.InquiryAgreement) (all []protocol.InquiryAgreement) {
	strength, talked, pairs := slices.Index(strengths, a.Strength), 0, 0
	for i, one := range a.Perspectives {
		for _, other := range a.Perspectives[:i] {
			pair := protocol.InquiryAgreement{Point: a.Point, Perspectives: []string{other, one}, Strength: a.Strength}
			pairs++
			most, met := -1, false
			for _, t := range v.Tensions {
				if slices.Contains(t.Peers[:], one) && slices.Contains(t.Peers[:], other) {
					met = true
					for _, o := range v.Outcomes {
						if o.Tension == t.ID {
							most = max(most, slices.Index(strengths, o.Strength))
						}
					}
				}
			}
			if pair.Strength = protocol.IndependentConvergence; met {
				talked++
				if most >= 0 && (strength < 0 || strength > most) {
					strength = most
				}
				pair.Strength = strengths[max(strength, 0)]
			}
			if m, o := v.Member(one), v.Member(other); m == nil || o == nil || m.Signal == nil || o.Signal == nil || m.Signal.Result != o.Signal.Result {
				all = append(all, pair)
			}
		}
	}
	switch talked {
	case 0:
		a.Strength = protocol.IndependentConvergence
	case pairs:
		a.Strength = strengths[max(strength, 0)]
	default:
		return all
	}
	return []protocol.InquiryAgreement{a}
}

// figures and paths show that a claim is of another thing than its quote.
var (
	figures = pattern.New(`[0-9](?:[.,']?[0-9])+`)
	paths   = pattern.New(`[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]*[A-Za-z0-9_]`)
)

// Foreign are the figures and paths of a claim that stand in nothing that was asked, found, reported or
// added. A figure of one digit, such as a count of perspectives, is none.
func (v Inquiry) Foreign(text string) (all []string) {
	known := []string{v.Opening.Text, v.Opening.In, v.Brief.Intent, v.Brief.Deliverable, v.Brief.Scope, strings.Join(append(v.Inputs, v.Chosen...), "\n")}
	for _, m := range v.Members {
		known = append(known, m.Result, m.Agent.String(), strings.Join(v.dialogueOf(m.Perspective, ""), "\n"))
	}
	for _, t := range v.Tensions {
		known = append(known, t.ID)
	}
	record := strings.Join(known, "\n")
	figure := func(f string) string {
		return strings.TrimLeft(strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return r
			}
			return -1
		}, f), "0")
	}
	stand := map[string]bool{}
	for _, f := range figures.Regexp().FindAllString(record, -1) {
		stand[figure(f)] = true
	}
	for _, f := range figures.Regexp().FindAllString(text, -1) {
		if digits := figure(f); len(digits) > 1 && !stand[digits] {
			all = append(all, f)
		}
	}
	for _, f := range paths.Regexp().FindAllString(text, -1) {
		folder, rest, _ := strings.Cut(f, "/")
		if f = strings.TrimRight(f, "."); strings.ContainsAny(rest, "./") && !strings.Contains(record, f) || strings.Contains(record, folder+"/") && !strings.Contains(record, f) {
			all = append(all, f)
		}
	}
	return all
}

// BasisLine is how the section on the basis says what a claim rests on.
func BasisLine(b protocol.InquiryBasis) string {
	from := each.Of(b.Sources, func(s protocol.InquirySource) string { return cmp.Or(s.Perspective, "the human") })
	return "- " + strings.TrimLeft(oneLine(b.Claim), "-*# ") + " (" + kindNames[b.Kind] + strings.Join(slices.Compact(from), ", ") + ")"
}

// kindNames are the kinds of a basis, for people.
var kindNames = map[string]string{
	protocol.BasisResult: "from the isolated inquiry of ", protocol.BasisAgreement: "agreed in dialogue by ", protocol.BasisDivergence: "left open in dialogue by ",
	protocol.BasisInput: "added by ", protocol.BasisFusion: "joined by the coordinator, from ",
}

// Says reports whether words that stand in a text say something by themselves, which is neither the
// heading of a section nor the question.
func (v Inquiry) Says(text, words string) bool {
	heading, _ := headingIn(strings.TrimSpace(words), ResultSections())
	return clause(text, words) && heading == "" && !slices.ContainsFunc(append(Sentences(v.Opening.Text), v.Opening.Text), func(q string) bool { return bare(q) == bare(words) })
}

// based looks whether the sources of a claim say something.
func (s *stricter) based(b protocol.InquiryBasis) {
	for _, src := range b.Sources {
		says := func(text string) bool { return s.v.Says(text, src.Words) }
		switch {
		case b.Kind == protocol.BasisFusion && s.v.Member(src.Perspective) == nil:
			s.say("F62", "%.80q is joined from no perspective", b.Claim)
		case b.Kind == protocol.BasisInput && len(s.v.Inputs) == 0:
			s.say("F59", "the human added nothing on which %.80q could rest", b.Claim)
		case src.Words == "" || slices.ContainsFunc(s.v.Evidence(b.Kind, src.Perspective), says):
		case (b.Kind == protocol.BasisAgreement || b.Kind == protocol.BasisDivergence) && slices.ContainsFunc(s.v.dialogueOf(src.Perspective, ""), says):
			s.say("F64", "%.80q is no %s, by the report of %q", src.Words, b.Kind, src.Perspective)
		default:
			s.say("F61", "the quote %.80q says nothing by itself", src.Words)
		}
	}
	if own := s.v.Foreign(b.Claim); len(own) > 0 && b.Kind != protocol.BasisFusion {
		s.all([]string{"F61", "F59", "F62"}, fmt.Sprintf("%q of %.80q stands in no result, report or input, and is not marked as the coordinator's own", own[0], b.Claim))
	}
	if b.Kind != protocol.BasisFusion && !slices.ContainsFunc(b.Sources, func(src protocol.InquirySource) bool { return src.Words != "" }) {
		s.say("F61", "%.80q quotes nothing", b.Claim)
	}
}

// Unbased are the sentences, points and headings of a synthesis that no row of its basis covers.
func (v Inquiry) Unbased(w protocol.InquirySynthesis) (all []string) {
	sections, _ := Sections(w.Text, SynthesisSections()...)
	for _, h := range []string{SectionConvergence, SectionDivergence, SectionIntegrated} {
		claims := w.Others
		if h == SectionIntegrated {
			claims = w.Basis
		}
		for _, one := range Sentences(sections[h]) {
			if !slices.ContainsFunc(claims, func(b protocol.InquiryBasis) bool { return covers(b.Claim, one) }) && !saysNone(one) {
				all = append(all, one)
			}
		}
	}
	return all
}

// covers reports whether a claim is a sentence, but for two words that do not deny it.
func covers(claim, sentence string) bool {
	claim, sentence = bare(claim), bare(sentence)
	before, after, found := strings.Cut(sentence, claim)
	rest := before + " " + after
	return strings.Contains(claim, sentence) || found && claim != "" && len(strings.FieldsFunc(rest, noLetter)) <= 2 && letters(rest) <= 24 && !denies.MatchString(rest)
}

// denies finds words that turn a claim into its opposite.
var denies = pattern.New(`(?i)\b(no|not|nor|never|nobody|none|nothing|without|hardly|un\w+|false\w*|wrong\w*|nicht|kein\w*|nie|niemand|falsch|pas|jamais|faux|non|nunca|falso|nej|inte|niet|geen|nie)\b|n['’]t\b|[不没沒非未]|ไม่|않|아니|нет|не`)

// saysNone reports whether a sentence only says that there is nothing to say.
func saysNone(sentence string) bool {
	alone, _ := none(sentence)
	return alone
}

// namesSource reports whether a line of the section on the basis is a claim, or names a source and
// says little more.
func (v Inquiry) namesSource(line string, w protocol.InquirySynthesis) bool {
	rest := strings.ToLower(line)
	for _, known := range slices.Concat(v.Chosen, []string{"human", "user_input", "coordinator", "dialogue", "claim", "result"}) {
		rest = strings.ReplaceAll(rest, strings.ToLower(known), "")
	}
	return len(rest) < len(line) && letters(rest) <= 16 ||
		slices.ContainsFunc(slices.Concat(w.Basis, w.Others), func(b protocol.InquiryBasis) bool { return covers(b.Claim, line) })
}

// trace looks whether the trace says of each perspective what the synthesis shows of it.
func (s *stricter) trace(w protocol.InquiryTrace) {
	for _, r := range w.Rows {
		m := s.v.Member(r.Perspective)
		if m == nil {
			continue
		}
		due := s.v.Row(m)
		if !slices.Equal(slices.Sorted(slices.Values(due.Sections)), slices.Sorted(slices.Values(r.Sections))) {
			s.say("F78", "the synthesis has words of %q in %q, and the trace says %q", r.Perspective, due.Sections, r.Sections)
		}
		if due.Survived != r.Survived {
			s.say("F78", "the trace says otherwise than the synthesis whether it has what %q alone found", r.Perspective)
		}
		sections := SectionTexts(m.Result)
		for _, gap := range r.Unaddressed {
			if !clause(sections[SectionLimits], gap) {
				s.say("F83", "the gap %.80q says nothing by itself", gap)
			}
		}
		for _, limit := range due.Unaddressed {
			if !Names(r.Unaddressed, limit) {
				s.say("F83", "nothing addresses the limit %.80q of %q, and the trace does not have it", limit, r.Perspective)
			}
		}
	}
}

// Names reports whether a limit, or a part of it, is among gaps.
func Names(gaps []string, limit string) bool {
	return slices.ContainsFunc(gaps, func(gap string) bool { return strings.Contains(limit, gap) || strings.Contains(gap, limit) })
}

// Row is what the record itself shows of what a perspective gave: the sections that quote it,
// whether a claim rests on it alone, and its limits, if nothing of the inquiry speaks of them.
func (v Inquiry) Row(m *Member) protocol.InquiryTraceRow {
	row := protocol.InquiryTraceRow{Perspective: m.Perspective}
	texts, _ := Sections(v.Synthesis.Text, SynthesisSections()...)
	add := func(h string) {
		if !slices.Contains(row.Sections, h) {
			row.Sections = append(row.Sections, h)
		}
	}
	cites := func(b protocol.InquiryBasis) bool {
		return slices.ContainsFunc(b.Sources, func(src protocol.InquirySource) bool { return src.Perspective == m.Perspective })
	}
	limits := SectionTexts(m.Result)[SectionLimits]
	addressed := func(words string) bool { return words != "" && strings.Contains(limits, words) }
	spoken := false
	for i, b := range slices.Concat(v.Synthesis.Others, v.Synthesis.Basis) {
		if !cites(b) {
			continue
		}
		switch {
		case i >= len(v.Synthesis.Others):
			add(SectionIntegrated)
			row.Survived = row.Survived || b.Kind == protocol.BasisResult && len(b.Sources) == 1
		case b.Kind == protocol.BasisFusion:
		case strings.Contains(texts[SectionConvergence], b.Claim):
			add(SectionConvergence)
		default:
			add(SectionDivergence)
		}
		for _, src := range b.Sources {
			spoken = spoken || src.Perspective == m.Perspective && addressed(src.Words)
		}
	}
	for _, a := range v.Synthesis.Agreements {
		if slices.Contains(a.Perspectives, m.Perspective) {
			add(SectionConvergence)
		}
	}
	for _, t := range v.Tensions {
		for _, trigger := range t.Triggers {
			spoken = spoken || slices.ContainsFunc(trigger.Quotes, func(q protocol.InquiryQuote) bool {
				return q.Perspective == m.Perspective && q.Section == SectionLimits
			})
		}
	}
	if !spoken && !placeholder(limits) {
		row.Unaddressed = slices.DeleteFunc(Sentences(limits), func(s string) bool { return !clause(limits, s) })
	}
	return row
}

// findings looks whether all of what the human preserved is kept.
func (s *stricter) findings(w protocol.InquiryFindings) {
	sections, _ := Sections(s.v.Synthesis.Text, SynthesisSections()...)
	for i, f := range w.Findings {
		if slices.Contains(w.Findings[:i], f) {
			s.say("F79", "it keeps %q twice", f.Category)
		}
		if strings.TrimSpace(f.Words) != sections[SectionOf(f.Category)] {
			s.say("F79", "it keeps a part of %q, and the human preserved it whole", f.Category)
		}
	}
}
