package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/rs/zerolog"
)

// maxLog is the size, in bytes, from which on the next start begins a new log file. One old file is
// kept.
const maxLog = 10 << 20

// OpenLog opens the log file of a home. A large one is set aside before.
func OpenLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("cannot set the old log aside: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the log: %w", err)
	}
	return file, nil
}

// NewLogger logs to the file. Unless the node is in the background, it also shows on the screen
// what needs attention.
func NewLogger(level string, file io.Writer, background bool, screen term.Screen) zerolog.Logger {
	parsed, err := zerolog.ParseLevel(level)
	if err != nil {
		parsed = zerolog.InfoLevel // Load has checked the level
	}
	if background {
		return zerolog.New(file).Level(parsed).With().Timestamp().Logger()
	}
	console := zerolog.ConsoleWriter{Out: screen, NoColor: !screen.Color, TimeFormat: "15:04:05",
		FormatMessage: func(m any) string { return term.Line(fmt.Sprint(m)) }}
	both := zerolog.MultiLevelWriter(file, &zerolog.FilteredLevelWriter{
		Writer: zerolog.LevelWriterAdapter{Writer: console}, Level: zerolog.WarnLevel})
	return zerolog.New(both).Level(parsed).With().Timestamp().Logger()
}
