package mcp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/party"
	"github.com/parleyfleet/parley/cmd/parley/runs"
	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/cmd/parley/with"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/spf13/cobra"
)

// command runs a command of parley, and puts what it prints into a fence: it shows what others
// wrote. There is no terminal in which a human could decide something. Flags stand as --flag=value,
// words behind "--", so that no argument of a model is taken for a flag.
func (s *server) command(ctx context.Context, of func(*cli.Program) *cobra.Command, flags []string, words ...string) (answer, error) {
	var printed, beside bytes.Buffer
	p := *s.program
	p.Stdin, p.Out, p.Err = strings.NewReader(""), term.Screen{Writer: &printed}, term.Screen{Writer: &beside}
	p.Terminal = func() (io.ReadWriteCloser, error) {
		return nil, errors.New("a human decides that, in a terminal of their own")
	}
	p.Connect = func(string) control.Service { return s.node }
	root := &cobra.Command{Use: "parley", SilenceErrors: true, SilenceUsage: true}
	cmd := of(&p)
	root.AddCommand(cmd)
	root.SetOut(&printed)
	root.SetErr(&beside)
	root.SetArgs(slices.Concat([]string{cmd.Name()}, flags, []string{"--"}, words))
	err := root.ExecuteContext(ctx)
	if errors.Is(err, cli.ErrSaid) {
		err = errors.New(strings.TrimSpace(beside.String()))
	}
	if err != nil {
		return answer{}, err
	}
	text := printed.String() + beside.String()
	if len(text) > mostAtOnce {
		text = strings.ToValidUTF8(text[:mostAtOnce], "") + "\n(cut: there is more)\n"
	}
	if strings.TrimSpace(text) == "" {
		return answer{Text: "There is nothing."}, nil
	}
	return answer{Text: tell("This is there:", prompt.Block{Body: text})}, nil
}

// deed is command for what is done or shown in the name of an agent.
func (s *server) deed(ctx context.Context, of func(*cli.Program) *cobra.Command, flags []string, words ...string) (answer, error) {
	if _, err := s.speaker(ctx); err != nil {
		return answer{}, err
	}
	return s.command(ctx, of, flags, words...)
}

// given is a flag with its value; none if there is no value.
func given(pairs ...string) (flags []string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			flags = append(flags, "--"+pairs[i]+"="+pairs[i+1])
		}
	}
	return flags
}

// unknown is the error for a thing to do that there is not.
func unknown(tool, do string, all []string) error {
	return control.Errorf(control.KindUsage, "do is one of "+strings.Join(all, ", "), "%s does not know %q", tool, do)
}

type memoryArguments struct {
	Do      string   `json:"do,omitempty" jsonschema:"list (usual), show, add or supersede"`
	Memory  string   `json:"memory,omitempty" jsonschema:"show, supersede: which"`
	Subject string   `json:"subject,omitempty" jsonschema:"add: what it is about, in one line; list: a part of that"`
	Text    string   `json:"text,omitempty" jsonschema:"add, supersede: what is to be remembered"`
	Scope   string   `json:"scope,omitempty" jsonschema:"global, or the channel that it is for"`
	Tags    []string `json:"tags,omitempty" jsonschema:"words to find it by"`
	masking
}

func (s *server) memory(ctx context.Context, _ call, in memoryArguments) (answer, error) {
	flags := given("subject", in.Subject, "scope", in.Scope)
	for _, tag := range in.Tags {
		flags = append(flags, given("tag", tag)...)
	}
	switch in.Do {
	case "", "list":
		return s.command(ctx, talk.NewMemoryCommand, append([]string{"list"}, flags...))
	case "show":
		return s.command(ctx, talk.NewMemoryCommand, []string{"show"}, in.Memory)
	case "add":
		return s.deed(ctx, talk.NewMemoryCommand, append([]string{"add"}, flags...), in.Text)
	case "supersede":
		return s.deed(ctx, talk.NewMemoryCommand, append([]string{"supersede"}, flags...), in.Memory, in.Text)
	}
	return answer{}, unknown("memory", in.Do, []string{"list", "show", "add", "supersede"})
}

type workWithArguments struct {
	Partner string `json:"partner,omitempty" jsonschema:"the other agent"`
	Topic   string `json:"topic,omitempty" jsonschema:"the topic, by its name; opened where it is new"`
	Do      string `json:"do,omitempty" jsonschema:"show (usual), list, pending, recap, sync, agree, ask, resolve, teach, disagree, accept, reject, defer, revoke, re-accept, validate, checkpoint, ratify, amend, reject-checkpoint, forward, join or close"`
	Item    string `json:"item,omitempty" jsonschema:"its label, such as A1: resolve, accept, reject, defer, revoke, re-accept, validate"`
	Text    string `json:"text,omitempty" jsonschema:"the words: agree, ask, teach, disagree, amend, checkpoint, re-accept, resolve"`
	Reason  string `json:"reason,omitempty" jsonschema:"why: reject, defer, revoke, reject-checkpoint"`
	Until   string `json:"until,omitempty" jsonschema:"defer: until which date"`
	Wait    int    `json:"wait,omitempty" jsonschema:"sync: seconds to wait for the results, at most 3600; usually 60"`
	masking
}

// deeds are what can be done with topics here, as parley work-with calls it, and which argument is
// the value of the flag.
func deeds() map[string]string {
	all := map[string]string{"show": ""}
	for _, flag := range with.Actions() {
		all[flag.Name] = flag.Takes
	}
	for _, name := range []string{"export", "mesh-json", "team", "recruit", "broadcast", "sweep-timeouts"} { // of use to people, or told to all
		delete(all, name)
	}
	return all
}

func (s *server) workWith(ctx context.Context, c call, in workWithArguments) (answer, error) {
	within, err := waitOf(in.Wait)
	if err != nil {
		return answer{}, err
	}
	in.Do = cmp.Or(in.Do, "show")
	all := deeds()
	takes, known := all[in.Do]
	switch {
	case !known:
		return answer{}, unknown("work_with", in.Do, slices.Sorted(maps.Keys(all)))
	case in.Partner == "" && in.Topic != "":
		return answer{}, control.Errorf(control.KindUsage, "name the partner, too", "work_with knows a topic by its partner")
	case in.Partner == "" && in.Do == "show":
		in.Do = "list"
	}
	flags := []string{}
	take := func(flag string, text *string) {
		flags = append(flags, "--"+flag+"="+*text)
		*text = ""
	}
	switch takes {
	case "ITEM":
		take(in.Do, &in.Item)
	case "TEXT":
		take(in.Do, &in.Text)
	case "REASON":
		take(in.Do, &in.Reason)
	default:
		if in.Do != "show" {
			flags = append(flags, "--"+in.Do)
		}
	}
	flags = append(flags, given("item", in.Item, "text", in.Text, "reason", in.Reason, "until", in.Until)...)
	if within > 0 {
		flags = append(flags, "--wait="+within.String())
	}
	words := slices.DeleteFunc([]string{in.Partner, in.Topic}, func(word string) bool { return word == "" })
	var done answer
	err = c.wait(ctx, within, "waiting for "+in.Do, func(ctx context.Context) (err error) {
		done, err = s.deed(ctx, with.NewCommand, flags, words...)
		return err
	})
	return done, err
}

type partyArguments struct {
	Do     string   `json:"do,omitempty" jsonschema:"show (usual), list, recap, tell, agree, accept, reject, task-add, task-take, task-done, task-give-back, lease, release, presence, join, leave, invite or organize; the last three of these ask humans"`
	Party  string   `json:"party,omitempty" jsonschema:"which; usually the only one that you are in"`
	Text   string   `json:"text,omitempty" jsonschema:"tell, agree, task-add: the words; organize: the topic; task-done: the outcome"`
	Item   string   `json:"item,omitempty" jsonschema:"the label: accept, reject (A1), task-take, task-done, task-give-back (T1)"`
	Agents []string `json:"agents,omitempty" jsonschema:"invite, organize: whom"`
	Things []string `json:"things,omitempty" jsonschema:"lease, release: files or other things"`
	State  string   `json:"state,omitempty" jsonschema:"presence: active, busy, compacted, hidden or away"`
	Reason string   `json:"reason,omitempty" jsonschema:"why: reject, lease, join, leave; presence: a note"`
	Hours  int      `json:"hours,omitempty" jsonschema:"task-take, lease: how long it is yours; usually 2"`
	masking
}

// partyDeed is a thing to do in a party: the command, its words, and its flags.
type partyDeed struct {
	of    func(*cli.Program) *cobra.Command
	first []string // the subcommand
	words []string
	flags []string
}

func (in partyArguments) deeds() map[string]partyDeed {
	hours := ""
	if in.Hours > 0 {
		hours = strconv.Itoa(in.Hours) + "h"
	}
	reason, hold, nothing := given("reason", in.Reason), given("for", hours), []string(nil)
	outcome := slices.DeleteFunc([]string{in.Item, in.Text}, func(word string) bool { return word == "" })
	return map[string]partyDeed{
		"show":           {party.NewWhoCommand, nothing, nothing, nothing},
		"list":           {party.NewCommand, []string{"list"}, nothing, nothing},
		"recap":          {party.NewRecapCommand, nothing, nothing, nothing},
		"tell":           {party.NewTellCommand, nothing, []string{in.Text}, nothing},
		"agree":          {party.NewCommand, []string{"agree"}, []string{in.Text}, nothing},
		"accept":         {party.NewCommand, []string{"accept"}, []string{in.Item}, reason},
		"reject":         {party.NewCommand, []string{"reject"}, []string{in.Item}, reason},
		"task-add":       {party.NewTaskCommand, []string{"add"}, []string{in.Text}, nothing},
		"task-take":      {party.NewTaskCommand, []string{"take"}, []string{in.Item}, hold},
		"task-done":      {party.NewTaskCommand, []string{"done"}, outcome, nothing},
		"task-give-back": {party.NewTaskCommand, []string{"give-back"}, outcome, nothing},
		"lease":          {party.NewLeaseCommand, nothing, in.Things, append(hold, reason...)},
		"release":        {party.NewLeaseCommand, nothing, in.Things, []string{"--release"}},
		"presence":       {talk.NewPresenceCommand, nothing, []string{in.State}, given("note", in.Reason)},
		"join":           {party.NewCommand, []string{"join"}, []string{in.Party}, reason},
		"leave":          {party.NewLeaveCommand, nothing, nothing, reason},
		"invite":         {party.NewInviteCommand, nothing, in.Agents, nothing},
		"organize":       {party.NewOrganizeCommand, nothing, []string{in.Text}, given("with", strings.Join(in.Agents, ","))},
	}
}

func (s *server) party(ctx context.Context, _ call, in partyArguments) (answer, error) {
	if in.Hours < 0 || in.Hours > 24*365 {
		return answer{}, control.Errorf(control.KindUsage, "", "cannot hold something for %d hours: hours is from 1 to %d", in.Hours, 24*365)
	}
	in.Do = cmp.Or(in.Do, "show")
	all := in.deeds()
	d, known := all[in.Do]
	if !known {
		return answer{}, unknown("party", in.Do, slices.Sorted(maps.Keys(all)))
	}
	flags := slices.Concat(d.first, d.flags)
	if in.Do != "list" && in.Do != "join" && in.Do != "organize" {
		flags = append(flags, given("party", in.Party)...)
	}
	return s.deed(ctx, d.of, flags, d.words...)
}

type traceArguments struct {
	ID string `json:"id" jsonschema:"the message"`
}

type whyArguments struct {
	Of string `json:"of,omitempty" jsonschema:"a message or an agent"`
}

func (s *server) why(ctx context.Context, _ call, in whyArguments) (answer, error) {
	return s.command(ctx, runs.NewWhyCommand, nil, slices.DeleteFunc([]string{in.Of}, func(of string) bool { return of == "" })...)
}

func (s *server) trace(ctx context.Context, _ call, in traceArguments) (answer, error) {
	return s.command(ctx, runs.NewTraceCommand, nil, in.ID)
}
