package homes

import (
	"testing"

	"github.com/parleyfleet/parley/configs"
)

// Somebody types what the hint of a half-made home shows, without the password of the remote. It
// prevents that this is refused as another remote.
func TestAHomeIsFinishedAsTheHintSays(t *testing.T) {
	o := Options{Home: configs.Home{Dir: t.TempDir()}}
	draft := configs.Default()
	draft.Fleet, draft.Alias, draft.Human, draft.Remote = "f", "white", "nat", "https://nat:secret@example.org/x.git"
	if err := o.Home.WriteDraft(draft); err != nil {
		t.Fatal(err)
	}
	for remote, want := range map[string]string{
		"https://…@example.org/x.git": draft.Remote,
		draft.Remote:                  draft.Remote,
		"https://…@example.org/y.git": "",
	} {
		typed := draft
		typed.Remote = remote
		if err := typed.Validate(); err != nil {
			t.Fatal(err)
		}
		if err := o.resume(&typed); (err == nil) != (want != "") || err == nil && typed.Remote != want {
			t.Errorf("%s: %v, remote %s", remote, err, typed.Remote)
		}
	}
}
