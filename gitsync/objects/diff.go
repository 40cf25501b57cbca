package objects

// Difference is one path whose entry differs between two trees. An entry with
// hash Zero is not there.
type Difference struct {
	Path     string
	Old, New Entry
}

// Diff calls visit with each file that differs between two trees, in the order
// of their names. It descends only where hashes differ.
func (s *Store) Diff(old, new Hash, visit func(Difference) error) error {
	return s.diff(old, new, "", visit)
}

func (s *Store) diff(old, new Hash, prefix string, visit func(Difference) error) error {
	return s.differing(old, new, func(one, two Entry) error {
		name := one.Name + two.Name
		if one.Name == two.Name {
			name = one.Name
		}
		if one.Mode.IsDir() || two.Mode.IsDir() {
			return s.diff(one.Hash, two.Hash, prefix+name+"/", visit)
		}
		return visit(Difference{Path: prefix + name, Old: one, New: two})
	})
}

// differing calls visit with each two entries of one key that differ between two
// trees. Both are directories or both are files, or one is not there.
func (s *Store) differing(old, new Hash, visit func(one, two Entry) error) error {
	if old == new {
		return nil
	}
	a, err := s.Tree(old)
	if err != nil {
		return err
	}
	b, err := s.Tree(new)
	if err != nil {
		return err
	}
	for len(a) > 0 || len(b) > 0 {
		var one, two Entry
		switch {
		case len(b) == 0 || len(a) > 0 && compareEntries(a[0], b[0]) < 0:
			one, a = a[0], a[1:]
		case len(a) == 0 || compareEntries(a[0], b[0]) > 0:
			two, b = b[0], b[1:]
		default:
			one, a, two, b = a[0], a[1:], b[0], b[1:]
		}
		if one.Hash == two.Hash && one.Mode == two.Mode {
			continue
		}
		if err := visit(one, two); err != nil {
			return err
		}
	}
	return nil
}
