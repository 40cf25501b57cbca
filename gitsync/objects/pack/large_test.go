package pack

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"
)

// zeros gives zeros without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// What is too large to be held is no damage, and what is damaged does not become too large
// by what its header says. It prevents: a file that somebody pushes for which every host
// takes its disk to be damaged, or damage that is never mended.
func TestLargeIsNotDamaged(t *testing.T) {
	compressed := func(text string) io.Reader {
		var out bytes.Buffer
		z := zlib.NewWriter(&out)
		fmt.Fprint(z, text)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return &out
	}
	second := func(_ any, err error) error { return err }
	delta := binary.AppendUvarint(binary.AppendUvarint(nil, 3), MaxObject+1)
	for what, c := range map[string]struct {
		err   error
		large int64
	}{
		"a large one":                     {PassLarge(io.LimitReader(zeros{}, MaxObject+1), MaxObject+1, MaxObject), MaxObject + 1},
		"one that is not read to its end": {PassLarge(zeros{}, 1<<40, MaxObject), 1 << 40},
		"one with less than its header":   {PassLarge(io.LimitReader(zeros{}, 1000), MaxObject+1, MaxObject), 0},
		"one with more than its header":   {PassLarge(zeros{}, MaxObject+1, MaxObject), 0},
		"a small one in a pack":           {second(Inflate(compressed("small"), MaxObject+1)), 0},
		"a large one as a delta":          {second(patch(nil, []byte("abc"), delta)), MaxObject + 1},
	} {
		large := new(LargeError)
		if errors.As(c.err, &large); large.Size != c.large || (c.large == 0) != errors.Is(c.err, ErrCorrupt) {
			t.Errorf("%s: %v", what, c.err)
		}
	}
}
