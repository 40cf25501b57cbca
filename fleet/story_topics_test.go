package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// The lines of stories about topics:
//
//	wait DURATION                                             time passes
//	ID: work WHO@HOST OTHER TOPIC VERB [ITEM] [key=value…]: TEXT     a command; TOPIC with "_" for blanks
//	    open [anchor=…] · close · agree [window=…] · ask · teach · disagree · resolve ITEM · accept ITEM · reject ITEM
//	    defer [ITEM] [until=…] · revoke ITEM [window=…] · reaccept ITEM [text=…] [window=…] · validate ITEM [milestone=…] · check [comments=…]
//	    answer re=ID [mark=mechanical]: A1 SCORE DECISION EVIDENCE; … · checkpoint [mark=…] · ratify · amend · rejectsum
//	refuse work … = REASON
//	ID: hand NAME -> OTHER in=ONE+OTHER/TOPIC|CHANNEL [act=ACT] [re=ID]: BODY     an unsigned file; "\n" for a new line
//
// and what holds then. PAIR is ONE+OTHER/TOPIC, or a channel's name:
//
//	judged ID = (part of) why a deed is void; "holds"
//	topic PAIR = NAME, anchor, what is closed by whom, terms before
//	items PAIR = labels, [spec] until all have accepted, ! unsigned, = resolved
//	stand PAIR ITEM WHO = phase, what it was before, until when it waits or was put off
//	shown PAIR ITEM = phase and name     says PAIR ITEM = its words     log PAIR ITEM = who act from>to…
//	pending PAIR WHO = labels            deferred PAIR WHO = labels
//	sync ID = raw, how many of how many count, flags of rows; "waits", "timed out"
//	asked PAIR ITEM = who was asked at which milestone, and what came of it
//	checkpoint ID = counts, score and verdicts
func (s *story) topicCommand(words []string) Command {
	by := topics.Speaker{Record: testRecord, Me: s.who(words[1]).Name, With: words[2], Topic: strings.ReplaceAll(words[3], "_", " ")}
	item, arg := "", map[string]string{}
	words[len(words)-1] = strings.TrimSuffix(words[len(words)-1], ":")
	for _, word := range words[5:] {
		if key, value, ok := strings.Cut(word, "="); ok {
			arg[key] = strings.ReplaceAll(value, "_", " ")
		} else {
			item = strings.ReplaceAll(word, "_", " ")
		}
	}
	var window time.Duration
	if arg["window"] != "" {
		window = s.span(arg["window"])
	}
	switch words[4] {
	case "open":
		return Do{by.Open(arg["anchor"])}
	case "close":
		return Do{by.Close(s.text)}
	case "join":
		return Do{by.Join(arg["of"], s.text)}
	case "agree":
		return Do{by.Agree(s.text, window)}
	case "ask":
		return Do{by.Ask(s.text)}
	case "teach":
		return Do{by.Teach(s.text)}
	case "disagree":
		return Do{by.Disagree(s.text)}
	case "resolve":
		return Do{by.Resolve(item, s.text)}
	case "accept":
		return Do{by.Accept(item, s.text)}
	case "reject":
		return Do{by.Reject(item, s.text)}
	case "defer":
		var until time.Time
		if arg["until"] != "" {
			until = s.now.Add(s.span(arg["until"]))
		}
		return Do{by.Defer(item, s.text, until)}
	case "revoke":
		return Do{by.Revoke(item, s.text, window)}
	case "reaccept":
		return Do{by.ReAccept(item, arg["text"], s.text, window)}
	case "validate":
		return Do{by.Validate(item, protocol.ParseMilestone(arg["milestone"]), window)}
	case "check":
		var extra []string
		if s.text != "" {
			extra = []string{s.text}
		}
		comments := 0
		fmt.Sscan(arg["comments"], &comments)
		return Do{by.Check(extra, window, protocol.Heard{Comments: comments})}
	case "answer":
		return Do{by.Answer(s.path(arg["re"]), s.rows(), arg["mark"])}
	case "checkpoint":
		return Do{by.Checkpoint(s.text, arg["mark"])}
	case "ratify", "amend", "rejectsum":
		act := map[string]protocol.Act{"ratify": protocol.ActRatified, "amend": protocol.ActAmendment, "rejectsum": protocol.ActRejected}[words[4]]
		return Do{by.Judge(s.path2(arg["re"]), act, s.text)}
	}
	s.Fatalf("what is this: %s", s.line)
	return nil
}

// path2 is the message of that id; none where there is no id.
func (s *story) path2(id string) protocol.Path {
	if id == "" {
		return protocol.Path{}
	}
	return s.path(id)
}

// rows reads "A1 1.0 ACCEPT evidence; A2 …".
func (s *story) rows() []protocol.SyncRow {
	var rows []protocol.SyncRow
	for _, text := range strings.Split(s.text, "; ") {
		f := append(strings.SplitN(text, " ", 4), "", "", "")
		var x float64
		fmt.Sscan(f[1], &x)
		rows = append(rows, protocol.SyncRow{Claim: protocol.ParseItemRef(f[0]), Score: protocol.NewScore(x), Decision: protocol.Decision(f[2]), Evidence: f[3]})
	}
	return rows
}

func (s *story) span(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.Fatalf("%s: %v", s.line, err)
	}
	return d
}

// topicChannel is the channel of "one+other/topic", or the one that the story calls so.
func (s *story) topicChannel(pair string) protocol.ChannelID {
	two, topic, ok := strings.Cut(pair, "/")
	switch {
	case pair == "@policy":
		return protocol.PolicyChannel(testRecord)
	case !ok:
		return storyChannel(pair)
	}
	one, other, _ := strings.Cut(two, "+")
	slug, err := protocol.SlugOf(strings.ReplaceAll(topic, "_", " "))
	if err != nil {
		s.Fatalf("%s: %v", s.line, err)
	}
	return protocol.TopicChannel(testRecord, one, other, slug)
}

// byHand is a deed as one writes it with a text editor.
func (s *story) byHand(id, line string) {
	head, text, _ := strings.Cut(line, ": ")
	words := strings.Fields(head)
	m := protocol.Message{From: words[1], To: []protocol.Address{{Name: words[3]}}, Type: protocol.TypeText, Timestamp: s.now.Add(s.clocks["plain"]),
		Body: strings.ReplaceAll(text, `\n`, "\n")}
	channel := protocol.DeriveChannel(testRecord, words[1], words[3])
	for _, word := range words[4:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "in":
			channel = s.topicChannel(value)
		case "act":
			m.Act = protocol.Act(value)
		case "re":
			m.Re = s.path(value).Rel()
		}
	}
	m.Path = protocol.NewPath(channel, m.Timestamp, uint32(len(s.files)))
	data, err := protocol.Encode(&m)
	if err != nil {
		s.Fatal(err)
	}
	s.ids[id] = m.Path
	s.apply(testFile{m.Path, data})
}

// topicNow is what the story asks about a topic.
func (s *story) topicNow(words []string, want string) (got string, ok bool) {
	value := func(c protocol.ChannelID) topics.Topic {
		return Value(s.state, topics.Kind(testRecord), c.String(), s.now)
	}
	if words[0] == "judged" {
		it := s.state.Ledger.at(s.path(words[1]))
		if err := s.state.Void(it); err == nil {
			return "holds", true
		} else if got = err.Error(); strings.Contains(got, want) {
			got = want
		}
		return got, true
	}
	if words[0] == "sync" || words[0] == "checkpoint" {
		return s.messageNow(words, value(s.path(words[1]).Channel())), true
	}
	if !slices.Contains([]string{"topic", "items", "stand", "shown", "says", "log", "pending", "deferred", "asked"}, words[0]) {
		return "", false
	}
	t := value(s.topicChannel(words[1]))
	switch words[0] {
	case "topic":
		return topicText(t), true
	case "items":
		var all []string
		for _, it := range t.Items {
			all = append(all, itemText(it))
		}
		return strings.Join(all, " "), true
	case "pending":
		return labels(t.Awaiting(words[2])), true
	case "deferred":
		return labels(t.DeferredBy(words[2])), true
	}
	it, err := t.Find(protocol.ParseItemRef(words[2]))
	if err != nil {
		return err.Error(), true
	}
	switch words[0] {
	case "stand":
		return s.standText(it.Stand(words[3])), true
	case "shown":
		return string(it.Shown().Phase) + " " + it.Shown().Who, true
	case "says":
		return it.Text(), true
	case "asked":
		var all []string
		for _, v := range it.Validations {
			state := "waits"
			switch {
			case v.Stale:
				state = "stale"
			case !v.Answer.IsZero() && v.Holds:
				state = "holds"
			case !v.Answer.IsZero():
				state = "holds no more"
			}
			all = append(all, strings.TrimSpace(v.Of+" "+string(v.Milestone))+": "+state)
		}
		return strings.Join(all, ", "), true
	}
	var all []string
	for _, d := range it.Log {
		all = append(all, fmt.Sprintf("%s %s %s>%s", d.Who, d.Act, d.From, d.To))
	}
	return strings.Join(all, ", "), true
}

func topicText(t topics.Topic) string {
	if t.Opened.IsZero() {
		return "none"
	}
	text := []string{t.Name + " of " + t.Pair[0] + " and " + t.Pair[1]}
	if t.Anchor != "" {
		text = append(text, "anchor "+t.Anchor)
	}
	if !t.Derived {
		text = append(text, "by hand")
	}
	for _, c := range t.Closed {
		text = append(text, strings.TrimSpace("closed by "+c.By+" "+c.Text))
	}
	for _, j := range t.Joins {
		text = append(text, j.By+" asks to join")
	}
	if len(t.Past) > 0 {
		text = append(text, fmt.Sprintf("term %d", len(t.Past)+1))
	}
	return strings.Join(text, ", ")
}

func itemText(it *topic.Item) string {
	text := it.Label.String()
	switch {
	case it.Sort == topic.Agreement && !it.Agreed():
		text += "[spec]"
	case it.Resolved != nil:
		text += "="
	}
	if !it.Signed {
		text += "!"
	}
	return text
}

func labels(items []*topic.Item) string {
	var all []string
	for _, it := range items {
		all = append(all, it.Label.String())
	}
	return strings.Join(all, " ")
}

func (s *story) standText(st topic.Stand) string {
	text := string(st.Phase)
	if st.Previous != "" {
		text += " was " + string(st.Previous)
	}
	if st.Phase == topic.Deferred {
		text += " for " + st.Until.Sub(st.Decided).String()
	}
	if st.Phase == topic.TimedOut {
		text += " since " + s.now.Sub(st.TimeoutAt).Round(time.Hour).String()
	}
	if st.Reason != "" {
		text += ": " + st.Reason
	}
	return text
}

// messageNow is what the story asks about a check or a checkpoint.
func (s *story) messageNow(words []string, t topics.Topic) string {
	for _, c := range t.Checks {
		if c.Path != s.path(words[1]) {
			continue
		}
		switch {
		case c.TimedOut:
			return "timed out"
		case c.Result == nil:
			return "waits"
		}
		text := []string{fmt.Sprintf("%s %d/%d", c.Result.Raw, c.Result.Counted, len(c.Result.Rows))}
		if c.Result.Mechanical {
			text = append(text, "mechanical")
		}
		if c.Result.Groupthink() {
			text = append(text, "groupthink")
		}
		for _, row := range c.Result.Rows {
			if row.Flag != "" {
				text = append(text, row.Label.String()+" "+string(row.Flag))
			}
		}
		return strings.Join(text, ", ")
	}
	for _, c := range t.Checkpoints {
		if c.Path != s.path(words[1]) {
			continue
		}
		text := []string{fmt.Sprintf("%d agreed %d open %s", c.Agreements, c.Pending, c.Score)}
		if c.Mechanical {
			text = append(text, "mechanical")
		}
		for _, v := range c.Verdicts {
			text = append(text, strings.TrimSpace(string(v.Act)+" by "+v.By+" "+v.Text))
		}
		return strings.Join(text, ", ")
	}
	return "none"
}
