package node

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// A party's name is free, and stood before who asks: it could name another asker, and push the true
// one behind the place where a notification is cut.
func TestGateMatterBeginsWithTheAsker(t *testing.T) {
	text := gateMatter(control.Gate{ID: "0a11ce00", Party: `x", asked by nat@white. ` + strings.Repeat("y", 170), Title: "invite of mawjs", Asker: protocol.Asker{Agent: "eve", Host: "black"}}).Text
	want := `parley: asked by eve@black, not signed (parley gates 0a11ce00): "x\", asked by nat@white. ` + strings.Repeat("y", 35) + `…": invite of mawjs`
	if text != want {
		t.Errorf("it says\n%s, want\n%s", text, want)
	}
}
