package cli

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/protocol"
)

// Age is how long ago something was: "5 min ago", "2h ago", "1d ago".
func (v View) Age(at time.Time) string {
	d := v.Now().Sub(at)
	switch {
	case at.IsZero():
		return "—"
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d/time.Minute))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", int(d/time.Hour))
	}
	return fmt.Sprintf("%dd ago", int(d/(24*time.Hour)))
}

// Percent is a score in the form in which people read it.
func Percent(score protocol.Score) string {
	return Dash(score.Percent())
}

// Dash is a text; a dash if there is none.
func Dash(text string) string {
	if text == "" {
		return "—"
	}
	return term.Line(text)
}

const bars = "▁▂▃▄▅▆▇█"

// Sparkline draws scores from 0 to 1.
func Sparkline(scores []float64) string {
	heights := []rune(bars)
	var line strings.Builder
	for _, score := range scores {
		line.WriteRune(heights[min(len(heights)-1, max(0, int(score*float64(len(heights)))))])
	}
	return line.String()
}

// Origin is the repository of the current folder, as owner/repo; "" if it has none.
func Origin(ctx context.Context) string {
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, "git", "remote", "get-url", "origin")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	parts := strings.FieldsFunc(strings.TrimSuffix(strings.TrimSpace(string(out)), ".git"), func(r rune) bool { return r == '/' || r == ':' })
	if len(parts) < 2 {
		return ""
	}
	return parts[len(parts)-2] + "/" + parts[len(parts)-1]
}

// ParseUntil reads the time of --until. A day stands for its beginning in the time zone `here`.
func ParseUntil(text string, here *time.Location) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := ParseTime(text, here)
	if err != nil {
		return time.Time{}, fmt.Errorf("--until: %w", err)
	}
	return t.UTC(), nil
}

// ParseTime reads a day or a time, as screens show it too. Without a zone, it is one of `here`.
func ParseTime(text string, here *time.Location) (time.Time, error) {
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", ShortForm, TimeForm} {
		if t, err := time.ParseInLocation(layout, text, here); err == nil {
			return t, nil
		}
	}
	return protocol.ParseInstant(text)
}
