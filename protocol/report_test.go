package protocol

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var cmpReport = cmp.AllowUnexported(Path{})

func someReport(t testing.TB) Report {
	t.Helper()
	path, err := ParsePath("adfe0356-0f71-49a9-80a0-fb76883cd974/2026/05/23/190100000Z-b2c3d4e5.md")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 5, 23, 19, 1, 0, 123456789, time.UTC)
	return Report{
		Host: "white", Version: "0.1.0", Since: at, Now: at.Add(time.Hour), Tip: "0123456789abcdef", Messages: 7,
		Have:       []Have{{Host: "white", Run: "0badcafe", Seq: 3, Path: path}},
		Unrecorded: 1, Unpushed: 2, Remote: "unreachable", Trouble: "no route",
		Links:  []LinkReport{{Peer: "black-1", Host: "black", Address: "192.0.2.7:4223", Out: true, HalfUp: true, RTT: time.Millisecond, Problem: "deaf"}},
		Agents: []Name{"mawjs", "volt"}, AgentCount: 2,
	}
}

func TestReportComesBack(t *testing.T) {
	want := someReport(t)
	data, err := EncodeReport(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeReport(data)
	if diff := cmp.Diff(want, got, cmpReport); err != nil || diff != "" {
		t.Errorf("written and read: %v (-want +got):\n%s", err, diff)
	}
}

// Hosts of an older and of a newer version answer each other.
func TestReportOfOtherVersions(t *testing.T) {
	for name, data := range map[string]string{
		"older": `{"host":"white","version":"0.0.1"}`,
		"newer": `{"host":"white","version":"9.0.0","mood":{"today":["fine"]},"links":[{"peer":"black","colour":7}]}`,
	} {
		r, err := DecodeReport([]byte(data))
		if err != nil || r.Host != "white" || r.Version == "" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if p, err := DecodePong([]byte(`{"now":"2026-05-23T19:01:00.5Z","mood":1}`)); err != nil || p.Now.Nanosecond() != 5e8 {
		t.Errorf("a newer pong: %+v, %v", p, err)
	}
}

func TestReportIsBounded(t *testing.T) {
	r := someReport(t)
	r.Trouble = strings.Repeat("世", 5000)
	r.AgentCount = 20000
	for i := range r.AgentCount {
		r.Agents = append(r.Agents, Name(fmt.Sprintf("agent-%05d-%s", i, strings.Repeat("x", 40))))
		r.Have = append(r.Have, r.Have[0])
		r.Links = append(r.Links, LinkReport{Peer: strings.Repeat("y", 2000), Problem: r.Trouble})
	}
	data, err := EncodeReport(r)
	if err != nil || len(data) > 512<<10 {
		t.Fatalf("%d bytes, %v: want at most half a MiB", len(data), err)
	}
	got, err := DecodeReport(data)
	if err != nil || got.AgentCount != 20000 || len(got.Agents) != maxReportAgents || len(got.Have) != maxReportHosts || len(got.Links) != maxReportLinks {
		t.Errorf("%d agents of %d, %d hosts, %d links, %v", len(got.Agents), got.AgentCount, len(got.Have), len(got.Links), err)
	}
	if !strings.HasPrefix(r.Trouble, got.Trouble) || len(got.Trouble) > maxReportText || len(got.Trouble) < maxReportText-3 {
		t.Errorf("the sentence has %d bytes: want it cut between two letters", len(got.Trouble))
	}
}

func TestReportWithoutSenseIsRefused(t *testing.T) {
	for _, data := range []string{
		``, `[]`, `{}`, `{"host":"WHITE"}`, `{"host":"white","messages":-1}`, `{"host":"white","agents":["../x"]}`,
		`{"host":"white","have":[{"host":"black"}]}`, `{"host":"white","have":[{"host":"b/d","path":"x"}]}`,
		`{"host":"white","links":[{"rtt":-1}]}`, `{"host":"white","links":[{"host":"../x"}]}`, `{"host":"white","since":"yesterday"}`,
	} {
		if r, err := DecodeReport([]byte(data)); err == nil {
			t.Errorf("%s was read as %+v", data, r)
		}
	}
}

func FuzzDecodeReport(f *testing.F) {
	good, err := EncodeReport(someReport(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"host":"white","have":null,"links":[{}],"version":"\ud800"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := DecodeReport(data)
		if err != nil {
			return
		}
		written, err := EncodeReport(r)
		if err != nil {
			return // a time that JSON cannot hold in UTC
		}
		again, err := DecodeReport(written)
		if err != nil {
			t.Fatalf("cannot read %s again: %v", written, err)
		}
		r.Since, r.Now = r.Since.UTC(), r.Now.UTC()
		if diff := cmp.Diff(r, again, cmpReport); diff != "" {
			t.Errorf("written and read again (-want +got):\n%s", diff)
		}
	})
}

func FuzzDecodePong(f *testing.F) {
	f.Add([]byte(`{"now":"2026-05-23T19:01:00.123456789Z","version":"0.1.0"}`))
	f.Add([]byte(`{"now":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := DecodePong(data)
		if err != nil {
			return
		}
		written, err := EncodePong(p)
		if err != nil {
			return
		}
		if again, err := DecodePong(written); err != nil || !again.Now.Equal(p.Now) || again.Version != p.Version {
			t.Errorf("%+v became %+v, %v", p, again, err)
		}
	})
}
