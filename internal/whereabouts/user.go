package whereabouts

import (
	"os/user"
	"strings"
)

// User is the name by which the system knows this user; "" if it knows none.
func User() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
}
