package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

var fenceWord = pattern.New(`^[A-Za-z0-9]{16,64}$`)

// fence is the word that marks where texts of others begin and end.
type fence string

func (f fence) begin() string { return "=== BEGIN " + string(f) + " ===" }
func (f fence) end() string   { return "=== END " + string(f) + " ===" }

// chooseFence returns `word` if it is fit and occurs in none of the texts. Else it returns a hash
// over all texts. Nobody can write that hash into a text beforehand: the text would have to contain
// its own hash.
func chooseFence(word string, texts []string) fence {
	occurs := func(text string) bool { return strings.Contains(text, word) }
	for n := 0; !fenceWord.MatchString(word) || slices.ContainsFunc(texts, occurs); n++ {
		sum := sha256.New()
		fmt.Fprintf(sum, "parley-fence-v1 %d %d ", n, len(word))
		sum.Write([]byte(word))
		for _, text := range texts {
			fmt.Fprintf(sum, " %d ", len(text))
			sum.Write([]byte(text))
		}
		word = hex.EncodeToString(sum.Sum(nil)[:16])
	}
	return fence(word)
}

// part is one text of others, and what is known about it.
type part struct {
	head string // stands before the fence; ends in a newline
	body string
}

func newPart(head, body string) part { return part{head: head, body: endLine(body)} }

func endLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func (p part) size(f fence) int {
	return len(p.head) + len(f.begin()) + 1 + len(p.body) + len(f.end()) + 2
}

// written is the text in its fence, followed by an empty line.
func (p part) written(f fence) string {
	return p.head + f.begin() + "\n" + p.body + f.end() + "\n\n"
}
