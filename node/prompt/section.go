package prompt

import "slices"

// section is one kind of texts of others: a heading, what is to be known about all of them, how
// many are left out, and those that are shown.
type section struct {
	title string
	lead  string
	note  func(out int) string // says how many are left out
	parts []part               // in the order in which they are shown
	out   int                  // how many are left out or cut
}

func (s *section) empty() bool { return len(s.parts) == 0 && s.out == 0 }

// opening is what stands before the texts if `out` of them are left out.
func (s *section) opening(out int) string {
	text := "# " + s.title + "\n\n" + s.lead
	if out > 0 {
		text += " " + s.note(out)
	}
	return text + "\n\n"
}

func (s *section) size(f fence) int {
	if s.empty() {
		return 0
	}
	n := len(s.opening(s.out))
	for _, p := range s.parts {
		n += p.size(f)
	}
	return n
}

// mostOpening is the greatest length that the opening can get, in bytes.
func (s *section) mostOpening() int {
	if s.empty() {
		return 0
	}
	return len(s.opening(s.out + len(s.parts)))
}

// written is the section in parts of the kind `k`, after its opening.
func (s *section) written(k Kind, f fence) []Part {
	if s.empty() {
		return nil
	}
	parts := []Part{{Frame, s.opening(s.out)}}
	for _, p := range s.parts {
		parts = append(parts, Part{k, p.written(f)})
	}
	return parts
}

// keepLast keeps as many of the last parts as fit into `room` bytes. It returns how many bytes are
// left; 0 if a part was left out. So what comes after in the order of importance does not take that
// part's place.
func (s *section) keepLast(room int, f fence) int {
	for i, p := range slices.Backward(s.parts) {
		if p.size(f) > room {
			s.out += i + 1
			s.parts = s.parts[i+1:]
			return 0
		}
		room -= p.size(f)
	}
	return room
}

// lastOf makes parts of the last of `n` texts: as many as fit into `limit` bytes at the most. `out`
// is how many are left out. It avoids making parts of a long past.
func lastOf(n, limit int, nth func(i int) part) (parts []part, out int) {
	for i := n - 1; i >= 0; i-- {
		p := nth(i)
		if limit -= len(p.head) + len(p.body); limit < 0 {
			out = i + 1
			break
		}
		parts = append(parts, p)
	}
	slices.Reverse(parts)
	return parts, out
}
