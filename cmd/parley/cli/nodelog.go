package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/rs/zerolog"
)

// maxLog is the size, in bytes, from which on the next start begins a new log file. One old file is
// kept.
const maxLog = 10 << 20

// OpenLog opens the log file of a home that this user may use. A large one is set aside before, and
// so is one that another user has left there.
func OpenLog(home configs.Home) (*os.File, error) {
	if err := home.Check(); err != nil {
		return nil, err
	}
	path := home.Log()
	info, err := os.Stat(path)
	large := err == nil && info.Size() > maxLog
	file, err := openLog(path)
	if large || errors.Is(err, fs.ErrPermission) {
		if err == nil {
			_ = file.Close()
		}
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("cannot set the old log aside: %w", err)
		}
		file, err = openLog(path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the log: %w", err)
	}
	return file, nil
}

func openLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
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
