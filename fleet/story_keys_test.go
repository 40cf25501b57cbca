package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// The lines of stories that are about keys. A key is called by the text that it is
// made of; that of a host is the host's alias, until it rotates.
//
//	founder HOST humans=A                    the first line: the record's first commit names HOST
//	vouch HOST ALIAS[=KEY]…                  HOST has seen these keys first: its own ones where none is named
//	rotate HOST KEY [overlap=D] [by=KEY2]    HOST takes KEY; signed by who has KEY2, who is not HOST
//	                        [as=ID]          and says that it is the first message of that one's run
//	revoke HOST ALIAS=KEY [human=A] [upto=ID] [by=KEY2]
//	ID: with KEY [as=ID2] say …              whoever has KEY writes, in a run of its own or in the place
//	                                         that ID2 has, at ID2's place in the count and the chain
//	key HOST = KEY    out HOST = yes|no    flags = KIND:N…    unvouched HOST = ALIAS=KEY…
func (s *story) tellKeys(words []string) {
	named := map[string]string{}
	for _, w := range words[2:] {
		key, value, _ := strings.Cut(w, "=")
		named[key] = value
	}
	h := s.host(protocol.Name(words[1]))
	if by := named["by"]; by != "" {
		h = s.holder(h.alias, by)
	}
	switch words[0] {
	case "founder":
		s.state = New(keys.Anchor{RecordID: testRecord, Founder: protocol.HostState{
			Host: h.alias, Key: h.public(s), Humans: []protocol.Name{protocol.Name(named["humans"])}}})
	case "vouch":
		s.decide("", Vouch{Host: h.alias, Knows: s.hostKeys(words[2:])}, h)
	case "rotate":
		s.tellRotation(h, words[2], named)
	case "revoke":
		of := s.hostKeys(words[2:3])[0]
		ends, _ := s.state.Chains.Ends(of, s.ids[named["upto"]])
		c := Revoke{By: h.alias, Human: named["human"], Of: of, Last: ends}
		if named["by"] == "" {
			s.decide("", c, h)
			return
		}
		d := s.state.hostDraft(protocol.ActHostRevoke, protocol.Revocation{Host: c.By, Revokes: c.Of, Last: c.Last})
		d.Message.Human = c.Human
		s.write("", d, h)
	}
}

func (s *story) tellRotation(h *testHost, to string, named map[string]string) {
	next := newTestHost(s, h.alias.String(), to)
	at := s.now.Add(s.clocks[h.alias])
	overlap, _ := time.ParseDuration(named["overlap"])
	if named["by"] != "" {
		if as := s.ids[named["as"]]; !as.IsZero() {
			h.run, h.seq = s.state.Ledger.at(as).Run, 0
		}
		s.write("", rotation(s, h, next, at.Add(overlap)), h)
		return
	}
	r := protocol.Rotation{Host: h.alias}
	if err := r.Prove(testRecord, h.public(s), next.key); err != nil {
		s.Fatal(err)
	}
	s.decide("", Rotate{Host: h.alias, Old: h.public(s), Next: r, Overlap: overlap}, h)
	h.key = next.key
}

// hostKeys reads "ALIAS=KEY" and "ALIAS".
func (s *story) hostKeys(words []string) (all []protocol.HostKey) {
	for _, w := range words {
		alias, key, named := strings.Cut(w, "=")
		holder := s.host(protocol.Name(alias))
		if named {
			holder = newTestHost(s, alias, key)
		}
		all = append(all, protocol.HostKey{Host: protocol.Name(alias), Key: holder.public(s)})
	}
	return all
}

// withKey reads "with KEY …" and who has that key.
func (s *story) withKey(line string) (holder func(alias protocol.Name) *testHost, rest string) {
	words, ok := strings.CutPrefix(line, "with ")
	if !ok {
		return nil, line
	}
	key, rest, _ := strings.Cut(words, " ")
	as, isAs := strings.CutPrefix(rest, "as=")
	if !isAs {
		return func(alias protocol.Name) *testHost { return s.holder(alias, key) }, rest
	}
	id, rest, _ := strings.Cut(as, " ")
	return func(alias protocol.Name) *testHost {
		h, at := s.holder(alias, key), s.state.Ledger.at(s.path(id))
		h.run, h.seq, h.prev = at.Run, at.Seq-1, at.Prev
		return h
	}, rest
}

// holder writes in the name of a host with a key that somebody else has as well.
func (s *story) holder(alias protocol.Name, key string) *testHost {
	h := newTestHost(s, alias.String(), key)
	h.run = fmt.Sprintf("%08x", len(s.files))
	return h
}

// keysNow is what holds of keys now.
func (s *story) keysNow(words []string) (got string, ok bool) {
	if words[0] == "flags" {
		flags := s.state.Flags()
		for _, kind := range slices.Sorted(maps.Keys(flags)) {
			got += fmt.Sprintf(" %s:%d", kind, flags[kind])
		}
		return strings.TrimPrefix(got, " "), true
	}
	if len(words) < 2 {
		return "", false
	}
	alias := protocol.Name(words[1])
	switch words[0] {
	case "key":
		if h, joined := s.state.Keys().Host(alias); joined {
			got = s.keyName(alias, h.Key)
		}
	case "out":
		h, _ := s.state.Keys().Host(alias)
		got = map[bool]string{true: "yes", false: "no"}[h.Out()]
	case "unvouched":
		for _, k := range s.state.Keys().Unvouched(alias) {
			got += fmt.Sprintf(" %s=%s", k.Host, s.keyName(k.Host, k.Key))
		}
		got = strings.TrimPrefix(got, " ")
	default:
		return "", false
	}
	return got, true
}

// keyName is what a story calls a key.
func (s *story) keyName(alias protocol.Name, key string) string {
	for _, name := range []string{alias.String(), "forger", alias.String() + "2", alias.String() + "3", "thief"} {
		if newTestHost(s, alias.String(), name).public(s) == key {
			return name
		}
	}
	return key
}
