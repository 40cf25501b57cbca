package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// What nodes answer each other (DESIGN section 7): a Pong to the question "ping", and a Report to
// "status", both as JSON. A reader passes over fields that it does not know, and a field that the
// writer left out is empty. So hosts of different versions understand each other.

// The bounds of a Report. They keep an answer below the limit of the bus, whatever a host serves.
const (
	maxReportAgents = 1024
	maxReportHosts  = 1024
	maxReportLinks  = 256
	maxReportText   = 512 // bytes of one text
)

// Pong is the answer to "ping".
type Pong struct {
	Now     time.Time `json:"now"` // by the clock of the host that answers
	Version string    `json:"version"`
}

// Report is the answer to "status": what a host says of itself.
type Report struct {
	Host       Name         `json:"host"`
	Version    string       `json:"version"`
	Since      time.Time    `json:"since"` // when its node started
	Now        time.Time    `json:"now"`   // by its own clock
	Tip        string       `json:"tip"`   // commit of its main
	Messages   int          `json:"messages"`
	Have       []Have       `json:"have"` // by host
	Unrecorded int          `json:"unrecorded"`
	Unpushed   int          `json:"unpushed"`
	Remote     string       `json:"remote"`  // a word for why the host cannot use the remote; "" if it can, or has no remote
	Trouble    string       `json:"trouble"` // the same as a sentence
	Links      []LinkReport `json:"links"`
	Agents     []Name       `json:"agents"` // the first 1,024 by name
	AgentCount int          `json:"agent_count"`
}

// Have is the last message of a host that another host has, in the order of its
// chain.
type Have struct {
	Host Name   `json:"host"`
	Run  string `json:"run"`
	Seq  uint64 `json:"seq"`
	Path Path   `json:"path"`
}

// LinkReport is a link of a host to the server of another one.
type LinkReport struct {
	Peer    string        `json:"peer"` // the server's name, or the address that the host dials
	Host    Name          `json:"host"` // the host whose key was proved; "" while that is not known
	Address string        `json:"address"`
	Out     bool          `json:"out"` // the host dials it
	Up      bool          `json:"up"`
	HalfUp  bool          `json:"half_up"` // connected, but letters do not pass yet
	RTT     time.Duration `json:"rtt"`     // nanoseconds; 0 while unknown
	Problem string        `json:"problem"`
}

// EncodePong writes p.
func EncodePong(p Pong) ([]byte, error) {
	p.Now, p.Version = p.Now.UTC(), shortText(p.Version)
	return json.Marshal(p)
}

// DecodePong reads what EncodePong writes.
func DecodePong(data []byte) (Pong, error) {
	var p Pong
	if err := json.Unmarshal(data, &p); err != nil {
		return Pong{}, fmt.Errorf("cannot read the answer to a ping: %w", err)
	}
	p.Version = shortText(p.Version)
	return p, nil
}

// EncodeReport writes `r`, cut to its bounds. The result has at most half a MiB.
func EncodeReport(r Report) ([]byte, error) {
	r.Since, r.Now = r.Since.UTC(), r.Now.UTC()
	return json.Marshal(r.bounded())
}

// DecodeReport reads what EncodeReport writes. It leaves out what is above the bounds. It returns
// an error for a report that makes no sense.
func DecodeReport(data []byte) (Report, error) {
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return Report{}, fmt.Errorf("cannot read what a host reports: %w", err)
	}
	r = r.bounded()
	if err := r.check(); err != nil {
		return Report{}, fmt.Errorf("cannot read what a host reports: %w", err)
	}
	return r, nil
}

// bounded is `r` with shortened lists and texts. The lists of `r` itself stay as they are.
func (r Report) bounded() Report {
	r.Agents = r.Agents[:min(len(r.Agents), maxReportAgents)]
	r.Have = r.Have[:min(len(r.Have), maxReportHosts)]
	links := make([]LinkReport, min(len(r.Links), maxReportLinks))
	for i := range links {
		links[i] = r.Links[i]
		for _, text := range []*string{&links[i].Peer, &links[i].Address, &links[i].Problem} {
			*text = shortText(*text)
		}
	}
	r.Links = links
	for _, text := range []*string{&r.Version, &r.Tip, &r.Remote, &r.Trouble} {
		*text = shortText(*text)
	}
	return r
}

func (r Report) check() error {
	if _, err := ParseName(r.Host.String()); err != nil {
		return fmt.Errorf("host %w", err)
	}
	if min(r.Messages, r.Unrecorded, r.Unpushed, r.AgentCount) < 0 {
		return errors.New("it counts less than nothing")
	}
	for _, a := range r.Agents {
		if _, err := ParseName(a.String()); err != nil {
			return fmt.Errorf("agent %w", err)
		}
	}
	for _, h := range r.Have {
		if _, err := ParseName(h.Host.String()); err != nil {
			return fmt.Errorf("host %w", err)
		}
		if h.Path.IsZero() || len(h.Run) > maxReportText {
			return fmt.Errorf("what it has of %s is no message", h.Host)
		}
	}
	for _, l := range r.Links {
		if _, err := ParseName(l.Host.String()); err != nil && l.Host != "" {
			return fmt.Errorf("a link: host %w", err)
		}
		if l.RTT < 0 {
			return errors.New("a round trip takes less than no time")
		}
	}
	return nil
}

// shortText is s as text of a bounded length, without half a letter at its end.
func shortText(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxReportText)], "")
}
