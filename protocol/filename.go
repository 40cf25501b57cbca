package protocol

import (
	"fmt"
	"slices"
	"strings"
)

// devices are the names that Windows keeps for devices, whatever follows behind a dot. Those that
// end with a digit exist with each digit, superscripts included.
var devices = []string{"con", "prn", "aux", "nul", "conin$", "conout$"}

// CheckFileName returns an error for a name that no file can have on Windows: a clone of a record
// with such a file fails there. It is for names that are new. What is there already is read all the
// same.
func CheckFileName(name string) error {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	stem = strings.TrimRight(stem, " ")
	port := strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")
	switch {
	case slices.Contains(devices, stem) || port && slices.Contains(strings.Split("0123456789¹²³", ""), stem[len("com"):]):
		return fmt.Errorf("%q is the name of a device on Windows, where no file can be called so", name)
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return fmt.Errorf("%q ends with a dot or a space, which no file can on Windows", name)
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"/\|?*`, r) }); i >= 0 {
		return fmt.Errorf("%q has a character that no file can have in its name on Windows", name)
	}
	return nil
}
