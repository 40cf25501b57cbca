package homes

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/configs"
)

// NextStart is a number that rises with every start of the node on a home. With it, other hosts
// recognize an older presence that somebody repeats. It is the time in milliseconds, but always
// more than at the last start, because a clock may have been put back.
func NextStart(home configs.Home, now time.Time) (uint64, error) {
	file := filepath.Join(home.Keys(), "starts")
	number := uint64(max(0, now.UnixMilli()))
	if data, err := os.ReadFile(file); err == nil {
		if last, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 63); err == nil {
			number = max(number, last+1)
		}
	}
	temp := file + ".tmp"
	if err := os.WriteFile(temp, []byte(strconv.FormatUint(number, 10)+"\n"), 0o600); err != nil {
		return number, fmt.Errorf("cannot count the starts of this node: %w", err)
	}
	if err := os.Rename(temp, file); err != nil {
		return number, fmt.Errorf("cannot count the starts of this node: %w", err)
	}
	return number, nil
}
