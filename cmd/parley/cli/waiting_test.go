package cli

import (
	"os"
	"regexp"
	"testing"

	"github.com/parleyfleet/parley/node/control"
)

// It prevents: a new reason to wait that is shown without its meaning.
func TestEveryReasonToWaitHasItsMeaning(t *testing.T) {
	source, err := os.ReadFile("../../../node/control/queuetypes.go")
	if err != nil {
		t.Fatal(err)
	}
	reasons := regexp.MustCompile(`JobWhy = "([a-z]*)"`).FindAllSubmatch(source, -1)
	if len(reasons) < 11 {
		t.Fatalf("%d reasons were found", len(reasons))
	}
	for _, r := range reasons {
		if why := control.JobWhy(r[1]); Waiting(why) == "" || WaitsFor(why) == "" {
			t.Errorf("%q has no meaning", why)
		}
	}
}
