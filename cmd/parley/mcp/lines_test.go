package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// FuzzLines checks that no input ends the connection but its own end, and that each line that is no
// message is answered.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"a\"}"))
	f.Add([]byte("x\n[]\n\xff\n\r\n{}"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1.5,"method":3}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		l := newLines(t.Context(), bytes.NewReader(in), &out)
		messages := 0
		for {
			m, err := l.Read(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			messages++
			if r, is := m.(*jsonrpc.Request); is && r.IsCall() {
				if err := l.Write(t.Context(), &jsonrpc.Response{ID: r.ID, Result: []byte("{}")}); err != nil {
					t.Fatal(err)
				}
				messages--
			}
		}
		lines := 0
		for line := range bytes.SplitSeq(in, []byte("\n")) {
			if len(bytes.TrimSpace(line)) > 0 {
				lines++
			}
		}
		if answers := strings.Count(out.String(), "\n"); answers+messages != lines {
			t.Errorf("%d lines: %d answers and %d notifications or answers of the client", lines, answers, messages)
		}
	})
}

// A line that is too long costs no more memory than the longest that is allowed, and the next line
// is read.
func TestLongLine(t *testing.T) {
	in := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`), io.LimitReader(endless{}, 10*maxLine), strings.NewReader("\n{\"jsonrpc\":\"2.0\",\"method\":\"next\"}\n"))
	var out bytes.Buffer
	l := newLines(t.Context(), in, &out)
	m, err := l.Read(t.Context())
	if r, is := m.(*jsonrpc.Request); err != nil || !is || r.Method != "next" {
		t.Errorf("after a line that is too long comes %v, %v", m, err)
	}
	if !strings.Contains(out.String(), `"code":-32600`) {
		t.Errorf("it is answered with %s", &out)
	}
}

// endless is a text without an end.
type endless struct{}

// Read fills p.
func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// When the program is to end, the connection ends, though the client says nothing.
func TestEndOfProgram(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	l := newLines(ctx, in, io.Discard)
	cancel()
	if _, err := l.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("it reads %v", err)
	}
}
