package protocol

import (
	"errors"
	"fmt"
	"slices"
)

// Withholding is what a host says of messages of its own in the body of host-withhold: the shared
// repository refuses what they say, so no host is to push them. Hosts that have heard them keep
// them.
type Withholding struct {
	Host  Name
	Paths []Path
}

// Speaker is the host.
func (w Withholding) Speaker() Name { return w.Host }

// ActHostWithhold is the act of a Withholding.
const ActHostWithhold Act = "host-withhold"

// HostWithhold is the act by which a host has no host push some messages of its own.
var HostWithhold = NewAct(ActSpec{
	Act: ActHostWithhold, Heading: "HOST-WITHHOLD", Class: ClassHostWord,
	Doc: "Says which messages of a host go to no shared repository.",
}, parseWithholding, formatWithholding, Withholding{Host: "white", Paths: []Path{exampleRun}})

func formatWithholding(w Withholding) string {
	text := wordHead(ActHostWithhold, w.Host)
	for _, p := range w.Paths {
		text += fmt.Sprintf("message: %s\n", p)
	}
	return NormalBody(text)
}

func parseWithholding(body string) (Withholding, error) {
	var w Withholding
	host, err := readWord(body, func(key, value string) error {
		if key != "message" {
			return nil
		}
		p, err := ParsePath(value)
		if err == nil && !slices.Contains(w.Paths, p) {
			w.Paths = append(w.Paths, p)
		}
		return err
	})
	if err == nil && len(w.Paths) == 0 {
		err = errors.New("it names no message")
	}
	w.Host = host
	return w, err
}
