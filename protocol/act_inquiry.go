package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The acts that begin, take over and end an inquiry, and what their bodies say.
const (
	ActFrame       Act = "frame-open"   // InquiryOpening
	ActFrameResume Act = "frame-resume" // InquiryEpoch
	ActFrameEsc    Act = "frame-esc"    // InquiryEsc
)

// InquiryWords is what the words of all deeds of an inquiry have: a first line as in the seeds'
// forms, a text as it was written, and a block of JSON with the rest. Words of the coordinator also
// name the epoch in which they were written. Words of an older epoch are void (R54).
type InquiryWords struct {
	FormHead `json:"-"`
	Text     string `json:"-"`               // byte for byte
	Epoch    int    `json:"epoch,omitempty"` // the epoch in which the coordinator wrote it
}

// WrittenIn is the epoch in which the coordinator wrote the words.
func (w InquiryWords) WrittenIn() int { return w.Epoch }

// Say sets who writes the words, when, and in which epoch.
func (w *InquiryWords) Say(h FormHead, epoch int) { w.FormHead, w.Epoch = h, epoch }

func (w *InquiryWords) common() *InquiryWords { return w }

// inquiryAct makes an act whose words are a W.
func inquiryAct[W any, P interface {
	*W
	common() *InquiryWords
	check() error
}](spec ActSpec, example W) WordAct[W] {
	spec.Class = ClassNotice // the fold starts the calls of an inquiry, mail does not (R62)
	return NewAct(spec, func(body string) (W, error) {
		var w W
		head, text, block, err := splitInquiry(spec.Heading, body)
		if err != nil {
			return w, err
		}
		if err := json.Unmarshal([]byte(block), P(&w)); err != nil {
			var none W
			return none, fmt.Errorf("its block is no JSON of this form: %w", err)
		}
		c := P(&w).common()
		c.FormHead, c.Text = head, text
		if err := P(&w).check(); err != nil {
			var none W
			return none, err
		}
		return w, nil
	}, func(w W) string {
		c := P(&w).common()
		var block bytes.Buffer
		enc := json.NewEncoder(&block)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(P(&w)); err != nil {
			return "" // no value of these types is refused
		}
		body := writeForm(spec.Heading, c.FormHead).String()
		if c.Text != "" {
			body += "\n\n" + c.Text
		}
		return body + blockBegin + block.String() + blockEnd
	}, example)
}

// The block of JSON stands behind the text, between these. No line of JSON looks like a fence. So
// the last line that begins a block begins this one, whatever the text says.
const (
	blockBegin = "\n\n```json\n"
	blockEnd   = "```"
)

func splitInquiry(heading, body string) (head FormHead, text, block string, err error) {
	first, rest, _ := strings.Cut(body, "\n")
	if _, ok := cutHeading(heading, first); !ok {
		return head, "", "", fmt.Errorf("it does not begin with %s", heading)
	}
	head = readForm(heading, first).FormHead
	rest = "\n" + rest
	i := strings.LastIndex(rest, blockBegin)
	if i < 0 {
		return head, "", "", errors.New("it has no block of JSON")
	}
	block, _, ok := strings.Cut(rest[i+len(blockBegin):], "\n"+blockEnd)
	if !ok {
		return head, "", "", errors.New("its block of JSON does not end")
	}
	return head, strings.TrimPrefix(rest[:i], "\n\n"), block, nil
}

// InquiryForm is what the words of all deeds of an inquiry have, read from a body. `plain` says that
// the body says what its words say and nothing else: it has no field that the form does not know,
// and nothing stands beside the block.
func InquiryForm(act Act, body string) (w InquiryWords, plain bool) {
	spec := byName[act]
	words, err := spec.parse(body)
	if err != nil {
		return w, false
	}
	w.FormHead, w.Text, _, _ = splitInquiry(spec.Heading, body) // parse has read it too
	if e, ok := words.(interface{ WrittenIn() int }); ok {
		w.Epoch = e.WrittenIn()
	}
	return w, NormalBody(spec.format(words)) == NormalBody(body)
}

// InquiryChannel is the channel of an inquiry. It follows from the record, the host where the
// inquiry was begun, the question's hash and the time of the opening. So no other inquiry takes its
// channel.
func InquiryChannel(recordID string, host Name, questionHash string, at time.Time) ChannelID {
	return DeriveChannel(recordID, host.String(), "@inquiry "+questionHash+" "+formatInstant(at))
}

// TensionChannel is the channel in which two peers of an inquiry talk about a tension.
func TensionChannel(recordID string, inquiry ChannelID, tension string) ChannelID {
	return DeriveChannel(recordID, "@tension "+inquiry.String()+" "+tension)
}

// The modes of an inquiry (R41).
const (
	ModeRecommend = "recommend" // perspectives alone
	ModeInquire   = "inquire"   // perspectives are investigated, each in isolation
)

// Where a question comes from, in the order in which it is looked for.
const (
	FromArgument    = "argument"     // the words of the call
	FromBeside      = "beside"       // the message that the call names
	FromLastMessage = "last-message" // the human's last message in the channel
	FromAgent       = "agent"        // an agent named it
)

// InquiryOpening begins an inquiry. Its text is the question, byte for byte.
type InquiryOpening struct {
	InquiryWords
	Hash         string   `json:"sha256"`                 // hex, of the question
	Channel      string   `json:"channel,omitempty"`      // where the question was asked
	Source       string   `json:"source"`                 // one of FromArgument to FromAgent
	Message      string   `json:"message,omitempty"`      // the path of the message that has the question
	Mode         string   `json:"mode,omitempty"`         // what the human asked for; empty: the brief recommends one
	Perspectives []string `json:"perspectives,omitempty"` // those that the human named
	Agents       []string `json:"agents,omitempty"`       // those that may be members; empty: any
	Coordinator  string   `json:"coordinator"`            // the agent that makes its calls
	Humans       []Name   `json:"humans,omitempty"`       // those who decide, if an agent asks
	AcceptBrief  bool     `json:"accept_brief,omitempty"` // the human accepted the brief beforehand (R40)
	In           string   `json:"in,omitempty"`           // what is investigated: a folder, or a repository at a commit
	Snapshot     string   `json:"snapshot,omitempty"`     // hex SHA-256 of what is investigated
	Receivers    []string `json:"receivers,omitempty"`    // who may be given it, as AGENT@HOST: the coordinator, agents, and what members are made after
}

// OpenInquiry is the act by which an inquiry begins.
var OpenInquiry = inquiryAct(ActSpec{Act: ActFrame, Heading: "FRAME OPEN", Doc: "Begins an inquiry into a question."}, InquiryOpening{
	InquiryWords: InquiryWords{FormHead: exampleFrame, Text: "Which of the two stores should we keep?"}, Hash: Hash([]byte("Which of the two stores should we keep?")),
	Source: FromArgument, Coordinator: "mawjs", Perspectives: []string{"Data modelling"},
})

var exampleFrame = FormHead{From: "nat", At: exampleTime}

func (o *InquiryOpening) check() error {
	switch {
	case strings.TrimSpace(o.Text) == "" || !utf8.ValidString(o.Text):
		return errors.New("it asks nothing")
	case Hash([]byte(o.Text)) != o.Hash:
		return errors.New("its hash is not that of the question")
	case !slices.Contains([]string{FromArgument, FromBeside, FromLastMessage, FromAgent}, o.Source):
		return fmt.Errorf("no question is from %.80q", o.Source)
	case (o.Source == FromBeside || o.Source == FromLastMessage) && o.Message == "":
		return errors.New("it does not say which message the question is from")
	case o.Mode != "" && o.Mode != ModeRecommend && o.Mode != ModeInquire:
		return fmt.Errorf("%.80q is no mode", o.Mode)
	case o.Coordinator == "":
		return errors.New("it does not say which agent makes its calls")
	case o.At.IsZero():
		return errors.New("it does not say when it was written")
	case o.In != "" && o.Snapshot == "":
		return errors.New("what is to be investigated has no hash")
	}
	if len(o.Receivers) > 0 { // version 0.1.0 takes any name
		if err := eachLine(append([]string{o.In, o.Snapshot}, o.Receivers...)...); err != nil {
			return err
		}
	}
	return errors.Join(distinctWords(o.Perspectives, "the perspective"), distinctWords(o.Receivers, "the receiver"))
}

// Decides is what the human's signature of an opening is about. Versions that know no Receivers
// check it too, so it is about the rest.
func (o InquiryOpening) Decides() string {
	o.FormHead, o.Receivers = FormHead{}, nil
	return OpenInquiry.Format(o)
}

func distinctWords(list []string, what string) error {
	seen := map[string]bool{}
	for _, s := range list {
		if s != flatText(s) || s == "" || len(s) > maxLabelText {
			return fmt.Errorf("%s %.80q is no line", what, s)
		}
		if key := strings.ToLower(s); seen[key] {
			return fmt.Errorf("%s %.80q stands twice", what, s)
		}
		seen[strings.ToLower(s)] = true
	}
	return nil
}

const maxLabelText = 256

// filled returns an error that names an empty text. `pairs` are pairs of name and text.
func filled(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if strings.TrimSpace(pairs[i+1]) == "" {
			return errors.New("it has no " + pairs[i])
		}
	}
	return nil
}

// InquiryEpoch says that another host coordinates the inquiry from now on, because a human said so
// (R54).
type InquiryEpoch struct {
	InquiryWords        // Epoch is the one that begins
	Coordinator  string `json:"coordinator"` // the agent that makes the calls
}

// ResumeInquiry is the act by which another host takes over an inquiry.
var ResumeInquiry = inquiryAct(ActSpec{Act: ActFrameResume, Heading: "FRAME RESUME", Doc: "Has the author's host coordinate an inquiry from now on, by a human."},
	InquiryEpoch{InquiryWords{FormHead: exampleFrame, Epoch: 2}, "mawui"})

func (e *InquiryEpoch) check() error {
	if e.Epoch < 2 {
		return errors.New("it names no later epoch")
	}
	return filled("coordinator", e.Coordinator)
}

// Decides is what the human's signature is about.
func (e InquiryEpoch) Decides() string { return fmt.Sprintf("epoch %d by %s", e.Epoch, e.Coordinator) }

// InquiryEsc ends an inquiry at once, by a human (R50). Its text is the reason, if there is one.
type InquiryEsc struct{ InquiryWords }

// EscInquiry is the act by which a human ends an inquiry at once.
var EscInquiry = inquiryAct(ActSpec{Act: ActFrameEsc, Heading: "FRAME ESC", Doc: "Ends an inquiry at once, by a human."},
	InquiryEsc{InquiryWords{FormHead: exampleFrame, Text: "The question is settled."}})

func (e *InquiryEsc) check() error { return nil }

// Decides is what the human's signature is about.
func (e InquiryEsc) Decides() string { return e.Text }
