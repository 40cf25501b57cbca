package node

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// measured has a home's node serve metrics at a port that the system chooses.
func measured(t *testing.T, home configs.Home) configs.Home {
	t.Helper()
	data, err := os.ReadFile(home.Config())
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(data, []byte("\nmetrics: \"\"\n"), []byte("\nmetrics: 127.0.0.1:0\n"), 1)
	if bytes.Equal(changed, data) {
		t.Fatalf("config.yaml has no metrics:\n%s", data)
	}
	if err := os.WriteFile(home.Config(), changed, 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func statusOf(t *testing.T, n control.Service) control.Status {
	t.Helper()
	s, err := control.ShowStatus.Ask(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// get reads a page beside a node's metrics.
func get(t *testing.T, n *Node, page string) (code int, body string) {
	t.Helper()
	answer, err := http.Get(strings.TrimSuffix(statusOf(t, n).Metrics, "/metrics") + page)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(data)
}

// figures returns a node's metrics by their name with labels.
func figures(t *testing.T, n *Node) map[string]float64 {
	t.Helper()
	code, body := get(t, n, "/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics: %d: %s", code, body)
	}
	all := map[string]float64{}
	for line := range strings.Lines(body) {
		name, figure, ok := strings.Cut(strings.TrimSpace(line), "} ")
		if ok {
			name += "}"
		} else {
			name, figure, _ = strings.Cut(strings.TrimSpace(line), " ")
		}
		if v, err := strconv.ParseFloat(figure, 64); err == nil && !strings.HasPrefix(line, "#") {
			all[name] = v
		}
	}
	return all
}

// reaches waits until metrics of a node have at least these values.
func reaches(t *testing.T, n *Node, want map[string]float64) {
	t.Helper()
	var got map[string]float64
	defer func() {
		if t.Failed() {
			for name := range want {
				t.Logf("%s is %v", name, got[name])
			}
		}
	}()
	eventually(t, "the metrics say so", func() bool {
		got = figures(t, n)
		for name, least := range want {
			if v, there := got[name]; !there || v < least {
				return false
			}
		}
		return true
	})
}

func TestMetricsOfTwoNodes(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	one, _ := runNode(t, measured(t, initHome(t, func(o *homes.Options) { o.Remote, o.Listen = remote, "127.0.0.1:0" })))
	two, _ := runNode(t, measured(t, initHome(t, func(o *homes.Options) {
		o.Remote, o.Alias, o.Hubs = remote, "white", []string{one.currentBus().Addresses().Links}
	})))
	awaitMeeting(t, one, two)
	addExec(t, two, "shout", "tr a-z A-Z")
	addExec(t, two, "breaks", "sh -c 'exit 64'") // this exit code is not tried again
	for _, agent := range []string{"shout@white", "breaks@white"} {
		var asked control.Message
		eventually(t, agent+" is known", func() bool {
			var err error
			asked, err = control.Send.Ask(t.Context(), one, control.SendRequest{To: []string{agent}, Body: "good morning"})
			return err == nil
		})
		answerTo(t, one, asked.Path)
	}
	reaches(t, one, map[string]float64{
		`parley_messages_stored_total{way="own"}`:              2,
		`parley_messages_stored_total{way="bus"}`:              2,
		`parley_messages_heard_total{host="white"}`:            2,
		`parley_messages_recorded_total`:                       2,
		`parley_messages_pushed_total`:                         2,
		`parley_message_stage_seconds_count{stage="heard"}`:    2,
		`parley_message_stage_seconds_count{stage="recorded"}`: 2,
		`parley_message_stage_seconds_count{stage="pushed"}`:   2,
		`parley_messages`:                                      4,
		`parley_host_live{host="white"}`:                       1,
		`parley_host_linked{host="white"}`:                     1,
		`parley_bus_links_up`:                                  1,
		`parley_record_pushes_total`:                           1,
		`parley_build_info{version="test"}`:                    1,
		`parley_record_last_push_timestamp_seconds`:            1e9,
		`go_goroutines`:                                        1,
	})
	reaches(t, two, map[string]float64{
		`parley_agent_runs_total{agent="shout",outcome="answered"}`:     1,
		`parley_agent_runs_total{agent="breaks",outcome="exit-status"}`: 1,
		`parley_agent_dead_letters_total{agent="breaks"}`:               1,
		`parley_agent_run_seconds_count{agent="shout"}`:                 1,
		`parley_agent_queued_messages{agent="shout"}`:                   0,
		`parley_commands_limit`:                                         1,
	})
	if code, body := get(t, two, "/healthz"); code != http.StatusOK || body != "ok\n" {
		t.Errorf("/healthz: %d %q", code, body)
	}
}

// A queue is as long and as old as what waits in it, at both doors.
func TestMetricsOfQueues(t *testing.T) {
	n, _ := runNode(t, measured(t, initHome(t, nil)))
	addExec(t, n, "rests", "cat")
	if _, err := control.PauseAgent.Ask(t.Context(), n, control.PauseRequest{Name: "rests", Paused: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "asks", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"rests", "rests", "asks"} {
		say(t, n, to, "hello")
	}
	time.Sleep(time.Millisecond) // a message's date has milliseconds: in the same one it would have no age
	reaches(t, n, map[string]float64{
		`parley_agent_queued_messages{agent="rests"}`: 2, `parley_agent_oldest_queued_seconds{agent="rests"}`: 1e-9, `parley_agent_paused{agent="rests"}`: 1,
		`parley_agent_queued_messages{agent="asks"}`: 1, `parley_agent_oldest_queued_seconds{agent="asks"}`: 1e-9,
	})
	if got := figures(t, n); got[`parley_agent_queued_messages{agent="rests"}`] != 2 || got[`parley_agent_queued_messages{agent="asks"}`] != 1 {
		t.Errorf("too many wait: %v", got)
	}
}

// A node without its remote goes on working. A node that has lost a part of its record does not.
func TestHealthOfANode(t *testing.T) {
	remote := bareRemote(t)
	n, _ := runNode(t, measured(t, initHome(t, func(o *homes.Options) { o.Remote = remote })))
	if err := os.Rename(remote, remote+".away"); err != nil {
		t.Fatal(err)
	}
	addExec(t, n, "shout", "tr a-z A-Z") // this is to be pushed
	healthIs(t, n, http.StatusOK, "degraded: the remote fails (not-found)\n")
	n.halts.Loses([]string{"data/channels/"}, nil)
	healthIs(t, n, http.StatusServiceUnavailable, "down: no agent is run: messages, files or folders of the record are lost\n")
	if figures(t, n)["parley_agents_halted"] != 1 {
		t.Error("agents are said to be run")
	}
}

func healthIs(t *testing.T, n *Node, code int, body string) {
	t.Helper()
	var gotCode int
	var got string
	defer func() {
		if t.Failed() {
			t.Logf("/healthz: %d %q", gotCode, got)
		}
	}()
	eventually(t, "it is said how the node is", func() bool {
		gotCode, got = get(t, n, "/healthz")
		return gotCode == code && got == body
	})
}

// If another program has the address, the error says what to do, before anybody is told of the
// node.
func TestMetricsPortIsTaken(t *testing.T) {
	home := measured(t, initHome(t, nil))
	n, _ := runNode(t, home)
	at := strings.TrimSuffix(strings.TrimPrefix(statusOf(t, n).Metrics, "http://"), "/metrics")
	other := measured(t, initHome(t, func(o *homes.Options) { o.Home.Dir = filepath.Join(t.TempDir(), "other") }))
	data, err := os.ReadFile(other.Config())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other.Config(), bytes.Replace(data, []byte("127.0.0.1:0"), []byte(at), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := Open(t.Context(), Options{Home: other, Version: "test", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	err = second.Run(t.Context(), func() { t.Error("the node runs") })
	if wrong := control.AsError(err); err == nil || !strings.Contains(wrong.Message, "cannot serve metrics") || !strings.Contains(wrong.Hint, "choose another port") {
		t.Errorf("%v, %+v", err, wrong)
	}
	second.Close()
	if _, err := second.writer.Write(t.Context(), []fleet.Draft{{}}); !errors.Is(err, writing.ErrDraining) {
		t.Errorf("the writer of a node that did not run goes on: %v", err)
	}
}

// lines is a log that is read while it is written.
type lines struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// of returns the steps of a message that the log tells, in their order.
func (l *lines) of(p protocol.Path) (steps []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := regexp.MustCompile(`"path":"` + regexp.QuoteMeta(p.String()) + `".*"message":"([^"]*)"`)
	for _, found := range last.FindAllStringSubmatch(l.buf.String(), -1) {
		steps = append(steps, found[1])
	}
	return steps
}

// Each step of a message is one line of the log, with the message's path.
func TestStepsAreLogged(t *testing.T) {
	log := &lines{}
	home := initHome(t, nil)
	n, _ := startNodeWith(t, Options{Home: home, Version: "test", Log: zerolog.New(log).Level(zerolog.DebugLevel)})
	addExec(t, n, "shout", "tr a-z A-Z")
	asked := say(t, n, "shout", "hello").Path
	answer := answerTo(t, n, asked).Path
	want := map[string]int{"stored": 1, "queued": 1, "agent runs": 1, "agent ran": 1, "handled": 1, "recorded": 1}
	eventually(t, "all steps are told", func() bool { return len(log.of(asked)) >= len(want) && len(log.of(answer)) >= 2 })
	got := map[string]int{}
	for _, step := range log.of(asked) {
		got[step]++
	}
	for step, count := range want {
		if got[step] != count || len(got) != len(want) {
			t.Errorf("%d lines of the step %s, want %d: %v", got[step], step, count, log.of(asked))
		}
	}
}
