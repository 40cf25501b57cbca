// Package hook answers the hooks of agent programs, as parley hook PROGRAM. A program waits for its
// hook at each tool call. So this is done before the rest of parley is initialized, which takes more
// time and memory than all that a hook has to do. For the same reason this package imports little: it
// asks the node by a request of a few lines, and not by the client of node/control, which brings
// net/http along.
package hook

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/internal/pattern"
)

// Go initializes packages in the order of their paths, each after those that it imports.
func init() {
	if home, program, ok := asked(os.Args); ok {
		if socket, err := configs.FindSocket(home, os.Getenv); err == nil {
			Answer(socket, program, os.Stdin, os.Stdout, os.Getenv)
		}
		os.Exit(0) // whatever happened: a program would stop
	}
}

// asked reports whether a command line is one that parley install writes. `home` is "" if it names
// none.
func asked(args []string) (home, program string, ok bool) {
	if len(args) == 5 && args[1] == "--home" {
		home, args = args[2], args[2:]
	}
	if len(args) != 3 || args[1] != "hook" || strings.HasPrefix(args[2], "-") {
		return "", "", false
	}
	return home, args[2], true
}

// within is how long a hook waits for a node that does not answer. The agent program waits too.
const within = 170 * time.Millisecond

// Answer tells the node behind a socket what a hook was given, and prints what the program is to be
// told. Whatever goes wrong, that is nothing (R71).
func Answer(socket, name string, in io.Reader, out io.Writer, getenv func(string) string) {
	program, ok := agentprogram.Find(name)
	if !ok {
		return
	}
	value, err := agentprogram.Read(in)
	if err != nil {
		return
	}
	e, err := program.Event(value, getenv)
	kind, tells := kinds[e.Kind]
	if err != nil || !tells || e.Inner || e.Kind == agentprogram.Ended && e.Source == "clear" { // it goes on under another id
		return
	}
	until := time.Now().Add(within)
	word := bellIn(e.Prompt)
	var a answer
	err = ask(socket, tell, getenv, until, event{
		Program: name, Session: e.Session, Event: kind, Source: e.Source, Folder: e.Folder, Process: e.Process, Bell: word, Typed: e.Typed && word == "",
		Holds: e.Holds, Takes: program.Takes(e), Ring: bell{e.Bell.Socket, e.Bell.Home},
	}, &a)
	if err != nil || a.Text == "" {
		return
	}
	if _, err := out.Write(program.Answer(e, a.Text)); err == nil && a.Nonce != "" {
		_ = ask(socket, given, getenv, time.Now().Add(within), printed{a.Nonce}, &struct{}{}) // unsaid, it is handed over again
	}
}

// The verbs are control.TellSession and control.SessionGiven.
const (
	tell  = "session-event"
	given = "session-given"
)

// event is control.SessionEventRequest.
type event struct {
	Program string `json:"program"`
	Session string `json:"session"`
	Event   string `json:"event"`
	Source  string `json:"source,omitempty"`
	Folder  string `json:"folder,omitempty"`
	Process int    `json:"process,omitempty"`
	Bell    string `json:"bell,omitempty"`
	Typed   bool   `json:"typed,omitempty"`
	Holds   bool   `json:"holds,omitempty"`
	Takes   bool   `json:"takes,omitempty"`
	Ring    bell   `json:"ring,omitzero"`
}

// bell is control.SessionBell.
type bell struct {
	Socket string `json:"socket,omitempty"`
	Home   string `json:"home,omitempty"`
}

// answer is what a hook needs of control.SessionAnswer.
type answer struct {
	Text  string `json:"text"`
	Nonce string `json:"nonce"`
}

// printed is control.SessionGivenRequest.
type printed struct {
	Nonce string `json:"nonce"`
}

// kinds are the events of which the node is told, as control.SessionEventKind has them.
var kinds = map[agentprogram.Kind]string{
	agentprogram.Started: "started", agentprogram.Prompted: "prompted", agentprogram.UsedTool: "used-tool", agentprogram.Stopped: "stopped",
	agentprogram.Asks: "asks", agentprogram.Ended: "ended", agentprogram.Compacts: "compacts",
}

// mostAnswer bounds what a node answers. A text for a model is far shorter.
const mostAnswer = 1 << 20

// ask asks the node, which closes the connection after its answer, because HTTP/1.0 has it so.
func ask(socket, verb string, getenv func(string) string, until time.Time, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	conn, err := net.DialTimeout("unix", socket, time.Until(until))
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(until); err != nil {
		return err
	}
	head := fmt.Sprintf("POST /v1/%s HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", verb, len(body))
	for _, known := range [...]struct{ header, by string }{{"Parley-Agent", getenv("PARLEY_AGENT")}, {"Parley-Token", getenv("PARLEY_TOKEN")}} {
		if known.by != "" {
			head += known.header + ": " + url.QueryEscape(known.by) + "\r\n"
		}
	}
	if _, err := conn.Write(append([]byte(head+"\r\n"), body...)); err != nil {
		return err
	}
	got, err := io.ReadAll(io.LimitReader(conn, mostAnswer))
	if err != nil {
		return err
	}
	head, text, _ := strings.Cut(string(got), "\r\n\r\n")
	if status := strings.Fields(head); len(status) < 2 || status[1] != "200" {
		return fmt.Errorf("the node refuses: %s", text)
	}
	return json.Unmarshal([]byte(text), answer)
}

var bellPattern = pattern.New(`\(bell ([0-9a-f]{8})\)`)

// bellIn is the word of the bell in a prompt; "" if a person typed it.
func bellIn(prompt string) string {
	const start = "parley: "
	if !strings.Contains(prompt, start) {
		return ""
	}
	if found := bellPattern.FindStringSubmatch(prompt); found != nil {
		return found[1]
	}
	return ""
}
