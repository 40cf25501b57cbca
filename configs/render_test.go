package configs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/internal/size"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
)

// loadText is what Load makes of a text.
func loadText(t *testing.T, text []byte) Config {
	t.Helper()
	c, problems := parse(text)
	if err := asError("", problems); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return c
}

// The example is the reference. It has every key, in the order of the struct, with the defaults as
// values, and a comment explains each key.
func TestExample(t *testing.T) {
	got := loadText(t, []byte(example))
	want := Default()
	want.Fleet, want.Alias, want.Human = got.Fleet, got.Alias, got.Human
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("not the defaults (-want +got):\n%s", diff)
	}
	root, problems := document([]byte(example))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	lines, text := keyLines(root), strings.Split(example, "\n")
	previous := 0
	for _, s := range Settings(&Config{}) {
		line := lines[s.Key]
		if line <= previous {
			t.Errorf("%s is missing, or not where it should be", s.Key)
			continue
		}
		if above := strings.TrimSpace(text[line-2]); !strings.HasPrefix(above, "# ") {
			t.Errorf("%s is not explained", s.Key)
		}
		previous = line
		delete(lines, s.Key)
	}
	delete(lines, "bus")
	if len(lines) > 0 {
		t.Errorf("keys of no setting: %v", lines)
	}
	sizes := "From " + size.Exact(protocol.MinMessageLimit) + " to " + size.Exact(protocol.MaxMessageLimit)
	if !strings.Contains(example, sizes) {
		t.Errorf("what message_limit may be is not said: %q", sizes)
	}
}

// settings names every field of Config. A field that it left out would keep its zero here.
func TestSettingsAreComplete(t *testing.T) {
	var got Config
	from := full()
	b := &from.Bus // it has all ways to reach a NATS system at once, for nobody checks them here
	b.URL, b.Creds, b.NKey, b.CA, b.Context = "nats://127.0.0.1:4222", "/c", "/n", "/a", "context"
	for _, of := range []reflect.Value{reflect.ValueOf(from), reflect.ValueOf(from.Bus)} {
		for i := range of.NumField() {
			if of.Field(i).IsZero() {
				t.Errorf("%s has no value here: a setting that is left out would not be seen", of.Type().Field(i).Name)
			}
		}
	}
	to := Settings(&got)
	for i, s := range Settings(&from) {
		root, problems := document([]byte("k: " + s.yaml()))
		if len(problems) > 0 {
			t.Fatal(s.Key, problems)
		}
		if err := to[i].read(root.Content[1]); err != nil {
			t.Fatal(s.Key, err)
		}
	}
	if diff := cmp.Diff(from, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRender(t *testing.T) {
	plain := Default()
	plain.Fleet, plain.Alias, plain.Human = "f", "a", "h"
	nats := plain
	nats.Bus.URL = "nats://user:pass%23word@127.0.0.1:4222"
	for _, c := range []Config{plain, nats, full()} {
		if diff := cmp.Diff(c, loadText(t, Render(c))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(example, string(Render(loadText(t, []byte(example))))); diff != "" {
		t.Errorf("the example is not as it would be rendered (-want +got):\n%s", diff)
	}
}

// A draft that is taken is config.yaml. What could not be read is not written.
func TestWriteDraft(t *testing.T) {
	h := Home{Dir: t.TempDir()}
	if err := h.WriteDraft(full()); err != nil {
		t.Fatal(err)
	}
	if err := h.TakeDraft(); err != nil {
		t.Fatal(err)
	}
	got, err := Load(h.Config())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantPrivate(t, h.Config())
	if err := h.WriteDraft(Default()); err == nil || !strings.Contains(err.Error(), "fleet: is missing") {
		t.Errorf("without names: %v", err)
	}
	if _, err := os.Stat(h.Draft()); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file was written that could not be read")
	}
	gone := Home{Dir: filepath.Join(t.TempDir(), "gone")}
	if err := gone.WriteDraft(full()); err == nil || !strings.HasPrefix(err.Error(), "cannot write "+gone.Draft()) {
		t.Errorf("without its folder: %v", err)
	}
}

// Any bytes are read without a panic. What is accepted means the same when it is written and read
// again.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(example))
	f.Add(Render(full()))
	f.Add([]byte("fleet: f\nalias: a\nhuman: h\nbus:\n  hubs: [127.0.0.1:1, \"[::1]:2\"]\n"))
	f.Add([]byte("fleet: f\nalias: a\nhuman: h\nremote: \"host:\\u00e4\\u2028'\\\"#x\"\nbus: {url: 'tls://a#b'}"))
	f.Add([]byte("? [a]\n: *b\n--- !x &y |\n z"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, problems := parse(data)
		for _, p := range problems {
			if p.Text == "" {
				t.Errorf("nothing is said about %+v", p)
			}
		}
		if len(problems) > 0 {
			return
		}
		if diff := cmp.Diff(c, loadText(t, Render(c))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func FuzzDurationsAndSizes(f *testing.F) {
	f.Add(int64(0))
	f.Add(int64(3_600_000_000_000))
	f.Add(int64(90_000_000_000))
	f.Add(int64(512 << 10))
	f.Fuzz(func(t *testing.T, n int64) {
		d, err := span.Parse(span.Exact(duration(n)))
		if err != nil || d != duration(n) {
			t.Errorf("%d was written %s and read %d, %v", n, span.Exact(duration(n)), d, err)
		}
		bytes := int(n & (1<<31 - 1))
		if got, err := size.Parse(size.Exact(bytes)); err != nil || got != bytes {
			t.Errorf("%d was written %s and read %d, %v", bytes, size.Exact(bytes), got, err)
		}
	})
}
