package with

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// hostile is a text that colours a terminal and turns the text that follows around.
const hostile = "\x1b[31mred\u202e\nnext"

// fill puts the hostile text into every string of a value, and one element into each list.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64, reflect.Uint64:
	}
}

func filled[T any]() (v T) {
	fill(reflect.ValueOf(&v).Elem())
	return v
}

// No display of topics hands a terminal anything that it obeys, whatever stands in a record. It
// prevents: the names of partners and agents in "what was done" do so.
func TestNoDisplayObeysARecord(t *testing.T) {
	one := filled[control.Topic]()
	one.Items = nil
	one.Status, one.Tier, one.Colour, one.Slug = "SYNCED", "intra-soul", "green", "tmux" // the node's own words
	for _, sort := range []topic.Sort{topic.Agreement, topic.Question, topic.Lesson, topic.Dissent} {
		for _, phase := range []topic.Phase{topic.Pending, topic.Accepted, topic.Rejected, topic.Deferred, topic.TimedOut} {
			it := filled[control.TopicItem]()
			it.Sort, it.Label, it.Phase, it.Stands[0].Phase, it.Resolved, it.Stands[0].Who = sort, "A1", phase, phase, nil, hostile
			one.Items = append(one.Items, it)
		}
	}
	one.Exchanges[0].Path = reply
	one.Void[0].Act, one.Checkpoints[0].State = protocol.ActAccept, "pending"
	list := control.TopicList{Me: hostile, Topics: []control.Topic{one}}
	relation := filled[control.Relation]()
	relation.Topics, relation.Trust = []control.Topic{one}, "high"
	sweep := filled[control.Sweep]()
	sweep.TimedOut[0].ID = "A1"
	node := control.Bind(
		control.Topics.By(func(context.Context, control.TopicsRequest) (control.TopicList, error) { return list, nil }),
		control.ShowTopic.By(func(context.Context, control.TopicRequest) (control.Topic, error) { return one, nil }),
		control.ShowRelation.By(func(context.Context, control.RelationRequest) (control.Relation, error) { return relation, nil }),
		control.Hosts.By(func(context.Context, control.HostsRequest) ([]control.Host, error) {
			return []control.Host{filled[control.Host]()}, nil
		}),
		control.SweepTopics.By(func(context.Context, control.SweepRequest) (control.Sweep, error) { return sweep, nil }),
	)
	show := func(name string, run func(c *call) error) {
		var out bytes.Buffer
		screen := term.Screen{Writer: &out, Width: 80}
		c := &call{words: []string{"mawjs", "tmux"}, client: node, view: cli.View{Out: screen, Err: screen, Zone: time.UTC, Now: time.Now, Command: func(words string) string { return words }}}
		if err := run(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if text := out.String(); strings.ContainsAny(text, "\x1b\u202e") || !strings.Contains(text, "[31mred") {
			t.Errorf("%s obeys a record, or shows nothing of it:\n%q", name, text)
		}
	}
	show("topic", func(c *call) error { return c.showTopic(one) })
	for name, run := range map[string]func(context.Context, *call) error{
		"relation": runRelation, "list": runList, "status": runStatus, "state": runState, "pending": runPending, "deferred": runDeferred,
		"fleet-status": runFleetStatus, "sweep": runSweep,
	} {
		show(name, func(c *call) error { return run(t.Context(), c) })
	}
	for _, a := range actions() {
		if a.deed != "" {
			show("--"+a.flag, func(c *call) error {
				c.told(a, Done{TopicDeed: control.TopicDeed{Me: hostile, Items: []string{"A1"}, Topic: one}})
				return nil
			})
		}
	}
}
